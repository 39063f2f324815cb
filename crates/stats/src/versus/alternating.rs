//! What was measured in heats of both sides, judged at declared looks: from the record to what is compared and what is
//! not.

use std::time::Duration;

use deadheat_model::{
    HeatRecord,
    comparison::{ComparedHeat, ComparisonRecord, Contender, ContenderKind, Side},
    heat::{Freezing, SliceRecord},
    plan::Pinning,
    session::TargetState,
};

use super::{
    Bounds, Compared, Ended, Metric, NotCompared, Subject, Verdict,
    paired::{self, PairedCell, Series, quantity},
};
use crate::{
    heats::{
        self, Percentile, Quantity, Settings,
        percentile::estimates,
        recorded::{self, Numbering},
        within::{self, Estimate},
    },
    sequential::{Design, Look},
};

/// What a look found.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    /// What was compared.
    pub compared: Vec<Compared>,
    /// What was not, each with the reason.
    pub not_compared: Vec<NotCompared>,
}

impl Judged {
    /// Whether measuring on would change nothing: there is a verdict on everything that can be compared.
    pub fn is_final(&self) -> bool {
        self.compared.is_empty() || paired::is_decided(&self.compared)
    }
}

/// The look that the figures are of, when a comparison has `heats` complete heats and ended so. Whatever else there is
/// beyond that look counts for nothing; only a budget, which knows no result, leaves one more look at its end.
pub fn final_look(design: &Design, heats: u32, ended: Ended) -> Option<Look> {
    let taken = design.looks.iter().rfind(|look| look.heats <= heats);
    let last = match ended {
        Ended::Budget => design.last_at(heats),
        Ended::Decided | Ended::LooksTaken | Ended::Interrupted | Ended::Failed => None,
    };
    last.or(taken.copied())
}

/// What the complete heats up to `look` say at each load; without a look nothing is compared yet. What fails counts
/// whenever it was, also after the look.
pub fn judge(record: &ComparisonRecord, look: Option<Look>, bounds: &Bounds) -> Judged {
    let (mut cells, mut not_compared) = (Vec::new(), Vec::new());
    for (index, point) in record.header.points.iter().enumerate() {
        let subject = Subject {
            target: None,
            workload: point.workload.clone(),
            point: point.point.clone(),
        };
        let heats = look.map_or(0, |look| look.heats as usize);
        let sides = Side::BOTH.map(|side| failure_at(record, side, index));
        let counted = Counted {
            record,
            heats: record.complete_heats(index).take(heats).collect(),
        };
        let hindrance = match sides.iter().any(Option::is_some) {
            true => Some(failures(&sides)),
            false => counted.bounds(),
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
        None => Vec::new(),
    };
    Judged {
        compared,
        not_compared,
    }
}

/// Why a side could not be measured anywhere, if so. The sentence follows "A failed: ".
pub fn failure_of(record: &ComparisonRecord, side: Side) -> Option<String> {
    if let ContenderKind::Stack { record } = &record.header.contender(side).kind {
        match &record.state {
            TargetState::Ready { .. } => {}
            TargetState::Failed(failure) => return Some(failure.in_words()),
            TargetState::Unavailable { reason, remedy } => {
                return Some(format!("unavailable: {reason} (to change that: {remedy})"));
            }
        }
    }
    let points = 0..record.header.points.len();
    let failures: Option<Vec<String>> = points
        .map(|point| failure_at(record, side, point))
        .collect();
    failures?.into_iter().next()
}

/// Why a side failed at a load, if so.
fn failure_at(record: &ComparisonRecord, side: Side, point: usize) -> Option<String> {
    if let ContenderKind::Stack { record: stack } = &record.header.contender(side).kind {
        let workload = &record.header.points[point].workload;
        let failure = match &stack.state {
            TargetState::Unavailable { reason, .. } => return Some(reason.clone()),
            TargetState::Failed(failure) => Some(failure),
            TargetState::Ready { .. } => stack.failed_workload(workload),
        };
        if let Some(failure) = failure {
            return Some(failure.in_words());
        }
    }
    let own = record
        .heats
        .iter()
        .filter(|heat| heat.point as usize == point);
    own.map(|heat| &heat.heat)
        .find_map(|heat| failure_in(heat, side))
}

/// Whether a side failed in a heat.
pub fn has_failed(heat: &ComparedHeat) -> bool {
    let mut sides = Side::BOTH.into_iter();
    sides.any(|side| failure_in(&heat.heat, side).is_some())
}

/// Why a side failed in a heat, if so: what was seen then, or too many requests that failed on the way.
fn failure_in(heat: &HeatRecord, side: Side) -> Option<String> {
    recorded::failure(heat, side.member())
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
    record: &'a ComparisonRecord,
    heats: Vec<&'a HeatRecord>,
}

impl Counted<'_> {
    /// Why nothing can be said of their throughput although nothing failed, if so.
    fn bounds(&self) -> Option<String> {
        let bounded = self.bounded();
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
        within::of_heats(&heats.collect::<Vec<_>>(), quantity, &settings)
    }

    /// A percentile of the times: of an open loop's responses, else of the service.
    fn times(&self, percent: f64) -> Vec<Vec<Estimate>> {
        let heats = self.heats.iter();
        let heats: Vec<Vec<Percentile>> = heats
            .map(|heat| recorded::percentiles(percent, heat, self))
            .collect();
        estimates(percent, &heats, &Settings::default())
    }

    fn memory(&self) -> Series {
        let of = |heat: &&HeatRecord| {
            let peak = |side: Side| heat.members[side.member()].memory.peak.unwrap_or(0) as f64;
            (peak(Side::A), peak(Side::B))
        };
        let pairs: Vec<(f64, f64)> = self.heats.iter().map(of).collect();
        Series::of_pairs(Metric::MemoryPeak, &pairs)
    }

    fn cell(&self, subject: Subject, look: Option<Look>, bounds: &Bounds) -> PairedCell {
        let is_open = self.heats.iter().any(|heat| {
            let mut slices = heat.rounds.iter().flatten();
            slices.any(|slice| slice.open.is_some())
        });
        let (p50, p99) = match is_open {
            true => (Metric::ResponseTimeP50, Metric::ResponseTimeP99),
            false => (Metric::ServiceTimeP50, Metric::ServiceTimeP99),
        };
        let series = |metric, heats| Series {
            metric,
            heats,
            bounded: [false; 2],
        };
        // An open loop's throughput is the rate that was asked for.
        let throughput = (!is_open).then(|| Series {
            bounded: self.bounded(),
            ..series(Metric::Throughput, self.throughputs())
        });
        let mut all: Vec<Series> = throughput.into_iter().collect();
        all.push(series(p50, self.times(50.0)));
        all.push(series(p99, self.times(99.0)));
        let cost = self.sliced(quantity(Metric::CpuPerRequest));
        all.push(series(Metric::CpuPerRequest, microseconds(cost)));
        all.push(self.memory());
        let mut cell = PairedCell {
            subject,
            series: all,
            notes: self.notes(),
        };
        if let Some(look) = look {
            cell.notes.extend(self.undecided(&cell, look, bounds));
        }
        cell
    }

    /// How wide the interval is where there is no verdict, and how much more time would give one.
    fn undecided(&self, cell: &PairedCell, look: Look, bounds: &Bounds) -> Option<String> {
        let found = paired::at_look(std::slice::from_ref(cell), look, bounds);
        let ratio = found[0].ratios.first()?;
        if ratio.verdict != Verdict::NotEnoughData {
            return None;
        }
        let interval = ratio.interval?;
        let half = (interval.high / interval.low).ln() / 2.0;
        let width = match half {
            half if half < 0.5 => format!("±{:.1} %", 100.0 * half),
            half => format!("a factor of {:.1} either way", half.exp()),
        };
        let width = format!("the interval reaches {width} after {} heats", ratio.heats_a);
        let more = cell.series[0].heats_to_go(bounds.alpha, ratio.margin);
        let walls: Duration = self.heats.iter().map(|heat| heat.wall).sum();
        let more = more.map(|more| {
            let seconds = walls.as_secs_f64() / self.heats.len() as f64 * f64::from(more);
            match seconds {
                s if s < 90.0 => format!("about {s:.0} s more may decide it"),
                s if s < 36_000.0 => format!("about {:.0} min more may decide it", s / 60.0),
                _ => "no reasonable time would decide it".to_owned(),
            }
        });
        Some(match more {
            Some(more) => format!("undecided: {width}; {more}"),
            None => format!("undecided: {width}"),
        })
    }

    /// What to know although it counts.
    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        let all = self.heats.len();
        for side in Side::BOTH {
            let members = || self.heats.iter().map(|heat| &heat.members[side.member()]);
            let heats = self.heats.iter();
            let unsteady = heats
                .filter(|heat| !recorded::is_steady(heat, side.member()))
                .count();
            if unsteady > 0 {
                notes.push(format!(
                    "{side} was not steady after its warm-up in {unsteady} of {all} heats"
                ));
            }
            let by_signals =
                |freezing: &Option<Freezing>| matches!(freezing, Some(Freezing::Signals { .. }));
            if members().any(|member| by_signals(&member.freezing)) {
                notes.push(format!(
                    "{side} was frozen by signals, because there is no control group that freezes"
                ));
            }
        }
        notes.extend(self.bound_note());
        notes.extend(self.other_answers());
        notes
    }

    fn bound_note(&self) -> Option<String> {
        let bounded = self.bounded();
        let side = Side::BOTH.into_iter().find(|side| bounded[side.member()])?;
        Some(format!(
            "{side} may be faster still: the generator was the limit in some of its slices"
        ))
    }

    /// That the two sides answer with bodies of other lengths, so that they may do other work.
    fn other_answers(&self) -> Option<String> {
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
            format!("the answers differ: A's bodies have {a:.0} bytes on average, B's have {b:.0}")
        })
    }
}

/// Both sides are in each heat, at the same places.
impl Numbering for Counted<'_> {
    fn number(&self, _: &HeatRecord, place: usize) -> Option<usize> {
        Some(place)
    }

    fn cpus(&self, number: usize) -> f64 {
        let header = &self.record.header;
        let side = Side::BOTH[number % 2];
        server_cpus(header.contender(side), &header.plan.pinning)
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

/// The CPUs that a side's server may use.
fn server_cpus(contender: &Contender, pinning: &Pinning) -> f64 {
    let all = pinning.server_cpus();
    let own = match &contender.kind {
        ContenderKind::Stack { record } => record.cpus.map_or(all, |cpus| all.min(cpus as usize)),
        ContenderKind::Url { .. } | ContenderKind::Command { .. } => all,
    };
    own.max(1) as f64
}

#[cfg(test)]
mod tests;
