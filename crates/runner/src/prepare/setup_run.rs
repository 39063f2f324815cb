//! Executes a [`SetupPlan`]. A failed step is reported, and the others are still executed.

use std::{fs, path::Path, time::Duration};

use deadheat_model::session::StackFailure;

use super::{
    BuildProgress, Builder, Host, NotPrepared, SetupPlan, SetupStep, Unavailable, UnfitProgram,
    apt,
    command::{CommandError, Task, run},
    inspect,
};
use crate::{manifest::Stack, process::log_tail};

/// Lines of apt's output that a failure shows.
const TAIL_LINES: usize = 20;

/// What happens during a setup.
#[derive(Debug)]
pub enum SetupProgress<'p> {
    /// A step begins.
    Running(&'p SetupStep),
    /// A step failed. The setup continues.
    Failed {
        /// The step.
        step: &'p SetupStep,
        /// Why.
        error: CommandError,
        /// The last lines of its output.
        log_tail: Vec<String>,
    },
    /// A package is not installed, because apt knows none of exactly this name.
    NoSuchPackage(&'p str),
    /// A step that needs root, which we have no way to become.
    ToBeDoneByYou(&'p SetupStep),
    /// A stack's dependencies are not fetched, because its toolchain is not here or its registry cannot be reached.
    NotFetched {
        /// The stack.
        stack: &'p str,
        /// What is missing, and what to do.
        reason: String,
    },
    /// Progress of a stack's fetch.
    Fetching {
        /// The stack.
        stack: &'p str,
        /// How.
        progress: BuildProgress,
    },
    /// A stack's fetch failed. The setup continues.
    FetchFailed {
        /// The stack.
        stack: &'p str,
        /// Why.
        failure: StackFailure,
    },
}

/// How a setup went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SetupOutcome {
    /// Steps and fetches that failed.
    pub failed: usize,
    /// Stacks whose registry cannot be reached.
    pub unreachable: usize,
    /// Steps that are left to the user.
    pub left_to_you: usize,
}

/// Executes `plan`. The folder of the builder's logs gets a `setup.log` in addition to the stacks' fetch logs. `stacks`
/// are those that the plan was made for.
pub fn run_setup(
    builder: &Builder<'_>,
    plan: &SetupPlan,
    stacks: &[&Stack],
    tell: &mut dyn FnMut(SetupProgress<'_>),
) -> SetupOutcome {
    let mut outcome = SetupOutcome::default();
    install(builder, plan, &mut outcome, tell);
    for stack in stacks {
        let id = &stack.manifest.id;
        if plan.fetch.iter().any(|(stack, _)| stack == id) {
            fetch(builder, stack, &mut outcome, tell);
        }
    }
    outcome
}

fn install(
    builder: &Builder<'_>,
    plan: &SetupPlan,
    outcome: &mut SetupOutcome,
    tell: &mut dyn FnMut(SetupProgress<'_>),
) {
    if plan.by_hand {
        let packages = plan.update.iter().chain(&plan.install);
        let after = plan.afterwards.iter().chain(&plan.cleanup);
        for step in plan.guards.iter().chain(packages).chain(after) {
            tell(SetupProgress::ToBeDoneByYou(step));
            outcome.left_to_you += 1;
        }
        return;
    }
    let never = std::sync::atomic::AtomicBool::new(false);
    let mut steps = Steps {
        host: builder.host,
        builder,
        outcome,
        tell,
        all_ended: true,
    };
    // Without the guards a package might start services, so then none is installed.
    let guarded = plan.guards.iter().all(|step| steps.run(step));
    if guarded {
        // A list that cannot be brought up to date may still do.
        plan.update.iter().for_each(|step| {
            steps.run(step);
        });
        // Only now, because there may have been no list before.
        let unknown = apt::unknown(steps.host, &plan.packages);
        for package in &unknown {
            steps.outcome.failed += 1;
            (steps.tell)(SetupProgress::NoSuchPackage(package));
        }
        let known = |step: &SetupStep| apt::without(step, &unknown);
        let all = plan.install.as_ref().and_then(known);
        let all = all.is_none_or(|step| steps.run(&step));
        // One package that cannot be installed keeps apt from installing the others.
        if !all && steps.all_ended && plan.one_by_one.len() > 1 {
            for step in plan.one_by_one.iter().filter_map(known) {
                steps.run(&step);
            }
        }
    }
    if !steps.all_ended {
        // What still installs packages must not start services. The next setup takes the guards away.
        return;
    }
    // Also after an interrupt: neither the guards nor what packages did behind them must stay.
    let calm = Host {
        interrupt: &never,
        ..builder.host.clone()
    };
    let mut steps = Steps {
        host: &calm,
        builder,
        outcome: steps.outcome,
        tell: steps.tell,
        all_ended: true,
    };
    let afterwards = plan.afterwards.iter().filter(|_| guarded);
    for step in afterwards.chain(&plan.cleanup) {
        steps.run(step);
    }
}

struct Steps<'s> {
    host: &'s Host<'s>,
    builder: &'s Builder<'s>,
    outcome: &'s mut SetupOutcome,
    tell: &'s mut dyn FnMut(SetupProgress<'_>),
    /// Whether nothing that was started may still be at work.
    all_ended: bool,
}

impl Steps<'_> {
    /// Runs `step`; whether it succeeded.
    fn run(&mut self, step: &SetupStep) -> bool {
        (self.tell)(SetupProgress::Running(step));
        let log = self.builder.logs.join("setup.log");
        match self.try_run(step, &log) {
            Ok(()) => true,
            Err(error) => {
                self.outcome.failed += 1;
                self.all_ended &= !matches!(error, CommandError::NotEnded { .. });
                (self.tell)(SetupProgress::Failed {
                    step,
                    error,
                    log_tail: log_tail(&log, TAIL_LINES),
                });
                false
            }
        }
    }

    fn try_run(&self, step: &SetupStep, log: &Path) -> Result<(), CommandError> {
        // Should the folder be missing, opening the log says so.
        let _ = fs::create_dir_all(self.builder.logs);
        // On a slow machine or network packages take long. Ctrl-C ends what hangs.
        let mut task = Task::new(&step.command, &step.dir, log, Duration::MAX);
        task.finishes = true;
        run(self.host, &task)
    }
}

fn fetch(
    builder: &Builder<'_>,
    stack: &Stack,
    outcome: &mut SetupOutcome,
    tell: &mut dyn FnMut(SetupProgress<'_>),
) {
    let id = stack.manifest.id.as_str();
    // Again, because its toolchain may have been installed just now.
    let inspection = inspect(builder.host, stack);
    let unfit: Vec<&UnfitProgram> = inspection
        .programs
        .iter()
        .filter_map(|found| found.as_ref().err())
        .collect();
    if !unfit.is_empty() {
        let reasons: Vec<String> = unfit
            .iter()
            .map(|unfit| format!("{}: {}", unfit.reason, unfit.remedy(builder.host)))
            .collect();
        let reason = reasons.join("; ");
        tell(SetupProgress::NotFetched { stack: id, reason });
        return;
    }
    let fetched = builder.fetch(stack, &inspection, &mut |progress| {
        tell(SetupProgress::Fetching {
            stack: id,
            progress,
        });
    });
    match fetched {
        Ok(_) => {}
        Err(NotPrepared::Unavailable(Unavailable { reason, remedy })) => {
            outcome.unreachable += 1;
            let reason = format!("{reason}; to try again: {remedy}");
            tell(SetupProgress::NotFetched { stack: id, reason });
        }
        Err(NotPrepared::Failed(failure)) => {
            outcome.failed += 1;
            tell(SetupProgress::FetchFailed { stack: id, failure });
        }
    }
}
