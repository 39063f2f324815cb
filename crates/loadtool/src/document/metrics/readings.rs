//! Which metrics there are, and their values at one instant of a load.

use std::{
    borrow::Cow,
    time::{Duration, SystemTime},
};

use deadheat_model::LatencyHistogram;

/// What is measured, under one name in each format.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Family {
    /// The name in OpenMetrics, without the suffixes of its samples.
    pub(super) name: &'static str,
    /// The name in OTLP: that of OpenTelemetry's semantic conventions, where they have one.
    pub(super) otlp: &'static str,
    pub(super) unit: Unit,
    pub(super) kind: Kind,
    /// What it is, in a sentence without its full stop.
    pub(super) help: &'static str,
}

/// What kind of value a metric has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// A number that only rises.
    Count,
    /// A number that rises and falls.
    Level,
    /// A distribution that only grows.
    Times,
}

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Unit {
    Requests,
    Connections,
    Bytes,
    Seconds,
}

impl Unit {
    /// OpenMetrics' unit, which ends the name of the metric; counts of things have none.
    pub(super) const fn open_metrics(self) -> Option<&'static str> {
        match self {
            Unit::Requests | Unit::Connections => None,
            Unit::Bytes => Some("bytes"),
            Unit::Seconds => Some("seconds"),
        }
    }

    /// OTLP's unit, as UCUM writes it.
    pub(super) const fn otlp(self) -> &'static str {
        match self {
            Unit::Requests => "{request}",
            Unit::Connections => "{connection}",
            Unit::Bytes => "By",
            Unit::Seconds => "s",
        }
    }
}

pub(super) static REQUESTS: Family = Family {
    name: "deadheat_requests",
    otlp: "deadheat.requests",
    unit: Unit::Requests,
    kind: Kind::Count,
    help: "Requests that have ended, by result",
};

pub(super) static OFFERED: Family = Family {
    name: "deadheat_offered_requests",
    otlp: "deadheat.offered_requests",
    unit: Unit::Requests,
    kind: Kind::Count,
    help: "Open loop: requests that have become due",
};

pub(super) static IN_FLIGHT: Family = Family {
    name: "deadheat_in_flight_requests",
    otlp: "http.client.active_requests",
    unit: Unit::Requests,
    kind: Kind::Level,
    help: "Requests that were sent and have not ended",
};

pub(super) static WAITING: Family = Family {
    name: "deadheat_waiting_requests",
    otlp: "deadheat.waiting_requests",
    unit: Unit::Requests,
    kind: Kind::Level,
    help: "Open loop: requests that are due and wait for a connection",
};

pub(super) static CONNECTIONS: Family = Family {
    name: "deadheat_connections",
    otlp: "deadheat.connections",
    unit: Unit::Connections,
    kind: Kind::Level,
    help: "Open connections",
};

pub(super) static SENT: Family = Family {
    name: "deadheat_sent_bytes",
    otlp: "deadheat.sent",
    unit: Unit::Bytes,
    kind: Kind::Count,
    help: "Bytes of requests, before TLS",
};

pub(super) static RECEIVED: Family = Family {
    name: "deadheat_received_bytes",
    otlp: "deadheat.received",
    unit: Unit::Bytes,
    kind: Kind::Count,
    help: "Bytes of answers, after TLS",
};

pub(super) static SERVICE_TIME: Family = Family {
    name: "deadheat_service_time_seconds",
    otlp: "http.client.request.duration",
    unit: Unit::Seconds,
    kind: Kind::Times,
    help: "Time from sending a request to the last byte of its valid answer",
};

pub(super) static RESPONSE_TIME: Family = Family {
    name: "deadheat_response_time_seconds",
    otlp: "deadheat.response_time",
    unit: Unit::Seconds,
    kind: Kind::Times,
    help: "Open loop: time from when a request was due to the last byte of its valid answer",
};

/// All metrics, in the order in which they are written.
pub(super) static FAMILIES: [&Family; 9] = [
    &REQUESTS,
    &OFFERED,
    &IN_FLIGHT,
    &WAITING,
    &CONNECTIONS,
    &SENT,
    &RECEIVED,
    &SERVICE_TIME,
    &RESPONSE_TIME,
];

/// A bucket's upper bound.
#[derive(Debug)]
pub(super) struct Bound {
    pub(super) nanoseconds: u64,
    /// In seconds, as OpenMetrics writes it (1.0, section "Considerations: Canonical Numbers").
    pub(super) le: &'static str,
}

const fn bound(nanoseconds: u64, le: &'static str) -> Bound {
    Bound { nanoseconds, le }
}

/// The buckets of all distributions. They contain those of OpenTelemetry's `http.client.request.duration`, go down to what
/// a server on the same machine needs, and up to beyond the usual timeout.
pub(super) static BOUNDS: [Bound; 26] = [
    bound(25_000, "2.5e-05"),
    bound(50_000, "5e-05"),
    bound(75_000, "7.5e-05"),
    bound(100_000, "0.0001"),
    bound(250_000, "0.00025"),
    bound(500_000, "0.0005"),
    bound(750_000, "0.00075"),
    bound(1_000_000, "0.001"),
    bound(2_500_000, "0.0025"),
    bound(5_000_000, "0.005"),
    bound(7_500_000, "0.0075"),
    bound(10_000_000, "0.01"),
    bound(25_000_000, "0.025"),
    bound(50_000_000, "0.05"),
    bound(75_000_000, "0.075"),
    bound(100_000_000, "0.1"),
    bound(250_000_000, "0.25"),
    bound(500_000_000, "0.5"),
    bound(750_000_000, "0.75"),
    bound(1_000_000_000, "1.0"),
    bound(2_500_000_000, "2.5"),
    bound(5_000_000_000, "5.0"),
    bound(7_500_000_000, "7.5"),
    bound(10_000_000_000, "10.0"),
    bound(30_000_000_000, "30.0"),
    bound(60_000_000_000, "60.0"),
];

/// A name and a value. Names are those of OTLP; OpenMetrics has `_` for each of their dots.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Label {
    pub(super) key: Cow<'static, str>,
    pub(super) value: String,
}

impl Label {
    pub(super) fn new(key: impl Into<Cow<'static, str>>, value: impl Into<String>) -> Self {
        let (key, value) = (key.into(), value.into());
        Self { key, value }
    }
}

/// A distribution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Times {
    /// How many are in each bucket of [`BOUNDS`], and beyond the last.
    pub(super) buckets: Vec<u64>,
    pub(super) sum: Duration,
}

impl Times {
    pub(super) fn new(histogram: &LatencyHistogram) -> Self {
        let bounds: Vec<u64> = BOUNDS.iter().map(|bound| bound.nanoseconds).collect();
        Self {
            buckets: histogram.buckets(&bounds),
            sum: histogram.sum(),
        }
    }

    pub(super) fn count(&self) -> u64 {
        self.buckets.iter().sum()
    }
}

/// The value of a sample.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Value {
    /// A counter's total since [`Reading::since`].
    Count(u64),
    /// A gauge's value at this instant.
    Level(u64),
    /// The distribution of what was recorded since [`Reading::since`].
    Times(Times),
}

impl Value {
    /// The value at the start of counting; `None` for a gauge.
    pub(super) fn beginning(&self) -> Option<Self> {
        match self {
            Value::Count(_) => Some(Value::Count(0)),
            Value::Times(times) => Some(Value::Times(Times {
                buckets: vec![0; times.buckets.len()],
                sum: Duration::ZERO,
            })),
            Value::Level(_) => None,
        }
    }
}

/// A metric's value at an instant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Sample {
    pub(super) family: &'static Family,
    pub(super) labels: Vec<Label>,
    pub(super) value: Value,
}

/// All metrics at an instant of a load.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reading {
    /// The instant.
    pub(super) at: SystemTime,
    /// The start of the phase, from which counters and distributions count.
    pub(super) since: SystemTime,
    pub(super) samples: Vec<Sample>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_follow_from_each_other_as_prometheus_translates_otlp() {
        for family in FAMILIES {
            let suffix = family.unit.open_metrics();
            let suffix = suffix.map_or(String::new(), |unit| format!("_{unit}"));
            assert!(family.name.ends_with(&suffix), "{}", family.name);
            // The conventions' names say what they measure, and ours who measured it.
            if !family.otlp.starts_with("http.") {
                assert_eq!(family.name, family.otlp.replace('.', "_") + &suffix);
            }
        }
    }

    #[test]
    fn bounds_rise_and_are_written_as_they_are() {
        for pair in BOUNDS.windows(2) {
            assert!(pair[0].nanoseconds < pair[1].nanoseconds);
        }
        for bound in &BOUNDS {
            let written: f64 = bound.le.parse().unwrap();
            assert_eq!(written, bound.nanoseconds as f64 / 1e9, "{}", bound.le);
            // OpenMetrics' canonical form (Go's formatting): a reader that compares labels as text would take another
            // form for another series.
            let go = match written {
                small if small < 1e-4 => bound.le.contains("e-05"),
                whole if whole.fract() == 0.0 => bound.le.ends_with(".0"),
                other => bound.le == other.to_string(),
            };
            assert!(go, "{}", bound.le);
        }
    }
}
