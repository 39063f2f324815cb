//! A session of two sides, judged at its declared looks: from the record to what is measured next, what is compared, and
//! what is not.

mod rate;

use std::time::Duration;

use deadheat_model::{
    HeatRecord, LoadPoint,
    comparison::{Comparison, Contender, Side},
    heat::{Freezing, HeatEnd, LONGEST_GAP, SliceRecord},
    heats::{EndReason, LEAST_HEATS, NextHeat, SessionRecord, Step},
    load::Protocol,
    plan::Pinning,
    session::{TargetRecord, TargetState},
    warning::{Warning, note},
    words::time_option,
};

use super::{
    Bounds, Check, Compared, Gate, Metric, NotCompared, Subject, Verdict,
    paired::{self, PairedCell, Series, quantity},
    unsteady,
};
use crate::{
    heats::{
        self, Percentile, Quantity, Settings,
        percentile::{Waiting, estimates},
        recorded::{self, Numbering, SliceLengths},
        within::{self, Estimate},
    },
    order_statistic::median,
    sequential::{Design, Look},
};

/// What an advised budget has to spare, because heats may take longer than those so far.
const SPARE: f64 = 1.25;
/// Nobody waits longer for a verdict.
const MOST_SECONDS: f64 = 36_000.0;

/// What a look found.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    /// What was compared.
    pub compared: Vec<Compared>,
    /// What was not, each with the reason.
    pub not_compared: Vec<NotCompared>,
}

impl Judged {
    /// Whether measuring on would change nothing: what is asked has an answer for everything that can be compared.
    pub fn is_final(&self, check: Check) -> bool {
        let has_verdict = |cell: &Compared| cell.verdict() != Verdict::NotEnoughData;
        match check.fail_if_slower {
            _ if self.compared.is_empty() => true,
            None => self.compared.iter().all(has_verdict),
            Some(_) => Gate::of(&self.compared, 0, check).is_decided(),
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
    pub fn of(record: &'a SessionRecord) -> Option<Self> {
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

    /// What is known of a side that is a stack.
    pub fn stack(&self, side: Side) -> Option<&'a TargetRecord> {
        self.record.header.stack_of(self.contender(side))
    }

    /// The bounds that its plan has.
    pub fn bounds(&self) -> Bounds {
        let plan = &self.record.header.plan;
        Bounds {
            alpha: plan.alpha,
            margin: plan.margin,
            least_heats: plan.least_heats,
            ..Bounds::default()
        }
    }

    /// The looks that its plan declares, the same at each load; `None`: it has no load.
    pub fn design(&self) -> Option<Design> {
        let plan = &self.record.header.plan;
        Design::declare(&plan.loads.first()?.looks, plan.alpha).ok()
    }

    /// How many heats ran to their end at the load that has most of them.
    pub fn most_heats(&self) -> u32 {
        let most = self.loads().map(|load| self.heats(load).count()).max();
        most.unwrap_or(0) as u32
    }

    fn in_flight(&self, point: &LoadPoint) -> u32 {
        let load = self.comparison.a.load();
        let depth = load.map_or(1, |load| match load.protocol {
            Protocol::Http1 { pipeline, .. } => pipeline,
        });
        point.connections * depth
    }

    /// How long the slices of both sides were.
    pub fn slice_lengths(&self) -> Option<SliceLengths> {
        let heats: Vec<&HeatRecord> = self.loads().flat_map(|load| self.heats(load)).collect();
        SliceLengths::of(Side::BOTH.into_iter().map(|side| {
            let own = heats.iter().flat_map(|heat| slices(heat, side));
            own.collect()
        }))
    }

    fn loads(&self) -> std::ops::Range<usize> {
        0..self.record.header.plan.loads.len()
    }

    /// The heats of a load that ran to their end.
    fn heats(&self, load: usize) -> impl Iterator<Item = &'a HeatRecord> {
        let complete = self.record.complete_heats(load);
        complete.filter(|heat| heat.end == HeatEnd::Finished)
    }

    /// What is measured next; `spent` is the time that measuring has taken so far. Heats of all loads take turns until
    /// every cell has a verdict at a look, or looks or budget end. A load at which a side failed has no more of them.
    pub fn next(&self, spent: Duration) -> Step {
        let open: Vec<usize> = self
            .loads()
            .filter(|load| !self.has_failed(*load))
            .collect();
        let done = |load: &usize| self.heats(*load).count() as u32;
        let fewest = open.iter().copied().min_by_key(done);
        let Some((load, design)) = fewest.zip(self.design()) else {
            return Step::End(EndReason::Nothing);
        };
        let heats = done(&load);
        // A heat in which a side failed is one of its turn, too: the other loads have theirs before anything is judged.
        let turns = self
            .loads()
            .map(|load| self.record.complete_heats(load).count())
            .max();
        let is_turn_over = turns == Some(heats as usize);
        if is_turn_over && heats > 0 {
            let look = design.at(heats);
            if look.is_some() && self.judge(look).is_final(self.comparison.check) {
                return Step::End(EndReason::Decided);
            }
            if heats >= design.most_heats() {
                return Step::End(EndReason::Finished);
            }
            if !has_time(self.record, spent, heats) {
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

    /// The look that its figures are of. Whatever else there is beyond that look counts for nothing; only a budget, which
    /// knows no result, leaves one more look at its end.
    pub fn final_look(&self) -> Option<Look> {
        final_look(&self.design()?, self.most_heats(), self.record.end)
    }

    /// What the complete heats up to `look` say at each load; without a look, what all complete heats say, without a
    /// verdict. A failure counts at any time, also after the look.
    pub fn judge(&self, look: Option<Look>) -> Judged {
        let bounds = &self.bounds();
        let (mut cells, mut not_compared) = (Vec::new(), Vec::new());
        for (index, load) in self.record.header.plan.loads.iter().enumerate() {
            let subject = Subject {
                target: None,
                workload: load.workload.clone(),
                point: load.point.id.clone(),
            };
            let heats = look.map_or(usize::MAX, |look| look.heats as usize);
            let sides = Side::BOTH.map(|side| self.failure_at(side, index));
            let counted = Counted {
                duel: *self,
                in_flight: self.in_flight(&load.point),
                heats: self.heats(index).take(heats).collect(),
            };
            let hindrance = if sides.iter().any(Option::is_some) {
                Some(failures(&sides))
            } else if look.is_none() && counted.heats.is_empty() {
                Some("it was stopped before the first heat ended".to_owned())
            } else {
                counted.bounds()
            };
            match hindrance {
                None => cells.push(counted.cell(subject, look, bounds)),
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
        Judged {
            compared,
            not_compared,
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
        let heats = self.record.heats.iter();
        let mut own = heats.filter(|heat| heat.load as usize == load);
        own.find_map(|one| recorded::failure(&one.heat, side.member()))
    }
}

/// Whether the budget has room for another heat of each load, which takes as long as those so far.
pub(super) fn has_time(record: &SessionRecord, spent: Duration, heats: u32) -> bool {
    let budget = record.header.plan.budget_seconds;
    let budget = budget.map(Duration::from_secs_f64);
    budget.is_none_or(|budget| spent + spent / heats <= budget)
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

/// The slices of a side in a heat that count.
fn slices(heat: &HeatRecord, side: Side) -> impl Iterator<Item = &SliceRecord> {
    recorded::slices_of(heat, side.member())
}

/// The heats at one load that count.
struct Counted<'a> {
    duel: Duel<'a>,
    /// Requests of a closed loop that are always under way.
    in_flight: u32,
    heats: Vec<&'a HeatRecord>,
}

impl Counted<'_> {
    /// Why nothing can be said of their throughput although nothing failed, if so.
    fn bounds(&self) -> Option<String> {
        let bounded = self.bounded();
        if self.is_open() {
            let limited = bounded.contains(&true).then(|| {
                "the generator was the limit, so response times include its own delay: choose a lower rate, or add \
                 CPUs for the generator"
                    .to_owned()
            });
            return limited.or_else(|| self.too_few());
        }
        let said = |side: Side| {
            format!(
                "{side} is a lower bound: the generator was the limit, and the server had CPU time left"
            )
        };
        // The slower one may be as fast as the other, and two bounds say nothing.
        match bounded {
            [true, true] => Some(format!("{}; so is B", said(Side::A))),
            [true, false] if self.advantage() > 0.0 => Some(said(Side::A)),
            [false, true] if self.advantage() < 0.0 => Some(said(Side::B)),
            _ => None,
        }
    }

    /// How far B's throughput is ahead of A's, on the logarithm; 0 when nobody knows.
    fn advantage(&self) -> f64 {
        let fit = heats::Fit::of(2, &self.throughputs(), &Settings::default());
        let both = fit.advantage(1).zip(fit.advantage(0));
        both.map_or(0.0, |(b, a)| b - a)
    }

    /// Whether the generator was the limit of a side in too many of its slices.
    fn bounded(&self) -> [bool; 2] {
        Side::BOTH.map(|side| {
            let own = self.heats.iter().flat_map(|heat| slices(heat, side));
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

    fn throughputs(&self) -> Vec<Vec<Estimate>> {
        self.sliced(Quantity::Throughput)
    }

    /// The estimates of what slices have.
    fn sliced(&self, quantity: Quantity) -> Vec<Vec<Estimate>> {
        let settings = Settings::default();
        let heats = self.heats.iter();
        let heats = heats.map(|heat| recorded::heat(heat, self, &settings));
        within::of_heats(&heats.collect::<Vec<_>>(), quantity)
    }

    /// A percentile of an open loop's response times.
    fn times(&self, percent: f64) -> Vec<Vec<Estimate>> {
        let heats = self.heats.iter();
        let heats: Vec<Vec<Percentile>> = heats
            .map(|heat| recorded::percentiles(percent, heat, self))
            .collect();
        estimates(percent, &heats, &Settings::default())
    }

    fn memory(&self) -> Series {
        let of = |heat: &&HeatRecord| {
            let memory = |side: Side| heat.members[side.member()].memory_here();
            let peak = |side: Side| Some(memory(side)?.peak.unwrap_or(0) as f64);
            peak(Side::A).zip(peak(Side::B))
        };
        let pairs: Vec<(f64, f64)> = self.heats.iter().filter_map(of).collect();
        Series::of_pairs(Metric::MemoryPeak, &pairs)
    }

    /// Why the response times of an open loop cannot be judged, if so: whether a side keeps up says nothing of them.
    fn too_few(&self) -> Option<String> {
        let is_carried = |heat: &Vec<Estimate>| heat.len() == Side::BOTH.len();
        let carried = self.times(50.0).iter().any(is_carried);
        (!carried && !self.heats.is_empty()).then(|| {
            "no heat has 200 answers of each side, which its median response time needs: choose longer heats \
             (--heat-time) or a higher rate"
                .to_owned()
        })
    }

    fn is_open(&self) -> bool {
        let slices = self.heats.iter().flat_map(|heat| heat.rounds.iter());
        slices.flatten().any(|slice| slice.open.is_some())
    }

    fn cell(&self, subject: Subject, look: Option<Look>, bounds: &Bounds) -> PairedCell {
        let series = |metric, heats| Series {
            metric,
            heats,
            bounded: [false; 2],
        };
        let throughput = Series {
            bounded: self.bounded(),
            ..series(Metric::Throughput, self.throughputs())
        };
        let (mut all, deciding) = if self.is_open() {
            // Both sides have the same rate. Of one that does not keep up only the quick answers are in its times, so that
            // its throughput decides, too.
            let p50 = series(Metric::ResponseTimeP50, self.times(50.0));
            let p99 = series(Metric::ResponseTimeP99, self.times(99.0));
            (vec![p50, p99, throughput], 3)
        } else {
            (vec![throughput], 1)
        };
        let cost = self.sliced(quantity(Metric::CpuPerRequest));
        all.push(series(Metric::CpuPerRequest, microseconds(cost)));
        all.push(self.memory());
        let mut cell = PairedCell {
            subject,
            series: all,
            deciding,
            notes: self.notes(),
        };
        if let Some(look) = look {
            cell.notes.extend(self.undecided(&cell, look, bounds));
        }
        cell
    }

    /// How wide the interval is where there is no verdict, and how much more time would give one.
    fn undecided(&self, cell: &PairedCell, look: Look, bounds: &Bounds) -> Option<Warning> {
        let found = paired::at_look(std::slice::from_ref(cell), look, bounds);
        let found = &found[0];
        let ratio = found.decisive()?;
        if found.verdict() != Verdict::NotEnoughData {
            return None;
        }
        let interval = ratio.interval?;
        let half = (interval.high / interval.low).ln() / 2.0;
        let width = match half {
            half if half < 0.5 => format!("±{:.1} %", 100.0 * half),
            half => format!("a factor of {:.1} either way", half.exp()),
        };
        let of = if found.deciding > 1 {
            format!(" of the {}", ratio.metric.name())
        } else {
            String::new()
        };
        let sentence = format!(
            "Undecided: the interval{of} reaches {width} after {} heats.",
            ratio.heats_a
        );
        let mut series = cell.series.iter();
        let series = series.find(|series| series.metric == ratio.metric)?;
        let more = series.heats_to_go(bounds.alpha / cell.deciding as f64, &ratio.rule);
        let advice = more.map(|more| self.advice(self.heats.len() as u32 + more));
        Some(note("undecided", sentence).advice(advice.unwrap_or_default()))
    }

    /// The option with which another comparison has so many heats of each load, in a sentence.
    fn advice(&self, heats: u32) -> String {
        let heats = heats.max(LEAST_HEATS);
        let record = self.duel.record;
        let all: Duration = record.heats.iter().map(|one| one.heat.wall).sum();
        let turn = all.as_secs_f64() / f64::from(self.duel.most_heats().max(1));
        let seconds = turn * f64::from(heats);
        let option = match record.header.plan.budget_seconds {
            _ if seconds > MOST_SECONDS => return "No reasonable time would decide it.".to_owned(),
            Some(_) => format!("--budget {}", time_option(seconds * SPARE)),
            None => format!("--heats {heats}"),
        };
        format!("About {heats} heats may decide it ({option}).")
    }

    /// What to know although it counts.
    fn notes(&self) -> Vec<Warning> {
        let mut notes = Vec::new();
        for side in Side::BOTH {
            let members = || self.heats.iter().map(|heat| &heat.members[side.member()]);
            let heats = self.heats.iter();
            let heats = heats.filter(|heat| !recorded::is_steady(heat, side.member()));
            notes.extend(unsteady(&side.to_string(), heats.count(), self.heats.len()));
            let by_signals =
                |freezing: &Option<Freezing>| matches!(freezing, Some(Freezing::Signals { .. }));
            if members().any(|member| by_signals(&member.freezing)) {
                let sentence = format!(
                    "{side} was frozen by signals, because no control group can freeze it."
                );
                notes.push(note("frozen-by-signals", sentence));
            }
            notes.extend(self.uneven(side));
            let own = self.heats.iter().flat_map(|heat| slices(heat, side));
            if recorded::often_late(own) {
                let sentence = format!(
                    "{side} often waited for its turn for {} s or longer, in which idle connections may be closed.",
                    LONGEST_GAP.as_secs()
                );
                notes.push(note("long-gaps", sentence));
            }
        }
        notes.extend(self.bound_note());
        notes.extend(rate::notes(&self.heats));
        notes.extend(self.other_answers());
        notes
    }

    /// That a closed loop's connections waited unevenly.
    fn uneven(&self, side: Side) -> Option<Warning> {
        let per_second = median(self.heats.iter().filter_map(|heat| {
            let figures = recorded::figures(heat, Quantity::Throughput);
            figures.get(side.member()).copied().flatten()
        }));
        let per_second = per_second.filter(|_| !self.is_open())?;
        let heats: Vec<_> = self
            .heats
            .iter()
            .map(|heat| (*heat, side.member()))
            .collect();
        let settings = Settings::default();
        let waiting = Waiting::of(self.in_flight, per_second, &heats, &settings);
        let sentence = format!("{side}'s connections waited unevenly: {}.", waiting.uneven?);
        Some(note("uneven", sentence))
    }

    fn bound_note(&self) -> Option<Warning> {
        let bounded = self.bounded();
        let side = Side::BOTH.into_iter().find(|side| bounded[side.member()])?;
        let sentence = format!(
            "{side} may be faster still: the generator was the limit in some of its slices."
        );
        Some(note("generator-limited", sentence))
    }

    /// That the two sides answer with bodies of other lengths, so that they may do other work.
    fn other_answers(&self) -> Option<Warning> {
        let length = |side: Side| {
            let own = self.heats.iter().flat_map(|heat| slices(heat, side));
            let (bytes, answers) = own.fold((0, 0), |(bytes, answers), slice| {
                let succeeded = slice.tally.succeeded;
                (bytes + slice.body_bytes, answers + succeeded)
            });
            (answers > 0).then(|| bytes as f64 / answers as f64)
        };
        let (a, b) = (length(Side::A)?, length(Side::B)?);
        ((a - b).abs() >= 0.5).then(|| {
            let sentence = format!(
                "The answers differ: A's bodies have {a:.0} bytes on average, B's have {b:.0}."
            );
            note("other-answers", sentence)
                .with("a_bytes", a)
                .with("b_bytes", b)
        })
    }
}

/// Both sides are in each heat, at the same places. A slow end after them is compared elsewhere ([`super::halfway`]).
impl Numbering for Counted<'_> {
    fn number(&self, _: &HeatRecord, place: usize) -> Option<usize> {
        (place < Side::BOTH.len()).then_some(place)
    }

    fn cpus(&self, number: usize) -> f64 {
        let stack = self.duel.stack(Side::BOTH[number % 2]);
        let cpus = stack.and_then(|stack| stack.cpus);
        server_cpus(cpus, &self.duel.record.header.plan.pinning)
    }
}

/// Seconds of cost as the metric has them.
fn microseconds(mut heats: Vec<Vec<Estimate>>) -> Vec<Vec<Estimate>> {
    let unit = Quantity::Cost.advantage(1e6);
    heats
        .iter_mut()
        .flatten()
        .for_each(|estimate| estimate.value += unit);
    heats
}

/// The CPUs that a side's server may use, of those that its stack asks for.
pub(super) fn server_cpus(asked: Option<u32>, pinning: &Pinning) -> f64 {
    let all = pinning.server_cpus();
    let own = asked.map_or(all, |cpus| all.min(cpus as usize));
    own.max(1) as f64
}

#[cfg(test)]
mod tests;
