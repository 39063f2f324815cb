//! The client that probes: one request at a time, over a connection that is kept as long as the server keeps it. Its route
//! says where the server listens, and what is spoken there.

use std::{
    net::{IpAddr, SocketAddr},
    time::Duration,
};

use deadheat_model::{StackProtocol, load::RequestSpec};

use super::{
    Fault, PATIENCE,
    http2::Http2,
    question::ANSWERS,
    wire::{NoReply, ProbeConnection, WholeAnswer},
};
use crate::certificate::Certificate;

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

/// The ports that a server was given. One that it was not given is 0, where nothing can listen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ports {
    /// The address of all of them.
    pub host: IpAddr,
    /// The port for HTTP/1.1 without TLS.
    pub plain: u16,
    /// The port for TLS.
    pub tls: u16,
    /// The port for HTTP/2 without TLS.
    pub h2c: u16,
}

impl Ports {
    /// The one port that every server has.
    pub fn plain(address: SocketAddr) -> Self {
        Self {
            host: address.ip(),
            plain: address.port(),
            tls: 0,
            h2c: 0,
        }
    }

    /// Where `protocol` is spoken.
    pub fn at(&self, protocol: StackProtocol) -> SocketAddr {
        let port = match protocol {
            StackProtocol::Http1 => self.plain,
            StackProtocol::Tls | StackProtocol::H2 => self.tls,
            StackProtocol::H2c => self.h2c,
        };
        SocketAddr::new(self.host, port)
    }

    /// How the server is reached over `protocol`; where it is spoken over TLS, it must have `certificate`.
    pub fn route(&self, protocol: StackProtocol, certificate: Option<Certificate>) -> Route {
        Route {
            address: self.at(protocol),
            protocol,
            certificate,
        }
    }
}

/// How a server is reached.
#[derive(Clone)]
pub struct Route {
    /// Where it listens.
    pub address: SocketAddr,
    /// What is spoken there.
    pub protocol: StackProtocol,
    /// The certificate that it must have, where it is spoken over TLS.
    pub certificate: Option<Certificate>,
}

impl Route {
    /// HTTP/1.1 without TLS.
    pub fn plain(address: SocketAddr) -> Self {
        Self {
            address,
            protocol: StackProtocol::Http1,
            certificate: None,
        }
    }

    /// A connection of HTTP/1.1 over TLS, for which a client offers these protocols by ALPN.
    pub(super) fn open_tls(
        &self,
        alpn: &[&str],
        patience: Duration,
    ) -> Result<ProbeConnection, NoReply> {
        match &self.certificate {
            Some(certificate) => {
                ProbeConnection::open_tls(self.address, certificate.client(alpn), patience)
            }
            None => Err(no_certificate()),
        }
    }

    /// What stands behind a request in messages: " over HTTP/2 without TLS (h2c)". Nothing for what is usual.
    pub(super) fn over(&self) -> String {
        match self.protocol {
            StackProtocol::Http1 => String::new(),
            StackProtocol::Tls => " over TLS".to_owned(),
            protocol => format!(" over {protocol}"),
        }
    }
}

/// The error for TLS in a session that has no certificate.
pub(super) fn no_certificate() -> NoReply {
    NoReply::Broken("the session has no certificate for TLS".to_owned())
}
