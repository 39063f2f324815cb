//! What is declared before the first probe: the plan in words, and the loads of a search.

use std::time::Duration;

use deadheat_document::Document;
use deadheat_load::{LoadError, limits::MOST_PER_SECOND};
use deadheat_model::{
    LoadSpec, Schedule, StopRule,
    capacity::{Condition, Declared},
    figure::{counted, rate, time},
    load::{
        Arrivals, Stage,
        words::{arrivals, streams},
    },
};
use serde::Serialize;

use super::{SearchGoal, usual_length};
use crate::{
    plan_text::{self, Around},
    thresholds::Threshold,
};

/// The plan in words. `probe` is any probe.
pub(super) fn describe(probe: &LoadSpec, wanted: &SearchGoal<'_>, around: &Around<'_>) -> Document {
    let declared = &wanted.declared;
    let conditions = wanted
        .conditions
        .iter()
        .map(|one| one.described().condition);
    let conditions: Vec<String> = conditions.collect();
    let arrivals = arrivals(wanted.arrivals);
    let connections = connections(probe, wanted);
    let total = usual_length(probe, declared) * declared.probes;
    let total = Duration::from_secs(total.as_secs_f64().ceil() as u64);
    let pace = vec![
        (
            "find",
            format!(
                "the highest rate at which {} is true, within ± {} % at 95 %",
                conditions.join(" and "),
                declared.precision * 100.0
            ),
        ),
        (
            "range",
            format!(
                "from the throughput of a closed loop with {connections}: a thousandth of it, but at least {}, to \
                 twice as much, and higher if it passes there",
                rate(rounded(least_rate(wanted)))
            ),
        ),
        (
            "trials",
            format!(
                "at most {}, about {} in all: each an open loop {arrivals} with {} of warm-up, {} of measurement, and \
                 up to {} for requests in flight; below {}, longer (up to {}), to send {}",
                declared.probes,
                time(total),
                time(probe.warm_up),
                time(declared.probe_length),
                time(probe.timeouts.cool_down),
                rate(rounded(rate_of_usual_probes(wanted))),
                time(declared.probe_length * LONGER),
                counted(declared.requests, "request"),
            ),
        ),
        ("holds", holds(wanted)),
    ];
    plan_text::laid_out(probe, around, pace)
}

/// What must be true of a probe that holds.
fn holds(wanted: &SearchGoal<'_>) -> String {
    let errors = if wanted.conditions.iter().any(Threshold::is_of_errors) {
        ""
    } else {
        ", at most 0.1 % of the requests fail,"
    };
    format!("a trial in which every condition is true{errors} and the server keeps up")
}

fn connections(probe: &LoadSpec, wanted: &SearchGoal<'_>) -> String {
    let deadheat_model::Schedule::Open { connections, .. } = probe.schedule else {
        return String::new();
    };
    let more = match wanted.declared.most_connections {
        Some(most) => format!("trials open up to {most}"),
        None => "trials open more when all are busy".to_owned(),
    };
    format!(
        "{}{} ({more})",
        counted(connections, "connection"),
        streams(probe)
    )
}

/// The same for programs.
pub(super) fn declared<'a>(wanted: &'a SearchGoal<'_>) -> PlanOfSearch<'a> {
    let conditions = wanted.conditions.iter().map(Threshold::described);
    PlanOfSearch {
        conditions: conditions.collect(),
        declared: &wanted.declared,
        arrivals: wanted.arrivals,
    }
}

/// What is declared before the first trial, for programs.
#[derive(Serialize)]
pub(crate) struct PlanOfSearch<'a> {
    conditions: Vec<Condition>,
    declared: &'a Declared,
    arrivals: Arrivals,
}

/// The lowest rate that any load has here, for checks and plans.
pub(super) const LEAST_RATE: f64 = 1.0;
/// The closed loop's measurement at most.
const BURST: Duration = Duration::from_secs(2);
/// Probes at low rates are longer, by this factor at most.
const LONGER: u32 = 4;
/// This many more requests than needed are due in a probe: Poisson arrivals scatter.
const SPARE: f64 = 1.2;
/// Connections that a probe may open at most, unless somebody says how many.
const MOST_CONNECTIONS: f64 = 10_000.0;
/// How long answers may take where no condition says it, in seconds.
const USUAL_LIMIT: f64 = 1.0;

/// The closed loop before the probes.
pub(super) fn burst(base: &LoadSpec, wanted: &SearchGoal<'_>) -> LoadSpec {
    LoadSpec {
        stop: StopRule::Duration {
            length: wanted.declared.probe_length.min(BURST),
        },
        ..base.clone()
    }
}

/// The `nth` probe, at this rate.
pub(super) fn probe(
    base: &LoadSpec,
    wanted: &SearchGoal<'_>,
    per_second: f64,
    nth: u64,
) -> LoadSpec {
    let connections = base.schedule.most_connections();
    let spec = |most_connections| LoadSpec {
        schedule: Schedule::Open {
            arrivals: wanted.arrivals,
            stages: vec![Stage::constant(per_second)],
            connections,
            most_connections,
        },
        stop: StopRule::Duration {
            length: length(wanted, per_second),
        },
        // Other arrivals in each probe.
        seed: base.seed.wrapping_add(nth),
        ..base.clone()
    };
    match wanted.declared.most_connections {
        Some(most) => spec(most),
        None => {
            let most = needed(wanted.conditions, per_second).max(connections);
            within_descriptors(spec(most), connections, &spec)
        }
    }
}

/// Twice as many connections as there are requests in flight while each takes as long as it may: a probe whose requests
/// wait for a connection does not hold with more connections either.
fn needed(conditions: &[Threshold], per_second: f64) -> u32 {
    let limits = conditions.iter().filter_map(Threshold::longest);
    let limit = limits.reduce(f64::max).unwrap_or(USUAL_LIMIT);
    (2.0 * per_second * limit).ceil().min(MOST_CONNECTIONS) as u32
}

/// As many connections as there are file descriptors for.
fn within_descriptors(
    asked: LoadSpec,
    connections: u32,
    with: &dyn Fn(u32) -> LoadSpec,
) -> LoadSpec {
    let mut spec = asked;
    while spec.schedule.most_connections() > connections
        && let Err(LoadError::TooFewDescriptors { .. }) = deadheat_load::check(&spec)
    {
        spec = with((spec.schedule.most_connections() / 2).max(connections));
    }
    spec
}

/// The measurement of a probe: so long that enough requests are due.
pub(super) fn length(wanted: &SearchGoal<'_>, per_second: f64) -> Duration {
    let declared = &wanted.declared;
    let needed = Duration::from_secs_f64(SPARE * declared.requests as f64 / per_second);
    needed.clamp(declared.probe_length, declared.probe_length * LONGER)
}

/// The lowest rate at which enough requests are due in the longest probe.
pub(super) fn least_rate(wanted: &SearchGoal<'_>) -> f64 {
    let longest = wanted.declared.probe_length * LONGER;
    SPARE * wanted.declared.requests as f64 / longest.as_secs_f64()
}

/// The rate below which probes are longer than declared.
fn rate_of_usual_probes(wanted: &SearchGoal<'_>) -> f64 {
    least_rate(wanted) * f64::from(LONGER)
}

/// A rate with four digits that count: more say nothing.
pub(super) fn rounded(per_second: f64) -> f64 {
    let digits = format!("{per_second:.3e}");
    digits.parse().unwrap_or(per_second).min(MOST_PER_SECOND)
}

#[cfg(test)]
mod tests {
    use super::rounded;

    #[test]
    fn rates_are_short_in_decimal() {
        for (rate, expected) in [
            (979.94, 979.9),
            (12_345.6, 12_350.0),
            (0.012_345, 0.012_35),
            (2e9, 1e9),
        ] {
            assert_eq!(rounded(rate), expected);
        }
    }
}
