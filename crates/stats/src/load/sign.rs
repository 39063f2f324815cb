//! A sign that a load's figures are not the server's alone, with the figures that say so.

use schemars::JsonSchema;
use serde::Serialize;

use super::Uneven;

/// What a sign does to the figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// The generator was the limit: the figures are bounds for the server.
    Limit,
    /// Some figures may not be the server's, or not be what was asked for.
    Doubt,
    /// To know when the figures are read.
    Note,
}

/// A sign. Shares are 0 to 1.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "sign", rename_all = "kebab-case")]
pub enum Sign {
    /// One of the hosts that load has a sign of its own.
    OnHost {
        /// The host, as the user named it.
        host: String,
        /// What was found there.
        found: Box<Sign>,
    },
    /// A worker thread had hardly any time left.
    Busy {
        /// The worker, from 0.
        worker: usize,
        /// The CPU that it was pinned to.
        cpu: Option<usize>,
        /// Its CPU time as a share of the measurement.
        busy: f64,
        /// The threshold.
        bound: f64,
    },
    /// A worker thread could have run and had no CPU: something else ran there, be it the server or another worker.
    CpuWait {
        /// The worker, from 0.
        worker: usize,
        /// The CPU that it was pinned to.
        cpu: Option<usize>,
        /// The time that it waited for a CPU, as a share of the measurement.
        waited: f64,
        /// Its CPU time as a share of the measurement.
        busy: f64,
        /// The threshold: of `waited` for a doubt, of `busy` + `waited` for a limit.
        bound: f64,
    },
    /// The generator had no local port left to connect from.
    NoLocalPort {
        /// Requests that failed for it, over the whole load.
        requests: u64,
    },
    /// Open loop: requests were not sent although their time had come, and the generator noticed that time late.
    Late {
        /// Requests whose time came in the measurement.
        offered: u64,
        /// Those that had not been sent at its end, for the lack of the generator's time or of a connection.
        unsent: u64,
        /// Sent of offered.
        sent_share: f64,
        /// The threshold.
        bound: f64,
        /// Which percentile of the send lag.
        percent: f64,
        /// The send lag there.
        send_lag_seconds: f64,
    },
    /// Open loop: requests were not sent although their time had come, for want of a free connection. The generator
    /// was in time; the server was slower than the offered rate, or there were too few connections.
    Behind {
        /// Requests whose time came in the measurement.
        offered: u64,
        /// Those that had not been sent at its end.
        unsent: u64,
        /// Requests that no connection became free for within the request timeout.
        given_up: u64,
        /// Sent of offered.
        sent_share: f64,
        /// The threshold.
        bound: f64,
        /// The most connections that the load may hold.
        most_connections: u32,
        /// How long the oldest unsent request had waited.
        oldest_unsent_seconds: f64,
    },
    /// Open loop: requests of the warm-up still waited for a free connection when the measurement began, because the
    /// server was not yet as fast as the offered rate, or stood still. The response times hold that wait.
    Backlog {
        /// Requests whose time came in the measurement.
        offered: u64,
        /// Those of the warm-up that had not been sent when it began.
        waiting: u64,
        /// `waiting` over `offered`.
        share: f64,
        /// The threshold.
        bound: f64,
        /// The most connections that the load may hold.
        most_connections: u32,
    },
    /// Open loop: the generator noticed late that a request's time had come.
    SendLag {
        /// Which percentile.
        percent: f64,
        /// The send lag there.
        send_lag_seconds: f64,
        /// The lag above which it is reported.
        bound_seconds: f64,
        /// The lag over the response time, both at that percentile.
        response_share: Option<f64>,
    },
    /// Open loop: requests waited for a free connection for a good part of their response time.
    ConnectionWait {
        /// Which percentile.
        percent: f64,
        /// The wait there.
        wait_seconds: f64,
        /// The response time there.
        response_seconds: f64,
        /// Most connections that were open at once.
        connections: u64,
        /// The most connections that the load may hold.
        most_connections: u32,
    },
    /// Requests had not ended when the measurement did, and those that had were the quicker ones: the percentiles
    /// are lower bounds (coordinated omission at the end).
    Unfinished {
        /// Requests in flight or unsent at the end.
        requests: u64,
        /// Their share of all that could have ended.
        share: f64,
        /// The age of the oldest, where it is known.
        oldest_seconds: Option<f64>,
        /// Whether percentiles are lower bounds, because there are many of them; otherwise only the maximum is.
        percentiles: bool,
    },
    /// Closed loop: the connections did not hold as many requests in flight as they could (Little, Operations
    /// Research 9, 1961): generator or connections waited for something else than the server.
    Little {
        /// Connections × depth.
        wanted: f64,
        /// Throughput × mean service time.
        in_flight: f64,
        /// The deviation that is allowed, as a share of `wanted`.
        bound: f64,
        /// Whether requests are pipelined, which go out in batches: connections are not always full by design.
        in_batches: bool,
    },
    /// Not all connections were had.
    Connections {
        /// Asked for.
        wanted: u64,
        /// Most that were open at once.
        peak: u64,
    },
    /// Connections could not be made, or TLS could not be agreed on.
    NotConnected {
        /// Requests that failed for it, over the whole load.
        requests: u64,
    },
    /// Bodies waited for a 100 (Continue) that the server did not send: a rule of the generator, whose wait is in the
    /// service times.
    NoContinue {
        /// Requests that waited.
        requests: u64,
        /// Requests that ended.
        ended: u64,
        /// How long they waited, together.
        seconds: f64,
    },
    /// Connections waited before another attempt, after attempts that failed: a rule of the generator.
    ReconnectPauses {
        /// How many pauses there were.
        pauses: u64,
        /// How long they were, together.
        seconds: f64,
        /// The same as a share of the measurement of all connections.
        share: f64,
        /// The threshold of a doubt.
        bound: f64,
    },
    /// Closed loop: connections were served unevenly.
    Uneven(Uneven),
    /// Answers had come and waited for the generator to read them.
    Queued {
        /// Share of the connections looked at that had unread bytes.
        share: f64,
        /// Connections looked at.
        connections: u64,
        /// The most unread bytes of one connection.
        most_bytes: u64,
        /// The threshold of the severity.
        bound: f64,
        /// CPU share of the busiest worker: it had reason to be late.
        busy: f64,
    },
    /// Requests failed.
    Failures {
        /// How many in the measurement.
        requests: u64,
        /// Their share of those that ended.
        share: f64,
        /// The threshold of a doubt.
        bound: f64,
    },
    /// The counts contradict each other: requests were lost or invented. This is a bug of the generator.
    NotConserved,
    /// Throughput changed over the measurement.
    Unsteady {
        /// The change from start to end, as a share of the mean (−0.1: 10 % less).
        change: f64,
        /// Its standard error.
        standard_error: f64,
    },
    /// No valid answer for whole intervals, between others that had some: the server (or what is between) stood still.
    /// In a closed loop such a time is under-represented in all percentiles.
    Silence {
        /// Its start, since the load's start.
        from_seconds: f64,
        /// How long the longest such time was.
        seconds: f64,
    },
    /// The load was interrupted before its end: the figures cover only what was done until then.
    Interrupted,
    /// Too few valid answers for a percentile.
    FewAnswers {
        /// Valid answers.
        answers: u64,
        /// The lowest percentile that is not shown.
        percent: f64,
        /// Answers that it needs.
        needed: u64,
    },
    /// Answers led elsewhere; redirects are counted, not followed.
    Redirects {
        /// How many in the measurement.
        answers: u64,
        /// Whether they counted as valid answers.
        valid: bool,
    },
    /// The measurement was too short to tell whether its figures are the generator's: connections in the making, TLS
    /// handshakes and the last answers had too large a part of it.
    TooShort {
        /// How long it took.
        seconds: f64,
        /// How long one should take.
        needed_seconds: f64,
    },
    /// Nothing ran before the measurement: its figures hold the connections' making and cold caches.
    NoWarmUp,
    /// Closed loop: a slow server is asked less often, so that its slow phases are under-represented (coordinated
    /// omission). The times are service times.
    ClosedLoop,
    /// Generator and server shared this machine.
    SameMachine {
        /// Logical CPUs that the generator may use.
        cpus: usize,
    },
    /// The system's congestion control paces what the server sends, without a network to be careful with.
    Paced {
        /// Its name.
        congestion_control: String,
    },
}
