//! The client that probes: one request at a time, over a connection that is kept as long as the server keeps it.

use std::time::Duration;

use deadheat_model::{StackProtocol, load::RequestSpec};

use super::{
    Fault, PATIENCE,
    fault::ANSWERS,
    http2::Http2,
    route::Route,
    wire::{NoReply, ProbeConnection, WholeAnswer},
};

/// Sends probes to one server.
pub struct Client {
    route: Route,
    patience: Duration,
    kept: Option<Connection>,
}

enum Connection {
    Http1(ProbeConnection),
    Http2(Box<Http2>),
}

impl Client {
    /// A client of the server at `route`.
    pub fn new(route: Route) -> Self {
        Self::with_timeout(route, PATIENCE)
    }

    /// The same with another bound on each request.
    pub(crate) fn with_timeout(route: Route, patience: Duration) -> Self {
        Self {
            route,
            patience,
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

    fn connect(&self) -> Result<Connection, NoReply> {
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
        mut connection: Connection,
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
