//! `--fail-if`: conditions that make the exit status 1, such as "p99>50ms", "errors>0.1%" or "throughput<1000/s".
//! Parsed once, judged on the record.

mod judge;

use std::{fmt, str::FromStr};

use deadheat_model::LoadSpec;
use deadheat_shell::{exit::CommandFailure, rate};

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
    pub(crate) fn check(&self, spec: &LoadSpec) -> Result<(), CommandFailure> {
        self.check_as("--fail-if", spec)
    }

    /// Like [`Self::check`], for the option that the message names.
    pub(crate) fn check_as(&self, option: &str, spec: &LoadSpec) -> Result<(), CommandFailure> {
        let why = match self.metric {
            Metric::Latency {
                of: Some(Distribution::FirstByte),
                ..
            } if !spec.first_byte => "that is not recorded unless you add --first-byte",
            Metric::Latency {
                of: Some(Distribution::FirstEvent | Distribution::Gap),
                ..
            } if spec.stream.is_none() => "events are recorded only with --stream",
            Metric::Latency {
                of: Some(Distribution::Response | Distribution::Wait | Distribution::Lag),
                ..
            } if !spec.schedule.is_open() => {
                "a closed loop has service times only, because it has no schedule. Write service., or set a --rate"
            }
            _ => return Ok(()),
        };
        Err(CommandFailure::usage(format!("{option} '{self}': {why}")))
    }
}

/// The metric that is compared with the bound.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Metric {
    /// A figure of a distribution of latencies. The default distribution is the one that users experience: response
    /// time in an open loop, service time in a closed one.
    Latency {
        of: Option<Distribution>,
        figure: Figure,
    },
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
enum Distribution {
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

/// What to write, for messages.
const LIKE: &str = "write a condition like 'p99>50ms', 'errors>0.1%' or 'throughput<1000/s'";
const METRICS: &str = "p50 to p99.999, mean, min and max (also with service., first-byte., first-event., gap., \
                       response., wait. or lag. before them), \
                       errors, throughput and goodput are known";
/// The longer operators first: "<" begins "<=".
const OPERATORS: [(&str, Operator); 4] = [
    ("<=", Operator::AtMost),
    (">=", Operator::AtLeast),
    ("<", Operator::Less),
    (">", Operator::More),
];
const TIMES: [(&str, f64); 7] = [
    ("ns", 1e-9),
    ("us", 1e-6),
    ("µs", 1e-6),
    ("μs", 1e-6),
    ("ms", 1e-3),
    ("s", 1.0),
    ("m", 60.0),
];
const BYTES: [(&str, f64); 7] = [
    ("B/s", 1.0),
    ("kB/s", 1e3),
    ("MB/s", 1e6),
    ("GB/s", 1e9),
    ("KiB/s", 1024.0),
    ("MiB/s", 1_048_576.0),
    ("GiB/s", 1_073_741_824.0),
];

impl FromStr for Threshold {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let at = text
            .find(['<', '>'])
            .ok_or_else(|| format!("there is neither < nor > in it; {LIKE}"))?;
        let (name, rest) = text.split_at(at);
        let found = OPERATORS
            .iter()
            .find_map(|(sign, operator)| rest.strip_prefix(sign).map(|value| (*operator, value)));
        let (operator, value) = found.ok_or(LIKE)?;
        let (name, value) = (name.trim(), value.trim());
        let metric = metric(name, value)?;
        let bound = match metric {
            Metric::Latency { .. } => with_unit(value, &TIMES, "a time like 50ms, 200us or 1.5s")?,
            Metric::ErrorShare => share(value)?,
            Metric::ErrorCount => count(value)?,
            Metric::Throughput => throughput(value)?,
            Metric::Goodput => with_unit(value, &BYTES, "bytes per second, like 10MB/s or 1GiB/s")?,
        };
        Ok(Self {
            text: text.trim().to_owned(),
            metric,
            operator,
            bound,
        })
    }
}

fn metric(name: &str, value: &str) -> Result<Metric, String> {
    let latency = |of, figure: &str| {
        let known = figure_of(figure)?;
        known
            .map(|figure| Metric::Latency { of, figure })
            .ok_or_else(|| format!("{name:?} is nothing that is measured; {METRICS}"))
    };
    match name {
        "errors" if value.ends_with('%') => Ok(Metric::ErrorShare),
        "errors" => Ok(Metric::ErrorCount),
        "throughput" => Ok(Metric::Throughput),
        "goodput" => Ok(Metric::Goodput),
        _ => match name.split_once('.') {
            Some(("service", figure)) => latency(Some(Distribution::Service), figure),
            Some(("first-byte", figure)) => latency(Some(Distribution::FirstByte), figure),
            Some(("first-event", figure)) => latency(Some(Distribution::FirstEvent), figure),
            Some(("gap", figure)) => latency(Some(Distribution::Gap), figure),
            Some(("response", figure)) => latency(Some(Distribution::Response), figure),
            Some(("wait", figure)) => latency(Some(Distribution::Wait), figure),
            Some(("lag", figure)) => latency(Some(Distribution::Lag), figure),
            _ => latency(None, name),
        },
    }
}

/// A figure of a distribution; `None` if this names no such figure.
fn figure_of(text: &str) -> Result<Option<Figure>, String> {
    Ok(match text {
        "mean" => Some(Figure::Mean),
        "min" => Some(Figure::Least),
        "max" => Some(Figure::Most),
        _ => match text.strip_prefix('p').and_then(plain_number) {
            None => None,
            Some(percent) if percent > 0.0 && percent < 100.0 => Some(Figure::Percentile(percent)),
            Some(_) => {
                return Err(format!(
                    "{text}: a percentile lies between p0 and p100, which are min and max"
                ));
            }
        },
    })
}

/// A number of digits and at most one point: no sign, exponent or "inf".
fn plain_number(text: &str) -> Option<f64> {
    let plain = |byte: u8| byte.is_ascii_digit() || byte == b'.';
    if text.bytes().all(plain) {
        text.parse().ok()
    } else {
        None
    }
}

fn with_unit(text: &str, units: &[(&str, f64)], like: &str) -> Result<f64, String> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.');
    let (number, unit) = text.split_at(end.unwrap_or(text.len()));
    let unit = unit.trim();
    let factor = units.iter().find(|(name, _)| *name == unit);
    match (plain_number(number), factor) {
        (Some(number), Some((_, factor))) => Ok(number * factor),
        (Some(_), None) if unit.is_empty() => Err(format!("{text:?} has no unit: write {like}")),
        _ => Err(format!("{text:?} cannot be compared with: write {like}")),
    }
}

fn share(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix('%').map(str::trim_end);
    match number.and_then(plain_number) {
        Some(percent) if percent <= 100.0 => Ok(percent / 100.0),
        _ => Err(format!("{text:?} is not a percentage; write one like 0.1%")),
    }
}

fn count(text: &str) -> Result<f64, String> {
    match text.parse::<u32>() {
        Ok(count) if !text.starts_with('+') => Ok(f64::from(count)),
        _ => Err(format!(
            "{text:?} is neither a share of the requests (0.1%) nor a count of them (10)"
        )),
    }
}

fn throughput(text: &str) -> Result<f64, String> {
    rate::rate(text)
        .map_err(|_| format!("{text:?} is not a rate above zero; write one like 1000/s"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> (Metric, Operator, f64) {
        let threshold: Threshold = text
            .parse()
            .unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(threshold.to_string(), text.trim());
        (threshold.metric, threshold.operator, threshold.bound)
    }

    fn latency(of: Option<Distribution>, figure: Figure) -> Metric {
        Metric::Latency { of, figure }
    }

    #[test]
    fn conditions_are_read() {
        let p = Figure::Percentile;
        let cases = [
            ("p99>50ms", latency(None, p(99.0)), Operator::More, 0.05),
            (
                " p99.9 >= 1.5 s ",
                latency(None, p(99.9)),
                Operator::AtLeast,
                1.5,
            ),
            ("p99.999>1m", latency(None, p(99.999)), Operator::More, 60.0),
            ("p5<2us", latency(None, p(5.0)), Operator::Less, 2e-6),
            (
                "mean>200µs",
                latency(None, Figure::Mean),
                Operator::More,
                200e-6,
            ),
            (
                "min<=500ns",
                latency(None, Figure::Least),
                Operator::AtMost,
                500e-9,
            ),
            ("max>2s", latency(None, Figure::Most), Operator::More, 2.0),
            (
                "service.p50>1ms",
                latency(Some(Distribution::Service), p(50.0)),
                Operator::More,
                1e-3,
            ),
            (
                "response.max>1ms",
                latency(Some(Distribution::Response), Figure::Most),
                Operator::More,
                1e-3,
            ),
            (
                "wait.p99>1ms",
                latency(Some(Distribution::Wait), p(99.0)),
                Operator::More,
                1e-3,
            ),
            (
                "lag.mean>1ms",
                latency(Some(Distribution::Lag), Figure::Mean),
                Operator::More,
                1e-3,
            ),
            ("errors>0.1%", Metric::ErrorShare, Operator::More, 0.001),
            (
                "errors >= 100 %",
                Metric::ErrorShare,
                Operator::AtLeast,
                1.0,
            ),
            ("errors>0", Metric::ErrorCount, Operator::More, 0.0),
            (
                "throughput<1000/s",
                Metric::Throughput,
                Operator::Less,
                1000.0,
            ),
            (
                "throughput<=6000/m",
                Metric::Throughput,
                Operator::AtMost,
                100.0,
            ),
            ("goodput<1.5MB/s", Metric::Goodput, Operator::Less, 1.5e6),
            ("goodput<2KiB/s", Metric::Goodput, Operator::Less, 2048.0),
        ];
        for (text, metric, operator, bound) in cases {
            let (found, how, value) = parsed(text);
            assert_eq!((found, how), (metric, operator), "{text}");
            assert!((value - bound).abs() <= bound * 1e-12, "{text}: {value}");
        }
    }

    #[test]
    fn what_is_no_condition_is_refused_with_what_to_write() {
        let cases = [
            ("", "neither < nor >"),
            ("p99=50ms", "neither < nor >"),
            ("p99>50", "no unit"),
            ("p99>", "cannot be compared"),
            ("p99>fast", "cannot be compared"),
            ("p99>50MB/s", "cannot be compared"),
            ("p99>-50ms", "cannot be compared"),
            ("p99>>50ms", "cannot be compared"),
            ("p99>=>50ms", "cannot be compared"),
            ("p99>1.2.3ms", "cannot be compared"),
            (">50ms", "are known"),
            ("p>50ms", "are known"),
            ("p1e1>50ms", "are known"),
            ("p-5>50ms", "are known"),
            ("latency>50ms", "are known"),
            ("service>50ms", "are known"),
            ("server.p99>50ms", "are known"),
            ("P99>50ms", "are known"),
            ("p100>50ms", "min and max"),
            ("p0>50ms", "min and max"),
            ("errors>0.1", "neither a share"),
            ("errors>-1", "neither a share"),
            ("errors>101%", "not a percentage"),
            ("errors>x%", "not a percentage"),
            ("throughput<fast", "not a rate"),
            ("throughput<0/s", "not a rate"),
            ("goodput<10", "no unit"),
            ("goodput<10/s", "bytes per second"),
        ];
        for (text, expected) in cases {
            let error = text.parse::<Threshold>().unwrap_err();
            assert!(error.contains(expected), "{text:?}: {error}");
        }
    }
}
