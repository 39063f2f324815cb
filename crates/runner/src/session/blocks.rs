//! The measuring part: blocks, each of them every cell once in a random order.

use std::{
    path::PathBuf,
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

use deadheat_model::{
    Event, JournalEntry, SessionRecord, TrialOutcome, TrialRecord,
    plan::MOST_ATTEMPTS,
    session::EndReason,
    trial::{Phase, TrialFailure},
};

use super::{
    SessionError, SessionOptions,
    ceiling::Ceiling,
    cpus::server_cpus,
    folder::{SessionFolder, now},
    journal::Journal,
    planner::warm_up,
    rates::rate,
    readiness::Readiness,
    remaining::{Due, left, void},
    server::Launch,
    subject::{Subject, find},
    trial::{self, Checks, TrialRequest, TrialRun},
};
use crate::verify::Fixtures;

/// Measures all blocks of a plan.
pub(super) struct Measuring<'a> {
    pub(super) options: &'a SessionOptions,
    pub(super) folder: &'a SessionFolder,
    /// The session so far, as its files hold it.
    pub(super) record: SessionRecord,
    pub(super) fixtures: &'a mut Fixtures,
    pub(super) journal: &'a mut Journal,
    pub(super) on_event: &'a mut dyn FnMut(&Event),
    pub(super) interrupt: &'a AtomicBool,
}

impl Measuring<'_> {
    /// Runs what is left of the plan, which is all of it unless the record holds trials.
    pub(super) fn all(&mut self) -> Result<EndReason, SessionError> {
        let begun = Instant::now();
        let mut done = 0;
        for block in 0..self.record.header.plan.blocks {
            // Also before a block without cells: all stacks may have dropped out when the preparation was interrupted.
            if self.interrupt.load(Ordering::Relaxed) {
                return Ok(EndReason::Interrupted);
            }
            if self.next(block).is_none() && !self.record.trials.is_empty() {
                // It was complete before this session went on.
                continue;
            }
            if !self.fits_budget(block, done, begun.elapsed()) {
                return Ok(EndReason::Budget);
            }
            (self.on_event)(&Event::BlockStarted { block });
            while let Some(due) = self.next(block) {
                if !self.trial(block, &due)? {
                    return Ok(EndReason::Interrupted);
                }
            }
            done += 1;
        }
        Ok(EndReason::Finished)
    }

    /// Whether another block as long as the `done` ones that took `elapsed` ends within the budget, which cuts no deeper
    /// than a plan does.
    fn fits_budget(&self, block: u32, done: u32, elapsed: Duration) -> bool {
        if block < self.options.purpose.least_blocks() || done == 0 || self.options.blocks.is_some()
        {
            return true;
        }
        let budget = self.options.budget;
        budget.is_none_or(|budget| elapsed + elapsed / done <= budget)
    }

    fn next(&self, block: u32) -> Option<Due> {
        left(&self.record, block).into_iter().next()
    }

    /// Runs one trial and keeps it; `false` when the user asked to stop.
    fn trial(&mut self, block: u32, due: &Due) -> Result<bool, SessionError> {
        if self.interrupt.load(Ordering::Relaxed) {
            return Ok(false);
        }
        (self.on_event)(&Event::TrialStarted {
            block,
            cell: due.cell.clone(),
        });
        let begun = Instant::now();
        let started = now();
        let Some(kept) = self.run(block, due) else {
            return Ok(false);
        };
        let record = Box::new(TrialRecord {
            block,
            position: due.position,
            attempt: due.attempt,
            cell: due.cell.clone(),
            started,
            command: kept.run.command,
            port: kept.run.port,
            warm_up: kept.warm_up,
            offered_per_second: kept.offered_per_second,
            outcome: kept.run.outcome,
        });
        self.journal.append(&JournalEntry::Trial(record.clone()))?;
        let disturbed = void(&self.record.header, &record);
        self.record.trials.push(TrialRecord::clone(&record));
        (self.on_event)(&Event::TrialEnded {
            trial: record,
            took: begun.elapsed(),
        });
        if let Some(disturbance) = disturbed {
            (self.on_event)(&Event::TrialVoid {
                block,
                cell: due.cell.clone(),
                attempt: due.attempt,
                disturbance,
                repeats: due.attempt + 1 < MOST_ATTEMPTS,
            });
        }
        Ok(true)
    }

    /// Runs one trial; `None` when the user asked to stop.
    fn run(&mut self, block: u32, due: &Due) -> Option<Kept> {
        let plan = &self.record.header.plan;
        let Some(Subject {
            target,
            workload,
            point,
            measure,
        }) = find(self.options, plan, &due.cell)
        else {
            let reason = format!("{} is planned but was not selected", due.cell);
            return Some(Kept::not_started(Vec::new(), reason));
        };
        let ceiling;
        let (target, checks) = match target {
            Some(target) => {
                let plaintext = self.options.plaintext.as_ref();
                let readiness = Readiness::of(plaintext, target, workload, point);
                (target, Checks::Oracle(readiness))
            }
            None => {
                let program = &self.options.supervision.program;
                let folder = self.folder.path();
                match Ceiling::of(program, folder, workload, point, self.fixtures, plan.seed) {
                    Ok(made) => ceiling = made,
                    Err(reason) => return Some(Kept::not_started(Vec::new(), reason)),
                }
                (&ceiling.target, Checks::Canned(&ceiling.canned))
            }
        };
        let offered_per_second = match &point.open {
            None => None,
            Some(open) => match rate(&self.record, &due.cell, open) {
                Ok(rate) => Some(rate),
                Err(reason) => {
                    let command = target.stack.manifest.command(&target.target);
                    return Some(Kept::not_started(command.to_vec(), reason));
                }
            },
        };
        let (pinned, cpus) = server_cpus(target, &plan.pinning);
        let request = TrialRequest {
            target,
            checks,
            workload,
            point,
            launch: Launch {
                target,
                supervision: &self.options.supervision,
                pinned,
                cpus,
                seat: 0,
                log: self.log(block, due),
                timeout: self.options.start_timeout,
            },
            pinning: &plan.pinning,
            warm_up: point.warm_up(self.options.warm_up.unwrap_or_else(|| {
                let runtime = target.stack.manifest.runtime(&target.target);
                warm_up(runtime, self.options.purpose)
            })),
            measure,
            offered_per_second,
            seed: plan.seed ^ u64::from(block),
        };
        let run = trial::run(&request, self.fixtures, self.interrupt)?;
        Some(Kept {
            run,
            warm_up: request.warm_up,
            offered_per_second,
        })
    }

    /// The server's log in a trial.
    fn log(&self, block: u32, due: &Due) -> PathBuf {
        let Due { cell, attempt, .. } = due;
        let again = match attempt {
            0 => String::new(),
            again => format!("-again{again}"),
        };
        self.folder.log(&format!(
            "{}-{}-{}-block{block}{again}",
            cell.target.file_stem(),
            cell.workload,
            cell.point
        ))
    }
}

/// A trial that was run, for its record.
struct Kept {
    run: TrialRun,
    warm_up: Duration,
    offered_per_second: Option<f64>,
}

impl Kept {
    /// A trial for which no server was started.
    fn not_started(command: Vec<String>, reason: String) -> Self {
        Self {
            run: TrialRun {
                command,
                port: 0,
                outcome: TrialOutcome::Failed(TrialFailure {
                    phase: Phase::Start,
                    reason,
                    log_tail: Vec::new(),
                    load: None,
                }),
            },
            warm_up: Duration::ZERO,
            offered_per_second: None,
        }
    }
}
