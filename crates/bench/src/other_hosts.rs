//! The other hosts of a session: those that load the servers, and the one of the database.

use std::{
    collections::BTreeSet,
    net::{IpAddr, Ipv4Addr},
    path::{Path, PathBuf},
};

use clap::Args;
use deadheat_model::{
    heats::Plan,
    machine::{DatabaseHost, Hosts},
};
use deadheat_runner::{
    agent::{LOCAL, Launcher},
    manifest::{HostsFile, NamedHosts},
};
use deadheat_shell::{
    exit::CommandFailure,
    hosts::{LauncherArgs, check_names, check_share, may_listen, own_address, resolved, way_to},
    options::ExplicitOptions,
    output,
    values::cpus,
};

use crate::slurm::{self, Node};

/// The options of other hosts.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Several hosts")]
pub struct OtherHostsArgs {
    /// Load the servers from this host instead of this machine, repeatable; each has an equal share
    #[arg(long, value_name = "HOST", hide_short_help = true)]
    pub generator: Vec<String>,
    /// Run PostgreSQL on this host instead of this machine; ADDRESS if its name does not lead there
    #[arg(long, value_name = "HOST[=ADDRESS]", hide_short_help = true)]
    pub(crate) database: Option<String>,
    /// In a Slurm job: the servers run on this node, the others load them, and the last of several has the database, if a
    /// workload needs one
    #[arg(long, hide_short_help = true, conflicts_with_all = ["generator", "database", "launcher", "hosts"])]
    pub(crate) slurm: bool,
    #[command(flatten)]
    pub(crate) reach: LauncherArgs,
    /// The CPUs of each generator, a worker on each, such as 0-3. For hosts that do nothing else, because workers wait
    /// awake [default: one worker, not pinned, which sleeps]
    #[arg(long, value_name = "LIST", hide_short_help = true)]
    pub(crate) generator_cpus: Option<String>,
    /// This machine's address that the generators reach; servers listen on it [default: the one that leads to the first
    /// generator]
    #[arg(long, value_name = "IP", hide_short_help = true)]
    pub(crate) address: Option<IpAddr>,
    /// A file (TOML) with these options by name, such as generator = ["load1", "load2"]; options on the command line
    /// take precedence
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub(crate) hosts: Option<PathBuf>,
    /// The options that came from that file.
    #[arg(skip)]
    file: Option<HostsFileOptions>,
}

impl OtherHostsArgs {
    /// Takes from the file of hosts, if one was named, what the command line does not say.
    ///
    /// # Errors
    /// The mistakes in the file.
    pub fn read_file(&mut self, explicit: &mut ExplicitOptions) -> Result<(), CommandFailure> {
        let Some(path) = &self.hosts else {
            return Ok(());
        };
        let mut file = HostsFileOptions::read(path)?;
        let named = file.named();
        if self.generator.is_empty() && file.takes("generator", !named.generator.is_empty()) {
            self.generator = named.generator;
        }
        file.fill("database", &mut self.database, named.database);
        file.fill("launcher", &mut self.reach.launcher, named.launcher);
        file.fill("agent", &mut self.reach.agent, named.agent);
        let cpus = &mut self.generator_cpus;
        file.fill("generator-cpus", cpus, named.generator_cpus);
        file.fill("address", &mut self.address, named.address);
        file.taken().for_each(|option| explicit.add(option));
        self.file = Some(file);
        Ok(())
    }

    /// The result of a check of an option's value. A mistake is drawn with its line if the value is from the file.
    fn located<T>(
        &self,
        option: &str,
        found: Result<T, CommandFailure>,
    ) -> Result<T, CommandFailure> {
        found.map_err(|error| match &self.file {
            Some(file) => file.drawn(option, error),
            None => error,
        })
    }

    /// What messages call the value of an option: "--database", or "`database` (hosts.toml:2)".
    pub fn called(&self, option: &str) -> String {
        let name = option.trim_start_matches('-');
        let of_file = self.file.as_ref().and_then(|file| file.called(name));
        of_file.unwrap_or_else(|| option.to_owned())
    }
}

/// The hosts that were asked for; `None`: this machine does everything. `starts`: servers are started, and need an address
/// of this machine.
///
/// # Errors
/// What is wrong with them.
pub fn hosts(
    args: &OtherHostsArgs,
    starts: bool,
    needs_database: bool,
) -> Result<Option<Hosts>, CommandFailure> {
    if args.slurm {
        return of_job(args, &slurm::others()?, needs_database).map(Some);
    }
    let names = &args.generator;
    let unneeded = [
        ("generator-cpus", args.generator_cpus.is_some()),
        ("address", args.address.is_some()),
    ];
    let unneeded = unneeded.iter().find(|(_, given)| *given);
    if let Some((option, _)) = unneeded.filter(|_| names.is_empty()) {
        let error = CommandFailure::usage(format!(
            "--{option} is for generators: name them with --generator, or omit it"
        ));
        return args.located(option, Err(error));
    }
    if names.is_empty() && args.database.is_none() {
        let reach = [
            ("launcher", args.reach.launcher.is_some()),
            ("agent", args.reach.agent.is_some()),
            ("hosts", args.hosts.is_some()),
        ];
        return match reach.iter().find(|(_, given)| *given) {
            Some((option, _)) => {
                let error = CommandFailure::usage(format!(
                    "--{option} is for other hosts: name them with --generator or --database, or omit it"
                ));
                args.located(option, Err(error))
            }
            None => Ok(None),
        };
    }
    args.located("generator", check_names("--generator", names))?;
    let database = args.database.as_deref().map(database);
    Ok(Some(Hosts {
        generators: names.clone(),
        database: database
            .map(|found| args.located("database", found))
            .transpose()?,
        launcher: args.reach.launcher().to_string(),
        agent: args.reach.agent.clone(),
        generator_cpus: generator_cpus(args)?,
        address: match (args.address, names.first()) {
            (Some(address), _) => args.located("address", own_address(address))?,
            (None, Some(first)) if starts => args.located("generator", leading_to(names, first))?,
            _ => Ipv4Addr::LOCALHOST.into(),
        },
    }))
}

/// The other nodes of a Slurm job.
fn of_job(
    args: &OtherHostsArgs,
    others: &[Node],
    needs_database: bool,
) -> Result<Hosts, CommandFailure> {
    let (database, generators) = match others {
        [generators @ .., last] if needs_database && !generators.is_empty() => {
            (Some(last), generators)
        }
        all => (None, all),
    };
    let way = |node: &Node| {
        let way = way_to(node.address);
        way.map_err(|error| {
            CommandFailure::usage(format!("--slurm: cannot reach {} ({error})", node.name))
        })
    };
    let database = database.map(|node| {
        may_listen("--slurm: the database at", node.address)?;
        Ok::<_, CommandFailure>(DatabaseHost {
            host: node.name.clone(),
            address: node.address,
            client: way(node)?,
        })
    });
    let address = match (args.address, generators.first()) {
        (Some(address), _) => own_address(address)?,
        (None, Some(first)) => way(first)?,
        (None, None) => Ipv4Addr::LOCALHOST.into(),
    };
    may_listen("--slurm: servers at", address)?;
    Ok(Hosts {
        generators: generators.iter().map(|node| node.name.clone()).collect(),
        database: database.transpose()?,
        launcher: Launcher::srun().to_string(),
        agent: args.reach.agent.clone(),
        generator_cpus: generator_cpus(args)?,
        address,
    })
}

fn generator_cpus(args: &OtherHostsArgs) -> Result<Vec<usize>, CommandFailure> {
    let list = args.generator_cpus.as_deref();
    let parsed = list.map(|list| cpus("--generator-cpus", list)).transpose();
    Ok(args.located("generator-cpus", parsed)?.unwrap_or_default())
}

/// Refuses a plan with a load that has fewer connections than there are generators.
pub fn check(args: &OtherHostsArgs, plan: &Plan) -> Result<(), CommandFailure> {
    let generators = plan
        .hosts
        .as_ref()
        .map_or(0, |hosts| hosts.generators.len());
    let loads = plan.loads.iter();
    let fewest = loads.map(|load| load.point.connections).min();
    let checked = check_share("--generator", generators, fewest.unwrap_or(u32::MAX));
    args.located("generator", checked)
}

/// "db1", "db1=10.0.0.3": the host of the database.
fn database(text: &str) -> Result<DatabaseHost, CommandFailure> {
    let (host, address) = match text.split_once('=') {
        Some((host, address)) => {
            let address = address.parse().map_err(|_| {
                CommandFailure::usage(format!(
                    "--database {text}: {address:?} is not an IP address; write HOST or HOST=ADDRESS"
                ))
            })?;
            (host, Some(address))
        }
        None => (text, None),
    };
    check_names("--database", &[host.to_owned()])?;
    let address = match address {
        Some(address) => address,
        None if host == LOCAL => Ipv4Addr::LOCALHOST.into(),
        None => resolved(host).map_err(|error| {
            CommandFailure::usage(format!(
                "--database {host}: its address is not known ({error}); write {host}=ADDRESS"
            ))
        })?,
    };
    may_listen("--database", address)?;
    let client = way_to(address).map_err(|error| {
        CommandFailure::usage(format!(
            "--database {host}: cannot reach {address} ({error})"
        ))
    })?;
    Ok(DatabaseHost {
        host: host.to_owned(),
        address,
        client,
    })
}

/// The address of this machine that a host reaches, by the way that leads to it. Nothing is sent.
fn leading_to(names: &[String], host: &str) -> Result<IpAddr, CommandFailure> {
    if names.iter().all(|name| name == LOCAL) {
        return Ok(Ipv4Addr::LOCALHOST.into());
    }
    let address = resolved(host).and_then(way_to).map_err(|error| {
        CommandFailure::usage(format!(
            "--generator {host}: the address of this machine that leads there is not known ({error}); set it with \
             --address"
        ))
    })?;
    may_listen("--address", address)?;
    Ok(address)
}

/// A file of hosts, and which options have their values from it.
#[derive(Clone, Debug)]
struct HostsFileOptions {
    file: HostsFile,
    taken: BTreeSet<String>,
}

impl HostsFileOptions {
    /// Reads the file.
    ///
    /// # Errors
    /// Its mistakes, drawn.
    fn read(path: &Path) -> Result<Self, CommandFailure> {
        let file = HostsFile::read(path)
            .map_err(|errors| CommandFailure::usage(errors.render(output::colour_of_notes())))?;
        Ok(Self {
            file,
            taken: BTreeSet::new(),
        })
    }

    /// The options of the file.
    fn named(&self) -> NamedHosts {
        self.file.named.clone()
    }

    /// Notes that an option has its value from here, if `is_there`. Returns `is_there`.
    fn takes(&mut self, option: &str, is_there: bool) -> bool {
        if is_there {
            self.taken.insert(option.to_owned());
        }
        is_there
    }

    /// The options that have their values from here.
    fn taken(&self) -> impl Iterator<Item = &str> {
        self.taken.iter().map(String::as_str)
    }

    /// Gives an option that has no value yet the one from here.
    fn fill<T>(&mut self, option: &str, into: &mut Option<T>, value: Option<T>) {
        if into.is_none() && self.takes(option, value.is_some()) {
            *into = value;
        }
    }

    /// The message about an option, drawn with its line if the value is from here.
    fn drawn(&self, option: &str, error: CommandFailure) -> CommandFailure {
        if !self.taken.contains(option) {
            return error;
        }
        let message = error.to_string();
        let title = message.trim_start_matches("--");
        let mistake = self.file.mistake(option, title);
        CommandFailure::usage(mistake.render(output::colour_of_notes()))
    }

    /// What messages call the value of an option that is from here.
    fn called(&self, option: &str) -> Option<String> {
        let is_here = self.taken.contains(option);
        is_here.then(|| format!("`{option}` ({})", self.file.line_of(option)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(change: impl FnOnce(&mut OtherHostsArgs)) -> Result<Option<Hosts>, String> {
        let mut args = OtherHostsArgs::default();
        change(&mut args);
        hosts(&args, true, true).map_err(|error| error.to_string())
    }

    #[test]
    fn without_generators_this_machine_does_everything() {
        assert_eq!(ask(|_| ()), Ok(None));
        let lone = ask(|args| args.address = Some(Ipv4Addr::LOCALHOST.into()));
        assert!(lone.unwrap_err().starts_with("--address is for generators"));
    }

    #[test]
    fn servers_listen_where_the_generators_reach_them() {
        let of = |names: &[&str], address: Option<&str>| {
            ask(|args| {
                args.generator = names.iter().map(|name| (*name).to_owned()).collect();
                args.address = address.map(|text| text.parse().unwrap());
            })
        };
        let local = of(&["local"], None).unwrap().unwrap();
        assert_eq!(local.address, Ipv4Addr::LOCALHOST);
        let near = of(&["127.0.0.1"], None).unwrap().unwrap();
        assert_eq!(near.address, Ipv4Addr::LOCALHOST);
        let refusals = [
            (of(&["no-such-host.invalid"], None), "set it with --address"),
            (of(&["h2"], Some("192.0.2.1")), "neither this machine's"),
            (
                of(&["h2"], Some("10.255.255.254")),
                "use an address of this machine",
            ),
            (of(&["h2"], Some("0.0.0.0")), "one address"),
            (of(&["h2", "h2"], Some("127.0.0.1")), "twice"),
        ];
        for (refusal, why) in refusals {
            let refusal = refusal.unwrap_err();
            assert!(refusal.contains(why), "{refusal}");
        }
    }

    #[test]
    fn the_database_takes_connections_from_the_way_that_leads_to_it() {
        let of = |text: &str| ask(|args| args.database = Some(text.to_owned()));
        let hosts = of("db=127.0.0.2").unwrap().unwrap();
        assert!(!hosts.load_it());
        assert_eq!(hosts.address, Ipv4Addr::LOCALHOST);
        let database = hosts.database.unwrap();
        assert_eq!(database.host, "db");
        assert_eq!(database.address, Ipv4Addr::new(127, 0, 0, 2));
        assert!(database.client.is_loopback());
        let refusals = [
            ("no-such-host.invalid", "write no-such-host.invalid=ADDRESS"),
            ("db=x", "not an IP address"),
            ("db=192.0.2.1", "neither"),
            ("-x=10.0.0.1", "not the name of a host"),
        ];
        for (text, why) in refusals {
            let error = of(text).unwrap_err();
            assert!(error.contains(why), "{error}");
        }
    }

    #[test]
    fn the_last_of_several_nodes_has_the_database_if_one_is_needed() {
        let node = |nth: u8| Node {
            name: format!("n{nth}"),
            address: Ipv4Addr::new(127, 0, 0, nth).into(),
        };
        let nodes = [node(2), node(3), node(4)];
        let of = |count: usize, needs: bool| {
            let hosts = of_job(&OtherHostsArgs::default(), &nodes[..count], needs).unwrap();
            (hosts.generators, hosts.database.map(|one| one.host))
        };
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        assert_eq!(of(3, true), (names(&["n2", "n3"]), Some("n4".to_owned())));
        assert_eq!(of(3, false), (names(&["n2", "n3", "n4"]), None));
        assert_eq!(of(1, true), (names(&["n2"]), None));
    }

    #[test]
    fn cpus_are_those_of_the_generators() {
        let of = |list: &str| {
            ask(|args| {
                args.generator = vec!["local".to_owned()];
                args.generator_cpus = Some(list.to_owned());
            })
        };
        assert_eq!(of("0-2,5").unwrap().unwrap().generator_cpus, [0, 1, 2, 5]);
        assert!(of("x").unwrap_err().starts_with("--generator-cpus \"x\""));
    }

    fn with_file(text: &str, change: impl FnOnce(&mut OtherHostsArgs)) -> Result<Hosts, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("hosts.toml");
        std::fs::write(&path, text).unwrap();
        let hosts = ask(|args| {
            args.hosts = Some(path);
            change(args);
            args.read_file(&mut ExplicitOptions::default()).unwrap();
        });
        hosts.map(|hosts| hosts.expect("hosts"))
    }

    #[test]
    fn options_take_precedence_over_the_file() {
        let text = "generator = [\"a\", \"b\"]\nlauncher = \"kubectl\"\nagent = \"/opt/deadheat\"\n\
                generator-cpus = \"0-1\"\naddress = \"127.0.0.1\"\ndatabase = \"db=127.0.0.2\"\n";
        let of_file = with_file(text, |_| ()).unwrap();
        assert_eq!(of_file.generators, ["a", "b"]);
        assert_eq!(of_file.launcher, Launcher::kubectl().to_string());
        assert_eq!(of_file.agent, Some("/opt/deadheat".into()));
        assert_eq!(of_file.generator_cpus, [0, 1]);
        assert_eq!(of_file.database.unwrap().host, "db");
        let mixed = with_file(text, |args| {
            args.generator = vec!["c".to_owned()];
            args.database = Some("other=127.0.0.3".to_owned());
            args.reach.launcher = Some(Launcher::srun());
            args.generator_cpus = Some("5".to_owned());
        });
        let mixed = mixed.unwrap();
        assert_eq!(mixed.generators, ["c"]);
        assert_eq!(mixed.database.unwrap().host, "other");
        assert_eq!(mixed.launcher, Launcher::srun().to_string());
        assert_eq!(mixed.generator_cpus, [5]);
        assert_eq!(mixed.agent, Some("/opt/deadheat".into()));
    }

    #[test]
    fn what_an_option_refuses_is_refused_in_the_file_with_its_line() {
        let cases = [
            (
                "generator = [\"a\", \"a\"]",
                "1:13",
                "generator a: it is listed twice",
            ),
            (
                "generator = [\"local\"]\ngenerator-cpus = \"x\"",
                "2:18",
                "write numbers",
            ),
            (
                "generator = [\"a\"]\naddress = \"192.0.2.1\"",
                "2:11",
                "neither this",
            ),
            (
                "generator = [\"no-such.invalid\"]",
                "1:13",
                "set it with --address",
            ),
            ("\ndatabase = \"db=x\"", "2:12", "not an IP address"),
            (
                "agent = \"/opt/deadheat\"",
                "1:9",
                "name them with --generator",
            ),
            ("address = \"127.0.0.1\"", "1:11", "for generators"),
        ];
        for (text, place, why) in cases {
            let error = with_file(text, |_| ()).unwrap_err();
            let place = format!("hosts.toml:{place}");
            assert!(
                error.contains(&place) && error.contains(why),
                "{text}: {error}"
            );
        }
        // What the command line says has no line.
        let error = with_file("agent = \"x\"", |args| {
            args.database = Some("db=x".to_owned());
        });
        assert!(error.unwrap_err().starts_with("--database db=x"));
        let error = with_file("", |_| ()).unwrap_err();
        assert!(error.starts_with("--hosts is for other hosts"), "{error}");
    }
}
