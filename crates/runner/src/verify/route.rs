//! How a server is reached: where it listens, and what is spoken there.

use std::net::{IpAddr, SocketAddr};

use deadheat_model::StackProtocol;

use super::wire::{NoReply, Patience, ProbeConnection};
use crate::certificate::Certificate;

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
    pub(super) fn open_tls<'s>(
        &self,
        alpn: &[&str],
        patience: Patience<'s>,
    ) -> Result<ProbeConnection<'s>, NoReply> {
        match &self.certificate {
            Some(certificate) => {
                ProbeConnection::open_tls(self.address, certificate.client(alpn), patience)
            }
            None => Err(no_certificate()),
        }
    }

    /// The text after a request in messages: " over HTTP/2 without TLS (h2c)". Empty for HTTP/1.1 without TLS.
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
