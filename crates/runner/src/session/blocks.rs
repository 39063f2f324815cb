//! The measuring part: blocks, each of them every cell once in a random order.

use std::{
    ops::ControlFlow,
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

use deadheat_model::{
    Cell, Event, JournalEntry, LoadPoint, SessionRecord, TrialRecord, WorkloadManifest,
    session::EndReason,
};

use super::{
    AfterBlock, SelectedTarget, SessionError, SessionOptions,
    cpus::server_cpus,
    folder::{SessionFolder, now},
    journal::Journal,
    planner::warm_up,
    readiness::Readiness,
    remaining::{Due, left},
    server::Launch,
    trial::{self, TrialRequest},
};
use crate::verify::Fixtures;

/// The least number of blocks that says anything; the budget cuts no deeper.
const LEAST_BLOCKS: u32 = 3;

/// Measures all blocks of a plan.
pub(super) struct Measuring<'a> {
    pub(super) options: &'a SessionOptions,
    pub(super) folder: &'a SessionFolder,
    /// The session so far, as its files hold it.
    pub(super) record: SessionRecord,
    pub(super) fixtures: &'a mut Fixtures,
    pub(super) journal: &'a mut Journal,
    pub(super) on_event: &'a mut dyn FnMut(&Event),
    pub(super) after_block: &'a mut AfterBlock<'a>,
    pub(super) interrupt: &'a AtomicBool,
}

impl Measuring<'_> {
    pub(super) fn all(&mut self) -> Result<EndReason, SessionError> {
        let begun = Instant::now();
        for block in 0..self.record.header.plan.blocks {
            // Also before a block without cells: all stacks may have dropped out when the preparation was interrupted.
            if self.interrupt.load(Ordering::Relaxed) {
                return Ok(EndReason::Interrupted);
            }
            if !self.fits_budget(block, begun.elapsed()) {
                return Ok(EndReason::Budget);
            }
            (self.on_event)(&Event::BlockStarted { block });
            for Due { cell, position } in left(&self.record, block) {
                if !self.trial(block, position, &cell)? {
                    return Ok(EndReason::Interrupted);
                }
            }
            if let ControlFlow::Break(reason) = (self.after_block)(&self.record) {
                return Ok(reason);
            }
        }
        Ok(EndReason::Finished)
    }

    /// Whether another block as long as those so far ends within the budget.
    fn fits_budget(&self, done: u32, elapsed: Duration) -> bool {
        if done < LEAST_BLOCKS || self.options.blocks.is_some() {
            return true;
        }
        let budget = self.options.budget;
        budget.is_none_or(|budget| elapsed + elapsed / done <= budget)
    }

    /// Runs one trial and keeps it; `false` when the user asked to stop.
    fn trial(&mut self, block: u32, position: u32, cell: &Cell) -> Result<bool, SessionError> {
        if self.interrupt.load(Ordering::Relaxed) {
            return Ok(false);
        }
        let Some((target, workload, point)) = find(self.options, cell) else {
            return Ok(true);
        };
        (self.on_event)(&Event::TrialStarted {
            block,
            cell: cell.clone(),
        });
        let begun = Instant::now();
        let started = now();
        let log = format!(
            "{}-{}-{}-block{block}",
            target.target.file_stem(),
            cell.workload,
            cell.point
        );
        let (pinned, cpus) = server_cpus(target, &self.record.header.plan.pinning);
        let plan = &self.record.header.plan;
        let planned = plan.workloads.iter().find(|one| one.id == cell.workload);
        let request = TrialRequest {
            target,
            workload,
            point,
            launch: Launch {
                target,
                supervision: &self.options.supervision,
                pinned,
                cpus,
                log: self.folder.log(&log),
                timeout: self.options.start_timeout,
            },
            pinning: &plan.pinning,
            warm_up: point.warm_up(
                self.options
                    .warm_up
                    .unwrap_or_else(|| warm_up(target.stack.manifest.runtime(&target.target))),
            ),
            measure: planned.map_or(Duration::from_secs(1), |one| one.measure),
            seed: self.options.seed ^ u64::from(block),
        };
        let readiness = Readiness::of(self.options.plaintext.as_ref(), target, workload, point);
        let Some(run) = trial::run(&request, self.fixtures, &readiness, self.interrupt) else {
            return Ok(false);
        };
        let record = TrialRecord {
            block,
            position,
            attempt: 0,
            cell: cell.clone(),
            started,
            command: run.command,
            port: run.port,
            warm_up: request.warm_up,
            offered_per_second: None,
            outcome: run.outcome,
        };
        let record = Box::new(record);
        self.journal.append(&JournalEntry::Trial(record.clone()))?;
        self.record.trials.push(TrialRecord::clone(&record));
        (self.on_event)(&Event::TrialEnded {
            trial: record,
            took: begun.elapsed(),
        });
        Ok(true)
    }
}

/// What a cell of the plan stands for.
fn find<'a>(
    options: &'a SessionOptions,
    cell: &Cell,
) -> Option<(&'a SelectedTarget, &'a WorkloadManifest, &'a LoadPoint)> {
    let target = options
        .targets
        .iter()
        .find(|one| one.target == cell.target)?;
    let workload = options
        .workloads
        .iter()
        .find(|one| one.manifest.id == cell.workload)?;
    let point = workload.points.iter().find(|one| one.id == cell.point)?;
    Some((target, &workload.manifest, point))
}
