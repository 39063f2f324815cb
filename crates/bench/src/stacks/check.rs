//! `deadheat stacks check`: every rule of the contract, asked of every stack.

use std::path::{Path, PathBuf};

use deadheat_document::json::Body;
use deadheat_model::{
    TargetId,
    figure::counted,
    session::{StackFailure, TargetState},
};
use deadheat_runner::{
    manifest::{self, Reach},
    process::TempFolder,
    session::{self, Checked, CheckedTarget, PinningMode, SessionOptions},
};
use deadheat_shell::{
    data::{self, Format},
    exit::{CommandFailure, Exit},
    invocation::{self, random_seed, supervision},
    output,
};
use serde::Serialize;

use crate::{options::CheckArgs, progress::Progress, select};

pub(crate) fn check(args: &CheckArgs) -> Result<Exit, CommandFailure> {
    let sink = args.data.open()?;
    let catalogue = select::catalogue(&args.place)?;
    // A check covers everything that the names match: all variants, all load points.
    let selection = select::select(&catalogue, &args.stacks, &args.workload, Reach::Everything)?;
    let may_lack = match args.may_lack.as_slice() {
        [] => Vec::new(),
        globs => manifest::select_targets(&catalogue, globs)
            .map_err(|error| CommandFailure::usage(format!("--may-lack: {error}")))?,
    };
    let supervision = supervision();
    let folder = TempFolder::create("deadheat-check-", &supervision).map_err(|error| {
        CommandFailure::no_result(format!("making a temporary folder: {error}"))
    })?;
    let options = SessionOptions {
        results: folder.path().to_owned(),
        pinning: PinningMode::Off,
        every_protocol: true,
        postgres: select::postgres(&args.postgres.postgres)?,
        start_timeout: args.start_timeout,
        ..SessionOptions::new(
            select::targets(&catalogue, &selection),
            selection.workloads,
            catalogue.workload("plaintext").cloned(),
            random_seed(),
            supervision,
        )
    };
    let interrupted = invocation::on_signals().map_err(CommandFailure::no_result)?;
    let mut progress = Progress::default();
    let checked = session::check(&options, &mut |event| progress.prepare(event), &interrupted);
    progress.finish();
    let checked = checked.map_err(CommandFailure::no_result)?;
    let workloads = options.workloads.iter();
    let workloads: Vec<&str> = workloads.map(|one| one.manifest.id.as_str()).collect();
    let findings = Findings::new(&checked, options.targets.len(), &workloads, &may_lack);
    // The messages name the logs, so these have to stay.
    let logs = (findings.failed() > 0).then_some(checked.folder.as_path());
    if logs.is_some() {
        folder.keep().map_err(CommandFailure::no_result)?;
    }
    let text = match sink.format {
        Format::Json => data::json(&findings.report(logs))?,
        _ => findings.as_text(),
    };
    let shown = sink.write(&text);
    // Also if that failed: a folder that stays is always reported.
    if let Some(logs) = logs {
        output::warn(&format!("logs: {}", logs.display()));
    }
    shown?;
    let bad =
        findings.failed() > 0 || (args.strict && findings.amiss() > 0) || findings.unchecked() > 0;
    Ok(if bad { Exit::Failed } else { Exit::Fine })
}

/// What was found of a target for a workload, or of the target as a whole.
#[derive(Serialize)]
struct Finding {
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
        /// The logs of the failed phase.
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
struct Findings {
    list: Vec<Finding>,
    /// How many targets were to be checked, and how many of them were not, because the user interrupted the check.
    asked: usize,
    unchecked: usize,
}

impl Findings {
    /// Of `checked` out of `asked` targets, where those in `may_lack` may be unavailable; workloads in the order of
    /// `workloads`.
    fn new(checked: &Checked, asked: usize, workloads: &[&str], may_lack: &[TargetId]) -> Self {
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

    /// How many targets were not checked, because the user interrupted the check.
    fn unchecked(&self) -> usize {
        self.unchecked
    }

    fn passed(&self) -> usize {
        self.count(|outcome| matches!(outcome, Outcome::Passed { .. }))
    }

    fn failed(&self) -> usize {
        self.count(|outcome| matches!(outcome, Outcome::Failed { .. }))
    }

    fn unavailable(&self) -> usize {
        self.count(|outcome| matches!(outcome, Outcome::Unavailable { .. }))
    }

    /// How many are unavailable without being allowed to.
    fn amiss(&self) -> usize {
        self.count(|outcome| matches!(outcome, Outcome::Unavailable { allowed: false, .. }))
    }

    fn count(&self, which: impl Fn(&Outcome) -> bool) -> usize {
        let outcomes = self.list.iter().map(|finding| &finding.outcome);
        outcomes.filter(|outcome| which(outcome)).count()
    }

    /// The findings, each with the logs of a failure in lines below it, then a line with the totals.
    fn as_text(&self) -> String {
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
    fn report<'a>(&'a self, logs: Option<&'a Path>) -> CheckReport<'a> {
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
struct CheckReport<'a> {
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
