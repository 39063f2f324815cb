//! What a session is asked to do.

use std::{
    collections::BTreeSet,
    net::{IpAddr, Ipv4Addr},
    path::PathBuf,
    time::Duration,
};

use deadheat_model::{
    Cell, LoadPoint, Protocols, RepeatedTable, TargetId, Wait, Warning, WorkloadManifest,
    comparison::Comparison, machine::Hosts, plan::Pinning, session::Purpose,
};

use super::{START_TIMEOUT, heats::HeatOptions, survey::Inspections};
use crate::{
    manifest::{SelectedWorkload, Stack},
    process::Supervision,
    services::postgres::Source,
};

/// A stack under one of its variants.
#[derive(Clone, Debug)]
pub struct SelectedTarget {
    /// The stack and its folder.
    pub stack: Stack,
    /// The variant.
    pub target: TargetId,
}

impl SelectedTarget {
    /// The same target with a CPU budget, or without one.
    pub fn on_cpus(&self, cpus: Option<u32>) -> Self {
        Self {
            target: self.target.on_cpus(cpus),
            ..self.clone()
        }
    }
}

/// How server and generator are pinned to CPUs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PinningMode {
    /// Server and generator on separate CPUs.
    Apart,
    /// No pinning; the operating system chooses the CPUs.
    Off,
}

/// Command-line arguments that are needed again to resume a session.
#[derive(Clone, Debug, Default)]
pub struct RecordedArguments {
    /// The root folder, if it was named.
    pub root: Option<PathBuf>,
    /// Folders with more stacks, if any were named.
    pub stacks: Vec<PathBuf>,
    /// The source of PostgreSQL, without a password.
    pub postgres: String,
}

/// What a session is asked to do.
#[derive(Clone, Debug)]
pub struct SessionOptions {
    /// The comparison, in a session with two sides. Its stacks are also in `targets`. Its other servers are only here,
    /// including their passwords.
    pub comparison: Option<Box<Comparison>>,
    /// Stacks under their variants.
    pub targets: Vec<SelectedTarget>,
    /// The results of [`survey`](super::survey()) for their toolchains. If this is empty, preparation inspects them
    /// itself.
    pub inspections: Inspections,
    /// Workloads with their load points.
    pub workloads: Vec<SelectedWorkload>,
    /// The cells to measure. `None`: all combinations of targets and workloads.
    pub cells: Option<BTreeSet<Cell>>,
    /// Whether stacks are measured over every protocol that they declare, in addition to the load points' protocols.
    pub every_protocol: bool,
    /// Published tables that the session repeats, for the record.
    pub published: Vec<RepeatedTable>,
    /// The plaintext workload, whose answer shows that a server is ready. It need not be measured.
    pub plaintext: Option<WorkloadManifest>,
    /// The folder of all sessions. This session creates its own folder in it.
    pub results: PathBuf,
    /// The seed of everything random.
    pub seed: u64,
    /// The time limit of the measurements; `None` is no limit.
    pub budget: Option<Duration>,
    /// The purpose of the session, which sets defaults.
    pub purpose: Purpose,
    /// The duration of warm-ups, instead of the runtime's; `None` for the runtime's.
    pub warm_up: Option<Duration>,
    /// The options of the heats.
    pub heats: HeatOptions,
    /// How server and generator are pinned to CPUs.
    pub pinning: PinningMode,
    /// The other hosts that take part; `None` if only this machine does.
    pub hosts: Option<Hosts>,
    /// Command-line arguments, for the record.
    pub typed: RecordedArguments,
    /// The sources of PostgreSQL, in order of preference.
    pub postgres: Vec<Source>,
    /// How children are supervised.
    pub supervision: Supervision,
    /// The maximum time from a server's start to its first correct answer.
    pub start_timeout: Duration,
    /// Warnings of [`crate::doctor`] before the session, for the record.
    pub findings: Vec<Warning>,
    /// Whether the report is updated after each heat, for the record.
    pub live: bool,
    /// Deadheat's own arguments, for the record.
    pub arguments: Vec<String>,
    /// Deadheat's version, for the record.
    pub version: String,
}

impl SessionOptions {
    /// Options for these targets and workloads with all cells and defaults. Callers change what differs.
    pub fn new(
        targets: Vec<SelectedTarget>,
        workloads: Vec<SelectedWorkload>,
        plaintext: Option<WorkloadManifest>,
        seed: u64,
        supervision: Supervision,
    ) -> Self {
        Self {
            comparison: None,
            targets,
            inspections: Inspections::default(),
            workloads,
            cells: None,
            every_protocol: false,
            published: Vec::new(),
            plaintext,
            results: "results".into(),
            seed,
            budget: None,
            purpose: Purpose::Usual,
            warm_up: None,
            heats: HeatOptions::default(),
            pinning: PinningMode::Apart,
            hosts: None,
            typed: RecordedArguments::default(),
            postgres: Source::automatic(None),
            supervision,
            start_timeout: START_TIMEOUT,
            findings: Vec::new(),
            live: false,
            arguments: Vec::new(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
        }
    }

    /// The stacks of all targets.
    pub(super) fn stacks(&self) -> impl Iterator<Item = &Stack> {
        self.targets.iter().map(|one| &one.stack)
    }

    /// The address that servers listen on.
    pub(super) fn address(&self) -> IpAddr {
        let hosts = self.hosts.as_ref();
        hosts.map_or(Ipv4Addr::LOCALHOST.into(), |hosts| hosts.address)
    }

    /// The CPUs of the generator's workers; `None` if the generator is not pinned.
    pub(super) fn workers(&self, pinning: &Pinning) -> Option<Vec<usize>> {
        match (&self.hosts, pinning) {
            (Some(hosts), _) if hosts.load_it() => Some(hosts.generator_cpus.clone()),
            (_, Pinning::Apart { generator, .. }) => Some(generator.clone()),
            (_, Pinning::Off { .. }) => None,
        }
    }

    /// How generators on other hosts wait: busy if they have CPUs of their own. `None` if no other host generates load.
    pub(super) fn wait_elsewhere(&self) -> Option<Wait> {
        let hosts = self.hosts.as_ref().filter(|hosts| hosts.load_it())?;
        Some(match hosts.generator_cpus[..] {
            [] => Wait::Sleep,
            _ => Wait::Poll,
        })
    }

    /// Whether a workload needs a service on this machine: the database or the slow upstream.
    pub(super) fn needs_service(&self, workload: &WorkloadManifest) -> bool {
        let has_database = || {
            let hosts = self.hosts.as_ref();
            hosts.is_none_or(|hosts| hosts.database.is_none())
        };
        workload.oracle.needs_upstream() || workload.oracle.needs_database() && has_database()
    }

    /// Whether `target` is measured at a load point of `workload`.
    pub(super) fn asks(&self, target: &SelectedTarget, workload: &SelectedWorkload) -> bool {
        let mut points = workload.points.iter();
        points.any(|point| self.asks_at(target, workload, point))
    }

    /// Whether `target` is measured at `point` of `workload`.
    pub(super) fn asks_at(
        &self,
        target: &SelectedTarget,
        workload: &SelectedWorkload,
        point: &LoadPoint,
    ) -> bool {
        let manifest = &target.stack.manifest;
        manifest.answers_at(&target.target, &workload.manifest, point)
            && self.wants(&target.target, &workload.manifest.id, &point.id)
    }

    /// The protocols that the session uses with `target`, in addition to HTTP/1.1 without TLS. All of its processes are
    /// started with them.
    pub(super) fn protocols(&self, target: &SelectedTarget) -> Protocols {
        let workloads = self.workloads.iter();
        let each = workloads.map(|workload| self.protocols_at(target, workload));
        each.flat_map(Protocols::iter).collect()
    }

    /// The protocols that the session uses with `target` at `workload`, in addition to HTTP/1.1 without TLS.
    pub(super) fn protocols_at(
        &self,
        target: &SelectedTarget,
        workload: &SelectedWorkload,
    ) -> Protocols {
        // Workloads of a pack keep the protocols of their suite.
        if self.every_protocol && workload.manifest.pack.is_none() {
            return target.stack.manifest.protocols(&target.target);
        }
        let points = workload.points.iter();
        let asked = points.filter(|point| self.asks_at(target, workload, point));
        asked.map(|point| point.protocol).collect()
    }

    /// Whether a stack is selected at a load point, provided that it answers the workload.
    pub(super) fn wants(&self, target: &TargetId, workload: &str, point: &str) -> bool {
        let cells = self.cells.as_ref();
        cells.is_none_or(|cells| {
            cells.contains(&Cell {
                target: target.clone(),
                workload: workload.to_owned(),
                point: point.to_owned(),
            })
        })
    }
}
