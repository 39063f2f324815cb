//! `--fail-if`: conditions that make the exit status 1. Parsed once, judged on the record.

mod find;
mod judge;
mod parse;

use std::fmt;

use deadheat_model::LoadSpec;

/// A condition that must not come true.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Threshold {
    /// As it was typed.
    text: String,
    metric: Metric,
    operator: Operator,
    /// In the metric's own unit: seconds, a share, a count, or something per second.
    bound: f64,
}

impl fmt::Display for Threshold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Threshold {
    /// Refuses what a load of this kind does not have.
    pub(crate) fn check(&self, spec: &LoadSpec) -> Result<(), String> {
        self.check_as("--fail-if", spec)
    }

    /// The same for another option.
    pub(crate) fn check_as(&self, option: &str, spec: &LoadSpec) -> Result<(), String> {
        match self.metric {
            Metric::Latency {
                of: Some(Of::FirstByte),
                ..
            } if !spec.first_byte => Err(format!(
                "{option} '{self}': that is not recorded unless you add --first-byte"
            )),
            Metric::Latency {
                of: Some(Of::FirstEvent | Of::Gap),
                ..
            } if spec.stream.is_none() => Err(format!(
                "{option} '{self}': events are recorded only with --stream"
            )),
            Metric::Latency {
                of: Some(Of::Response | Of::Wait | Of::Lag),
                ..
            } if !spec.schedule.is_open() => Err(format!(
                "{option} '{self}': a closed loop has service times only, because it has no schedule. Write service., \
                 or set a --rate"
            )),
            _ => Ok(()),
        }
    }
}

/// What is compared.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Metric {
    /// A figure of a distribution of latencies; without a name, of the one that users feel: response time in an open
    /// loop, service time in a closed one.
    Latency { of: Option<Of>, figure: Figure },
    /// Failed requests of those that ended, 0 to 1.
    ErrorShare,
    /// Failed requests.
    ErrorCount,
    /// Valid answers per second.
    Throughput,
    /// Bytes of valid bodies per second.
    Goodput,
}

/// A distribution of latencies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Of {
    Service,
    FirstByte,
    FirstEvent,
    Gap,
    Response,
    Wait,
    Lag,
}

/// A figure of a distribution.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Figure {
    /// In percent.
    Percentile(f64),
    Mean,
    Least,
    Most,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    Less,
    AtMost,
    More,
    AtLeast,
}

impl Operator {
    fn holds(self, value: f64, bound: f64) -> bool {
        match self {
            Operator::Less => value < bound,
            Operator::AtMost => value <= bound,
            Operator::More => value > bound,
            Operator::AtLeast => value >= bound,
        }
    }
}
