//! Several hosts for real: network namespaces with an sshd in each. `cargo xtask cluster` runs these tests, which need
//! root, and Debian's openssh-server, iproute2, nftables, slurmctld, slurmd, slurm-client and munge.

use std::{
    io::{Read as _, Write as _},
    net::{SocketAddr, TcpListener, TcpStream},
    thread,
    time::{Duration, Instant},
};

use deadheat_model::Observation;
use deadheat_testkit::{
    Listen, OracleServer, Turn, answers,
    judge::{distance, least},
};
use rustix::process::Signal;
use serde_json::Value;

use crate::support::{
    Fake, Root, Running, eventually,
    loaded::{Loaded, load},
    network::Network,
    processes,
    running::command,
};

/// What ends on a host when its coordinator is gone does so within this.
const BOUND: Duration = Duration::from_secs(20);

fn server(network: &Network) -> OracleServer {
    let address = SocketAddr::new(network.here(), 0);
    let listen = Listen::at(address).expect("listening in the network");
    listen
        .serve(|_: &Turn<'_>| answers::send(answers::hello()))
        .expect("a server")
}

fn on_all(network: &Network, args: &[&str], url: &str) -> Loaded {
    let launcher = network.ssh();
    let hosts = [
        "--on",
        "h1",
        "--on",
        "h2",
        "--on",
        "h3",
        "--launcher",
        &launcher,
    ];
    load(&[&hosts[..], args, &[url]].concat())
}

fn started(network: &Network, root: &Root, hosts: &[&str], url: &str) -> Running {
    let mut command = command(
        root.path(),
        "load --progress off --until-interrupted --warm-up 0s -c 6 --launcher",
    );
    command.arg(network.ssh()).arg(url);
    for host in hosts {
        command.args(["--on", host]);
    }
    Running::start_command(root.path(), command, "load on hosts")
}

fn url(address: impl std::fmt::Display) -> String {
    format!("http://{address}/")
}

fn parts(loaded: &Loaded) -> Vec<(String, Observation)> {
    let json: Value = serde_json::from_str(&loaded.stdout).expect("JSON");
    let hosts = json["hosts"].as_array().expect("hosts").clone();
    let part = |host: Value| {
        let name = host["name"].as_str().expect("a name").to_owned();
        (
            name,
            serde_json::from_value(host["observation"].clone()).expect("an observation"),
        )
    };
    hosts.into_iter().map(part).collect()
}

fn wait_until_quiet(network: &Network, hosts: usize, after: &str) {
    for nth in 1..=hosts {
        let left = processes::wait_until_none(BOUND, || network.started(nth));
        assert!(
            left.is_ok(),
            "{BOUND:?} after {after}, on h{nth}: {left:#?}"
        );
    }
}

#[test]
#[ignore = "needs root and an sshd: cargo xtask cluster"]
fn arrivals_of_three_hosts_have_the_schedules_law() {
    let network = Network::new(3);
    let mut names = Vec::new();
    let far = least(0.06, || {
        let server = server(&network);
        let args = [
            "-c",
            "12",
            "-n",
            "1500",
            "--rate",
            "500/s",
            "--arrivals",
            "uniform",
        ];
        let loaded = on_all(&network, &args, &url(server.address())).all_succeed(1_500);
        let seen = server.seen_at_rest();
        names = parts(&loaded).into_iter().map(|(name, _)| name).collect();
        let first = seen.arrivals[0];
        let at = seen.arrivals.iter().map(|at| (*at - first).as_secs_f64());
        distance(at.collect(), |at| at / 3.0)
    });
    assert!(far <= 0.06, "{far} from the schedule");
    assert_eq!(names, ["h1", "h2", "h3"]);
    wait_until_quiet(&network, 3, "a load");
}

#[test]
#[ignore = "needs root and an sshd: cargo xtask cluster"]
fn a_slow_link_and_a_lossy_one_are_in_the_times_of_their_hosts() {
    let network = Network::new(3);
    let server = server(&network);
    let delayed = relay(&network, server.address(), Duration::from_millis(20));
    let args = ["-c", "6", "-d", "2s", "--warm-up", "500ms"];
    let loaded = on_all(&network, &args, &url(delayed));
    for (name, part) in parts(&loaded) {
        let median = part.service_time.quantile(0.5).expect("answers");
        let expected = Duration::from_millis(40)..Duration::from_millis(80);
        assert!(
            expected.contains(&median),
            "{name}: {median:?} through 20 ms each way"
        );
    }
    network.lose(2, 10, server.address().port());
    let loaded = on_all(&network, &args, &url(server.address()));
    // What is lost is sent again after 200 ms at least (RFC 6298, as Linux has it). One in ten is, and a busy machine delays
    // few answers for as long.
    for (name, part) in parts(&loaded) {
        let slow = part.service_time.quantile(0.95).expect("answers");
        let lossy = slow >= Duration::from_millis(150);
        assert_eq!(lossy, name == "h2", "{name}: 5 % take {slow:?} or longer");
    }
}

#[test]
#[ignore = "needs root and an sshd: cargo xtask cluster"]
fn whatever_is_lost_is_named_and_nothing_goes_on() {
    type Harm = fn(&Network, &Running);
    let kill_agent: Harm = |network, _| {
        for pid in network.agents(2).into_keys() {
            processes::signal(pid, Signal::KILL);
        }
    };
    let cut: Harm = |network, _| network.link(2, false);
    let kill: Harm = |_, coordinator| coordinator.signal(Signal::KILL);
    let network = Network::new(3);
    for (what, harm, told) in [
        ("an agent was killed", kill_agent, Some("host h2: ")),
        ("a link was cut", cut, Some("host h2: ")),
        ("the coordinator was killed", kill, None),
    ] {
        let server = server(&network);
        let root = Root::with(&[]);
        let running = started(&network, &root, &["h1", "h2", "h3"], &url(server.address()));
        eventually("the load", || {
            (server.seen().answered() > 300).then_some(())
        });
        assert!((1..=3).all(|nth| network.agents(nth).len() == 1));
        harm(&network, &running);
        let ended = running.wait();
        if let Some(told) = told {
            assert_eq!(ended.status_code(), Some(3), "{what}: {ended}");
            assert!(ended.stderr.contains(told), "{what}: {ended}");
        }
        wait_until_quiet(&network, 3, what);
        network.link(2, true);
        thread::sleep(Duration::from_millis(200));
    }
}

#[test]
#[ignore = "needs root and an sshd: cargo xtask cluster"]
fn two_coordinators_use_one_host() {
    let network = Network::new(1);
    let places = [(); 2].map(|()| (server(&network), Root::with(&[])));
    let both = places.each_ref().map(|(server, root)| {
        let running = started(&network, root, &["h1"], &url(server.address()));
        (server, running)
    });
    for (server, _) in &both {
        eventually("the load", || {
            (server.seen().answered() > 100).then_some(())
        });
    }
    for (_, running) in both {
        running.signal(Signal::INT);
        let ended = running.wait();
        assert_eq!(ended.status_code(), Some(0), "{ended}");
    }
    wait_until_quiet(&network, 1, "both loads");
}

#[test]
#[ignore = "needs root, an sshd and Slurm: cargo xtask cluster"]
fn a_job_of_slurm_loads_from_its_nodes() {
    let mut network = Network::new(3);
    network.start_slurm();
    let server = server(&network);
    let url = url(server.address());
    let job = [
        "salloc",
        "--quiet",
        "--nodes=2",
        env!("CARGO_BIN_EXE_deadheat"),
    ];
    let load = [
        "load",
        "--progress",
        "off",
        "--json",
        "-n",
        "100",
        "-c",
        "4",
        &url,
    ];
    let hosts = ["--launcher", "srun", "--on", "h2", "--on", "h3"];
    let output = network
        .in_slurm(&[&job[..], &load, &hosts].concat())
        .output()
        .expect("starting salloc");
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{told}");
    let json: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let names: Vec<&str> = json["hosts"]
        .as_array()
        .expect("hosts")
        .iter()
        .filter_map(|host| host["name"].as_str())
        .collect();
    assert_eq!(names, ["h2", "h3"], "{told}");
    assert_eq!(json["observation"]["measured"]["succeeded"], 100, "{told}");
    assert_eq!(server.seen_at_rest().answered(), 100);
    wait_until_quiet(&network, 3, "a job");
}

#[test]
#[ignore = "needs root and an sshd: cargo xtask cluster"]
fn a_session_is_loaded_by_two_hosts() {
    let network = Network::new(2);
    let root = Root::with(&[Fake::good("fake-one"), Fake::good("fake-two")]);
    let mut command = command(
        root.path(),
        "run --heats 2 --heat-time 300ms --slice 40ms --guard 10ms --warm-up 100ms --rate none --generator h1 \
         --generator h2 --launcher",
    );
    command.arg(network.ssh());
    command.arg("--address").arg(network.here().to_string());
    Running::start_command(root.path(), command, "run on hosts")
        .wait()
        .exits(0)
        .says(&["fake-one", "fake-two", "loaded from 2 other hosts"]);
    let session = root.session();
    session.assert_measured("fake-one");
    session.assert_measured("fake-two");
    let hosts = &session.record.header.hosts;
    let names = hosts.iter().map(|host| host.name.as_str());
    assert_eq!(names.collect::<Vec<_>>(), ["h1", "h2"]);
    wait_until_quiet(&network, 2, "a session");
}

#[test]
#[ignore = "needs root and an sshd: cargo xtask cluster"]
fn a_database_on_another_host_is_for_the_servers_alone_and_goes_with_the_session() {
    let network = Network::new(2);
    for signal in [Signal::INT, Signal::KILL] {
        let root = Root::with(&[Fake::good("fake-one").claiming(&["plaintext", "users"])]);
        root.copy_workload("users");
        let mut command = command(
            root.path(),
            "run --heats 500 --heat-time 300ms --slice 40ms --guard 10ms --warm-up 100ms --rate none --workload \
             plaintext --workload users --launcher",
        );
        command.arg(network.ssh());
        command.arg(format!("--database=h1={}", network.address(1)));
        let running = Running::start_command(root.path(), command, "run with a database elsewhere");
        root.wait_for_lines(1);
        let database = root.session().record.header.postgres;
        let database = database.expect("a database");
        assert!(database.ends_with(" on h1"), "{database}");
        let listening = network.told(1, &["ss", "-Htln"]);
        let address = network.address(1).to_string();
        let ports = listening.lines().filter_map(|line| {
            let (host, port) = line.split_whitespace().nth(3)?.rsplit_once(':')?;
            (host == address && port != "22").then(|| port.to_owned())
        });
        let ports: Vec<String> = ports.collect();
        let [port] = &ports[..] else {
            panic!("one port for the database: {listening}");
        };
        let ask =
            format!("PGPASSWORD=x psql -h {address} -p {port} -U deadheat postgres -c 'select 1'");
        let refused = network.told(2, &["sh", "-c", &ask]);
        assert!(refused.contains("no pg_hba.conf entry"), "{refused}");
        running.signal(signal);
        drop(running.wait());
        wait_until_quiet(&network, 2, "a session");
    }
}

#[test]
#[ignore = "needs root, an sshd and Slurm: cargo xtask cluster"]
fn a_session_takes_the_nodes_of_its_job() {
    let mut network = Network::new(4);
    network.start_slurm();
    let root = Root::with(&[Fake::good("fake-one").claiming(&["plaintext", "users"])]);
    root.copy_workload("users");
    let run = "run --heats 2 --heat-time 300ms --slice 40ms --guard 10ms --warm-up 100ms --rate none --slurm \
               --workload plaintext --workload users";
    let words = [
        &["salloc", "--quiet", "--nodes=3"][..],
        &["srun", "--nodes=1", "--ntasks=1", "--overlap"],
        &[env!("CARGO_BIN_EXE_deadheat")],
        &run.split_whitespace().collect::<Vec<_>>(),
    ]
    .concat();
    let mut command = network.in_slurm(&words);
    command.current_dir(root.path());
    let output = command.output().expect("starting salloc");
    let told = String::from_utf8_lossy(&output.stderr);
    // It answers no users.
    assert!(!output.status.success(), "{told}");
    let session = root.session();
    session.assert_measured("fake-one");
    let header = &session.record.header;
    let hosts = header.hosts.iter().map(|host| host.name.as_str());
    assert_eq!(hosts.collect::<Vec<_>>(), ["h3", "h4"], "{told}");
    let database = header.postgres.as_deref().expect("a database");
    assert!(database.ends_with(" on h4"), "{database}");
    let listened = header.plan.hosts.as_ref().map(|hosts| hosts.address);
    assert_eq!(listened, Some(network.address(2)));
    wait_until_quiet(&network, 4, "a job");
}

/// Passes bytes on to `server`, each way after `delay`. Ends with the process.
fn relay(network: &Network, server: SocketAddr, delay: Duration) -> SocketAddr {
    let listener = TcpListener::bind((network.here(), 0)).expect("a relay");
    let address = listener.local_addr().expect("an address");
    thread::spawn(move || {
        for near in listener.incoming().flatten() {
            let far = TcpStream::connect(server).expect("connecting to the server");
            for stream in [&near, &far] {
                stream
                    .set_nodelay(true)
                    .expect("no delay of the kernel's own");
            }
            let ways = [(near.try_clone(), far.try_clone()), (Ok(far), Ok(near))];
            for (from, to) in ways {
                let (from, to) = (from.expect("a stream"), to.expect("a stream"));
                thread::spawn(move || pass_on(from, to, delay));
            }
        }
    });
    address
}

fn pass_on(mut from: TcpStream, mut to: TcpStream, delay: Duration) {
    let (late, due) = std::sync::mpsc::channel::<(Instant, Vec<u8>)>();
    thread::spawn(move || {
        for (at, bytes) in due {
            thread::sleep(at.saturating_duration_since(Instant::now()));
            if to.write_all(&bytes).is_err() {
                return;
            }
        }
        let _ = to.shutdown(std::net::Shutdown::Write);
    });
    let mut buffer = [0; 4096];
    while let Ok(length @ 1..) = from.read(&mut buffer) {
        if late
            .send((Instant::now() + delay, buffer[..length].to_vec()))
            .is_err()
        {
            return;
        }
    }
}
