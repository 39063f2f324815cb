//! The load over time for monitoring systems. docs/metrics.md describes what they get.
//!
//! ```text
//! Interval → Meter → Reading (cumulative samples at an instant) → open_metrics, otlp
//! ```
//!
//! The two formats only lay out readings, so that they cannot contradict each other.

mod formats;
mod readings;

use std::time::SystemTime;

use deadheat_model::{Failure, Interval, LoadPhase, LoadRecord, LoadSpec};

use self::readings::{
    CONNECTIONS, Family, IN_FLIGHT, Label, OFFERED, RECEIVED, REQUESTS, RESPONSE_TIME, SENT,
    SERVICE_TIME, Sample, Times, Value, WAITING,
};
pub use self::{
    formats::{open_metrics, otlp, otlp_rejected, otlp_request},
    readings::Reading,
};

/// Which load samples are of.
#[derive(Clone, Debug)]
pub struct Source {
    /// Deadheat's version.
    version: String,
    /// What is loaded, as it was typed, without secrets.
    url: String,
    /// The load's start as a text. It tells loads of the same URL apart.
    run: String,
    /// The load's start, which the times of intervals count from.
    started: SystemTime,
    /// What the user calls it: attributes of the resource in OTLP, labels of all samples in OpenMetrics.
    labels: Vec<Label>,
    /// Server and requests, as OpenTelemetry's conventions name them.
    http: Vec<Label>,
}

impl Source {
    /// A load of `url` with `spec`, by this version of Deadheat, that started at an instant (RFC 3339).
    pub fn new(version: &str, started: &str, url: &str, spec: &LoadSpec) -> Self {
        Self {
            version: version.to_owned(),
            url: url.to_owned(),
            run: started.to_owned(),
            // No Deadheat writes a record without it. Without it, times count from the epoch.
            started: humantime::parse_rfc3339(started).unwrap_or(SystemTime::UNIX_EPOCH),
            labels: labels(spec),
            http: http(spec),
        }
    }

    /// The load that a record is of.
    pub fn from_record(record: &LoadRecord) -> Self {
        Self::new(&record.deadheat, &record.started, &record.url, &record.spec)
    }

    /// When the load started.
    pub fn started(&self) -> SystemTime {
        self.started
    }
}

/// The user's labels, under names that no convention has.
fn labels(spec: &LoadSpec) -> Vec<Label> {
    let labels = spec.labels.iter();
    labels
        .map(|(key, value)| Label::new(format!("label.{key}"), value))
        .collect()
}

/// The attributes that OpenTelemetry's metrics of HTTP clients have.
fn http(spec: &LoadSpec) -> Vec<Label> {
    let is_tls = spec.target.tls.is_some();
    let (host, port) = host_and_port(&spec.target.authority);
    let port = port.unwrap_or(if is_tls { "443" } else { "80" });
    let version = spec.protocol.version();
    let mut labels = vec![Label::new("network.protocol.version", version)];
    // Requests to several servers are counted together.
    if spec.others.is_empty() {
        labels.splice(
            0..0,
            [
                Label::new("server.address", host),
                Label::new("server.port", port),
                Label::new("url.scheme", if is_tls { "https" } else { "http" }),
            ],
        );
    }
    let mut methods = spec.exchanges.iter().map(|one| one.request.method.as_str());
    // Requests of several methods are counted together.
    if let Some(first) = methods.next()
        && methods.all(|other| other == first)
    {
        labels.push(Label::new("http.request.method", first));
    }
    labels
}

/// The parts of `localhost:8080` or `[::1]:8080`; a name alone has no port.
fn host_and_port(authority: &str) -> (&str, Option<&str>) {
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => (host, Some(port)),
        _ => (authority, None),
    };
    let bare = host
        .strip_prefix('[')
        .and_then(|host| host.strip_suffix(']'));
    (bare.unwrap_or(host), port)
}

/// Adds up the intervals of a load, each phase for itself.
#[derive(Debug)]
pub struct Meter {
    started: SystemTime,
    /// The kinds of failure that samples are made for, whether or not there were any in the phase.
    kinds: Vec<Failure>,
    /// The intervals of the phase so far, as one.
    phase: Option<Interval>,
}

impl Meter {
    /// Of a load that started at this instant.
    pub fn new(started: SystemTime) -> Self {
        Self {
            started,
            kinds: Vec::new(),
            phase: None,
        }
    }

    /// What is at the end of the next interval.
    pub fn add(&mut self, interval: &Interval) -> Reading {
        self.expect(interval);
        match &mut self.phase {
            Some(phase) if phase.phase == interval.phase => phase.append(interval),
            other => *other = Some(interval.clone()),
        }
        let phase = self.phase.as_ref().unwrap_or(interval);
        Reading {
            at: self.started + phase.until,
            since: self.started + phase.from,
            samples: samples(phase, &self.kinds),
        }
    }

    /// From now on there are samples of the failures of this interval.
    fn expect(&mut self, interval: &Interval) {
        for (kind, _) in interval.failed.iter() {
            if !self.kinds.contains(&kind) {
                self.kinds.push(kind);
            }
        }
    }
}

/// The readings of a whole load, one for each interval.
pub fn readings(record: &LoadRecord) -> Vec<Reading> {
    let mut meter = Meter::new(Source::from_record(record).started);
    // A series that begins with its first failure would not show that there was none before.
    let intervals = record.intervals.iter();
    intervals
        .clone()
        .for_each(|interval| meter.expect(interval));
    intervals.map(|interval| meter.add(interval)).collect()
}

/// The samples of a phase so far.
fn samples(phase: &Interval, kinds: &[Failure]) -> Vec<Sample> {
    let in_phase = || vec![Label::new("phase", phase_name(phase.phase))];
    let sample = |family: &'static Family, labels, value| Sample {
        family,
        labels,
        value,
    };
    let count = |family, count| sample(family, in_phase(), Value::Count(count));
    let level = |family, level| sample(family, Vec::new(), Value::Level(level));
    let times = |family, times| sample(family, in_phase(), Value::Times(Times::new(times)));
    let ended = |labels, number| {
        let labels = [in_phase(), labels].concat();
        sample(&REQUESTS, labels, Value::Count(number))
    };
    let valid = vec![Label::new("result", "valid")];
    let mut samples = vec![ended(valid, phase.succeeded)];
    samples.extend(kinds.iter().map(|kind| {
        let labels = vec![
            Label::new("result", "failed"),
            Label::new("error.type", kind.name()),
        ];
        ended(labels, phase.failed[*kind])
    }));
    samples.extend([
        level(&IN_FLIGHT, phase.in_flight),
        level(&CONNECTIONS, phase.connections),
        count(&SENT, phase.sent_bytes),
        count(&RECEIVED, phase.received_bytes),
        times(&SERVICE_TIME, &phase.service_time),
    ]);
    if let Some(response_time) = &phase.response_time {
        samples.extend([
            count(&OFFERED, phase.offered),
            level(&WAITING, phase.waiting),
            times(&RESPONSE_TIME, response_time),
        ]);
    }
    samples
}

fn phase_name(phase: LoadPhase) -> &'static str {
    match phase {
        LoadPhase::WarmUp => "warm-up",
        LoadPhase::Measurement => "measurement",
        LoadPhase::Drain => "drain",
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_server_has_a_host_and_a_port() {
        for (authority, host, port) in [
            ("localhost:8080", "localhost", Some("8080")),
            ("localhost", "localhost", None),
            ("127.0.0.1:80", "127.0.0.1", Some("80")),
            ("[::1]:8080", "::1", Some("8080")),
            ("[::1]", "::1", None),
        ] {
            assert_eq!(host_and_port(authority), (host, port), "{authority}");
        }
    }

    fn second(index: u64, phase: LoadPhase) -> Interval {
        Interval {
            index,
            from: Duration::from_secs(index),
            until: Duration::from_secs(index + 1),
            phase,
            succeeded: 10,
            in_flight: index,
            ..Interval::default()
        }
    }

    fn value(reading: &Reading, family: &Family, label: &str) -> Option<Value> {
        let mut samples = reading.samples.iter();
        let found = samples.find(|sample| {
            sample.family == family
                && (label.is_empty() || sample.labels.iter().any(|one| one.value == label))
        });
        found.map(|sample| sample.value.clone())
    }

    #[test]
    fn counts_go_on_within_a_phase_and_levels_stand() {
        let started = SystemTime::UNIX_EPOCH;
        let mut meter = Meter::new(started);
        let phases = [
            LoadPhase::WarmUp,
            LoadPhase::Measurement,
            LoadPhase::Measurement,
        ];
        let readings: Vec<Reading> = (0..)
            .zip(phases)
            .map(|(index, phase)| meter.add(&second(index, phase)))
            .collect();
        let valid = |reading| value(reading, &REQUESTS, "valid");
        assert_eq!(
            readings.iter().map(valid).collect::<Vec<_>>(),
            [10, 10, 20].map(|count| Some(Value::Count(count)))
        );
        let last = &readings[2];
        assert_eq!(value(last, &IN_FLIGHT, ""), Some(Value::Level(2)));
        assert_eq!(last.since, started + Duration::from_secs(1));
        assert_eq!(last.at, started + Duration::from_secs(3));
        assert_eq!(value(last, &OFFERED, ""), None, "of open loops alone");
    }

    #[test]
    fn a_failure_that_came_once_is_told_of_from_then_on() {
        let mut meter = Meter::new(SystemTime::UNIX_EPOCH);
        let mut failing = second(0, LoadPhase::WarmUp);
        failing.failed[Failure::Timeout] = 3;
        let timeouts = |reading| value(&reading, &REQUESTS, "timeout");
        assert_eq!(timeouts(meter.add(&failing)), Some(Value::Count(3)));
        let next = meter.add(&second(1, LoadPhase::Measurement));
        assert_eq!(timeouts(next), Some(Value::Count(0)));
    }
}
