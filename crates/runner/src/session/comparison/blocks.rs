//! The measuring part: blocks of a trial of each side in random order.

use std::{
    ops::ControlFlow,
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

use deadheat_model::{
    comparison::{
        ComparisonEnd, ComparisonEntry, ComparisonOutcome, ComparisonRecord, ComparisonTrial, Side,
    },
    plan::MOST_ATTEMPTS,
};
use rand::{SeedableRng, seq::SliceRandom};
use rand_chacha::ChaCha8Rng;

use super::{ComparisonEvent, ComparisonOptions, Referee, trial};
use crate::session::{
    SessionError,
    folder::{SessionFolder, now},
    journal::Journal,
};

/// Measures all blocks of a plan.
pub(super) struct Measuring<'a> {
    pub(super) options: &'a ComparisonOptions,
    pub(super) folder: &'a SessionFolder,
    /// The comparison so far, as its files hold it.
    pub(super) record: ComparisonRecord,
    pub(super) journal: Journal,
    pub(super) on_event: &'a mut dyn FnMut(&ComparisonEvent),
    pub(super) referee: &'a mut dyn Referee,
    pub(super) interrupt: &'a AtomicBool,
    /// The trial that failed, and why.
    pub(super) failed: Option<(Side, String)>,
}

/// A trial to run.
#[derive(Clone, Copy, Debug)]
struct Due {
    block: u32,
    position: u32,
    attempt: u32,
    side: Side,
}

impl Measuring<'_> {
    pub(super) fn all(&mut self) -> Result<ComparisonEnd, SessionError> {
        let begun = Instant::now();
        for block in 0..self.record.header.plan.blocks {
            if !self.fits_budget(block, begun.elapsed()) {
                return Ok(ComparisonEnd::Budget);
            }
            if let ControlFlow::Break(reason) = self.block(block)? {
                return Ok(reason);
            }
            let blocks = block + 1;
            let is_look = self.record.header.plan.looks.contains(&blocks);
            if is_look && self.referee.look(&self.record, blocks).is_break() {
                return Ok(ComparisonEnd::Decided);
            }
        }
        Ok(ComparisonEnd::Finished)
    }

    /// Whether another block as long as those so far ends within the budget.
    fn fits_budget(&self, done: u32, elapsed: Duration) -> bool {
        let budget = self.options.budget;
        done == 0 || budget.is_none_or(|budget| elapsed + elapsed / done <= budget)
    }

    /// Both sides in random order, then what was void again.
    fn block(&mut self, block: u32) -> Result<ControlFlow<ComparisonEnd>, SessionError> {
        let mut due: Vec<Due> = self
            .order(block)
            .into_iter()
            .zip(0..)
            .map(|(side, position)| Due {
                block,
                position,
                attempt: 0,
                side,
            })
            .collect();
        while !due.is_empty() {
            let mut again = Vec::new();
            for one in due {
                let Some(trial) = self.trial(one)? else {
                    return Ok(ControlFlow::Break(ComparisonEnd::Interrupted));
                };
                if let Some(reason) = self.failure_of(&trial) {
                    self.failed = Some((one.side, reason));
                    return Ok(ControlFlow::Break(ComparisonEnd::Failed));
                }
                if self.record.is_void(&trial) && one.attempt + 1 < MOST_ATTEMPTS {
                    again.push(Due {
                        attempt: one.attempt + 1,
                        ..one
                    });
                }
            }
            due = again;
        }
        Ok(ControlFlow::Continue(()))
    }

    fn failure_of(&mut self, trial: &ComparisonTrial) -> Option<String> {
        match &trial.outcome {
            ComparisonOutcome::Failed(failure) => {
                Some(format!("{}: {}", failure.phase.describe(), failure.reason))
            }
            // Also of a trial that was disturbed: that is no excuse for a wrong answer.
            ComparisonOutcome::Measured(_) => self.referee.failure(trial),
        }
    }

    /// The sides in the random order of a block: the same for the same seed.
    fn order(&self, block: u32) -> [Side; 2] {
        let mut random = ChaCha8Rng::seed_from_u64(self.options.seed ^ u64::from(block) << 32);
        let mut sides = Side::BOTH;
        sides.shuffle(&mut random);
        sides
    }

    /// Runs one trial and keeps it; `None` when the user asked to stop.
    fn trial(&mut self, due: Due) -> Result<Option<ComparisonTrial>, SessionError> {
        if self.interrupt.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let Due {
            block,
            position,
            attempt,
            side,
        } = due;
        (self.on_event)(&ComparisonEvent::TrialStarted { block, side });
        let started = now();
        let request = trial::Request {
            options: self.options,
            side,
            pinning: &self.record.header.plan.pinning,
            log: self.folder.log(&format!("{side}-block{block}-{attempt}")),
            seed: self.options.seed ^ u64::from(block),
        };
        let Some(run) = trial::run(&request, self.interrupt) else {
            return Ok(None);
        };
        let trial = ComparisonTrial {
            block,
            position,
            attempt,
            side,
            started,
            command: super::words_as_recorded(&run.command),
            outcome: run.outcome,
        };
        self.journal
            .append(&ComparisonEntry::Trial(Box::new(trial.clone())))?;
        let void = self.record.is_void(&trial) && self.failure_of(&trial).is_none();
        (self.on_event)(&ComparisonEvent::TrialEnded {
            void,
            trial: Box::new(trial.clone()),
        });
        self.record.trials.push(trial.clone());
        Ok(Some(trial))
    }
}
