//! What HTTP/2 needs of a spec, and what it refuses.

use deadheat_model::load::{Exchange, LoadSpec, Protocol, Target};

use crate::{
    LoadError, http2,
    limits::{MOST_STREAMS, STREAMS},
    template::Lists,
};

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
                let problem = "a call of gRPC needs HTTP/2".to_owned();
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
pub(super) fn check_http2(spec: &LoadSpec) -> Result<(), LoadError> {
    let Protocol::Http2 { streams } = spec.protocol else {
        return Ok(());
    };
    let has_proxy = |target: &Target| target.proxy.is_some();
    let problem = if streams == 0 || streams > MOST_STREAMS {
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
