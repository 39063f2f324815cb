//! What contradicts a search for the highest rate.

use crate::load::{
    args::{LoadArgs, WaitArg},
    given::Given,
};

/// Options that cannot stand beside a search, and why.
pub(crate) fn pairs(args: &LoadArgs) -> Vec<(Given, Given, &'static str)> {
    let find = ("--find-rate", args.find.is_asked());
    let sets_the_rate = "the search sets the rate itself, so use only one of them";
    let by_time = "a trial ends by time, which --duration sets. Use only one of them";
    let own_report = "the search has a report of its own, so omit it";
    let others: [(Given, &'static str); 12] = [
        (("--rate", args.pace.steady.rate.is_some()), sets_the_rate),
        (("--stage", !args.pace.stage.is_empty()), sets_the_rate),
        (("--ramp", args.pace.ramp.is_some()), sets_the_rate),
        (("--requests", args.end.requests.is_some()), by_time),
        (("--until-interrupted", args.end.until_interrupted), by_time),
        (
            (
                "--pipeline",
                args.request.pipeline.is_some_and(|depth| depth > 1),
            ),
            "pipelined requests wait for each other, which would count as response time of the server, so use only \
             one of them",
        ),
        (
            ("--fail-if", !args.output.fail_if.is_empty()),
            "--find-rate already has conditions, and exits with 3 if it finds no rate. Use only one of them",
        ),
        (
            ("--think", args.pace.think.is_some()),
            "at a rate, the next request does not wait for an answer, so use only one of them",
        ),
        (
            ("--otlp", args.output.otlp.is_some()),
            "metrics are sent during a single load, and a search runs many, so use only one of them",
        ),
        (("--interval", args.output.interval.is_some()), own_report),
        (("--details", args.output.details), own_report),
        (
            ("--wait", args.care.wait != WaitArg::Auto),
            "a load at a rate sleeps until shortly before a request is due, so omit --wait",
        ),
    ];
    others
        .into_iter()
        .map(|(other, why)| (find, other, why))
        .collect()
}
