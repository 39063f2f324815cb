//! The options of a search for the highest rate.

use clap::Args;

use crate::load::{args::LoadArgs, given::Given, thresholds::Threshold, values::whole};

/// What the highest rate is searched for with.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Load")]
pub(crate) struct FindArgs {
    /// Find the highest rate at which this holds, repeatable: 'p99<50ms'
    ///
    /// Loads at one rate after the other, for --duration [default: 5s] each. docs/load.md lists the figures.
    #[arg(long, value_name = "CONDITION")]
    pub(crate) find_rate: Vec<Threshold>,
    /// --find-rate: the most looks at a rate [default: 20]
    #[arg(long, value_name = "N", value_parser = whole::<1, 1_000>, hide_short_help = true)]
    pub(crate) looks: Option<u32>,
    /// --find-rate: stop when the rate is known this well [default: 5%]
    #[arg(long, value_name = "PERCENT", value_parser = precision, hide_short_help = true)]
    pub(crate) precision: Option<f64>,
}

impl FindArgs {
    /// Whether there is something to search for.
    pub(crate) fn is_asked(&self) -> bool {
        !self.find_rate.is_empty()
    }
}

/// A share that is written as "5%".
fn precision(text: &str) -> Result<f64, String> {
    let number = text.trim().strip_suffix('%').map(str::trim_end);
    let plain = |text: &&str| {
        text.bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b'.')
    };
    match number.filter(plain).and_then(|text| text.parse().ok()) {
        Some(percent) if (0.5..=50.0).contains(&percent) => Ok(percent / 100.0),
        _ => Err(format!(
            "{text:?} is not a precision; write one from 0.5% to 50%, like 5%"
        )),
    }
}

/// Options that cannot stand beside a search, and why.
pub(crate) fn clashes(args: &LoadArgs) -> Vec<(Given, Given, &'static str)> {
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
            ("--wait", args.care.wait != crate::load::args::WaitArg::Auto),
            "a load at a rate sleeps until shortly before a request is due: leave --wait out",
        ),
    ];
    others
        .into_iter()
        .map(|(other, why)| (find, other, why))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_precision_is_a_percentage_within_reason() {
        assert_eq!(precision("5%"), Ok(0.05));
        assert_eq!(precision(" 2.5 % "), Ok(0.025));
        for text in ["5", "0%", "0.1%", "51%", "-5%", "x%", "%", "inf%", "1e1%"] {
            assert!(precision(text).unwrap_err().contains("like 5%"), "{text}");
        }
    }
}
