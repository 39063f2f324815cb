//! The client that probes: one request at a time, over a connection that is kept as long as the server keeps it.

use std::{sync::atomic::AtomicBool, time::Duration};

use deadheat_model::{
    LoadSpec, Schedule, StackProtocol, StopRule, Wait,
    load::{RequestSpec, Timeouts},
};

use super::{
    Fault, PATIENCE,
    fault::{ANSWERS, shown},
    http2::Http2,
    route::Route,
    wire::{NoReply, Patience, ProbeConnection, WholeAnswer},
};
use crate::secret::without_secret_values;

/// A flag that ends no wait.
pub(super) static NEVER: AtomicBool = AtomicBool::new(false);

/// Sends probes to one server.
pub struct Client<'s> {
    route: Route,
    patience: Patience<'s>,
    kept: Option<Connection<'s>>,
}

enum Connection<'s> {
    Http1(ProbeConnection<'s>),
    Http2(Box<Http2<'s>>),
}

impl Client<'static> {
    /// A client of the server at `route`.
    pub fn new(route: Route) -> Self {
        Self::with_timeout(route, PATIENCE, &NEVER)
    }
}

impl<'s> Client<'s> {
    /// A client with the timeout `time` for each request. Setting `stop` ends one.
    pub(crate) fn with_timeout(route: Route, time: Duration, stop: &'s AtomicBool) -> Self {
        Self {
            route,
            patience: Patience::new(time, stop),
            kept: None,
        }
    }

    /// How the server is reached.
    pub(super) fn route(&self) -> &Route {
        &self.route
    }

    pub(super) fn send(&mut self, request: &RequestSpec) -> Result<WholeAnswer, Fault> {
        self.attempt(request).map_err(|error| {
            let over = self.route.over();
            Fault {
                is_refusal: matches!(error, NoReply::Refused(_)),
                ..Fault::new(
                    format!("{} {}{over}", request.method, request.path),
                    ANSWERS,
                    "an HTTP answer".to_owned(),
                    format!("no answer: {error}"),
                )
            }
        })
    }

    fn attempt(&mut self, request: &RequestSpec) -> Result<WholeAnswer, NoReply> {
        if let Some(connection) = self.kept.take() {
            match self.ask(connection, request) {
                // A server may close a connection that idles.
                Err(NoReply::Closed) => {}
                answered => return answered,
            }
        }
        let connection = self.connect()?;
        self.ask(connection, request)
    }

    fn connect(&self) -> Result<Connection<'s>, NoReply> {
        let Route {
            address, protocol, ..
        } = self.route;
        Ok(match protocol {
            StackProtocol::Http1 => {
                Connection::Http1(ProbeConnection::open(address, self.patience)?)
            }
            StackProtocol::Tls => {
                Connection::Http1(self.route.open_tls(&["http/1.1"], self.patience)?)
            }
            StackProtocol::H2 | StackProtocol::H2c => {
                Connection::Http2(Box::new(Http2::open(&self.route, self.patience)?))
            }
        })
    }

    fn ask(
        &mut self,
        mut connection: Connection<'s>,
        request: &RequestSpec,
    ) -> Result<WholeAnswer, NoReply> {
        let (answer, keeps) = match &mut connection {
            Connection::Http1(wire) => {
                let reply = wire.ask(request)?;
                (reply.answer, reply.keeps)
            }
            Connection::Http2(http2) => (http2.ask(request)?, true),
        };
        self.kept = keeps.then_some(connection);
        Ok(answer)
    }
}

/// Asks for `path` once: whether it is answered with status 200 and exactly `body`; without one, whether it is answered, with an
/// error of the server's own excepted.
///
/// # Errors
/// What came instead.
pub fn text_answer(client: &mut Client<'_>, path: &str, body: Option<&str>) -> Result<(), Fault> {
    let answer = client.send(&RequestSpec::get(path))?;
    let is_right = match body {
        Some(body) => answer.status == 200 && answer.body == body.as_bytes(),
        // What the workload's path asks for may be wrong without more: another method, a number.
        None => answer.status < 500,
    };
    if is_right {
        return Ok(());
    }
    Err(Fault::new(
        format!("GET {path}"),
        "the server is ready",
        match body {
            Some(body) => format!("status 200 with `{body}`"),
            None => "a status below 500".to_owned(),
        },
        format!("status {} with {}", answer.status, shown(&answer.body)),
    ))
}

/// Asks once what a load asks first, as the load does it: over TLS, with its body and its templates. Whether a valid
/// answer comes within `patience`. Setting `stop` ends it.
///
/// # Errors
/// What came instead.
pub(crate) fn load_answer(
    load: &LoadSpec,
    patience: Duration,
    stop: &AtomicBool,
) -> Result<(), Fault> {
    let Some(first) = load.exchanges.first() else {
        return Ok(());
    };
    let once = LoadSpec {
        exchanges: vec![first.clone()],
        schedule: Schedule::Closed {
            connections: 1,
            ramp: Duration::ZERO,
        },
        stop: StopRule::Count { requests: 1 },
        limit: Some(patience),
        warm_up: Duration::ZERO,
        timeouts: Timeouts {
            connect: patience,
            request: patience,
            drain: patience,
        },
        content_sample: 1,
        cpus: Vec::new(),
        wait: Wait::Sleep,
        interval: None,
        ..load.clone()
    };
    let fault = |got: String| {
        let RequestSpec { method, path, .. } = &first.request;
        Fault::new(
            format!("{method} {}", without_secret_values(path)),
            "the server is ready",
            "a valid answer".to_owned(),
            got,
        )
    };
    let seen = deadheat_load::run(&once, &mut |_| (), stop);
    let seen = seen.map_err(|error| fault(error.to_string()))?;
    if seen.total.succeeded > 0 {
        return Ok(());
    }
    let example = seen.examples.first();
    let got = example.map(|one| format!("{}: {}", one.kind.describe(), one.detail));
    Err(fault(got.unwrap_or_else(|| "no answer".to_owned())))
}
