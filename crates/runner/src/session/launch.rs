//! How a stack's server is started: its command, with the environment of the contract.

use std::{
    collections::BTreeMap,
    net::IpAddr,
    path::{Path, PathBuf},
    sync::atomic::AtomicBool,
    time::Duration,
};

use deadheat_model::{Protocols, StackProtocol, WorkloadManifest, plan::Pinning, stack::Pool};

use super::{
    SelectedTarget,
    cpus::server_cpus,
    server::{Probe, Program, Server, StartError},
};
use crate::{
    certificate::Certificate,
    prepare::search_path,
    process::Supervision,
    verify::{Fixtures, Ports, Route},
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
    /// The protocols that it must serve in addition to HTTP/1.1 without TLS. They are the same in the whole session.
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
pub(super) fn own_environment(
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

#[cfg(test)]
mod tests {
    use super::*;
    use deadheat_model::workload::{MixedPart, Oracle};

    use crate::session::fixtures::{selected, workload};

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
}
