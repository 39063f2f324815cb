//! What a search has found, from its record alone.

use deadheat_model::{
    capacity::{CapacityRecord, ProbeOutcome},
    figure::{figure, short},
    warning::{Warning, doubt, limit},
};
use schemars::JsonSchema;
use serde::Serialize;

use super::{CONFIDENCE, Next, Posterior, Probe, Range, Search};

/// How far below the capacity nearly all probes hold: the 5 % quantile of the normal distribution.
const RELIABLE: f64 = 1.644_853_6;

/// The highest rate, with its error.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct HighestRate {
    /// Requests per second: as many probes at this rate hold as do not.
    pub per_second: f64,
    /// The interval's lower end.
    pub low: f64,
    /// The interval's upper end.
    pub high: f64,
    /// Whether the interval is as narrow as was asked for.
    pub precise: bool,
    /// The rate at which 95 % of the probes hold, if no disturbance comes.
    pub reliable_per_second: f64,
    /// Whether a probe did not hold at a lower rate than one that did.
    pub contradictory: bool,
}

/// What a search ended with.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "outcome", rename_all = "kebab-case")]
pub enum Outcome {
    /// A rate.
    Found(HighestRate),
    /// The conditions do not hold even at the lowest rate.
    Below {
        /// That rate, in requests per second.
        least_per_second: f64,
    },
    /// They hold at every rate that the generator could send.
    GeneratorLimited {
        /// The highest rate at which a probe held; `None`: there was none.
        held_per_second: Option<f64>,
        /// The generator was the limit from this rate on.
        limit_per_second: f64,
    },
    /// There are no probes that count, or none that held, or none that did not.
    Undecided {
        /// The highest rate at which a probe held.
        held_per_second: Option<f64>,
        /// The lowest rate at which one did not.
        failed_per_second: Option<f64>,
    },
}

/// What a search says.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct CapacityAnalysis {
    /// What it ended with.
    #[serde(flatten)]
    pub outcome: Outcome,
    /// The probability that the interval has the capacity in it.
    pub confidence: f64,
    /// Probes that count.
    pub counted: u32,
    /// Probes that were discarded, because the generator was the limit.
    pub discarded: u32,
    /// What changes a decision; at most one.
    pub warnings: Vec<Warning>,
}

impl Search {
    /// The search of a record.
    pub fn new(record: &CapacityRecord) -> Self {
        let burst = &record.burst;
        Self {
            range: Range {
                least: burst.least_per_second,
                most: burst.most_per_second,
            },
            closed: burst.per_second,
            ceiling: ceiling(record),
            precision: record.declared.precision,
        }
    }
}

/// The probes that count.
pub(super) fn counted(record: &CapacityRecord) -> Vec<Probe> {
    let probes = record.probes.iter();
    let counted = probes.filter(|probe| probe.outcome != ProbeOutcome::Discarded);
    let probe = counted.map(|probe| Probe {
        per_second: probe.per_second,
        held: probe.outcome == ProbeOutcome::Held,
    });
    probe.collect()
}

/// The lowest rate at which two probes in all were discarded there or below, above all rates that held. One alone is
/// chance; it is repeated.
fn ceiling(record: &CapacityRecord) -> Option<f64> {
    let rates = |outcome| {
        let probes = record.probes.iter();
        let probes = probes.filter(move |probe| probe.outcome == outcome);
        probes.map(|probe| probe.per_second)
    };
    let held = rates(ProbeOutcome::Held).fold(0.0, f64::max);
    let mut rates: Vec<f64> = rates(ProbeOutcome::Discarded)
        .filter(|rate| *rate > held)
        .collect();
    rates.sort_by(f64::total_cmp);
    rates.get(1).copied()
}

/// What to do next.
pub(super) fn next(record: &CapacityRecord) -> Next {
    Search::new(record).next(&counted(record))
}

/// What is believed so far.
pub(super) fn so_far(record: &CapacityRecord) -> Posterior {
    Search::new(record).posterior(&counted(record))
}

/// What the search has found so far.
pub fn analyse(record: &CapacityRecord) -> CapacityAnalysis {
    let probes = counted(record);
    let outcome = outcome(record, &probes);
    CapacityAnalysis {
        warnings: warning(record, &outcome).into_iter().collect(),
        outcome,
        confidence: CONFIDENCE,
        counted: probes.len() as u32,
        discarded: (record.probes.len() - probes.len()) as u32,
    }
}

/// The one thing that changes a decision.
fn warning(record: &CapacityRecord, outcome: &Outcome) -> Option<Warning> {
    let far = 1.0 - 2.0 * record.declared.precision;
    let is_far = |found: &HighestRate| found.reliable_per_second < far * found.per_second;
    Some(match outcome {
        _ if record.interrupted => doubt(
            "interrupted",
            "The search was interrupted, so the result covers only the trials before that.",
        ),
        Outcome::Found(found) if found.contradictory && is_far(found) => doubt(
            "far-apart",
            "The two rates are far apart: between them, some trials meet the conditions and others do not.",
        ),
        Outcome::Found(found) if found.precise => return None,
        Outcome::Found(_) => {
            let width = precision(record);
            let sentence = format!("The interval is wider than {width}, because the trials were used up.");
            doubt("wide", sentence).advice("Allow more (--trials), or longer ones (--duration).")
        }
        Outcome::Below { .. } => doubt(
            "below",
            "The search does not go lower: a trial would have too few requests, or less than a thousandth of the closed \
             loop's rate.",
        )
        .advice("Try a looser condition, or longer trials (--duration)."),
        Outcome::GeneratorLimited { .. } => {
            let probes = record.probes.iter().rev();
            let mut discarded = probes.filter(|probe| probe.outcome == ProbeOutcome::Discarded);
            let why = discarded.find_map(|probe| probe.why.as_deref());
            limit("generator-limited", why.unwrap_or_default())
                .advice("Give Deadheat more CPUs (--cpus), or load from other machines (--on).")
        }
        Outcome::Undecided { .. } => doubt(
            "undecided",
            "A rate needs a trial that meets the conditions and one that does not.",
        )
        .advice("Allow more trials (--trials)."),
    })
}

/// How narrow an interval was asked for: "± 5 %".
pub fn precision(record: &CapacityRecord) -> String {
    let percent = figure(record.declared.precision * 100.0);
    format!("± {} %", short(&percent))
}

fn outcome(record: &CapacityRecord, probes: &[Probe]) -> Outcome {
    let rates = |held| {
        let probes = probes.iter().filter(move |probe| probe.held == held);
        probes.map(|probe| probe.per_second)
    };
    let held_per_second = rates(true).max_by(f64::total_cmp);
    let failed_per_second = rates(false).min_by(f64::total_cmp);
    let search = Search::new(record);
    let next = search.next(probes);
    if next == Next::Below {
        let least_per_second = search.range.least;
        return Outcome::Below { least_per_second };
    }
    if let Some(limit_per_second) = search.ceiling
        && (next == Next::Beyond || failed_per_second.is_none())
    {
        return Outcome::GeneratorLimited {
            held_per_second,
            limit_per_second,
        };
    }
    let (Some(held), Some(failed)) = (held_per_second, failed_per_second) else {
        return Outcome::Undecided {
            held_per_second,
            failed_per_second,
        };
    };
    let posterior = search.posterior(probes);
    let (low, high) = posterior.interval(CONFIDENCE);
    let per_second = posterior.quantile(0.5);
    Outcome::Found(HighestRate {
        per_second,
        low,
        high,
        precise: search.is_precise((low, high)),
        reliable_per_second: per_second * (-RELIABLE * posterior.spread()).exp(),
        contradictory: failed < held,
    })
}
