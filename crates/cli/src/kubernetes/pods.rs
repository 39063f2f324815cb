//! Which pods there are.

use super::args::KubernetesArgs;

/// The name of everything but the pods.
pub(super) const NAME: &str = "deadheat";
/// The label of all pods.
pub(super) const LABEL: &str = "app.kubernetes.io/name";
/// The variable of the environment that has the address of the server's pod.
pub(super) const ADDRESS: &str = "POD_IP";

/// A pod.
pub(super) struct Pod {
    pub(super) name: String,
    pub(super) cpus: u32,
}

/// The pods of a session.
pub(super) struct Pods {
    /// Where Deadheat runs, and the servers.
    pub(super) server: Pod,
    pub(super) generators: Vec<Pod>,
    pub(super) database: Option<Pod>,
}

impl Pods {
    pub(super) fn of(args: &KubernetesArgs) -> Self {
        let pod = |role: &str, cpus: u32| Pod {
            name: format!("{NAME}-{role}"),
            cpus,
        };
        let generator = |nth: u32| pod(&format!("generator-{nth}"), args.generator_cpus);
        Self {
            server: pod("server", args.server_cpus),
            generators: (1..=args.generators).map(generator).collect(),
            database: args.database.then(|| pod("database", args.server_cpus)),
        }
    }

    /// Those that Deadheat reaches from the server's pod.
    pub(super) fn others(&self) -> impl Iterator<Item = &Pod> {
        self.generators.iter().chain(&self.database)
    }
}
