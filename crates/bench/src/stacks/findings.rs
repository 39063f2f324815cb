//! What a check found, for a person and for a program.

use std::path::{Path, PathBuf};

use deadheat_document::json::Body;
use deadheat_model::{
    TargetId, figure::counted, session::TargetState, stack_failure::StackFailure,
};
use deadheat_runner::session::{Checked, CheckedTarget};
use deadheat_shell::output;
use serde::Serialize;

/// What was found of a target for a workload, or of the target as a whole.
#[derive(Serialize)]
pub(super) struct Finding {
    target: TargetId,
    workload: Option<String>,
    #[serde(flatten)]
    outcome: Outcome,
}

#[derive(Serialize)]
#[serde(tag = "result", rename_all = "kebab-case")]
enum Outcome {
    Passed {
        probes: u32,
    },
    Failed {
        #[serde(flatten)]
        failure: StackFailure,
        /// Those that it is about.
        logs: Vec<PathBuf>,
    },
    Unavailable {
        reason: String,
        remedy: String,
        /// Whether it may be.
        allowed: bool,
    },
}

/// Everything that a check found, of targets in the order in which they were asked for.
pub(super) struct Findings {
    list: Vec<Finding>,
    /// How many stacks were to be checked, and how many of them were not, because the user interrupted the check.
    asked: usize,
    unchecked: usize,
}

impl Findings {
    /// Of `checked` out of `asked` targets, where those in `may_lack` may be unavailable; workloads in the order of
    /// `workloads`.
    pub(super) fn new(
        checked: &Checked,
        asked: usize,
        workloads: &[&str],
        may_lack: &[TargetId],
    ) -> Self {
        let mut list = Vec::new();
        for target in &checked.targets {
            let allowed = may_lack.contains(&target.record.target);
            list.extend(of_target(checked, target, workloads, allowed));
        }
        Self {
            list,
            asked,
            unchecked: asked - checked.targets.len(),
        }
    }

    /// How many stacks were not checked, because the user interrupted the check.
    pub(super) fn unchecked(&self) -> usize {
        self.unchecked
    }

    pub(super) fn passed(&self) -> usize {
        self.count(|outcome| matches!(outcome, Outcome::Passed { .. }))
    }

    pub(super) fn failed(&self) -> usize {
        self.count(|outcome| matches!(outcome, Outcome::Failed { .. }))
    }

    pub(super) fn unavailable(&self) -> usize {
        self.count(|outcome| matches!(outcome, Outcome::Unavailable { .. }))
    }

    /// How many are unavailable that may not be.
    pub(super) fn amiss(&self) -> usize {
        self.count(|outcome| matches!(outcome, Outcome::Unavailable { allowed: false, .. }))
    }

    fn count(&self, which: impl Fn(&Outcome) -> bool) -> usize {
        let outcomes = self.list.iter().map(|finding| &finding.outcome);
        outcomes.filter(|outcome| which(outcome)).count()
    }

    /// A line for each, and one for all.
    pub(super) fn as_text(&self) -> String {
        let lines = self.list.iter().map(Finding::as_text);
        let (passed, failed, unavailable) = (self.passed(), self.failed(), self.unavailable());
        let interrupted = match (self.unchecked, self.asked) {
            (0, _) => String::new(),
            (left, all) => format!(
                "; interrupted: {left} of {} not checked",
                counted(all, "stack")
            ),
        };
        let all =
            format!("{passed} passed, {failed} failed, {unavailable} unavailable{interrupted}\n");
        lines.chain([all]).collect()
    }

    /// For programs. `logs` is the folder, if it was kept.
    pub(super) fn report<'a>(&'a self, logs: Option<&'a Path>) -> CheckReport<'a> {
        CheckReport {
            passed: self.passed(),
            failed: self.failed(),
            unavailable: self.unavailable(),
            unchecked: self.unchecked,
            logs,
            findings: &self.list,
        }
    }
}

/// What `stacks check --json` prints; docs/formats.md describes it.
#[derive(Serialize)]
pub(super) struct CheckReport<'a> {
    passed: usize,
    failed: usize,
    unavailable: usize,
    unchecked: usize,
    logs: Option<&'a Path>,
    findings: &'a [Finding],
}

impl Body for CheckReport<'_> {
    const FORMAT: &'static str = "deadheat-check";
    const SCHEMA: u32 = 1;
}

fn of_target(
    checked: &Checked,
    target: &CheckedTarget,
    workloads: &[&str],
    allowed: bool,
) -> Vec<Finding> {
    let id = &target.record.target;
    let finding = |workload: Option<&str>, outcome| Finding {
        target: id.clone(),
        workload: workload.map(str::to_owned),
        outcome,
    };
    let failed = |failure: &StackFailure| Outcome::Failed {
        failure: failure.clone(),
        logs: checked.logs(id, failure.phase),
    };
    match &target.record.state {
        TargetState::Unavailable { reason, remedy } => {
            let (reason, remedy) = (reason.clone(), remedy.clone());
            vec![finding(
                None,
                Outcome::Unavailable {
                    reason,
                    remedy,
                    allowed,
                },
            )]
        }
        TargetState::Failed(failure) => vec![finding(None, failed(failure))],
        TargetState::Ready { .. } => {
            let outcome = |id: &str| {
                let passed = target.passed.iter().find(|one| one.workload == id);
                match passed {
                    Some(one) => Some(Outcome::Passed { probes: one.probes }),
                    None => target.record.failed_workload(id).map(failed),
                }
            };
            let found = workloads.iter().filter_map(|id| Some((*id, outcome(id)?)));
            found
                .map(|(id, outcome)| finding(Some(id), outcome))
                .collect()
        }
    }
}

impl Finding {
    /// "go-nethttp:1cpu users".
    fn name(&self) -> String {
        match &self.workload {
            Some(workload) => format!("{} {workload}", self.target),
            None => self.target.to_string(),
        }
    }

    fn as_text(&self) -> String {
        let name = self.name();
        match &self.outcome {
            Outcome::Passed { probes } => format!("{name}: passed ({probes} probes)\n"),
            Outcome::Failed { failure, logs } => {
                let logs = logs
                    .iter()
                    .map(|log| format!("    log: {}\n", log.display()));
                let logs: String = logs.collect();
                format!("{name}: FAILED {}\n{logs}", output::failure_text(failure))
            }
            Outcome::Unavailable {
                reason,
                remedy,
                allowed,
            } => {
                let may = if *allowed { ", as it may be" } else { "" };
                format!("{name}: unavailable{may}: {reason}; to change that: {remedy}\n")
            }
        }
    }
}
