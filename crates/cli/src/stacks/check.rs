//! `deadheat stacks check`.

use deadheat_model::session::{TargetRecord, TargetState};
use deadheat_runner::session::{self, PinningMode, SessionOptions};

use crate::{
    args::CheckArgs,
    exit::{Exit, Failure},
    interrupt, output,
    progress::Progress,
    run::{random_seed, supervision},
    select,
};

pub(crate) fn check(args: &CheckArgs) -> Result<Exit, Failure> {
    let catalogue = select::catalogue(args.root.as_deref())?;
    // A check is of everything that the names stand for: all variants, all load points.
    let selection = select::select(&catalogue, &args.stacks, &args.workload, true)?;
    let logs = tempfile::Builder::new()
        .prefix("deadheat-check-")
        .tempdir()
        .map_err(|error| Failure::nothing(format!("making a temporary folder: {error}")))?;
    let options = SessionOptions {
        targets: select::targets(&catalogue, &selection),
        workloads: selection.workloads.clone(),
        plaintext: catalogue.workload("plaintext").cloned(),
        results: logs.path().to_owned(),
        seed: random_seed(),
        budget: session::START_TIMEOUT,
        blocks: None,
        measure: None,
        warm_up: None,
        pinning: PinningMode::Off,
        postgres: select::postgres(&args.postgres.postgres)?,
        supervision: supervision()?,
        start_timeout: args.start_timeout,
        arguments: Vec::new(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
    };
    let interrupted = interrupt::on_signals().map_err(Failure::nothing)?;
    let mut progress = Progress::new(None);
    let checked = session::check(&options, &mut |event| progress.on(event), &interrupted);
    progress.finish();
    let checked = checked.map_err(Failure::nothing)?;
    let mut summary = Summary::default();
    for target in &checked.targets {
        output::data(&summary.add(&target.record, &options));
    }
    output::data(&summary.line());
    let bad = summary.failed > 0
        || (args.strict && summary.unavailable > 0)
        || checked.targets.len() < options.targets.len();
    if summary.failed > 0 {
        // The messages name the logs, so these have to stay.
        output::note(&format!("logs: {}", logs.keep().display()));
    }
    Ok(if bad { Exit::Failed } else { Exit::Fine })
}

/// Stacks × workloads by what came of them.
#[derive(Default)]
struct Summary {
    passed: usize,
    failed: usize,
    unavailable: usize,
}

impl Summary {
    fn add(&mut self, record: &TargetRecord, options: &SessionOptions) -> String {
        let name = record.target.to_string();
        let target = options
            .targets
            .iter()
            .find(|one| one.target == record.target);
        let answered: Vec<&str> = options
            .workloads
            .iter()
            .map(|one| one.manifest.id.as_str())
            .filter(|id| target.is_some_and(|one| one.stack.manifest.answers(id)))
            .collect();
        match &record.state {
            TargetState::Unavailable { reason, remedy } => {
                self.unavailable += 1;
                format!("{name}: unavailable: {reason}; to change that: {remedy}\n")
            }
            TargetState::Failed(failure) => {
                self.failed += 1;
                format!("{name}: FAILED {}\n", output::told(failure))
            }
            TargetState::Ready { .. } => {
                let mut text = String::new();
                for id in answered {
                    let failed = record
                        .failed_workloads
                        .iter()
                        .find(|one| one.workload == id);
                    match failed {
                        None => {
                            self.passed += 1;
                            text += &format!("{name} {id}: passed\n");
                        }
                        Some(one) => {
                            self.failed += 1;
                            text +=
                                &format!("{name} {id}: FAILED {}\n", output::told(&one.failure));
                        }
                    }
                }
                text
            }
        }
    }

    fn line(&self) -> String {
        format!(
            "{} passed, {} failed, {} unavailable\n",
            self.passed, self.failed, self.unavailable
        )
    }
}
