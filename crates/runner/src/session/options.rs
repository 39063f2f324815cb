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
    /// This target with a CPU budget, or without one.
    pub fn on_cpus(&self, cpus: Option<u32>) -> Self {
        Self {
            target: self.target.on_cpus(cpus),
            ..self.clone()
        }
    }
}

/// Whether server and generator are kept on CPUs of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PinningMode {
    /// Each on its own.
    Apart,
    /// The operating system decides.
    Off,
}

/// What was typed and is needed again when a session goes on.
#[derive(Clone, Debug, Default)]
pub struct RecordedArguments {
    /// The root folder, if it was named.
    pub root: Option<PathBuf>,
    /// Folders with more stacks, if any were named.
    pub stacks: Vec<PathBuf>,
    /// Where PostgreSQL is to come from, without a password.
    pub postgres: String,
}

/// What a session is asked to do.
#[derive(Clone, Debug)]
pub struct SessionOptions {
    /// What is compared, in a session of two sides. Stacks are among the targets; other servers are here alone, with
    /// their passwords.
    pub comparison: Option<Box<Comparison>>,
    /// Stacks under their variants.
    pub targets: Vec<SelectedTarget>,
    /// What [`survey`](super::survey()) found of their toolchains; preparation asks them itself where this is empty.
    pub inspections: Inspections,
    /// Workloads with their load points.
    pub workloads: Vec<SelectedWorkload>,
    /// The cells to measure, of all that targets and workloads make; `None`: all.
    pub cells: Option<BTreeSet<Cell>>,
    /// Whether stacks are asked over each protocol that they declare, whatever the load points speak.
    pub every_protocol: bool,
    /// Published tables that are repeated, for the record.
    pub published: Vec<RepeatedTable>,
    /// The plaintext workload, whose answer tells that a server is ready, measured or not.
    pub plaintext: Option<WorkloadManifest>,
    /// The folder of sessions; this one makes its own in it.
    pub results: PathBuf,
    /// The seed of everything random.
    pub seed: u64,
    /// The time that measuring may take; `None`: what it takes.
    pub budget: Option<Duration>,
    /// What it is for; decides what nobody said.
    pub purpose: Purpose,
    /// So long a warm-up, whatever the runtime.
    pub warm_up: Option<Duration>,
    /// How it is measured.
    pub heats: HeatOptions,
    /// Whether server and generator are kept apart.
    pub pinning: PinningMode,
    /// The other hosts that take part; `None`: this machine does everything.
    pub hosts: Option<Hosts>,
    /// What was typed, for the record.
    pub typed: RecordedArguments,
    /// Where PostgreSQL comes from.
    pub postgres: Vec<Source>,
    /// How children are supervised.
    pub supervision: Supervision,
    /// How long a server may take to its first correct answer.
    pub start_timeout: Duration,
    /// What [`crate::doctor`] found before the session, for the record.
    pub findings: Vec<Warning>,
    /// Whether the report so far is written after each heat, for the record.
    pub live: bool,
    /// Deadheat's own arguments, for the record.
    pub arguments: Vec<String>,
    /// Deadheat's version, for the record.
    pub version: String,
}

impl SessionOptions {
    /// These targets at these workloads, at all cells and with every default. Callers set what differs.
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

    /// The CPUs of the generator's workers; `None`: it is not pinned.
    pub(super) fn workers(&self, pinning: &Pinning) -> Option<Vec<usize>> {
        match (&self.hosts, pinning) {
            (Some(hosts), _) if hosts.load_it() => Some(hosts.generator_cpus.clone()),
            (_, Pinning::Apart { generator, .. }) => Some(generator.clone()),
            (_, Pinning::Off { .. }) => None,
        }
    }

    /// How generators on other hosts wait: awake, if they were given CPUs. `None`: there are none.
    pub(super) fn wait_elsewhere(&self) -> Option<Wait> {
        let hosts = self.hosts.as_ref().filter(|hosts| hosts.load_it())?;
        Some(match hosts.generator_cpus[..] {
            [] => Wait::Sleep,
            _ => Wait::Poll,
        })
    }

    /// Whether a workload needs a service of this machine: the database, or the slow upstream.
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

    /// What the session speaks with `target` beside HTTP/1.1 without TLS. All of its processes are started for that.
    pub(super) fn protocols(&self, target: &SelectedTarget) -> Protocols {
        let workloads = self.workloads.iter();
        let each = workloads.map(|workload| self.protocols_at(target, workload));
        each.flat_map(Protocols::iter).collect()
    }

    /// What `target` is asked over at `workload` beside HTTP/1.1 without TLS.
    pub(super) fn protocols_at(
        &self,
        target: &SelectedTarget,
        workload: &SelectedWorkload,
    ) -> Protocols {
        // A pack has the protocols of its own suite.
        if self.every_protocol && workload.manifest.pack.is_none() {
            return target.stack.manifest.protocols(&target.target);
        }
        let points = workload.points.iter();
        let asked = points.filter(|point| self.asks_at(target, workload, point));
        asked.map(|point| point.protocol).collect()
    }

    /// Whether a stack is asked for at a load point, if it answers the workload.
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
