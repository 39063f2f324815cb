//! Whether a spec is within bounds, and whether its parts go together; what HTTP/2 needs of it and refuses.

use deadheat_model::load::{Exchange, LoadSpec, Protocol, Reuse, Target, Think, Timeouts};

use super::PreparedExchange;
use crate::{
    LoadError,
    error::RequestError,
    http2,
    limits::{MAX_CONNECTIONS, MAX_PIPELINED, MAX_STREAMS, MIN_BIN, MIN_INTERVAL, STREAMS},
    sys::DescriptorLimit,
    template::Lists,
};

pub(super) fn check_bounds(spec: &LoadSpec) -> Result<(), LoadError> {
    if spec.exchanges.is_empty() {
        return Err(LoadError::NoExchanges);
    }
    if spec.hidden.is_some() {
        return Err(LoadError::Recorded);
    }
    match spec.schedule.most_connections() {
        connections if spec.share.part(connections.into()) == 0 => {
            return Err(LoadError::NoConnections);
        }
        connections if connections > MAX_CONNECTIONS => {
            return Err(LoadError::TooManyConnections {
                connections,
                most: MAX_CONNECTIONS,
            });
        }
        _ => {}
    }
    let bounds = [
        ("bins", Some(spec.bin), MIN_BIN),
        ("intervals", spec.interval, MIN_INTERVAL),
    ];
    for (what, length, least) in bounds {
        match length {
            Some(length) if length < least => {
                return Err(LoadError::TooShort {
                    what,
                    length,
                    least,
                });
            }
            _ => {}
        }
    }
    let Timeouts {
        connect, request, ..
    } = spec.timeouts;
    for (which, timeout) in [("connect", connect), ("request", request)] {
        if timeout.is_zero() {
            return Err(LoadError::ZeroTimeout { which });
        }
    }
    let (reuse, pipeline) = match spec.protocol {
        Protocol::Http1 {
            reuse, pipeline, ..
        } => (reuse, pipeline),
        Protocol::Http2 { .. } => return check_http2(spec),
    };
    check_stream(spec, pipeline)?;
    check_think(spec, pipeline)?;
    let problem = match pipeline {
        1 => return Ok(()),
        0 => "the depth must be at least 1".to_owned(),
        _ if pipeline > MAX_PIPELINED => format!("the depth must be at most {MAX_PIPELINED}"),
        _ if reuse == Reuse::PerRequest => {
            "a connection per request carries only one of them".to_owned()
        }
        _ if spec
            .most_per_connection
            .is_some_and(|most| most.get() < pipeline) =>
        {
            format!("a connection carries fewer than {pipeline} of them")
        }
        _ if spec.schedule.is_open() => {
            "an open loop sends each request when its time has come, on a free connection"
                .to_owned()
        }
        _ => return Ok(()),
    };
    Err(LoadError::Pipeline { problem })
}

/// Refuses what does not go with a browser's ways.
pub(super) fn check_browsing(
    pipeline: u32,
    spec: &LoadSpec,
    exchanges: &[PreparedExchange],
) -> Result<(), LoadError> {
    let holds = |prepared: &PreparedExchange| prepared.request.hold_at.is_some();
    let has_own = |prepared: &PreparedExchange| {
        let mut headers = prepared.exchange.request.headers.iter();
        headers.any(|(name, _)| name.eq_ignore_ascii_case("cookie"))
    };
    let follows = spec.redirects > 0;
    let named_whole = |target: &Target| target.forwarding_proxy().is_some();
    let problem = if pipeline > 1 {
        "a request that follows an answer cannot be sent behind pipelined requests"
    } else if exchanges.iter().any(holds) {
        "a request that waits for 100 Continue is sent as it is, or not at all"
    } else if spec.cookies && exchanges.iter().any(has_own) {
        "a request has a Cookie of its own"
    } else if follows && spec.most_per_connection.is_some() {
        "nobody knows beforehand which redirect is the last request on a connection"
    } else if spec.targets().any(named_whole) {
        "paths cannot be followed in the whole URLs that a proxy of HTTP is sent"
    } else {
        return Ok(());
    };
    Err(LoadError::Browsing { problem })
}

/// Answers cannot be streams where they have no bodies, or where the rest of one is in the way of the next.
fn check_stream(spec: &LoadSpec, pipeline: u32) -> Result<(), LoadError> {
    let Some(stream) = spec.stream else {
        return Ok(());
    };
    let mut requests = spec.exchanges.iter().map(|exchange| &exchange.request);
    let problem = if stream.enough == Some(0) {
        "an answer has at least 1 event"
    } else if pipeline > 1 {
        "a stream lets no other request's answer follow it"
    } else if requests.any(|request| request.method == "HEAD") {
        "an answer to HEAD has no body"
    } else {
        return Ok(());
    };
    Err(LoadError::Stream { problem })
}

/// Only who waits for an answer can think about it.
fn check_think(spec: &LoadSpec, pipeline: u32) -> Result<(), LoadError> {
    let problem = match spec.think {
        None => return Ok(()),
        Some(_) if spec.schedule.is_open() => "an open loop has a schedule of its own",
        Some(_) if pipeline > 1 => "pipelined requests do not wait for answers",
        Some(Think::Uniform { from, to }) if from > to => "the shortest time is the longer one",
        Some(_) => return Ok(()),
    };
    Err(LoadError::Think { problem })
}

pub(super) fn must_raise(
    limit: DescriptorLimit,
    needed: u64,
    connections: u32,
) -> Result<bool, LoadError> {
    if needed > limit.hard {
        return Err(LoadError::TooFewDescriptors {
            connections,
            needed,
            limit: limit.hard,
        });
    }
    Ok(needed > limit.soft)
}

/// What HTTP/2 needs.
#[derive(Debug)]
pub(crate) struct Http2 {
    /// Requests on a connection at once.
    pub(crate) streams: usize,
    /// Those of the exchanges.
    pub(super) requests: Vec<http2::Request>,
}

impl Http2 {
    pub(super) fn new(
        spec: &LoadSpec,
        targets: &[Target],
        lists: &Lists,
    ) -> Result<Option<Self>, LoadError> {
        let Protocol::Http2 { streams } = spec.protocol else {
            let mut exchanges = spec.exchanges.iter();
            let call = exchanges.position(|exchange| exchange.request.body.is_call());
            return call.map_or(Ok(None), |index| {
                let problem = RequestError::CallInHttp1;
                Err(LoadError::BadRequest { index, problem })
            });
        };
        let request = |(index, exchange): (usize, &Exchange)| {
            let target = &targets[exchange.target];
            let is_tls = target.tls.is_some();
            http2::Request::new(&exchange.request, &target.authority, is_tls, lists)
                .map_err(|problem| LoadError::BadRequest { index, problem })
        };
        let requests = spec.exchanges.iter().enumerate().map(request);
        Ok(Some(Self {
            streams: streams as usize,
            requests: requests.collect::<Result<_, LoadError>>()?,
        }))
    }

    /// The length of the longest header block that is known beforehand.
    pub(crate) fn longest_head(&self) -> usize {
        let heads = self.requests.iter().map(http2::Request::head_length);
        heads.max().unwrap_or(0)
    }

    /// The length of the longest body; `usize::MAX`: that is not known.
    pub(crate) fn longest_body(&self) -> usize {
        let bodies = self.requests.iter().map(http2::Request::body_length);
        bodies.max().unwrap_or(0)
    }
}

/// Refuses what HTTP/2 does not have, or not yet.
fn check_http2(spec: &LoadSpec) -> Result<(), LoadError> {
    let Protocol::Http2 { streams } = spec.protocol else {
        return Ok(());
    };
    let has_proxy = |target: &Target| target.proxy.is_some();
    let problem = if streams == 0 || streams > MAX_STREAMS {
        STREAMS
    } else if spec.most_per_connection.is_some() {
        "a connection does not end after a number of requests"
    } else if spec.redirects > 0 || spec.cookies {
        "redirects are not followed, nor cookies kept"
    } else if spec.stream.is_some() {
        "answers are not taken for streams of events"
    } else if spec.think.is_some() {
        "users that think are connections of HTTP/1.1"
    } else if spec.first_byte {
        "the first byte of an answer is not recorded"
    } else if spec.targets().any(has_proxy) {
        "proxies are for HTTP/1.1"
    } else {
        return Ok(());
    };
    Err(LoadError::Http2 { problem })
}
