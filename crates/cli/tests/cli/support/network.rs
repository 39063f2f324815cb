//! Hosts on one machine: network namespaces behind a bridge, with an sshd in each. Needs root.

use std::{
    fs,
    net::IpAddr,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use rustix::process::Signal;
use tempfile::TempDir;

use super::{
    eventually,
    processes::{self, Processes},
};

/// The network, of which .1 is this machine outside all namespaces. It is only within these namespaces.
const NETWORK: &str = "10.231.7";

/// Hosts h1, h2, … and what they need. Dropping it ends everything in them.
pub struct Network {
    folder: TempDir,
    prefix: String,
    hosts: usize,
    daemons: Vec<Child>,
}

impl Network {
    /// So many hosts.
    pub fn new(hosts: usize) -> Self {
        let folder = tempfile::Builder::new()
            .prefix("deadheat-hosts-")
            .tempdir()
            .expect("a folder");
        let mut network = Self {
            folder,
            prefix: format!("dh{}", std::process::id()),
            hosts,
            daemons: Vec::new(),
        };
        network.lay_out();
        for nth in 1..=hosts {
            network.start_sshd(nth);
        }
        network.write_client();
        network
    }

    fn bridge(&self) -> String {
        format!("{}b", self.prefix)
    }

    fn namespace(&self, nth: usize) -> String {
        format!("{}h{nth}", self.prefix)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The address of this machine in the network.
    pub fn here(&self) -> IpAddr {
        format!("{NETWORK}.1").parse().expect("an address")
    }

    fn lay_out(&self) {
        let bridge = self.bridge();
        ip(&["link", "add", &bridge, "type", "bridge"]);
        ip(&["address", "add", &format!("{NETWORK}.1/24"), "dev", &bridge]);
        ip(&["link", "set", &bridge, "up"]);
        for nth in 1..=self.hosts {
            let (namespace, outer) = (self.namespace(nth), format!("{}v{nth}", self.prefix));
            let address = format!("{NETWORK}.{}/24", 10 + nth);
            ip(&["netns", "add", &namespace]);
            ip(&[
                "link", "add", &outer, "type", "veth", "peer", "name", "eth0", "netns", &namespace,
            ]);
            ip(&["link", "set", &outer, "master", &bridge, "up"]);
            ip(&["-n", &namespace, "address", "add", &address, "dev", "eth0"]);
            ip(&["-n", &namespace, "link", "set", "eth0", "up"]);
            ip(&["-n", &namespace, "link", "set", "lo", "up"]);
        }
    }

    fn start_sshd(&mut self, nth: usize) {
        fs::create_dir_all("/run/sshd").expect("making /run/sshd");
        let key = self.path("key");
        if nth == 1 {
            run(Command::new("ssh-keygen")
                .args(["-q", "-t", "ed25519", "-N", "", "-f"])
                .arg(&key));
        }
        let cache = self.path(&format!("cache{nth}"));
        let config = self.path(&format!("sshd{nth}"));
        let text = format!(
            "ListenAddress {NETWORK}.{}\nHostKey {key}\nAuthorizedKeysFile {key}.pub\nStrictModes no\nUsePAM no\n\
             PidFile none\nSetEnv XDG_CACHE_HOME={}\n",
            10 + nth,
            cache.display(),
            key = key.display(),
        );
        fs::write(&config, text).expect("writing sshd's configuration");
        let sshd = self.within(
            nth,
            &[
                "/usr/sbin/sshd",
                "-D",
                "-e",
                "-f",
                &config.display().to_string(),
            ],
        );
        self.start_daemon(sshd, "sshd");
    }

    fn write_client(&self) {
        let mut text = String::new();
        for nth in 1..=self.hosts {
            text.push_str(&format!("Host h{nth}\n  HostName {NETWORK}.{}\n", 10 + nth));
        }
        text.push_str(&format!(
            "Host *\n  User root\n  IdentityFile {}\n  IdentitiesOnly yes\n  StrictHostKeyChecking no\n  \
             UserKnownHostsFile /dev/null\n  LogLevel ERROR\n  BatchMode yes\n  ServerAliveInterval 1\n  \
             ServerAliveCountMax 3\n",
            self.path("key").display()
        ));
        fs::write(self.path("client"), text).expect("writing ssh's configuration");
        for nth in 1..=self.hosts {
            eventually("sshd", || {
                let mut ssh = Command::new("ssh");
                ssh.arg("-F")
                    .arg(self.path("client"))
                    .args([&format!("h{nth}"), "true"]);
                let tried = ssh.stderr(Stdio::null()).status().expect("starting ssh");
                tried.success().then_some(())
            });
        }
    }

    /// Starts Slurm: the controller on h1, which is no node, and a daemon on each of the others.
    pub fn start_slurm(&mut self) {
        let folder = |name: &str| {
            let path = self.path(name);
            fs::create_dir_all(&path).expect("a folder for Slurm");
            path.display().to_string()
        };
        let nodes: Vec<String> = (2..=self.hosts).map(|nth| format!("h{nth}")).collect();
        let mut text = format!(
            "ClusterName=deadheat\nSlurmctldHost=h1({NETWORK}.11)\nAuthType=auth/munge\nSlurmUser=root\n\
             StateSaveLocation={}\nSlurmdSpoolDir={}.%n\nSlurmctldPidFile={pids}/ctld\nSlurmdPidFile={pids}/%n\n\
             ProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\nSelectType=select/cons_tres\n\
             ReturnToService=2\nMpiDefault=none\n",
            folder("state"),
            folder("spool"),
            pids = folder("pids"),
        );
        for nth in 2..=self.hosts {
            text.push_str(&format!(
                "NodeName=h{nth} NodeAddr={NETWORK}.{} CPUs=2 State=UNKNOWN\n",
                10 + nth
            ));
        }
        text.push_str(&format!(
            "PartitionName=all Nodes={} Default=YES State=UP OverSubscribe=EXCLUSIVE\n",
            nodes.join(",")
        ));
        fs::write(self.path("slurm.conf"), text).expect("writing slurm.conf");
        self.start_munge();
        let config = self.path("slurm.conf").display().to_string();
        self.start_daemon(
            self.within(1, &["slurmctld", "-D", "-f", &config]),
            "slurmctld",
        );
        for nth in 2..=self.hosts {
            self.start_daemon(self.within(nth, &["slurmd", "-D", "-f", &config]), "slurmd");
        }
        let count = nodes.len();
        eventually("Slurm's nodes", || {
            let mut sinfo = self.in_slurm(&["sinfo", "--noheader", "--states=idle", "--format=%D"]);
            let output = sinfo.output().expect("starting sinfo");
            (String::from_utf8_lossy(&output.stdout).trim() == count.to_string()).then_some(())
        });
    }

    /// A command on h1 that knows Slurm.
    pub fn in_slurm(&self, words: &[&str]) -> Command {
        let mut command = self.within(1, words);
        command.env("SLURM_CONF", self.path("slurm.conf"));
        command.env("XDG_CACHE_HOME", self.path("cache"));
        command
    }

    /// Who vouches for users, unless one of this machine does.
    fn start_munge(&mut self) {
        let status = Command::new("munge")
            .args(["-n", "-o", "/dev/null"])
            .stderr(Stdio::null())
            .status();
        if status.is_ok_and(|status| status.success()) {
            return;
        }
        run(Command::new("install").args(["-d", "-o", "munge", "-g", "munge", "/run/munge"]));
        let mut munged = Command::new("setpriv");
        munged.args(["--reuid=munge", "--regid=munge", "--clear-groups"]);
        munged.args(["/usr/sbin/munged", "--foreground", "--force"]);
        self.start_daemon(munged, "munged");
    }

    fn start_daemon(&mut self, mut command: Command, name: &str) {
        let log = fs::File::create(self.path(&format!("{name}{}.log", self.daemons.len())));
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log.expect("a log"));
        self.daemons.push(
            command
                .spawn()
                .unwrap_or_else(|error| panic!("starting {name}: {error}")),
        );
    }

    /// The launcher that reaches the hosts.
    pub fn ssh(&self) -> String {
        format!("ssh -T -F {} {{host}}", self.path("client").display())
    }

    /// A command in the namespace of a host, under its name.
    pub fn within(&self, nth: usize, words: &[&str]) -> Command {
        let mut command = Command::new("nsenter");
        command
            .arg(format!("--net=/run/netns/{}", self.namespace(nth)))
            .args([
                "unshare",
                "--uts",
                "sh",
                "-c",
                "hostname \"$0\"; exec \"$@\"",
            ])
            .arg(format!("h{nth}"))
            .args(words);
        command
    }

    /// Cuts a host off, or connects it again.
    pub fn link(&self, nth: usize, up: bool) {
        let state = if up { "up" } else { "down" };
        ip(&["link", "set", &format!("{}v{nth}", self.prefix), state]);
    }

    /// Drops one packet in so many of those that a host receives from a port.
    pub fn lose(&self, nth: usize, one_in: u32, from_port: u16) {
        let rules = [
            "add table inet lossy".to_owned(),
            "add chain inet lossy in { type filter hook input priority 0; }".to_owned(),
            format!(
                "add rule inet lossy in tcp sport {from_port} numgen random mod {one_in} == 0 drop"
            ),
        ];
        for rule in rules {
            let mut words = vec!["nft"];
            words.extend(rule.split(' '));
            run(&mut self.within(nth, &words));
        }
    }

    /// The address of a host.
    pub fn address(&self, nth: usize) -> IpAddr {
        let address = format!("{NETWORK}.{}", 10 + nth);
        address.parse().expect("an address")
    }

    /// What a command in the namespace of a host prints, errors included.
    pub fn told(&self, nth: usize, words: &[&str]) -> String {
        let output = self.within(nth, words).output();
        let output = output.unwrap_or_else(|error| panic!("{words:?}: {error}"));
        let told = [output.stdout, output.stderr].concat();
        String::from_utf8_lossy(&told).into_owned()
    }

    /// The agents that run on a host.
    pub fn agents(&self, nth: usize) -> Processes {
        self.those(nth, |line| line.ends_with(" agent"))
    }

    /// The agents that run on a host, and what they have started.
    pub fn started(&self, nth: usize) -> Processes {
        let parts = ["__supervise", "postgres", "--there"];
        self.those(nth, |line| {
            line.ends_with(" agent") || parts.iter().any(|part| line.contains(part))
        })
    }

    fn those(&self, nth: usize, are: impl Fn(&str) -> bool) -> Processes {
        let of_host = |path: &Path| fs::metadata(path).map(|it| it.ino()).ok();
        let host = of_host(&Path::new("/run/netns").join(self.namespace(nth)));
        let is_one = |pid: &u32, line: &String| {
            are(line) && of_host(&PathBuf::from(format!("/proc/{pid}/ns/net"))) == host
        };
        let all = processes::all().into_iter();
        all.filter(|(pid, line)| is_one(pid, line)).collect()
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        for nth in 1..=self.hosts {
            // All of them: sshd does not notice that a link was cut.
            for pid in self.those(nth, |_| true).into_keys() {
                processes::signal(pid, Signal::KILL);
            }
        }
        for daemon in &mut self.daemons {
            let _ = daemon.kill();
            let _ = daemon.wait();
        }
        for nth in 1..=self.hosts {
            let _ = Command::new("ip")
                .args(["netns", "delete", &self.namespace(nth)])
                .status();
            let _ = Command::new("ip")
                .args(["link", "delete", &format!("{}v{nth}", self.prefix)])
                .stderr(Stdio::null())
                .status();
        }
        let _ = Command::new("ip")
            .args(["link", "delete", &self.bridge()])
            .status();
    }
}

fn ip(words: &[&str]) {
    run(Command::new("ip").args(words));
}

#[track_caller]
fn run(command: &mut Command) {
    let output = command.stdin(Stdio::null()).output();
    let output = output.unwrap_or_else(|error| panic!("starting {command:?}: {error}"));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "{command:?}: {}: {said}",
        output.status
    );
}
