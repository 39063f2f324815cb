//! The figures of both sides in heats, as the statistics take them.

use deadheat_model::{HeatRecord, comparison::Side, heat::SliceRecord};

use super::{Duel, server_cpus};
use crate::{
    heats::{
        Percentile, Quantity, Settings,
        percentile::{estimates, estimates_together, of_a_heat},
        recorded::{self, Numbering},
        within::{self, Estimate},
    },
    versus::{Metric, paired::quantity},
};

/// The slices of a side in a heat that count.
pub(super) fn slices(heat: &HeatRecord, side: Side) -> impl Iterator<Item = &SliceRecord> {
    recorded::slices_of(heat, side.member())
}

/// Makes figures of heats.
#[derive(Clone, Copy)]
pub(super) struct PairFigures<'a> {
    pub(super) duel: Duel<'a>,
}

impl PairFigures<'_> {
    /// Whether the generator was the limit of a side in too many of its slices.
    pub(super) fn bounded_in(&self, heats: &[&HeatRecord]) -> [bool; 2] {
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
    pub(super) fn sliced(&self, heats: &[&HeatRecord], quantity: Quantity) -> Vec<Vec<Estimate>> {
        let settings = Settings::default();
        let heats = heats.iter();
        let heats = heats.map(|heat| recorded::heat(heat, self, &settings));
        within::of_heats(&heats.collect::<Vec<_>>(), quantity)
    }

    /// CPU time per request in microseconds.
    pub(super) fn costs(&self, heats: &[&HeatRecord]) -> Vec<Vec<Estimate>> {
        let mut costs = self.sliced(heats, quantity(Metric::CpuPerRequest));
        let unit = Quantity::Cost.advantage(1e6);
        let all = costs.iter_mut().flatten();
        all.for_each(|estimate| estimate.value += unit);
        costs
    }

    /// A percentile of an open loop's response times.
    pub(super) fn times(&self, heats: &[&HeatRecord], percent: f64) -> Vec<Vec<Estimate>> {
        let heats = self.percentiles(heats, percent);
        estimates_together(percent, heats, &Settings::default())
    }

    /// [`Self::times`], without a minimum of answers over all heats.
    pub(super) fn times_in_heats(&self, heats: &[&HeatRecord], percent: f64) -> Vec<Vec<Estimate>> {
        let heats = self.percentiles(heats, percent);
        estimates(percent, &heats, &of_a_heat(&Settings::default()))
    }

    fn percentiles(&self, heats: &[&HeatRecord], percent: f64) -> Vec<Vec<Percentile>> {
        let heats = heats.iter();
        heats
            .map(|heat| recorded::percentiles(percent, heat, self))
            .collect()
    }
}

/// Both sides are in each heat, at the same places. [`crate::versus::midpoint`] compares a third member, the slow end.
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
