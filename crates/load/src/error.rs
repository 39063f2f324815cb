//! Why a load could not be started. A request's failure is no error but data (`deadheat_model::Failure`).

use std::{io, time::Duration};

/// Why a load could not be started or carried through.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The spec has no exchanges.
    #[error("nothing to send: a load needs at least one exchange")]
    NoExchanges,
    /// The spec is that of a record, without the parts of requests that may be secret.
    #[error("a recorded load cannot be run: its requests are not complete")]
    Recorded,
    /// The schedule has no connections.
    #[error("nothing to send on: a schedule needs at least one connection")]
    NoConnections,
    /// The schedule has too many connections.
    #[error("{connections} connections are too many: a load has at most {most}")]
    TooManyConnections {
        /// Connections asked for.
        connections: u32,
        /// The most possible.
        most: u32,
    },
    /// A request cannot be sent as it is specified.
    #[error("request {index} cannot be sent: {problem}")]
    BadRequest {
        /// Which of the spec's exchanges, from 0.
        index: usize,
        /// What is wrong with it.
        problem: String,
    },
    /// Bins or intervals are too short.
    #[error("{what} of {length:?} are too short: make them {least:?} or more")]
    TooShort {
        /// "bins" or "intervals".
        what: &'static str,
        /// The length asked for.
        length: Duration,
        /// The least possible.
        least: Duration,
    },
    /// The weights of the exchanges cannot be kept.
    #[error(
        "the exchanges' weights add up to {total} after division by their common divisor: at least one weight must be \
         above zero, and the maximum of their sum is {most}"
    )]
    BadWeights {
        /// What they add up to.
        total: u64,
        /// The most that is possible.
        most: u64,
    },
    /// Connections cannot be divided among the addresses.
    #[error("connections cannot be divided like this: {problem}")]
    Routes {
        /// Why not, and what to do.
        problem: String,
    },
    /// The proxy cannot be used.
    #[error("the proxy cannot be used: {problem}")]
    Proxy {
        /// Why not.
        problem: String,
    },
    /// Pipelining as it is asked for is impossible.
    #[error("requests cannot be pipelined like this: {problem}")]
    Pipeline {
        /// Why not.
        problem: String,
    },
    /// HTTP/2 cannot be spoken as it is asked for.
    #[error("HTTP/2 cannot be spoken like this: {problem}")]
    Http2 {
        /// Why not, and what to do.
        problem: &'static str,
    },
    /// Answers cannot be taken for streams.
    #[error("answers cannot be taken for streams of events: {problem}")]
    Stream {
        /// Why not.
        problem: &'static str,
    },
    /// Connections cannot wait between requests.
    #[error("the think time is impossible: {problem}")]
    Think {
        /// Why not.
        problem: &'static str,
    },
    /// The open loop's schedule has no rate that could be followed.
    #[error("the schedule cannot be followed: {problem}")]
    BadSchedule {
        /// What is wrong with it.
        problem: String,
    },
    /// The endpoint cannot be connected to.
    #[error("{endpoint} cannot be connected to: is the path longer than 107 bytes?")]
    BadEndpoint {
        /// The endpoint.
        endpoint: String,
        /// What the system says.
        source: io::Error,
    },
    /// TLS cannot be spoken as it is asked for.
    #[error("TLS cannot be set up: {problem}")]
    Tls {
        /// What is wrong, and what to do.
        problem: String,
    },
    /// A browser's ways are asked for where they cannot be followed.
    #[error("redirects cannot be followed, nor cookies kept: {problem}")]
    Browsing {
        /// Why not.
        problem: &'static str,
    },
    /// A request or connect timeout of zero.
    #[error("a timeout of zero lets no request succeed: set a longer {which} timeout")]
    ZeroTimeout {
        /// "connect" or "request".
        which: &'static str,
    },
    /// The process may not have this many file descriptors.
    #[error(
        "{connections} connections need {needed} file descriptors, but this process may have {limit}: raise the limit \
         (ulimit -n {needed}, or LimitNOFILE= in systemd) or use fewer connections"
    )]
    TooFewDescriptors {
        /// Connections asked for.
        connections: u32,
        /// Descriptors needed, with those that are open already.
        needed: u64,
        /// The hard limit.
        limit: u64,
    },
    /// The limit of file descriptors could not be read or raised.
    #[error(
        "the limit of file descriptors could not be raised to {wanted}: raise it before the start (ulimit -n)"
    )]
    Descriptors {
        /// The limit wanted.
        wanted: u64,
        /// What the system says.
        source: io::Error,
    },
    /// A worker thread could not be pinned.
    #[error(
        "worker {worker} could not be pinned to CPU {cpu}: choose one that this process may use (taskset -p $$)"
    )]
    Pin {
        /// Which worker, from 0.
        worker: usize,
        /// The CPU.
        cpu: usize,
        /// What the system says.
        source: io::Error,
    },
    /// A worker thread could not be started.
    #[error("worker {worker} could not be started: is there a limit of threads (ulimit -u)?")]
    Spawn {
        /// Which worker, from 0.
        worker: usize,
        /// What the system says.
        source: io::Error,
    },
    /// The system has no epoll with timeouts to the nanosecond.
    #[error(
        "this system does not allow epoll_pwait2: use Linux 5.11 or newer, and a container runtime that knows it \
         (for Docker 20.10.10 or newer)"
    )]
    OldKernel,
    /// A slice cannot be measured as the session's spec says.
    #[error("a session cannot follow this load: {problem}")]
    Session {
        /// Why not.
        problem: &'static str,
    },
    /// A worker thread has ended before its time: it failed in an earlier slice, or panicked.
    #[error("worker {worker} has ended: open another session")]
    Gone {
        /// Which worker, from 0.
        worker: usize,
    },
    /// The system's readiness queue (epoll) failed.
    #[error("worker {worker} could not wait for its connections with epoll")]
    Poll {
        /// Which worker, from 0.
        worker: usize,
        /// What the system says.
        source: io::Error,
    },
}
