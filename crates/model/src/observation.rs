//! The results of a load. Results of the same load from several threads can be merged.

mod seen;

use std::{collections::BTreeMap, time::Duration};

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, de::Error as _};

pub use self::seen::{
    CookiesSeen, CountedTime, EventsSeen, GroupSeen, OpenLoop, OwnWaits, ReceiveQueues, RouteSeen,
    TlsSeen, UnmadeConnections, Waits, WorkerHealth,
};
use crate::{
    CountHistogram, Failure, FailureCounts, LatencyHistogram,
    failure::FailurePhase,
    figure::{count, counted, seconds},
};

/// Requests by their outcome over a span of time. A request belongs to the span in which it was issued. It is always
/// true that `carried_in + issued = carried_succeeded + carried_failed + succeeded + failed + in_flight`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Tally {
    /// Requests in flight when the span began. They belong to the previous span.
    pub carried_in: u64,
    /// Of those: verified answers that came in the span.
    pub carried_succeeded: u64,
    /// Of those: requests that failed in the span.
    pub carried_failed: u64,
    /// Requests issued in the span.
    pub issued: u64,
    /// Requests issued in the span whose verified answers came in it.
    pub succeeded: u64,
    /// Requests issued in the span that failed in it, by kind.
    pub failed: FailureCounts,
    /// Requests in flight when the span ended.
    pub in_flight: u64,
}

impl Tally {
    /// Whether the counts add up, so that no request was lost or invented.
    pub fn is_conserved(&self) -> bool {
        self.carried_in + self.issued == self.carried_ended() + self.ended() + self.in_flight
    }

    /// Requests issued in the span that ended in it, successfully or not.
    pub fn ended(&self) -> u64 {
        self.succeeded + self.failed.total()
    }

    /// Requests issued before the span that ended in it, successfully or not.
    pub(crate) fn carried_ended(&self) -> u64 {
        self.carried_succeeded + self.carried_failed
    }

    /// The verified answers that make up throughput. A span cuts requests at both ends. A request cut at the start and
    /// one cut at the end count as one answer. Without them, a slow server's throughput would be too low by its
    /// connections over the span's length.
    pub fn answers(&self) -> u64 {
        self.succeeded + self.carried_succeeded.min(self.in_flight)
    }

    /// Adds another tally of the same span.
    pub fn merge(&mut self, other: &Self) {
        self.carried_in += other.carried_in;
        self.carried_succeeded += other.carried_succeeded;
        self.carried_failed += other.carried_failed;
        self.issued += other.issued;
        self.succeeded += other.succeeded;
        self.failed.merge(&other.failed);
        self.in_flight += other.in_flight;
    }
}

/// One bin of the measurement's time series: the requests that ended in it, whenever they began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Bin {
    /// Verified answers.
    pub succeeded: u64,
    /// Failed requests.
    pub failed: u64,
}

impl<'a> std::iter::Sum<&'a Bin> for Bin {
    fn sum<I: Iterator<Item = &'a Bin>>(bins: I) -> Self {
        bins.fold(Self::default(), |sum, bin| Self {
            succeeded: sum.succeeded + bin.succeeded,
            failed: sum.failed + bin.failed,
        })
    }
}

/// The greatest common divisor of two widths, neither of which is zero.
fn common(a: u128, b: u128) -> u128 {
    match b {
        0 => a,
        _ => common(b, a % b),
    }
}

/// An example of a failure, verbatim.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FailureExample {
    /// The kind.
    pub kind: Failure,
    /// The details: an error of the operating system, or the start of the answer.
    pub detail: String,
}

/// Failures with the same kind, phase and cause.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FailureGroup {
    /// The kind.
    pub kind: Failure,
    /// The phase of the requests that failed.
    pub phase: FailurePhase,
    /// The operating system's error, the parser's reason or the status.
    pub cause: String,
    /// The number in the measurement.
    pub measured: u64,
    /// The number in the whole load.
    pub total: u64,
}

/// The results of a load.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Observation {
    /// Requests of the whole load: warm-up, measurement and end.
    pub total: Tally,
    /// Requests of the measurement alone.
    pub measured: Tally,
    /// The measurement's length.
    #[serde(rename = "window_seconds", with = "crate::seconds")]
    #[schemars(schema_with = "crate::seconds::schema")]
    pub window: Duration,
    /// The time of the requests, if the load ended after a number of requests. `None`: the measurement's length, or not
    /// recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counted: Option<CountedTime>,
    /// Waits because of the generator's own rules.
    #[serde(default, skip_serializing_if = "OwnWaits::is_none")]
    pub own_waits: OwnWaits,
    /// Service time (end − actual start) of the measurement's requests whose verified answers came in it.
    pub service_time: LatencyHistogram,
    /// Service time with connecting (end − start of connecting = connect + TLS handshake + service time). `None` unless
    /// each request has its own connection.
    pub service_time_with_connect: Option<LatencyHistogram>,
    /// The time to the first byte (first byte of the answer − actual start) of the same requests. `None`: not recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_byte: Option<LatencyHistogram>,
    /// The events of answers that are streams. `None`: not recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub events: Option<EventsSeen>,
    /// The results of each group of exchanges. Empty: the load has no groups.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<GroupSeen>,
    /// The results of each address, in the order of the spec's targets. Empty: there is only one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub routes: Vec<RouteSeen>,
    /// The total time that requests were in flight in the measurement, of those that began before it or were still in
    /// flight at its end.
    #[serde(rename = "cut_seconds", with = "crate::seconds")]
    #[schemars(schema_with = "crate::seconds::schema")]
    pub cut: Duration,
    /// The total time, in the measurement, of the requests that were in flight at its start.
    #[serde(rename = "carried_seconds", with = "crate::seconds")]
    #[schemars(schema_with = "crate::seconds::schema")]
    pub carried: Duration,
    /// The total time, after the measurement, of the requests that began in it.
    #[serde(rename = "draining_seconds", with = "crate::seconds")]
    #[schemars(schema_with = "crate::seconds::schema")]
    pub draining: Duration,
    /// The width of a bin.
    #[serde(rename = "bin_seconds", with = "crate::seconds")]
    #[schemars(schema_with = "crate::seconds::schema")]
    pub bin: Duration,
    /// The measurement in bins, from its start; the last one may be shorter than the others.
    pub bins: Vec<Bin>,
    /// Connections made over the whole load.
    pub connections_opened: u64,
    /// The maximum number of open connections (the sum of the workers' own maxima).
    pub connections_peak: u64,
    /// Connections that were still being opened at the load's end.
    #[serde(default, skip_serializing_if = "UnmadeConnections::is_none")]
    pub unmade: UnmadeConnections,
    /// The time to open connections (TCP alone), over the whole load.
    pub connect_time: LatencyHistogram,
    /// The time of TLS handshakes, over the whole load.
    pub handshake_time: LatencyHistogram,
    /// The negotiated TLS parameters; `None`: no TLS.
    pub tls: Option<TlsSeen>,
    /// Answers per connection, over the whole load.
    pub answers_per_connection: CountHistogram,
    /// Requests that were sent again on another connection, because the server had announced that it would close before
    /// it processed them. The announcement was in an earlier answer (pipelining; RFC 9112 §9.3.2) or a GOAWAY frame
    /// (HTTP/2; RFC 9113 §6.8). Each counts as one request.
    pub resent: u64,
    /// The minimum number of concurrent requests that an HTTP/2 server allowed on a connection
    /// (SETTINGS_MAX_CONCURRENT_STREAMS). `None`: never fewer than requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fewest_streams: Option<u32>,
    /// The use of cookies, over the whole load; `None`: cookies are not kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cookies: Option<CookiesSeen>,
    /// Redirects that were followed for the measurement's requests, by status. No other count includes their answers.
    #[serde(
        default,
        deserialize_with = "statuses",
        skip_serializing_if = "BTreeMap::is_empty"
    )]
    pub followed: BTreeMap<u16, u64>,
    /// Complete answers to the measurement's requests by status, correct or not, without redirects that were followed or
    /// could not be.
    #[serde(deserialize_with = "statuses")]
    pub statuses: BTreeMap<u16, u64>,
    /// Complete answers over the whole load by status, correct or not, without the same redirects.
    #[serde(
        default,
        deserialize_with = "statuses",
        skip_serializing_if = "BTreeMap::is_empty"
    )]
    pub all_statuses: BTreeMap<u16, u64>,
    /// Failures by kind, phase and cause.
    pub failures: Vec<FailureGroup>,
    /// How long each request in flight at the measurement's end had been in flight by then. `None`: none was, or not recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_flight_ages: Option<LatencyHistogram>,
    /// Results that only an open loop has; `None`: closed loop.
    pub open: Option<OpenLoop>,
    /// Samples of answers that waited for the generator.
    pub receive_queues: ReceiveQueues,
    /// Bytes of requests written in the measurement, before TLS.
    pub sent_bytes: u64,
    /// Bytes of answers received in the measurement, after TLS: heads, framing and bodies.
    pub received_bytes: u64,
    /// Body bytes received in the measurement, without the transfer coding.
    pub body_bytes: u64,
    /// Body bytes of the verified answers to the measurement's requests that came in it.
    pub valid_body_bytes: u64,
    /// Answers in the measurement whose content was compared.
    pub content_checked: u64,
    /// The worker threads.
    pub workers: Vec<WorkerHealth>,
    /// The first few failures of each kind.
    pub examples: Vec<FailureExample>,
}

impl Observation {
    /// Why no request began and ended in the measurement. `None`: one did.
    pub fn none_ended(&self) -> Option<String> {
        let measured = &self.measured;
        if measured.ended() > 0 {
            return None;
        }
        let unmade = self.unmade.described().filter(|_| measured.in_flight == 0);
        Some(match (unmade, measured.carried_succeeded) {
            (Some(unmade), _) => format!("no request could be sent: at the end {unmade}"),
            (None, 0) => {
                let in_flight = match measured.in_flight {
                    0 => String::new(),
                    some => format!(" ({} in flight)", counted(some, "request")),
                };
                format!("no request ended in the measurement{in_flight}")
            }
            (None, answered) => format!(
                "no request that began in the measurement ended in it, and {} of the {} from the warm-up did: answers take too \
                 long for a measurement of {}",
                count(answered),
                count(measured.carried_in),
                seconds(self.window.as_secs_f64())
            ),
        })
    }

    /// The time in which the verified answers arrived ([`Self::answers`]): the measurement's length, or the time of
    /// the requests if the load ended after a number of requests.
    pub fn answer_time(&self) -> Duration {
        let counted = self
            .counted
            .map(|counted| counted.of_requests(self.measured.ended()));
        counted
            .filter(|time| !time.is_zero() && !self.window.is_zero())
            .unwrap_or(self.window)
    }

    /// Verified answers that make up throughput ([`Tally::answers`]); none if not one of the measurement's own requests
    /// was answered in it: how many of the warm-up's were depends on when the measurement began, not on the server.
    pub fn answers(&self) -> u64 {
        match self.measured.succeeded {
            0 => 0,
            _ => self.measured.answers(),
        }
    }

    /// Verified answers per second of the measurement ([`Self::answers`]).
    pub fn throughput(&self) -> f64 {
        self.per_second(self.answers() as f64)
    }

    /// An amount that the measurement's requests produced, per second of [`Self::answer_time`].
    pub fn per_second(&self, amount: f64) -> f64 {
        match self.answer_time().as_secs_f64() {
            seconds if seconds > 0.0 => amount / seconds,
            _ => 0.0,
        }
    }

    /// Requests in flight on average, without those that failed: the time that requests were in flight over the
    /// measurement's length (Little's law). `None` without a verified answer.
    pub fn mean_in_flight(&self) -> Option<f64> {
        let mean = self.service_time.mean()?.as_secs_f64();
        let in_flight = mean * self.measured.succeeded as f64 + self.cut.as_secs_f64();
        let window = self.window.as_secs_f64();
        Some(if window > 0.0 {
            in_flight / window
        } else {
            0.0
        })
    }

    /// Requests of an open loop that were already waiting when the measurement began: those issued in it or unsent at
    /// its end, minus those that became due in it. `None`: closed loop, or nothing became due.
    pub fn backlog_before(&self) -> Option<u64> {
        let open = self.open.as_ref().filter(|open| open.offered > 0)?;
        // The threads of a generator begin the measurement at slightly different times.
        Some((self.measured.issued + open.unsent).saturating_sub(open.offered))
    }

    /// Requests of the measurement that failed before they were sent: no connection became free, or none could be made.
    pub fn never_sent(&self) -> u64 {
        let groups = self.failures.iter();
        let never_sent = groups.filter(|group| group.phase.is_before_sending());
        never_sent.map(|group| group.measured).sum()
    }

    /// Requests of an open loop that were sent ÷ requests that were due in the measurement, 0 to 1. `None`: closed loop,
    /// or nothing became due.
    pub fn sent_share(&self) -> Option<f64> {
        let open = self.open.as_ref().filter(|open| open.offered > 0)?;
        let missing = open.unsent + self.never_sent();
        // Some of the missing requests may have been due in the warm-up.
        Some((1.0 - missing as f64 / open.offered as f64).max(0.0))
    }

    /// The CPU share of the busiest worker, 0 to 1.
    pub fn busiest_worker(&self) -> f64 {
        self.workers
            .iter()
            .map(WorkerHealth::busy)
            .fold(0.0, f64::max)
    }

    /// Adds another part of the same load.
    pub fn merge(&mut self, other: &Self) {
        // A part without a measurement adds nothing. With a part that no count ended, the whole has no such time.
        self.counted = match (self.counted, other.counted) {
            (Some(own), Some(more)) => own.merged(more),
            (counted, None) if other.window.is_zero() => counted,
            (None, counted) if self.window.is_zero() => counted,
            _ => None,
        };
        let waits = &mut self.own_waits;
        waits.for_continue.merge(&other.own_waits.for_continue);
        waits
            .before_connecting
            .merge(&other.own_waits.before_connecting);
        self.total.merge(&other.total);
        self.measured.merge(&other.measured);
        self.window = self.window.max(other.window);
        self.service_time.merge(&other.service_time);
        let with_connect = other.service_time_with_connect.as_ref();
        merge_histograms(&mut self.service_time_with_connect, with_connect);
        merge_histograms(&mut self.first_byte, other.first_byte.as_ref());
        merge_histograms(&mut self.in_flight_ages, other.in_flight_ages.as_ref());
        match (&mut self.events, &other.events) {
            (Some(own), Some(more)) => own.merge(more),
            (own @ None, Some(more)) => *own = Some(more.clone()),
            (_, None) => {}
        }
        if self.groups.is_empty() {
            self.groups.clone_from(&other.groups);
        } else {
            let both = self.groups.iter_mut().zip(&other.groups);
            both.for_each(|(own, more)| own.merge(more));
        }
        if self.routes.is_empty() {
            self.routes.clone_from(&other.routes);
        } else {
            let both = self.routes.iter_mut().zip(&other.routes);
            both.for_each(|(own, more)| own.merge(more));
        }
        self.cut += other.cut;
        self.carried += other.carried;
        self.draining += other.draining;
        self.merge_bins(other);
        self.connections_opened += other.connections_opened;
        self.connections_peak += other.connections_peak;
        self.unmade.merge(&other.unmade);
        self.connect_time.merge(&other.connect_time);
        self.handshake_time.merge(&other.handshake_time);
        match (&mut self.tls, &other.tls) {
            (Some(own), Some(more)) => {
                own.full += more.full;
                own.resumed += more.resumed;
            }
            (own @ None, Some(more)) => *own = Some(more.clone()),
            (_, None) => {}
        }
        self.answers_per_connection
            .merge(&other.answers_per_connection);
        self.resent += other.resent;
        let fewest = self.fewest_streams.into_iter().chain(other.fewest_streams);
        self.fewest_streams = fewest.min();
        if let Some(more) = &other.cookies {
            self.cookies.get_or_insert_default().merge(more);
        }
        for (own, more) in [
            (&mut self.followed, &other.followed),
            (&mut self.statuses, &other.statuses),
            (&mut self.all_statuses, &other.all_statuses),
        ] {
            for (status, count) in more {
                *own.entry(*status).or_default() += count;
            }
        }
        for group in &other.failures {
            self.merge_failures(group);
        }
        match (&mut self.open, &other.open) {
            (Some(own), Some(more)) => own.merge(more),
            (own @ None, Some(more)) => *own = Some(more.clone()),
            (_, None) => {}
        }
        self.receive_queues.merge(&other.receive_queues);
        self.sent_bytes += other.sent_bytes;
        self.received_bytes += other.received_bytes;
        self.body_bytes += other.body_bytes;
        self.valid_body_bytes += other.valid_body_bytes;
        self.content_checked += other.content_checked;
        self.workers.extend_from_slice(&other.workers);
        self.examples.extend_from_slice(&other.examples);
    }
}

/// Adds a histogram that some parts of a load lack.
fn merge_histograms(own: &mut Option<LatencyHistogram>, more: Option<&LatencyHistogram>) {
    match (own, more) {
        (Some(own), Some(more)) => own.merge(more),
        (own @ None, Some(more)) => *own = Some(more.clone()),
        (_, None) => {}
    }
}

/// Reads the keys of an object as numbers. Serde does that only outside tagged enums, and records are tagged enums:
/// their contents are buffered, with keys as text.
fn statuses<'de, D: Deserializer<'de>>(deserializer: D) -> Result<BTreeMap<u16, u64>, D::Error> {
    let read = BTreeMap::<String, u64>::deserialize(deserializer)?;
    let status = |(key, count): (String, u64)| match key.parse() {
        Ok(status) => Ok((status, count)),
        Err(_) => Err(D::Error::custom(format!("{key:?} is not a status code"))),
    };
    read.into_iter().map(status).collect()
}

impl Observation {
    /// Adds a time series. If its bins have another width, both series get bins of the least common multiple of the
    /// widths.
    fn merge_bins(&mut self, other: &Self) {
        if other.bin.is_zero() || other.bins.is_empty() {
            return;
        }
        if self.bin.is_zero() || self.bins.is_empty() {
            (self.bin, self.bins) = (other.bin, other.bins.clone());
            return;
        }
        let (own, more) = (self.bin.as_nanos(), other.bin.as_nanos());
        let width = own / common(own, more) * more;
        let wide = |bins: &[Bin], factor: u128| -> Vec<Bin> {
            let factor = usize::try_from(factor).unwrap_or(usize::MAX);
            bins.chunks(factor).map(|bins| bins.iter().sum()).collect()
        };
        if width != own {
            self.bins = wide(&self.bins, width / own);
            self.bin = u64::try_from(width).map_or(Duration::MAX, Duration::from_nanos);
        }
        let added = wide(&other.bins, width / more);
        if self.bins.len() < added.len() {
            self.bins.resize(added.len(), Bin::default());
        }
        for (own, more) in self.bins.iter_mut().zip(&added) {
            *own = [*own, *more].iter().sum();
        }
    }

    fn merge_failures(&mut self, other: &FailureGroup) {
        let alike = |own: &&mut FailureGroup| {
            own.kind == other.kind && own.phase == other.phase && own.cause == other.cause
        };
        match self.failures.iter_mut().find(alike) {
            Some(own) => {
                own.measured += other.measured;
                own.total += other.total;
            }
            None => self.failures.push(other.clone()),
        }
    }
}

/// The maximum share of ended requests that may fail in transport (0 to 1). With more, figures are in doubt.
pub const TRANSPORT_FAILURES: f64 = 0.001;

/// Why a load's results are invalid. If several reasons apply, the first one is reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoadFault {
    /// Requests were lost or invented: the generator's own counts do not add up.
    NotConserved,
    /// Wrong answers arrived in the warm-up or the measurement. A single one is enough.
    WrongAnswers {
        /// The number of wrong answers.
        count: u64,
    },
}

impl Observation {
    /// Why the results are invalid; `None`: they are valid.
    pub fn fault(&self) -> Option<LoadFault> {
        if !(self.measured.is_conserved() && self.total.is_conserved()) {
            return Some(LoadFault::NotConserved);
        }
        let measured = self.measured.failed.wrong_answers();
        let count = self.total.failed.wrong_answers().max(measured);
        (count > 0).then_some(LoadFault::WrongAnswers { count })
    }
}

#[cfg(test)]
mod tests;
