//! What contradicts a search for the highest rate.

use crate::load::{
    args::{LoadArgs, WaitArg},
    given::Given,
};

/// Options that cannot stand beside a search, and why.
pub(crate) fn pairs(args: &LoadArgs) -> Vec<(Given, Given, &'static str)> {
    let find = ("--find-rate", args.find.is_asked());
    let sets_the_rate = "the search sets the rate itself: leave one of them out";
    let by_time = "a look ends by time: give its length with --duration, or leave one of them out";
    let own_report = "the search has a report of its own: leave it out";
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
            "pipelined requests wait for each other, which response times at a rate would hold against the server: leave \
             one of them out",
        ),
        (
            ("--fail-if", !args.output.fail_if.is_empty()),
            "--find-rate has the conditions, and the exit status is 3 if no rate is found: leave one of them out",
        ),
        (
            ("--think", args.pace.think.is_some()),
            "at a rate, nobody waits for answers before the next request: leave one of them out",
        ),
        (
            ("--otlp", args.output.otlp.is_some()),
            "metrics are sent during one load, and this is many: leave one of them out",
        ),
        (("--interval", args.output.interval.is_some()), own_report),
        (("--details", args.output.details), own_report),
        (
            ("--wait", args.care.wait != WaitArg::Auto),
            "a load at a rate sleeps until shortly before a request is due: leave --wait out",
        ),
    ];
    others
        .into_iter()
        .map(|(other, why)| (find, other, why))
        .collect()
}
