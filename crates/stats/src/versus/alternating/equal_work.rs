//! Equal work in the heats of a closed loop: both sides at one rate, one after the other.

use deadheat_model::{
    HeatRecord,
    comparison::Side,
    figure::{self, list},
    warning::{Warning, note},
};

use super::PairFigures;
use crate::{
    heats::{
        Quantity, Settings,
        percentile::{is_near_capacity, needed, of_a_heat},
        recorded::{self, Overloads},
    },
    versus::{Metric, Overloaded, paired::PairedSeries},
};

/// The tail that is compared, as a percentile.
const TAIL: f64 = 99.0;

/// Equal work at one rate.
pub(super) struct AtRate<'a> {
    /// The rate, in requests per second.
    per_second: f64,
    /// Its part of each heat.
    heats: Vec<&'a HeatRecord>,
    /// The sides that are so near to their capacity that percentiles of their turns say little.
    near_capacity: Vec<Side>,
}

impl<'a> AtRate<'a> {
    /// The rate of these parts of heats, of which the closed loops found the capacities; `None`: nothing was offered,
    /// because no capacity was known.
    pub(super) fn new(heats: Vec<&'a HeatRecord>, closed: &[&HeatRecord]) -> Option<Self> {
        let members = heats.iter().flat_map(|heat| &heat.members);
        let per_second = members
            .filter_map(|member| member.offered_per_second)
            .next()?;
        let capacities = closed.iter();
        let capacities = capacities.map(|heat| recorded::figures(heat, Quantity::Throughput));
        let capacities: Vec<Vec<Option<f64>>> = capacities.collect();
        let is_near = |side: &Side| {
            let own = capacities.iter().filter_map(|heat| heat[side.member()]);
            is_near_capacity(per_second, own)
        };
        Some(Self {
            per_second,
            heats,
            near_capacity: Side::BOTH.into_iter().filter(is_near).collect(),
        })
    }

    pub(super) fn per_second(&self) -> f64 {
        self.per_second
    }

    fn overloads(&self, side: Side) -> Overloads {
        let heats = self.heats.iter().map(|heat| (*heat, side.member()));
        Overloads::new(heats)
    }

    /// The sides that cannot take it.
    pub(super) fn overloaded(&self, decides: bool) -> impl Iterator<Item = Overloaded> {
        Side::BOTH.into_iter().filter_map(move |side| {
            let overloads = self.overloads(side);
            Some(Overloaded {
                side,
                per_second: self.per_second,
                reason: overloads.in_words().filter(|_| overloads.are_most())?,
                decides,
                other_can: self.overloads(Side::BOTH[1 - side.member()]).is_none(),
            })
        })
    }

    /// CPU time per request and p99 of response time. There are none if a side cannot take the rate, and no p99 that has the
    /// generator's own delay, or of a side near its capacity.
    pub(super) fn series(&self, figures: &PairFigures<'_>) -> Vec<PairedSeries> {
        if self.overloaded(true).next().is_some() {
            return Vec::new();
        }
        let of = |metric, heats| PairedSeries {
            metric,
            per_second: Some(self.per_second),
            heats,
            bounded: [false; 2],
        };
        let cost = of(Metric::CpuPerRequest, figures.costs(&self.heats));
        let mut series = vec![cost];
        if !self.is_generator_limited(figures) && self.near_capacity.is_empty() {
            let times = figures.times(&self.heats, TAIL);
            series.push(of(Metric::ResponseTimeP99, times));
        }
        series
    }

    fn is_generator_limited(&self, figures: &PairFigures<'_>) -> bool {
        figures.bounded_in(&self.heats).contains(&true)
    }

    /// What to know of it.
    pub(super) fn notes(&self, figures: &PairFigures<'_>) -> Vec<Warning> {
        let rate = figure::rate(self.per_second);
        let overloads = Side::BOTH.into_iter().filter_map(|side| {
            let overloads = self.overloads(side);
            // Of most heats it is a result.
            let reason = overloads.in_words().filter(|_| !overloads.are_most())?;
            let sentence = format!("{side} did not always take {rate}: {reason}.");
            Some(note("overloaded", sentence))
        });
        let mut notes: Vec<Warning> = overloads.collect();
        if self.overloaded(true).next().is_some() {
            return notes;
        }
        if self.is_generator_limited(figures) {
            let sentence = format!(
                "At {rate} the generator was the limit, so p99, which would include its own delay, is not compared."
            );
            notes.push(note("generator-limited-at-rate", sentence));
        } else if !self.near_capacity.is_empty() {
            let who = list(&self.near_capacity);
            let verb = if self.near_capacity.len() == 1 {
                "is"
            } else {
                "are"
            };
            let sentence = format!(
                "At {rate}, {who} {verb} near capacity, where turns do not show whole queues, so p99 is not compared."
            );
            notes.push(note("near-capacity", sentence).advice("A lower --rate has it."));
        } else if figures
            .times(&self.heats, TAIL)
            .iter()
            .all(|heat| heat.len() < 2)
        {
            let all = Settings::default();
            let in_heats = figures.times_in_heats(&self.heats, TAIL);
            // More heats give each of them no more answers of its own.
            let (settings, place) = if in_heats.iter().any(|heat| heat.len() == 2) {
                (all, "over all heats")
            } else {
                (of_a_heat(&all), "in each heat")
            };
            let needed = needed(TAIL, &settings);
            let needed = figure::count(needed as u64);
            let sentence = format!(
                "p99 at {rate} is not compared: it needs {needed} answers of each side {place}."
            );
            notes.push(note("few-answers-at-rate", sentence).advice("A higher --rate has more."));
        }
        notes
    }
}

/// Whether the heat at a rate counts with those of the closed loop: it is a part of one of them.
pub(super) fn is_part_of(heat: &HeatRecord, closed: &[&HeatRecord]) -> bool {
    closed.iter().any(|one| one.heat == heat.heat)
}
