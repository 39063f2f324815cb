//! Detailed results of a load: TLS, open loops, groups of exchanges, addresses, cookies, events, waits, the time of counted
//! requests, and what shows whether the generator was the limit.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{LatencyHistogram, figure::counted};

/// The negotiated TLS parameters, and the number of handshakes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TlsSeen {
    /// Version and cipher suite of the first handshake: "TLS 1.3, TLS_AES_256_GCM_SHA384".
    pub agreed: String,
    /// Full handshakes, over the whole load.
    pub full: u64,
    /// Handshakes that resumed an earlier session, over the whole load.
    pub resumed: u64,
}

/// The results of a group of exchanges in the measurement.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GroupSeen {
    /// Verified answers over the whole load.
    pub total_succeeded: u64,
    /// Requests of the measurement whose verified answers came in it.
    pub succeeded: u64,
    /// Requests of the measurement that were sent, and failed in it.
    pub failed: u64,
    /// Body bytes of the verified answers.
    pub valid_body_bytes: u64,
    /// Service time of the verified answers.
    pub service_time: LatencyHistogram,
    /// Service time of verified answers to requests of the measurement that arrived after it. Without them, a route
    /// that takes longer than the measurement would seem to have no answers.
    #[serde(default, skip_serializing_if = "LatencyHistogram::is_empty")]
    pub late: LatencyHistogram,
}

impl GroupSeen {
    pub(super) fn merge(&mut self, other: &Self) {
        self.total_succeeded += other.total_succeeded;
        self.succeeded += other.succeeded;
        self.failed += other.failed;
        self.valid_body_bytes += other.valid_body_bytes;
        self.service_time.merge(&other.service_time);
        self.late.merge(&other.late);
    }
}

/// The results of one address, in a load with several addresses.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RouteSeen {
    /// Connections made over the whole load.
    pub connections_opened: u64,
    /// Requests of the measurement whose verified answers came in it.
    pub succeeded: u64,
    /// Requests of the measurement that failed in it, including those whose connection could not be opened.
    pub failed: u64,
}

impl RouteSeen {
    pub(super) fn merge(&mut self, other: &Self) {
        self.connections_opened += other.connections_opened;
        self.succeeded += other.succeeded;
        self.failed += other.failed;
    }
}

/// The use of the cookies that answers set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CookiesSeen {
    /// Cookies that were set and kept.
    pub set: u64,
    /// Cookies that an answer removed.
    pub removed: u64,
    /// Cookies that were not kept: malformed, too long, for another host, or for TLS alone.
    pub refused: u64,
    /// Requests that were sent with cookies, redirects included.
    pub sent: u64,
}

impl CookiesSeen {
    /// Adds the counts of another part of the same load.
    pub fn merge(&mut self, other: &Self) {
        self.set += other.set;
        self.removed += other.removed;
        self.refused += other.refused;
        self.sent += other.sent;
    }
}

/// The events that arrived in the measurement, in answers with an accepted status, whether these became valid or not.
/// An event has the time of the read that completed it, so that there is no time between events of one read.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EventsSeen {
    /// The number of events.
    pub events: u64,
    /// The time from a request's actual start to its first event, for the measurement's requests.
    pub first_event: LatencyHistogram,
    /// The time between an event and the previous one in the same answer.
    pub gap: LatencyHistogram,
    /// The longest time since the last event of any unfinished answer, at the measurement's end. Such a gap had not
    /// ended.
    #[serde(rename = "open_gap_seconds", with = "crate::seconds")]
    #[schemars(schema_with = "crate::seconds::schema")]
    pub open_gap: Duration,
    /// Valid answers to the measurement's requests without any event.
    pub without: u64,
}

impl EventsSeen {
    /// The longest time without an event within an answer; `None`: no answer had an event.
    pub fn longest_gap(&self) -> Option<Duration> {
        let open = Some(self.open_gap).filter(|gap| !gap.is_zero());
        self.gap.max().max(open)
    }

    /// Adds another part of the same load.
    pub fn merge(&mut self, other: &Self) {
        self.events += other.events;
        self.first_event.merge(&other.first_event);
        self.gap.merge(&other.gap);
        self.open_gap = self.open_gap.max(other.open_gap);
        self.without += other.without;
    }
}

/// The time of the requests of a load that ended after a number of requests. Times begin at the load's start, before
/// its warm-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "loop", rename_all = "kebab-case")]
pub enum CountedTime {
    /// Closed loop: each connection has its own time. It is from the start of its first counted request to the end of
    /// its last one, with the think time after it. If the connection was opened for that first request, it is included.
    Closed {
        /// Connections that had counted requests.
        connections: u64,
        /// The sum of their times.
        #[serde(rename = "in_use_seconds", with = "crate::seconds")]
        #[schemars(schema_with = "crate::seconds::schema")]
        in_use: Duration,
    },
    /// Open loop: from the first intended start to the one after the last.
    Open {
        /// The first intended start.
        #[serde(rename = "first_due_seconds", with = "crate::seconds")]
        #[schemars(schema_with = "crate::seconds::schema")]
        first_due: Duration,
        /// When the next request would have been due. `None`: there would be no next request.
        #[serde(rename = "next_due_seconds", with = "crate::seconds::option")]
        #[schemars(schema_with = "crate::seconds::option::schema")]
        next_due: Option<Duration>,
        /// When the first request ended.
        #[serde(rename = "first_end_seconds", with = "crate::seconds")]
        #[schemars(schema_with = "crate::seconds::schema")]
        first_end: Duration,
        /// When the last request ended.
        #[serde(rename = "last_end_seconds", with = "crate::seconds")]
        #[schemars(schema_with = "crate::seconds::schema")]
        last_end: Duration,
    },
}

impl CountedTime {
    /// The time that `requests` took. Their number divided by this time is the rate that a longer load would have: the
    /// time includes neither the end of a warm-up's requests nor connections that have nothing left to send.
    ///
    /// - Closed loop: the mean over the connections. Together with the mean time of a request and its share of
    ///   everything else, this is Little's law: connections × requests ÷ the sum of their times.
    /// - Open loop: each request has the time until the next one is due, so that a server that keeps up has the offered
    ///   rate, however long its answers take. If the time from the first answer to the last is longer, the server was
    ///   slower. Then that time counts, plus one more gap between two answers.
    pub fn of_requests(&self, requests: u64) -> Duration {
        match *self {
            Self::Closed {
                connections,
                in_use,
            } => in_use.div_f64(connections.max(1) as f64),
            Self::Open {
                first_due,
                next_due,
                first_end,
                last_end,
            } => {
                let due = next_due.map_or(Duration::ZERO, |next| next.saturating_sub(first_due));
                let answered = last_end.saturating_sub(first_end);
                if answered <= due {
                    return due;
                }
                match requests {
                    0 | 1 => answered,
                    _ => answered.mul_f64(requests as f64 / (requests - 1) as f64),
                }
            }
        }
    }

    /// The common time of this part and another part of the load; `None`: the parts are of different loops.
    pub(super) fn merged(self, other: Self) -> Option<Self> {
        match (self, other) {
            (
                Self::Closed {
                    connections,
                    in_use,
                },
                Self::Closed {
                    connections: more,
                    in_use: longer,
                },
            ) => Some(Self::Closed {
                connections: connections + more,
                in_use: in_use + longer,
            }),
            (
                Self::Open {
                    first_due,
                    next_due,
                    first_end,
                    last_end,
                },
                Self::Open {
                    first_due: due,
                    next_due: next,
                    first_end: first,
                    last_end: last,
                },
            ) => Some(Self::Open {
                first_due: first_due.min(due),
                // The whole load's next request is the earliest one of its parts.
                next_due: next_due.into_iter().chain(next).min(),
                first_end: first_end.min(first),
                last_end: last_end.max(last),
            }),
            _ => None,
        }
    }
}

/// Waits of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Waits {
    /// The number of waits.
    pub count: u64,
    /// The total length of the waits.
    #[serde(rename = "seconds", with = "crate::seconds")]
    #[schemars(schema_with = "crate::seconds::schema")]
    pub total: Duration,
}

impl Waits {
    /// Adds a wait.
    pub fn add(&mut self, length: Duration) {
        self.count += 1;
        self.total += length;
    }

    pub(super) fn merge(&mut self, other: &Self) {
        self.count += other.count;
        self.total += other.total;
    }
}

/// How long the generator waited in the measurement because of its own rules, and not for answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OwnWaits {
    /// Waits for 100 (Continue) that did not arrive, before the body was sent without it. Service times include them.
    pub for_continue: Waits,
    /// Waits before another attempt to connect, after attempts that failed.
    pub before_connecting: Waits,
}

impl OwnWaits {
    /// Whether there were no waits.
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }
}

/// Connections that were still being opened, by what they waited for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UnmadeConnections {
    /// The TCP connection, or the Unix socket.
    pub connecting: u64,
    /// The proxy's answer.
    pub proxy: u64,
    /// The server's part of the TLS handshake.
    pub tls: u64,
    /// The server's SETTINGS of HTTP/2.
    pub settings: u64,
}

impl UnmadeConnections {
    /// The number of these connections.
    pub fn total(&self) -> u64 {
        self.connecting + self.proxy + self.tls + self.settings
    }

    /// Whether there were no such connections.
    pub fn is_none(&self) -> bool {
        self.total() == 0
    }

    /// What most of them waited for: "10 connections still waited for the server's SETTINGS of HTTP/2"; `None`: no
    /// connection.
    pub fn described(&self) -> Option<String> {
        let waits = [
            (self.connecting, "to be accepted"),
            (self.proxy, "for the proxy's answer"),
            (self.tls, "for the server's part of the TLS handshake"),
            (self.settings, "for the server's SETTINGS of HTTP/2"),
        ];
        let (count, what) = waits.into_iter().max_by_key(|(count, _)| *count)?;
        (count > 0).then(|| format!("{} still waited {what}", counted(count, "connection")))
    }

    pub(super) fn merge(&mut self, other: &Self) {
        self.connecting += other.connecting;
        self.proxy += other.proxy;
        self.tls += other.tls;
        self.settings += other.settings;
    }
}

/// Results that only an open loop has.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OpenLoop {
    /// Requests whose intended start lay in the measurement.
    pub offered: u64,
    /// Requests that were due when the measurement ended, but had not been sent: they waited for a connection, or the
    /// generator was late.
    pub unsent: u64,
    /// How long the oldest of them had waited.
    #[serde(rename = "oldest_unsent_seconds", with = "crate::seconds")]
    #[schemars(schema_with = "crate::seconds::schema")]
    pub oldest_unsent: Duration,
    /// The time from the intended start of the oldest request in flight to the measurement's end.
    #[serde(rename = "oldest_in_flight_seconds", with = "crate::seconds")]
    #[schemars(schema_with = "crate::seconds::schema")]
    pub oldest_in_flight: Duration,
    /// Response time (end − intended start) of the measurement's requests whose verified answers came in it. In the
    /// slices of a session, requests that were never sent are in it, too, with the time that they had waited.
    pub response_time: LatencyHistogram,
    /// The generator's own delay: from a request's intended start until the generator noticed that it was due.
    pub send_lag: LatencyHistogram,
    /// How long a request waited for a free connection after that. Response time = send lag + connection wait +
    /// service time.
    pub connection_wait: LatencyHistogram,
}

impl OpenLoop {
    /// A copy in as little memory as possible.
    pub fn compact(&self) -> Self {
        Self {
            response_time: self.response_time.compact(),
            send_lag: self.send_lag.compact(),
            connection_wait: self.connection_wait.compact(),
            ..*self
        }
    }

    pub(super) fn merge(&mut self, other: &Self) {
        self.offered += other.offered;
        self.unsent += other.unsent;
        self.oldest_unsent = self.oldest_unsent.max(other.oldest_unsent);
        self.oldest_in_flight = self.oldest_in_flight.max(other.oldest_in_flight);
        self.response_time.merge(&other.response_time);
        self.send_lag.merge(&other.send_lag);
        self.connection_wait.merge(&other.connection_wait);
    }
}

/// What a worker thread used. It shows whether the generator was the limit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WorkerHealth {
    /// The CPU that the thread was pinned to; `None`: not pinned.
    pub cpu: Option<usize>,
    /// CPU time that the thread used during the measurement.
    #[serde(rename = "cpu_seconds", with = "crate::seconds")]
    #[schemars(schema_with = "crate::seconds::schema")]
    pub cpu_time: Duration,
    /// The part of it in which the worker had nothing to do and polled: until a request of an open loop was due, or for
    /// answers ([`Wait::Poll`](crate::Wait::Poll)).
    #[serde(rename = "polled_seconds", default, with = "crate::seconds")]
    #[schemars(schema_with = "crate::seconds::schema")]
    pub polled: Duration,
    /// How long in the measurement the thread was ready to run but had no CPU, because something else ran there;
    /// `None`: the kernel does not report it (proc(5), `schedstat`). Time that a hypervisor takes is not included.
    #[serde(rename = "run_delay_seconds", default, with = "crate::seconds::option")]
    #[schemars(schema_with = "crate::seconds::option::schema")]
    pub run_delay: Option<Duration>,
    /// The measurement's length, as this thread measured it.
    #[serde(rename = "wall_seconds", with = "crate::seconds")]
    #[schemars(schema_with = "crate::seconds::schema")]
    pub wall: Duration,
}

impl WorkerHealth {
    /// The share of wall time that the CPU worked on the load, 0 to 1. Polling is not included.
    pub fn busy(&self) -> f64 {
        if self.wall.is_zero() {
            return 0.0;
        }
        self.cpu_time.saturating_sub(self.polled).as_secs_f64() / self.wall.as_secs_f64()
    }

    /// The share of wall time that the thread was ready to run without a CPU, 0 to 1; `None`: not known.
    pub fn waited(&self) -> Option<f64> {
        let delay = self.run_delay.filter(|_| !self.wall.is_zero())?;
        Some(delay.as_secs_f64() / self.wall.as_secs_f64())
    }
}

/// Samples of the receive queues of connections with a request in flight, taken during the measurement. Answers in
/// these queues wait for the generator.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReceiveQueues {
    /// The number of samples.
    pub looks: u64,
    /// Connections in all samples.
    pub connections: u64,
    /// Connections in all samples that had unread bytes.
    pub waiting: u64,
    /// Unread bytes in all samples.
    pub bytes: u64,
    /// The maximum number of unread bytes of one connection.
    pub most_bytes: u64,
}

impl ReceiveQueues {
    /// The share of the sampled connections that had unread bytes, 0 to 1.
    pub fn waiting_share(&self) -> f64 {
        match self.connections {
            0 => 0.0,
            connections => self.waiting as f64 / connections as f64,
        }
    }

    pub(super) fn merge(&mut self, other: &Self) {
        self.looks += other.looks;
        self.connections += other.connections;
        self.waiting += other.waiting;
        self.bytes += other.bytes;
        self.most_bytes = self.most_bytes.max(other.most_bytes);
    }
}
