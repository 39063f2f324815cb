//! The counted heats at one load, and the cell of the comparison that they make. For open loops also whether both sides
//! kept up with the rate.

use std::time::Duration;

use deadheat_model::{
    HeatRecord,
    comparison::{Decide, Side},
    figure::{self, count, list, percent, short_percent, time_option, two_digits},
    heat::{Freezing, LONGEST_GAP},
    heats::MIN_HEATS,
    warning::{Warning, note},
};

use super::{PairFigures, slices};
use crate::{
    comparison::{
        Bounds, CellId, Compared, Metric, Overloaded, RatioVerdict,
        gate::GateQuestion,
        paired::{self, PairedCell, PairedSeries},
        unsteady,
    },
    heats::{
        self, Quantity, Settings,
        percentile::{WaitingTimes, is_carried, is_near_capacity, needed, of_a_heat},
        recorded::{self, OTHERS, Overloads, answered_share, taken},
        within::Estimate,
    },
    interval::median,
    sequential::Look,
};

/// The factor on an advised budget, because later heats may take longer.
const SPARE: f64 = 1.25;
/// The longest budget that is advised, in seconds.
const MAX_SECONDS: f64 = 36_000.0;

/// The counted heats at one load.
pub(super) struct CountedHeats<'a> {
    pub(super) figures: PairFigures<'a>,
    /// Requests in flight of the closed loop.
    pub(super) in_flight: u32,
    pub(super) heats: Vec<&'a HeatRecord>,
    /// The rates of equal work in these heats.
    pub(super) rates: Vec<AtRate<'a>>,
}

impl CountedHeats<'_> {
    /// The reason why the cell cannot be compared although nothing failed; `None` if it can.
    pub(super) fn hindrance(&self) -> Option<String> {
        let decide = self.figures.duel.comparison.decide;
        self.bounds()
            .filter(|_| self.is_open() || decide == Decide::Throughput)
    }

    /// The reason why the throughputs cannot be compared; `None` if they can.
    fn bounds(&self) -> Option<String> {
        let bounded = self.figures.bounded_in(&self.heats);
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

    /// The logarithm of B's throughput over A's; 0 if it is unknown.
    fn advantage(&self) -> f64 {
        let fit = heats::Fit::new(2, &self.throughputs(), &Settings::default());
        let both = fit.advantage(1).zip(fit.advantage(0));
        both.map_or(0.0, |(b, a)| b - a)
    }

    fn throughputs(&self) -> Vec<Vec<Estimate>> {
        self.figures
            .slice_estimates(&self.heats, Quantity::Throughput)
    }

    fn memory(&self) -> PairedSeries {
        let of = |heat: &&HeatRecord| {
            let memory = |side: Side| heat.members[side.member()].memory_here();
            let peak = |side: Side| Some(memory(side)?.peak.unwrap_or(0) as f64);
            peak(Side::A).zip(peak(Side::B))
        };
        let pairs: Vec<(f64, f64)> = self.heats.iter().filter_map(of).collect();
        PairedSeries::of_pairs(Metric::MemoryPeak, &pairs)
    }

    /// The reason why the response times of an open loop cannot be judged; `None` if they can. It does not depend on
    /// whether a side keeps up.
    fn too_few(&self) -> Option<String> {
        let carried = |heat: &Vec<Estimate>| heat.len() == Side::BOTH.len();
        // More heats may have enough for p99, and give each heat no more of its own.
        let (times, lacking) = match self.figures.duel.comparison.decide {
            Decide::P99 => (
                self.figures.times_in_heats(&self.heats, 99.0),
                "no heat has 1,000 answers of each side, which the p99 response time needs",
            ),
            Decide::Throughput | Decide::Cpu => (
                self.figures.times(&self.heats, 50.0),
                "the heats together have fewer than 200 answers of each side, which the median response time needs",
            ),
        };
        (!times.iter().any(carried) && !self.heats.is_empty())
            .then(|| format!("{lacking}: choose longer heats (--heat-time) or a higher rate"))
    }

    /// Whether the p99 of an open loop would decide, and has too few answers in all heats together so far: a heat has
    /// enough of its own.
    pub(super) fn awaits_tail(&self) -> bool {
        let is_known = |heats: Vec<Vec<Estimate>>| {
            let mut heats = heats.iter();
            heats.any(|heat| heat.len() == Side::BOTH.len())
        };
        self.is_open()
            && self.figures.duel.comparison.decide == Decide::Throughput
            && is_known(self.figures.times_in_heats(&self.heats, TAIL))
            && !is_known(self.figures.times(&self.heats, TAIL))
    }

    fn is_open(&self) -> bool {
        let slices = self.heats.iter().flat_map(|heat| heat.rounds.iter());
        slices.flatten().any(|slice| slice.open.is_some())
    }

    pub(super) fn cell(&self, subject: CellId, look: Option<Look>, bounds: &Bounds) -> PairedCell {
        let comparison = self.figures.duel.comparison;
        let (is_open, decide) = (self.is_open(), comparison.decide);
        let mut series = self.own_series();
        let at_rates = self
            .rates
            .iter()
            .flat_map(|rate| rate.series(&self.figures));
        series.extend(at_rates);
        let decides = |one: &PairedSeries| match (decide, one.metric) {
            // Both sides have the same rate. Of one that does not keep up only the quick answers are in its times, so
            // that its throughput decides, too.
            (_, Metric::Throughput) if is_open => true,
            (Decide::Throughput, metric) if is_open => metric.is_response_time(),
            (Decide::Throughput, metric) => metric == Metric::Throughput,
            (Decide::Cpu, metric) => metric == Metric::CpuPerRequest && one.per_second.is_some(),
            (Decide::P99, metric) => metric == Metric::ResponseTimeP99,
        };
        let bounds_on = [
            (GateQuestion::Slower, comparison.check.fail_if_slower),
            (GateQuestion::Costlier, comparison.check.fail_if_costlier),
        ];
        let is_asked = |one: &PairedSeries| {
            let (decides, at_rate) = (decides(one), one.per_second.is_some());
            let about =
                |question: GateQuestion| question.is_about(decides, decide, one.metric, at_rate);
            bounds_on
                .iter()
                .any(|(question, bound)| bound.is_some() && about(*question))
        };
        series.sort_by_key(|one| (!decides(one), !is_asked(one)));
        let at_rate_decides = decide != Decide::Throughput;
        let rates = self.rates.iter();
        let unjudged = Compared {
            subject,
            decide,
            rates: rates.clone().map(AtRate::per_second).collect(),
            deciding: series.iter().filter(|one| decides(one)).count(),
            tested: series
                .iter()
                .filter(|one| decides(one) || is_asked(one))
                .count(),
            overloaded: rates
                .flat_map(|rate| rate.overloaded(at_rate_decides))
                .collect(),
            notes: self.notes(),
            ..Compared::default()
        };
        let mut cell = PairedCell { unjudged, series };
        if let Some(look) = look {
            let note = self.undecided(&cell, look, bounds);
            cell.unjudged.notes.extend(note);
        }
        cell
    }

    /// The series of each metric, in the order of the tables.
    fn own_series(&self) -> Vec<PairedSeries> {
        let of = PairedSeries::new;
        let throughput = PairedSeries {
            bounded: self.figures.bounded_in(&self.heats),
            ..of(Metric::Throughput, self.throughputs())
        };
        let cost = of(Metric::CpuPerRequest, self.figures.costs(&self.heats));
        let mut series = Vec::new();
        if self.is_open() {
            let times = |percent| self.figures.times(&self.heats, percent);
            series.push(of(Metric::ResponseTimeP50, times(50.0)));
            series.push(of(Metric::ResponseTimeP99, times(99.0)));
        }
        if self.bounds().is_none() {
            series.push(throughput);
        }
        series.extend([cost, self.memory()]);
        series
    }

    /// The note about a cell without a verdict: the width of its interval, and the time that a verdict would take.
    fn undecided(&self, cell: &PairedCell, look: Look, bounds: &Bounds) -> Option<Warning> {
        let found = paired::at_look(std::slice::from_ref(cell), look, bounds);
        let found = &found[0];
        let ratio = found.decisive()?;
        if found.verdict != RatioVerdict::NotEnoughData {
            return None;
        }
        let interval = ratio.interval?;
        let half = (interval.high / interval.low).ln() / 2.0;
        let width = match half {
            half if half < 0.5 => format!("reaches ±{}", short_percent(half)),
            // The generator was the limit of one side.
            half if half.is_infinite() => "has an open end".to_owned(),
            half => format!("reaches a factor of {} either way", two_digits(half.exp())),
        };
        let of = if found.deciding > 1 || ratio.metric != Metric::Throughput {
            format!(" of the {}", ratio.metric.name())
        } else {
            String::new()
        };
        let sentence = format!(
            "Undecided: the interval{of} {width} after {} heats.",
            ratio.heats_a
        );
        let mut series = cell.series.iter();
        let is_same = |series: &&PairedSeries| {
            (series.metric, series.per_second) == (ratio.metric, ratio.per_second)
        };
        let series = series.find(is_same)?;
        let more = series.heats_to_go(bounds.alpha / cell.unjudged.tested as f64, &ratio.rule);
        let advice = more.map(|more| self.advice(self.heats.len() as u32 + more));
        Some(note("undecided", sentence).advice(advice.unwrap_or_default()))
    }

    /// The sentence with the option that gives another comparison this many heats of each load.
    fn advice(&self, heats: u32) -> String {
        let heats = heats.max(MIN_HEATS);
        let record = self.figures.duel.record;
        let all: Duration = record.heats.iter().map(|one| one.heat.wall).sum();
        let turn = all.as_secs_f64() / f64::from(self.figures.duel.most_heats().max(1));
        let seconds = turn * f64::from(heats);
        let option = match record.header.plan.budget_seconds {
            _ if seconds > MAX_SECONDS => return "No reasonable time would decide it.".to_owned(),
            Some(_) => format!("--budget {}", time_option(seconds * SPARE)),
            None => format!("--heats {heats}"),
        };
        format!("About {heats} heats may decide it ({option}).")
    }

    /// Notes about counted heats.
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
            // Turns at a rate are long ones, and open new connections in their guard.
            if !self.is_open() && recorded::often_late(own) {
                let sentence = format!(
                    "{side} often waited for its turn for {} s or longer, in which idle connections may be closed.",
                    LONGEST_GAP.as_secs()
                );
                notes.push(note("long-gaps", sentence));
            }
        }
        notes.extend(self.taken());
        notes.extend(self.bound_note());
        notes.extend(self.rates.iter().flat_map(|rate| rate.notes(&self.figures)));
        notes.extend(rate_notes(&self.heats));
        notes.extend(self.other_answers());
        notes
    }

    /// Notes about the CPU time that the hypervisor and other programs took. Another program disturbs both sides. One that
    /// works for a side, and was not started by it, runs while that side is loaded.
    fn taken(&self) -> Vec<Warning> {
        let rounds = self.heats.iter().flat_map(|heat| &heat.rounds);
        let mut notes = taken(rounds.flatten());
        let is_of_others = |one: &Warning| one.id == OTHERS;
        let of_side = |side| taken(self.heats.iter().flat_map(|heat| slices(heat, side)));
        let has = Side::BOTH.map(|side| of_side(side).iter().any(is_of_others));
        if has == [true; 2] {
            return notes;
        }
        notes.retain(|one| !is_of_others(one));
        let loaded = Side::BOTH.iter().zip(has).filter(|(_, has)| *has);
        notes.extend(loaded.map(|(side, _)| {
            let sentence = format!(
                "Only while {side} was loaded, other programs used much of the CPU time. If they work for {side}, that is in \
                 none of its figures."
            );
            note("others-of-one-side", sentence)
        }));
        notes
    }

    /// The note that a closed loop's connections waited unevenly.
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
        let waiting = WaitingTimes::new(self.in_flight, per_second, &heats, &settings);
        let sentence = format!("{side}'s connections waited unevenly: {}.", waiting.uneven?);
        Some(note("uneven", sentence))
    }

    fn bound_note(&self) -> Option<Warning> {
        if let Some(reason) = self.bounds() {
            return Some(note(
                "generator-limited",
                format!("Throughput is not compared: {reason}."),
            ));
        }
        let bounded = self.figures.bounded_in(&self.heats);
        let side = Side::BOTH.into_iter().find(|side| bounded[side.member()])?;
        let sentence = format!(
            "{side} may be faster still: the generator was the limit in some of its slices."
        );
        Some(note("generator-limited", sentence))
    }

    /// The note that the bodies of the two sides differ in length, so that their work may differ.
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

/// A side that answered less than this share of what fell due in its slices did not keep up.
const KEPT_UP: f64 = 0.95;
/// The tail that is compared and decides, as a percentile.
const TAIL: f64 = 99.0;

/// Notes about an open loop; empty for a closed loop.
fn rate_notes(heats: &[&HeatRecord]) -> Vec<Warning> {
    let late = Side::BOTH.map(|side| answered(heats, side).filter(|share| *share < KEPT_UP));
    let of_side = |(side, share): (&Side, Option<f64>)| {
        let share = share?;
        let sentence = format!(
            "{side} did not keep up with the rate: it answered {} of it in time, so its response times grow with \
             the length of a slice.",
            percent(share)
        );
        Some(
            note("behind", sentence)
                .with("share", share)
                .with("bound", KEPT_UP),
        )
    };
    let mut notes: Vec<Warning> = Side::BOTH.iter().zip(late).filter_map(of_side).collect();
    if late.iter().all(Option::is_some) {
        let sentence = "The rate is too high for both sides.";
        notes.push(note("both-behind", sentence).advice("Omit it to compare their capacity."));
    }
    notes.extend(too_few(heats));
    notes
}

/// The answers of a side over the requests that fell due, in all its slices; `None`: nothing fell due.
fn answered(heats: &[&HeatRecord], side: Side) -> Option<f64> {
    answered_share(heats.iter().flat_map(|heat| slices(heat, side)))
}

/// The note that the heats have too few requests for the tail percentile; `None` if they have enough.
fn too_few(heats: &[&HeatRecord]) -> Option<Warning> {
    let settings = Settings::default();
    let least_of = |heats: &[&HeatRecord]| {
        let of_side = |side| {
            let own = heats.iter().flat_map(|heat| slices(heat, side));
            let counts = own.filter_map(|slice| Some(slice.open.as_ref()?.response_time.count()));
            counts.reduce(|one, other| one + other)
        };
        Side::BOTH.into_iter().filter_map(of_side).min()
    };
    let least = least_of(heats)?;
    let most = heats.iter().filter_map(|heat| least_of(&[*heat])).max()?;
    let of_one = of_a_heat(&settings);
    if !is_carried(TAIL, most, &of_one) {
        let needed = needed(TAIL, &of_one);
        let sentence = format!(
            "The p99 response time is judged from {} answers of each side in a heat on, and no heat has more than {}.",
            count(needed as u64),
            count(most)
        );
        let few = note("few-answers", sentence).with("answers", most);
        let few = few.with("needed", needed);
        return Some(few.advice("Longer heats (--heat-time) or a higher rate have more."));
    }
    let needed = needed(TAIL, &settings);
    (!is_carried(TAIL, least, &settings)).then(|| {
        let sentence = format!(
            "The p99 response time is judged from {} answers of each side on, and there are {}.",
            count(needed as u64),
            count(least)
        );
        note("few-answers", sentence)
            .with("answers", least)
            .with("needed", needed)
            .advice("More or longer heats (--heat-time) or a higher rate have more.")
    })
}

/// Equal work at one rate.
pub(super) struct AtRate<'a> {
    /// The rate, in requests per second.
    per_second: f64,
    /// The part of each heat at this rate.
    heats: Vec<&'a HeatRecord>,
    /// The sides that are too near to their capacity for percentiles of their turns to be meaningful.
    near_capacity: Vec<Side>,
}

impl<'a> AtRate<'a> {
    /// The rate of these parts of heats. `closed` are the heats of the closed loop, which show the capacities. `None`
    /// if no requests were offered because no capacity was known.
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
            is_near_capacity(per_second, own, answered(&heats, *side))
        };
        let near_capacity = Side::BOTH.into_iter().filter(is_near).collect();
        Some(Self {
            per_second,
            heats,
            near_capacity,
        })
    }

    pub(super) fn per_second(&self) -> f64 {
        self.per_second
    }

    fn overloads(&self, side: Side) -> Overloads {
        let heats = self.heats.iter().map(|heat| (*heat, side.member()));
        Overloads::new(heats)
    }

    /// The sides that cannot take the rate.
    pub(super) fn overloaded(&self, decides: bool) -> impl Iterator<Item = Overloaded> {
        Side::BOTH.into_iter().filter_map(move |side| {
            let overloads = self.overloads(side);
            Some(Overloaded {
                side,
                per_second: self.per_second,
                reason: overloads.in_words().filter(|_| overloads.are_most())?,
                decides,
                other_side_keeps_up: self.overloads(Side::BOTH[1 - side.member()]).is_none(),
            })
        })
    }

    /// CPU time per request and the p99 response time. Empty if a side cannot take the rate. The p99 is left out if the
    /// generator delayed requests, or if a side is near its capacity.
    pub(super) fn series(&self, figures: &PairFigures<'_>) -> Vec<PairedSeries> {
        if self.overloaded(true).next().is_some() {
            return Vec::new();
        }
        let of = |metric, heats| PairedSeries {
            per_second: Some(self.per_second),
            ..PairedSeries::new(metric, heats)
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

    /// Notes about this rate.
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
                "At {rate}, {who} {verb} near capacity, or began turns with a queue, so their times are not those of users, and p99 is not \
                 compared."
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

/// Whether the heat at a rate is a part of one of the closed loop's counted heats.
pub(super) fn is_part_of(heat: &HeatRecord, closed: &[&HeatRecord]) -> bool {
    closed.iter().any(|one| one.heat == heat.heat)
}
