//! Why a load could not be started. A request's failure is no error but data (`deadheat_model::Failure`).

use std::{io, time::Duration};

use crate::limits::MAX_PER_SECOND;

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
        problem: RequestError,
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
        problem: ProxyError,
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
        problem: ScheduleError,
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

/// Why a request cannot be sent as it is specified.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RequestError {
    /// The method has characters that no method has.
    #[error("the method {0:?} is not a word")]
    Method(String),
    /// The method is CONNECT.
    #[error("CONNECT opens a tunnel, whose answers have no end to verify")]
    Connect,
    /// The path is empty, or has characters that no path has.
    #[error("the path {0:?} is empty or has bytes to be percent-encoded")]
    Path(String),
    /// A chunked body in HTTP/1.0.
    #[error("HTTP/1.0 has no chunked bodies (RFC 9112 §6.1)")]
    ChunkedInHttp10,
    /// A chunked body in HTTP/2.
    #[error("HTTP/2 has no chunked bodies (RFC 9113 §8.1); send a body without --chunked")]
    ChunkedInHttp2,
    /// A request of HTTP/1.0 or from a template that waits for 100 (Continue).
    #[error("Expect: 100-continue goes with HTTP/1.1 and without templates alone")]
    Continue,
    /// A request of HTTP/2 that waits for 100 (Continue).
    #[error(
        "Expect: 100-continue is for HTTP/1.1: omit it, because flow control delays a body in HTTP/2"
    )]
    ContinueInHttp2,
    /// A header's name has characters that no name has.
    #[error("the header name {0:?} is not a word")]
    HeaderName(String),
    /// The value of this header has a control character.
    #[error("the value of the header {0:?} has a control character")]
    HeaderValue(String),
    /// A header Transfer-Encoding, as it is written.
    #[error("the header {0:?} is derived from the body, omit it")]
    TransferEncoding(String),
    /// A header Content-Length other than the body's length in bytes.
    #[error(
        "the header Content-Length must be {0}, the body's length; without this header, it is added"
    )]
    Length(usize),
    /// A header Content-Length of a body whose length is not known beforehand.
    #[error("the header Content-Length is added from the body of each request, so omit it")]
    LengthOfEach,
    /// A header that HTTP/2 forbids.
    #[error("HTTP/2 has no header {0} (RFC 9113 §8.2.2); omit it, or use HTTP/1.1")]
    HeaderInHttp2(String),
    /// A header TE of HTTP/2 with another value than `trailers`.
    #[error("in HTTP/2, TE has only the value trailers (RFC 9113 §8.2.2)")]
    TeInHttp2,
    /// A Host of HTTP/2 that differs from request to request.
    #[error("a Host from a template is for HTTP/1.1")]
    HostTemplate,
    /// A call of gRPC in HTTP/1.
    #[error("a call of gRPC needs HTTP/2")]
    CallInHttp1,
    /// A template in it cannot be filled in.
    #[error(transparent)]
    Template(#[from] TemplateError),
}

/// Why a template cannot be filled in.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TemplateError {
    /// There is no list of lines with this name.
    #[error("the list {0:?} does not exist")]
    NoList(String),
    /// The list with this name is empty.
    #[error("the list {0:?} has no lines")]
    NoLines(String),
    /// A line of a list cannot be in a header.
    #[error("the line {line:?} of {list:?} has a control character, which no header may have")]
    ControlCharacter {
        /// The line.
        line: String,
        /// The name of its list.
        list: String,
    },
    /// A part of a path has characters that no path has.
    #[error("the path's part {0:?} has bytes to be percent-encoded")]
    Path(String),
    /// A placeholder has no end.
    #[error("a place is opened and not closed: {0:?}")]
    Open(String),
    /// `random` without its two numbers.
    #[error("{{{{{0}}}}} needs two whole numbers, the smaller one first: {{{{random 1 100}}}}")]
    Random(String),
    /// Anything else between braces.
    #[error(
        "{{{{{0}}}}} is not a placeholder; use {{{{counter}}}}, {{{{random 1 100}}}}, {{{{line FILE}}}} or \
         {{{{random-line FILE}}}}"
    )]
    Unknown(String),
}

/// Why a proxy cannot be asked for a tunnel.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProxyError {
    /// What it is to connect to is not a host with a port.
    #[error("{0:?} is not a host with a port")]
    NoPort(String),
    /// SOCKS cannot send a user or a password of this length.
    #[error("the {0} for SOCKS must have 1 to 255 bytes")]
    Login(&'static str),
    /// SOCKS cannot send a name of this length.
    #[error("a name for SOCKS must have 255 bytes at most")]
    LongName,
}

/// Why the schedule of an open loop cannot be followed.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum ScheduleError {
    /// It has no stage.
    #[error("it has no stage, and so no rate")]
    NoStage,
    /// A rate is out of bounds.
    #[error(
        "stage {index} has a rate of {rate}/s: rates go from 0 to {most}/s",
        most = MAX_PER_SECOND
    )]
    Rate {
        /// Which stage; 0 is the warm-up.
        index: usize,
        /// The rate per second.
        rate: f64,
    },
    /// It never has a rate above zero.
    #[error("its rate is always 0: nothing would be sent")]
    AlwaysZero,
    /// Too many requests with random times would have to be counted before the load: those of the warm-up, or of stages
    /// that end at 0.
    #[error(
        "{0:.1e} requests with random times are too many to count them before the load: use uniform arrivals, a \
         shorter warm-up, or a duration instead of a number of requests"
    )]
    TooMany(f64),
    /// The rate ends at 0 before the number of requests is reached that ends the load.
    #[error(
        "its rate ends at 0 after {due} requests, and the load is to end after {requests}: ask for fewer requests, let \
         the last stage end above 0, or end the load by a duration"
    )]
    TooFew {
        /// Requests that are due after the warm-up.
        due: u64,
        /// Requests asked for.
        requests: u64,
    },
}
