//! Which metrics there are.

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
}
