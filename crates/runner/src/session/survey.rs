//! Which of the stacks that are asked for can be measured here, and which have a part in the session at all, before
//! anything is built.

use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::{Arc, atomic::AtomicBool},
};

use deadheat_model::{Protocols, TargetId, figure::list};

use super::{SelectedTarget, SessionOptions};
use crate::{
    manifest::{SelectedWorkload, Stack},
    prepare::{Host, Inspection, Unavailable, VersionProgress, inspect_all},
};

/// Asks all toolchains for their versions, and keeps the answers in `options`. Returns the targets that cannot be measured
/// here, in the order in which they were asked for. Nothing is built or started.
pub fn survey(
    options: &mut SessionOptions,
    interrupt: &AtomicBool,
    tell: &mut dyn FnMut(&VersionProgress<'_>),
) -> Vec<(TargetId, Unavailable)> {
    let host = Host::here(options.supervision.clone(), interrupt);
    options.inspections = Inspections::new(&host, options.stacks(), tell);
    let pinning = options.share_out();
    let missing = options.targets.iter().filter_map(|one| {
        let inspection = options.inspections.get(&one.stack)?;
        let missing = inspection.availability(&host, &one.stack, &one.target, &pinning)?;
        Some((one.target.clone(), missing))
    });
    missing.collect()
}

/// The targets that offer none of the session's loads, each with the reason. Nothing is missing here for them.
pub fn without_loads(options: &SessionOptions) -> Vec<(TargetId, Unavailable)> {
    let targets = options.targets.iter();
    targets
        .filter_map(|one| Some((one.target.clone(), answers_nothing(one, options)?)))
        .collect()
}

/// The workloads of the session that the target answers.
pub(super) fn answered<'a>(
    target: &'a SelectedTarget,
    options: &'a SessionOptions,
) -> impl Iterator<Item = &'a SelectedWorkload> {
    let workloads = options.workloads.iter();
    workloads.filter(|workload| options.asks(target, workload))
}

/// Why a target cannot be measured that answers none of the session's workloads.
pub(super) fn answers_nothing(
    target: &SelectedTarget,
    options: &SessionOptions,
) -> Option<Unavailable> {
    if answered(target, options).next().is_some() {
        return None;
    }
    let manifest = &target.stack.manifest;
    let spoken: Protocols = options
        .workloads
        .iter()
        .filter(|one| manifest.answers(&one.manifest))
        .flat_map(|one| one.points.iter().map(|point| point.protocol))
        .collect();
    let lacking: Vec<String> = spoken
        .iter()
        .filter(|protocol| !manifest.protocols(&target.target).include(*protocol))
        .map(|protocol| protocol.to_string())
        .collect();
    if !lacking.is_empty() {
        return Some(Unavailable {
            reason: format!("{} does not offer {}", target.target, list(&lacking)),
            remedy: "another load point, or a stack whose stack.toml declares it in [protocols]"
                .to_owned(),
        });
    }
    let has = manifest.workloads.clone().unwrap_or_default();
    let remedy = match has.as_slice() {
        [] => "another workload, or its route in [routes] of the stack.toml".to_owned(),
        has => format!("--workload {}", has.join(" --workload ")),
    };
    Some(Unavailable {
        reason: format!("{} answers none of the workloads asked for", target.target),
        remedy,
    })
}

/// What was found for stacks, by their ids and folders: a comparison of revisions has one stack in two of them.
#[derive(Clone, Debug, Default)]
pub struct Inspections(Arc<BTreeMap<(String, PathBuf), Inspection>>);

impl Inspections {
    /// Asks the toolchains of all `stacks`, each once, at the same time.
    pub(super) fn new<'s>(
        host: &Host<'_>,
        stacks: impl Iterator<Item = &'s Stack>,
        tell: &mut dyn FnMut(&VersionProgress<'_>),
    ) -> Self {
        let stacks: BTreeMap<_, _> = stacks.map(|stack| (key(stack), stack)).collect();
        let all: Vec<&Stack> = stacks.values().copied().collect();
        let found = inspect_all(host, &all, tell);
        Self(Arc::new(stacks.into_keys().zip(found).collect()))
    }

    /// What was found for `stack`, if it was among those that were asked.
    pub(super) fn get(&self, stack: &Stack) -> Option<&Inspection> {
        self.0.get(&key(stack))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

fn key(stack: &Stack) -> (String, PathBuf) {
    (stack.manifest.id.clone(), stack.dir.clone())
}
