//! How a stack's server is started: its command, with the environment of the contract. It is ready at its first correct
//! answer, asked for in the same way whatever is measured, so that the time to it can be compared.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    net::{IpAddr, TcpStream},
    path::{Path, PathBuf},
    sync::atomic::AtomicBool,
    time::Duration,
};

use deadheat_model::{
    LoadPoint, Protocols, StackProtocol, WorkloadManifest, plan::Pinning, stack::Pool,
    workload::Oracle,
};

use super::{
    SelectedTarget,
    cpus::server_cpus,
    server::{Probe, Program, Server, StartError},
};
use crate::{
    certificate::Certificate,
    prepare::search_path,
    process::{Supervision, descendants},
    verify::{Client, Fault, Fixtures, Ports, Route, text_answer},
};

/// The variable that limits how many processes a stack starts, of its CPUs.
const MAX_PROCESSES: &str = "MAX_PROCESSES";

/// What a stack's server is started with.
pub struct Launch<'a> {
    /// The stack and its variant.
    pub target: &'a SelectedTarget,
    /// How it is supervised.
    pub supervision: &'a Supervision,
    /// The CPUs that it is pinned to.
    pub pinned: Option<Vec<usize>>,
    /// How many CPUs it may use.
    pub cpus: usize,
    /// The address of this machine that it listens on.
    pub host: IpAddr,
    /// What it is asked to speak beside HTTP/1.1 without TLS: the same in all of a session.
    pub protocols: Protocols,
    /// The session's certificate, if a server of it is asked over TLS.
    pub certificate: Option<Certificate>,
    /// The workload that it is asked for, which may need an environment of its own.
    pub workload: &'a WorkloadManifest,
    /// Its number among the servers that are alive together, each of which has a role of its own in the database.
    pub seat: usize,
    /// The file for its output.
    pub log: PathBuf,
    /// How long it may take to its first correct answer.
    pub timeout: Duration,
}

impl Launch<'_> {
    /// How the server is reached over `protocol`, if it was given these ports.
    pub(crate) fn route(&self, ports: &Ports, protocol: StackProtocol) -> Route {
        ports.route(protocol, self.certificate.clone())
    }
}

impl Server {
    /// Starts a stack's server and asks until `probe` is satisfied with its answer.
    ///
    /// # Errors
    /// When it cannot be started, ends, or does not answer rightly in time.
    pub fn start(
        launch: &Launch<'_>,
        fixtures: &Fixtures,
        interrupt: &AtomicBool,
        probe: &mut Probe<'_>,
    ) -> Result<Self, StartError> {
        Self::start_program(&program(launch, fixtures), interrupt, probe)
    }
}

fn program<'a>(launch: &Launch<'a>, fixtures: &Fixtures) -> Program<'a> {
    let target = launch.target;
    Program {
        name: target.target.to_string(),
        command: target.stack.manifest.command(&target.target).to_vec(),
        host: launch.host,
        dir: target.stack.dir.clone(),
        protocols: launch.protocols,
        certificate: launch.certificate.clone(),
        env: environment(launch, fixtures),
        supervision: launch.supervision,
        pinned: launch.pinned.clone(),
        log: launch.log.clone(),
        timeout: launch.timeout,
    }
}

/// The environment of the contract (docs/adding-a-stack.md) but host and ports, then the stack's own.
fn environment(launch: &Launch<'_>, fixtures: &Fixtures) -> Vec<(String, String)> {
    let manifest = &launch.target.stack.manifest;
    let path = |path: &Path| path.display().to_string();
    let mut env = vec![
        ("PATH".to_owned(), search_path()),
        ("CPUS".to_owned(), launch.cpus.to_string()),
        ("BLOB_PATH".to_owned(), path(fixtures.blob.path())),
        ("STATIC_DIR".to_owned(), path(fixtures.assets.path())),
    ];
    if let Some(database) = manifest.database(&launch.target.target) {
        let size = match database.pool {
            Pool::Size(size) => size,
            Pool::None => 0,
        };
        env.push(("POOL_SIZE".to_owned(), size.to_string()));
    }
    if let Some(postgres) = &fixtures.postgres {
        env.push((
            "DATABASE_URL".to_owned(),
            postgres.url_of(launch.seat).to_owned(),
        ));
    }
    if let Some(upstream) = &fixtures.upstream {
        env.push(("UPSTREAM_URL".to_owned(), upstream.url()));
    }
    env.extend(own_environment(launch.target, launch.workload, launch.cpus));
    env
}

/// Whether a stack's server is started with the same environment for both workloads, so that one process can serve both, and
/// neither asks for memory that the other would have its part in.
pub(super) fn is_started_alike(
    target: &SelectedTarget,
    pinning: &Pinning,
    workload: &WorkloadManifest,
    other: &WorkloadManifest,
) -> bool {
    let asks_for_memory = |one: &WorkloadManifest| one.oracle.asks_for_memory();
    if workload.id != other.id && (asks_for_memory(workload) || asks_for_memory(other)) {
        return false;
    }
    let (_, cpus) = server_cpus(target, pinning);
    own_environment(target, workload, cpus) == own_environment(target, other, cpus)
}

/// What a stack's own manifest adds to it for a workload. A limit of processes that its CPUs do not reach is left out: with it
/// the server would be no other one.
fn own_environment(
    target: &SelectedTarget,
    workload: &WorkloadManifest,
    cpus: usize,
) -> BTreeMap<String, String> {
    let mut own = target.stack.manifest.env(&target.target, Some(workload));
    own.retain(|name, value| {
        name != MAX_PROCESSES || value.parse().map_or(true, |most: usize| most < cpus)
    });
    own
}

/// How long one attempt may take; a server that has just begun to listen may need a moment.
pub(crate) const ATTEMPT: Duration = Duration::from_secs(2);

/// Why a server is not ready.
#[derive(Debug)]
pub struct NotReady {
    /// What came instead of a right answer.
    pub reason: String,
    /// Whether it will not be ready later, either.
    pub is_refusal: bool,
    /// Whether it answered, and wrongly.
    pub is_answer: bool,
}

impl From<Fault> for NotReady {
    fn from(fault: Fault) -> Self {
        Self {
            reason: fault.to_string(),
            is_refusal: fault.is_refusal,
            is_answer: fault.is_answer(),
        }
    }
}

/// The question whose right answer makes a server ready.
#[derive(Clone, Debug)]
pub struct Readiness {
    path: String,
    body: Option<String>,
}

impl Readiness {
    /// The plaintext workload's question when the stack answers that, else `workload`'s path, which only has to be answered
    /// here (the check that follows looks at the rest).
    pub fn new(
        plaintext: Option<&WorkloadManifest>,
        target: &SelectedTarget,
        workload: &WorkloadManifest,
        point: &LoadPoint,
    ) -> Self {
        let manifest = &target.stack.manifest;
        let answered = plaintext.filter(|one| manifest.answers(one));
        let chosen = answered.unwrap_or(workload);
        let path = manifest.path_of(chosen);
        Self {
            path: match answered {
                Some(_) => path.to_owned(),
                None => point.fill(path),
            },
            body: match &chosen.oracle {
                Oracle::Text { body } => Some(body.clone()),
                _ => None,
            },
        }
    }

    /// Asks once.
    ///
    /// # Errors
    /// Why it is not ready yet.
    pub fn probe(&self, route: Route) -> Result<(), NotReady> {
        // A refused connection is the usual answer so far, and cheaper to find out this way.
        TcpStream::connect_timeout(&route.address, ATTEMPT).map_err(|error| NotReady {
            reason: format!("connecting: {error}"),
            is_refusal: false,
            is_answer: false,
        })?;
        let mut client = Client::with_timeout(route, ATTEMPT);
        Ok(text_answer(&mut client, &self.path, self.body.as_deref())?)
    }
}

/// The state `LISTEN` in `/proc/net/tcp` (proc_net(5), enum tcp_state).
const LISTEN: &str = "0A";

/// Whether a process below `supervisor` listens on `port`: a server that answers rightly must also be the one that was
/// started. When `/proc` cannot tell, it is believed.
pub(super) fn belongs_to_tree(port: u16, supervisor: u32) -> bool {
    let tables = ["/proc/net/tcp", "/proc/net/tcp6"];
    let listening: BTreeSet<String> = tables
        .iter()
        .filter_map(|table| fs::read_to_string(table).ok())
        .flat_map(|text| listeners(&text, port))
        .map(|inode| format!("socket:[{inode}]"))
        .collect();
    if listening.is_empty() {
        return true;
    }
    descendants(supervisor).iter().any(|process| {
        let Ok(files) = fs::read_dir(format!("/proc/{}/fd", process.pid)) else {
            return false;
        };
        files
            .flatten()
            .filter_map(|file| fs::read_link(file.path()).ok())
            .any(|link| link.to_str().is_some_and(|link| listening.contains(link)))
    })
}

/// Inodes of sockets that listen on `port`.
fn listeners(table: &str, port: u16) -> Vec<u64> {
    let suffix = format!(":{port:04X}");
    table
        .lines()
        .skip(1)
        .filter_map(|line| {
            let fields: Vec<&str> = line.split_ascii_whitespace().collect();
            let listens = fields.get(1)?.ends_with(&suffix) && *fields.get(3)? == LISTEN;
            if listens {
                fields.get(9)?.parse().ok()
            } else {
                None
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use deadheat_model::workload::{MixedPart, Oracle};

    use super::*;
    use crate::session::fixtures::{point, selected, workload};

    #[test]
    fn a_limit_of_processes_makes_another_server_only_where_the_cpus_reach_it() {
        let mut target = selected("a");
        let own = |name: &str, value: &str| [(name.to_owned(), value.to_owned())].into();
        let run = &mut target.stack.manifest.run;
        run.env = own("KIND", "usual");
        run.workload_env
            .insert("users".to_owned(), own(MAX_PROCESSES, "16"));
        run.workload_env
            .insert("proxy".to_owned(), own("THREADS", "512"));
        let named = |id: &str| workload(id, Oracle::Greeting).manifest;
        let of = |id: &str, cpus| own_environment(&target, &named(id), cpus);
        assert_eq!(of("users", 16), of("plaintext", 16));
        assert_eq!(of("users", 17)[MAX_PROCESSES], "16");
        assert_eq!(of("users", 17)["KIND"], "usual");
        // The stack itself is to say what is wrong with it.
        let mut wrong = target.clone();
        wrong.stack.manifest.run.env = own(MAX_PROCESSES, "many");
        assert_eq!(
            own_environment(&wrong, &named("plaintext"), 1)[MAX_PROCESSES],
            "many"
        );
        assert_ne!(of("proxy", 1), of("plaintext", 1));
        // A mixed workload needs what its parts need.
        let part = |id: &str| MixedPart {
            workload: id.to_owned(),
            weight: 1,
            manifest: Some(Box::new(named(id))),
        };
        let part = vec![part("plaintext"), part("users")];
        let mixed = workload("mixed", Oracle::Mixed { part }).manifest;
        assert_eq!(own_environment(&target, &mixed, 17)[MAX_PROCESSES], "16");
    }

    #[test]
    fn takes_listeners_on_that_port_only() {
        let table = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n\
        0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000 0 0 111 1 0 100 0 0 10 0\n\
        1: 0100007F:1F90 0100007F:9C40 01 00000000:00000000 00:00000000 00000000 0 0 222 1 0 20 4 30 10 -1\n\
        2: 0100007F:1F91 00000000:0000 0A 00000000:00000000 00:00000000 00000000 0 0 333 1 0 100 0 0 10 0\n";
        assert_eq!(listeners(table, 8080), [111]);
    }

    #[test]
    fn a_port_of_this_process_is_not_a_childs() {
        let socket = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = socket.local_addr().unwrap().port();
        assert!(!belongs_to_tree(port, std::process::id()));
    }

    #[test]
    fn the_numbers_of_a_load_point_are_in_the_path_of_its_own_workload_alone() {
        let text = Oracle::Text {
            body: String::new(),
        };
        let plaintext = workload("plaintext", text).manifest;
        let hash = WorkloadManifest {
            path: "/bytes?rounds=".to_owned(),
            ..workload("hash", Oracle::DigestChain).manifest
        };
        let point = LoadPoint {
            queries: Some(20),
            ..point("q20")
        };
        let target = selected("go");
        let path = |plaintext| Readiness::new(plaintext, &target, &hash, &point).path;
        assert_eq!(path(Some(&plaintext)), "/");
        assert_eq!(path(None), "/bytes?rounds=20");
    }
}
