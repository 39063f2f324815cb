//! A session of two sides, judged at its declared looks: from the record to what is measured next, what is compared,
//! and what is not.

mod counted;
#[cfg(test)]
mod tests;

use std::time::Duration;

use deadheat_model::{
    HeatRecord, LoadPoint,
    comparison::{Comparison, Contender, Side},
    heat::{HeatEnd, SliceRecord},
    heats::{EndReason, NextHeat, PlannedLoad, SessionRecord, Step},
    plan::Pinning,
    session::{TargetRecord, TargetState},
};

use self::counted::{AtRate, CountedHeats, is_part_of};
use super::{
    Bounds, CellId, Check, Compared, Gate, Metric, NotCompared, RatioVerdict,
    paired::{self, quantity},
};
use crate::{
    heats::{
        Percentile, Quantity, Settings,
        percentile::{self, estimates, estimates_together, of_a_heat},
        recorded::{self, Numbering, SliceLengths},
        within::{self, Estimate},
    },
    sequential::{Design, Look},
};

/// The results at a look.
#[derive(Clone, Debug, PartialEq)]
pub struct LookResult {
    /// The compared cells.
    pub compared: Vec<Compared>,
    /// The cells that were not compared, each with the reason.
    pub not_compared: Vec<NotCompared>,
    /// The cells without a p99 that decides as soon as more heats have enough answers for it.
    pub awaiting_tail: Vec<CellId>,
}

impl LookResult {
    /// Whether more heats would change nothing: every cell that can be compared has an answer to each question. A tail
    /// that is still to come can only change what is not yet against B.
    pub fn is_final(&self, check: Check) -> bool {
        let is_answered = |cell: &Compared| match cell.verdict {
            RatioVerdict::Worse => true,
            RatioVerdict::NotEnoughData => cell.is_hopeless(),
            RatioVerdict::Better | RatioVerdict::DeadHeat => {
                !self.awaiting_tail.contains(&cell.subject)
            }
        };
        match () {
            () if self.compared.is_empty() => true,
            () if check.has_bound() => {
                let gate = Gate::new(&self.compared, 0, check);
                gate.is_against_b() || (gate.is_decided() && self.awaiting_tail.is_empty())
            }
            () => self.compared.iter().all(is_answered),
        }
    }
}

/// A session of two sides.
#[derive(Clone, Copy)]
pub struct Duel<'a> {
    record: &'a SessionRecord,
    comparison: &'a Comparison,
}

impl<'a> Duel<'a> {
    /// The two sides of a session; `None`: it compares none.
    pub fn new(record: &'a SessionRecord) -> Option<Self> {
        let comparison = record.header.comparison.as_deref()?;
        Some(Self { record, comparison })
    }

    /// A side.
    pub fn contender(&self, side: Side) -> &'a Contender {
        self.comparison.contender(side)
    }

    /// Whether B is A after a change that has a name.
    pub fn is_change(&self) -> bool {
        self.comparison.is_change
    }

    /// The record of a side that is a stack; `None` for another side.
    pub fn stack(&self, side: Side) -> Option<&'a TargetRecord> {
        self.record.header.stack_of(self.contender(side))
    }

    /// The bounds of the plan.
    pub fn bounds(&self) -> Bounds {
        let plan = &self.record.header.plan;
        Bounds {
            alpha: plan.alpha,
            margin: plan.margin,
            least_heats: plan.least_heats,
            ..Bounds::default()
        }
    }

    /// The looks that the plan declares, which are the same at each load; `None` without a load.
    pub fn design(&self) -> Option<Design> {
        let plan = &self.record.header.plan;
        Design::declare(&plan.loads.first()?.looks, plan.alpha).ok()
    }

    /// The number of complete heats at the load with the most.
    pub fn most_heats(&self) -> u32 {
        let most = self.loads().map(|load| self.heats(load).count()).max();
        most.unwrap_or(0) as u32
    }

    /// The number of complete heats that every load has at which no side failed.
    fn common_heats(&self) -> u32 {
        let open = self.loads().filter(|load| !self.has_failed(*load));
        let fewest = open.map(|load| self.heats(load).count()).min();
        fewest.map_or_else(|| self.most_heats(), |heats| heats as u32)
    }

    fn in_flight(&self, point: &LoadPoint) -> u32 {
        let load = self.comparison.a.load();
        let depth = load.map_or(1, |load| load.protocol.depth());
        point.in_flight() * depth
    }

    /// The lengths of the slices of both sides; `None` without any.
    pub fn slice_lengths(&self) -> Option<SliceLengths> {
        self.lengths(PlannedLoad::leads)
    }

    /// The lengths of the slices at a rate of equal work; `None` without any.
    pub fn equal_work_lengths(&self) -> Option<SliceLengths> {
        self.lengths(|load| !load.leads())
    }

    fn lengths(&self, of: impl Fn(&PlannedLoad) -> bool) -> Option<SliceLengths> {
        let loads = self.plan_loads().filter(|(_, load)| of(load));
        let heats: Vec<&HeatRecord> = loads.flat_map(|(index, _)| self.heats(index)).collect();
        SliceLengths::new(Side::BOTH.into_iter().map(|side| {
            let own = heats.iter().flat_map(|heat| slices(heat, side));
            own.collect()
        }))
    }

    fn plan_loads(&self) -> impl Iterator<Item = (usize, &'a PlannedLoad)> {
        self.record.header.plan.loads.iter().enumerate()
    }

    /// The loads with heats of their own, by their places in the plan.
    fn loads(&self) -> impl Iterator<Item = usize> {
        let leading = self.plan_loads().filter(|(_, load)| load.leads());
        leading.map(|(index, _)| index)
    }

    /// Equal work in the heats of a load, by the places in the plan.
    fn measured_with(&self, load: usize) -> impl Iterator<Item = usize> {
        let plan = &self.record.header.plan;
        let with_it = plan.equal_work(&plan.loads[load]);
        with_it.map(|(index, _)| index)
    }

    /// The heats of a load that ran to their end.
    fn heats(&self, load: usize) -> impl Iterator<Item = &'a HeatRecord> {
        let complete = self.record.complete_heats(load);
        complete.filter(|heat| heat.end == HeatEnd::Finished)
    }

    /// The next step; `spent` is the measuring time so far. The loads take turns until every cell has a verdict at a
    /// look, or until looks or budget end. A load at which a side failed gets no more heats.
    pub fn next(&self, spent: Duration) -> Step {
        let open: Vec<usize> = self
            .loads()
            .filter(|load| !self.has_failed(*load))
            .collect();
        // A heat that a side failed in or left is one of its turn, too: the other loads have theirs before anything is
        // judged.
        let turns = |load: usize| self.record.complete_heats(load).count() as u32;
        let fewest = open.into_iter().min_by_key(|load| turns(*load));
        let Some((load, design)) = fewest.zip(self.design()) else {
            return Step::End(EndReason::Nothing);
        };
        let turn = turns(load);
        let is_turn_over = self.loads().all(|load| turns(load) <= turn);
        if is_turn_over && turn > 0 {
            let heats = self.common_heats();
            let look = design.at(heats);
            if look.is_some() && self.judge(look).is_final(self.comparison.check) {
                return Step::End(EndReason::Decided);
            }
            if has_enough(&design, heats, turn) {
                return Step::End(EndReason::Finished);
            }
            if !has_time(self.record, spent, turn) {
                return Step::End(EndReason::Budget);
            }
        }
        Step::Heat(NextHeat {
            load,
            members: Side::BOTH.map(Side::member).into(),
            control: None,
            then: None,
        })
    }

    /// The look that its figures are of. Whatever else there is beyond that look counts for nothing; only a budget,
    /// which knows no result, leaves one more look at its end.
    pub fn final_look(&self) -> Option<Look> {
        final_look(&self.design()?, self.common_heats(), self.record.end)
    }

    /// The results of the complete heats up to `look` at each load; without a look, those of all complete heats,
    /// without verdicts. A failure counts at any time, also after the look.
    pub fn judge(&self, look: Option<Look>) -> LookResult {
        let bounds = &self.bounds();
        let (mut cells, mut not_compared) = (Vec::new(), Vec::new());
        let mut awaiting_tail = Vec::new();
        for (index, load) in self.plan_loads().filter(|(_, load)| load.leads()) {
            let subject = CellId {
                target: None,
                workload: load.workload.clone(),
                point: load.point.id.clone(),
            };
            let heats = look.map_or(usize::MAX, |look| look.heats as usize);
            let sides = Side::BOTH.map(|side| self.failure_at(side, index));
            let heats: Vec<&HeatRecord> = self.heats(index).take(heats).collect();
            let at_rate = |index: usize| {
                let parts = self.heats(index);
                let parts = parts.filter(|part| is_part_of(part, &heats));
                AtRate::new(parts.collect(), &heats)
            };
            let counted = CountedHeats {
                figures: PairFigures { duel: *self },
                in_flight: self.in_flight(&load.point),
                rates: self.measured_with(index).filter_map(at_rate).collect(),
                heats,
            };
            let hindrance = if sides.iter().any(Option::is_some) {
                Some(failures(&sides))
            } else if look.is_none() && counted.heats.is_empty() {
                let why = match self.record.complete_heats(index).next() {
                    Some(_) => "a side left each heat before its end",
                    None => "it was stopped before the first heat ended",
                };
                Some(why.to_owned())
            } else {
                counted.hindrance()
            };
            match hindrance {
                None => {
                    if counted.awaits_tail() {
                        awaiting_tail.push(subject.clone());
                    }
                    cells.push(counted.cell(subject, look, bounds));
                }
                Some(reason) => {
                    not_compared.push(NotCompared {
                        subject,
                        reason,
                        b_failed: sides[1].is_some(),
                    });
                }
            }
        }
        let compared = match look {
            Some(look) => paired::at_look(&cells, look, bounds),
            None => paired::unjudged(&cells, self.most_heats(), bounds),
        };
        LookResult {
            compared,
            not_compared,
            awaiting_tail,
        }
    }

    /// Why a side could not be measured anywhere, if so. The sentence follows "A failed: ".
    pub fn failure_of(&self, side: Side) -> Option<String> {
        if let Some(stack) = self.stack(side) {
            match &stack.state {
                TargetState::Ready { .. } => {}
                TargetState::Failed(failure) => return Some(failure.in_words()),
                TargetState::Unavailable { reason, remedy } => {
                    return Some(format!("unavailable: {reason} (to change that: {remedy})"));
                }
            }
        }
        let failures: Option<Vec<String>> = self
            .loads()
            .map(|load| self.failure_at(side, load))
            .collect();
        failures?.into_iter().next()
    }

    /// Whether a side failed at a load.
    fn has_failed(&self, load: usize) -> bool {
        let mut sides = Side::BOTH.into_iter();
        sides.any(|side| self.failure_at(side, load).is_some())
    }

    /// Why a side failed at a load, if so.
    fn failure_at(&self, side: Side, load: usize) -> Option<String> {
        if let Some(stack) = self.stack(side) {
            let workload = &self.record.header.plan.loads[load].workload;
            let failure = match &stack.state {
                TargetState::Unavailable { reason, .. } => return Some(reason.clone()),
                TargetState::Failed(failure) => Some(failure),
                TargetState::Ready { .. } => stack.failed_workload(workload),
            };
            if let Some(failure) = failure {
                return Some(failure.in_words());
            }
        }
        let parts: Vec<usize> = [load].into_iter().chain(self.measured_with(load)).collect();
        let heats = self.record.heats.iter();
        // That a host of the generator was lost is no failure of a side.
        let mut own =
            heats.filter(|one| one.heat.lost.is_none() && parts.contains(&(one.load as usize)));
        own.find_map(|one| recorded::failure(&one.heat, side.member()))
    }
}

/// At most this many heats are run for each planned one, because a heat that a side left does not count.
const MAX_TURNS: u32 = 2;

/// Whether there are enough heats of each load, or too many that did not run to their end.
pub(super) fn has_enough(design: &Design, heats: u32, turns: u32) -> bool {
    let most = design.most_heats();
    heats >= most || turns >= MAX_TURNS * most
}

/// Whether the budget has room for another heat of each load, which takes as long as those so far.
pub(super) fn has_time(record: &SessionRecord, spent: Duration, turns: u32) -> bool {
    let budget = record.header.plan.budget_seconds;
    let budget = budget.map(Duration::from_secs_f64);
    budget.is_none_or(|budget| spent + spent / turns <= budget)
}

pub(super) fn final_look(design: &Design, heats: u32, end: Option<EndReason>) -> Option<Look> {
    let taken = design.looks.iter().rfind(|look| look.heats <= heats);
    let last = match end {
        Some(EndReason::Budget) => design.last_at(heats),
        _ => None,
    };
    last.or(taken.copied())
}

/// Both sides' failures as a sentence.
fn failures(sides: &[Option<String>; 2]) -> String {
    let named = Side::BOTH.iter().zip(sides);
    let named =
        named.filter_map(|(side, reason)| Some(format!("{side} failed {}", reason.as_ref()?)));
    named.collect::<Vec<_>>().join("; ")
}

/// The CPUs that a side's server may use, of those that its stack asks for.
pub(super) fn server_cpus(asked: Option<u32>, pinning: &Pinning) -> f64 {
    let all = pinning.server_cpus();
    let own = asked.map_or(all, |cpus| all.min(cpus as usize));
    own.max(1) as f64
}

/// The slices of a side in a heat that count.
fn slices(heat: &HeatRecord, side: Side) -> impl Iterator<Item = &SliceRecord> {
    recorded::slices_of(heat, side.member())
}

/// Makes figures of heats.
#[derive(Clone, Copy)]
struct PairFigures<'a> {
    duel: Duel<'a>,
}

impl PairFigures<'_> {
    /// Whether the generator was the limit of a side in too many of its slices.
    fn bounded_in(&self, heats: &[&HeatRecord]) -> [bool; 2] {
        Side::BOTH.map(|side| {
            let own = heats.iter().flat_map(|heat| slices(heat, side));
            let (bounded, all) = own.fold((0_u32, 0_u32), |(bounded, all), slice| {
                (bounded + u32::from(self.is_bounded(slice)), all + 1)
            });
            f64::from(bounded) > Settings::default().bounded * f64::from(all)
        })
    }

    fn is_bounded(&self, slice: &SliceRecord) -> bool {
        let cpus = self.cpus(slice.member as usize);
        recorded::limited_by(slice, cpus, &Settings::default()).is_bound()
    }

    /// Estimates in each heat of a quantity that every slice has.
    fn slice_estimates(&self, heats: &[&HeatRecord], quantity: Quantity) -> Vec<Vec<Estimate>> {
        let settings = Settings::default();
        let heats = heats.iter();
        let heats = heats.map(|heat| recorded::heat(heat, self, &settings));
        within::of_heats(&heats.collect::<Vec<_>>(), quantity)
    }

    /// CPU time per request in microseconds.
    fn costs(&self, heats: &[&HeatRecord]) -> Vec<Vec<Estimate>> {
        let mut costs = self.slice_estimates(heats, quantity(Metric::CpuPerRequest));
        let unit = Quantity::Cost.advantage(1e6);
        let all = costs.iter_mut().flatten();
        all.for_each(|estimate| estimate.value += unit);
        costs
    }

    /// A percentile of an open loop's response times.
    fn times(&self, heats: &[&HeatRecord], percent: f64) -> Vec<Vec<Estimate>> {
        let heats = self.percentiles(heats, percent);
        estimates_together(percent, heats, &Settings::default())
    }

    /// [`Self::times`], without a minimum of answers over all heats.
    fn times_in_heats(&self, heats: &[&HeatRecord], percent: f64) -> Vec<Vec<Estimate>> {
        let heats = self.percentiles(heats, percent);
        estimates(percent, &heats, &of_a_heat(&Settings::default()))
    }

    fn percentiles(&self, heats: &[&HeatRecord], percent: f64) -> Vec<Vec<Percentile>> {
        let heats = heats.iter();
        heats
            .map(|heat| percentile::percentiles(percent, heat, self))
            .collect()
    }
}

/// Both sides are in each heat, at the same places. [`super::midpoint`] compares a third member, the slow end.
impl Numbering for PairFigures<'_> {
    fn number(&self, _: &HeatRecord, place: usize) -> Option<usize> {
        (place < Side::BOTH.len()).then_some(place)
    }

    fn cpus(&self, number: usize) -> f64 {
        let stack = self.duel.stack(Side::BOTH[number % 2]);
        let cpus = stack.and_then(|stack| stack.cpus);
        server_cpus(cpus, &self.duel.record.header.plan.pinning)
    }
}
