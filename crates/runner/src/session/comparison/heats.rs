//! The measuring part: heats of both sides, in turn at each load.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use deadheat_model::{
    comparison::{
        ComparedHeat, ComparisonEnd, ComparisonEntry, ComparisonRecord, ContenderKind, Side,
    },
    heat::HeatEnd,
    session::TargetState,
};

use super::{
    ComparisonEvent, ComparisonOptions, Referee,
    contest::{Contest, HeatRequest},
};
use crate::session::{SessionError, folder::SessionFolder, journal::Journal};

/// Measures all heats of a plan.
pub(super) struct Measuring<'a> {
    pub(super) options: &'a ComparisonOptions,
    pub(super) folder: &'a SessionFolder,
    pub(super) contest: Contest<'a>,
    /// The comparison so far, as its files hold it.
    pub(super) record: ComparisonRecord,
    pub(super) journal: Journal,
    pub(super) on_event: &'a mut dyn FnMut(&ComparisonEvent),
    pub(super) referee: &'a mut dyn Referee,
    pub(super) interrupt: &'a Arc<AtomicBool>,
}

impl Measuring<'_> {
    pub(super) fn all(&mut self) -> Result<ComparisonEnd, SessionError> {
        let begun = Instant::now();
        // Loads at which no side has failed so far.
        let mut open: Vec<usize> = (0..self.record.header.points.len()).collect();
        open.retain(|point| Side::BOTH.iter().all(|side| self.is_ready(*side, *point)));
        for heat in 0..self.record.header.plan.heats {
            if open.is_empty() {
                return Ok(ComparisonEnd::Failed);
            }
            if !self.fits_budget(heat, begun.elapsed()) {
                return Ok(ComparisonEnd::Budget);
            }
            for point in open.clone() {
                if self.interrupt.load(Ordering::Relaxed) {
                    return Ok(ComparisonEnd::Interrupted);
                }
                let ended = self.heat(heat, point)?;
                if ended.heat.end == HeatEnd::Interrupted {
                    return Ok(ComparisonEnd::Interrupted);
                }
                if self.referee.failed(&ended) {
                    open.retain(|other| *other != point);
                }
            }
            let heats = heat + 1;
            let is_look = self.record.header.plan.looks.contains(&heats);
            if is_look && self.referee.look(&self.record, heats).is_break() {
                return Ok(ComparisonEnd::Decided);
            }
        }
        Ok(match open.is_empty() {
            true => ComparisonEnd::Failed,
            false => ComparisonEnd::Finished,
        })
    }

    /// Whether the preparation left a side able to be measured at a load.
    fn is_ready(&self, side: Side, point: usize) -> bool {
        let header = &self.record.header;
        match &header.contender(side).kind {
            ContenderKind::Stack { record } => {
                let workload = &header.points[point].workload;
                matches!(record.state, TargetState::Ready { .. })
                    && record.failed_workload(workload).is_none()
            }
            ContenderKind::Url { .. } | ContenderKind::Command { .. } => true,
        }
    }

    /// Whether another heat of each load, as long as those so far, ends within the budget.
    fn fits_budget(&self, done: u32, elapsed: Duration) -> bool {
        let budget = self.options.budget;
        done == 0 || budget.is_none_or(|budget| elapsed + elapsed / done <= budget)
    }

    /// Runs one heat and keeps it.
    fn heat(&mut self, heat: u32, point: usize) -> Result<ComparedHeat, SessionError> {
        (self.on_event)(&ComparisonEvent::HeatStarted { heat, point });
        let header = &self.record.header;
        let number = self.record.heats.len() as u32;
        let seed = self.options.seed ^ u64::from(number) << 32;
        let request = HeatRequest {
            options: self.options,
            folder: self.folder,
            pinning: &header.plan.pinning,
            point: &header.points[point],
            number,
            seed,
            orders: self.referee.orders(seed),
            interrupt: self.interrupt,
        };
        let ended = ComparedHeat {
            point: point as u32,
            heat: self.contest.heat(request)?,
        };
        self.journal
            .append(&ComparisonEntry::Heat(Box::new(ended.clone())))?;
        (self.on_event)(&ComparisonEvent::HeatEnded {
            heat: Box::new(ended.clone()),
        });
        self.record.heats.push(ended.clone());
        Ok(ended)
    }
}
