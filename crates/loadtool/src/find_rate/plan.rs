//! What is declared before the first look.

use std::time::Duration;

use deadheat_document::Document;
use deadheat_model::{
    LoadSpec,
    capacity::{Condition, Declared},
    figure::{counted, rate, time},
    load::{
        Arrivals,
        words::{arrivals, streams},
    },
};
use serde::Serialize;

use super::{Wanted, specs, usual_length};
use crate::{
    plan_text::{self, Around},
    thresholds::Threshold,
};

/// The plan in words. `look` is any look.
pub(super) fn describe(look: &LoadSpec, wanted: &Wanted<'_>, around: &Around<'_>) -> Document {
    let declared = &wanted.declared;
    let conditions = wanted
        .conditions
        .iter()
        .map(|one| one.described().condition);
    let conditions: Vec<String> = conditions.collect();
    let arrivals = arrivals(wanted.arrivals);
    let connections = connections(look, wanted);
    let total = usual_length(look, declared) * declared.looks;
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
                rate(specs::rounded(specs::least_rate(wanted)))
            ),
        ),
        (
            "trials",
            format!(
                "at most {}, about {} in all: each an open loop {arrivals} with {} of warm-up, {} of measurement, and \
                 up to {} for requests in flight; below {}, longer (up to {}), to send {}",
                declared.looks,
                time(total),
                time(look.warm_up),
                time(declared.look),
                time(look.timeouts.cool_down),
                rate(specs::rounded(specs::rate_of_usual_looks(wanted))),
                time(declared.look * specs::LONGER),
                counted(declared.requests, "request"),
            ),
        ),
        ("holds", holds(wanted)),
    ];
    plan_text::laid_out(look, around, pace)
}

/// What must be true of a look that holds.
fn holds(wanted: &Wanted<'_>) -> String {
    let errors = if wanted.conditions.iter().any(Threshold::is_of_errors) {
        ""
    } else {
        ", at most 0.1 % of the requests fail,"
    };
    format!("a trial in which every condition is true{errors} and the server keeps up")
}

fn connections(look: &LoadSpec, wanted: &Wanted<'_>) -> String {
    let deadheat_model::Schedule::Open { connections, .. } = look.schedule else {
        return String::new();
    };
    let more = match wanted.declared.most_connections {
        Some(most) => format!("trials open up to {most}"),
        None => "trials open more when all are busy".to_owned(),
    };
    format!(
        "{}{} ({more})",
        counted(connections, "connection"),
        streams(look)
    )
}

/// The same for programs.
pub(super) fn declared<'a>(wanted: &'a Wanted<'_>) -> PlanOfSearch<'a> {
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
