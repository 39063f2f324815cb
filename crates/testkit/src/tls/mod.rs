//! A server's side of TLS, right and wrong, with certificates that are made when a test starts.

mod authority;
mod fault;

use std::{io, sync::Arc};

use rustls::{
    RootCertStore, ServerConfig, ServerConnection, SupportedProtocolVersion,
    crypto::{CryptoProvider, ring},
    server::{NoServerSessionStorage, WebPkiClientVerifier},
    version::{TLS12, TLS13},
};

pub use authority::{Authority, Identity, Of};
pub use fault::TlsFault;

use crate::wire::{Socket, Wire};

type Versions = &'static [&'static SupportedProtocolVersion];

const BOTH: Versions = &[&TLS12, &TLS13];
const ONLY_1_2: Versions = &[&TLS12];
const ONLY_1_3: Versions = &[&TLS13];

/// A server's side of TLS.
#[derive(Clone)]
pub struct TlsServer {
    identity: Identity,
    versions: Versions,
    /// The authority whose certificates clients must show.
    clients_of: Option<Authority>,
    resumption: bool,
    /// What it agrees to (ALPN), the best first; nothing: to whatever is offered, without a word.
    protocols: &'static [&'static str],
    /// Made from the above when the server starts.
    behaviour: Behaviour,
}

#[derive(Clone)]
enum Behaviour {
    Right(Arc<ServerConfig>),
    Wrong(TlsFault),
}

impl TlsServer {
    /// TLS 1.2 and 1.3 with this certificate; anybody may connect, and sessions are resumed.
    ///
    /// # Errors
    ///
    /// When the certificate does not go with its key.
    pub fn new(identity: Identity) -> io::Result<Self> {
        let behaviour = Behaviour::Wrong(TlsFault::Silence);
        let server = Self {
            identity,
            versions: BOTH,
            clients_of: None,
            resumption: true,
            protocols: &[],
            behaviour,
        };
        server.configured()
    }

    /// TLS 1.2 alone.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new).
    pub fn only_1_2(self) -> io::Result<Self> {
        let versions = ONLY_1_2;
        Self { versions, ..self }.configured()
    }

    /// TLS 1.3 alone.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new).
    pub fn only_1_3(self) -> io::Result<Self> {
        let versions = ONLY_1_3;
        Self { versions, ..self }.configured()
    }

    /// Agrees to these protocols alone (ALPN).
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new).
    pub fn speaking(self, protocols: &'static [&'static str]) -> io::Result<Self> {
        Self { protocols, ..self }.configured()
    }

    /// What another server needs to do the same.
    ///
    /// # Panics
    ///
    /// When no handshake is to succeed.
    pub fn rustls(&self) -> Arc<ServerConfig> {
        match &self.behaviour {
            Behaviour::Right(config) => Arc::clone(config),
            Behaviour::Wrong(_) => panic!("a fault has no configuration"),
        }
    }

    /// Clients must show a certificate of this authority.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new).
    pub fn only_clients_of(self, authority: &Authority) -> io::Result<Self> {
        let clients_of = Some(authority.clone());
        Self { clients_of, ..self }.configured()
    }

    /// Every handshake is a whole one: no tickets are given, and no session is remembered.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new).
    pub fn without_resumption(self) -> io::Result<Self> {
        let resumption = false;
        Self { resumption, ..self }.configured()
    }

    /// No handshake succeeds.
    #[must_use]
    pub fn failing(self, fault: TlsFault) -> Self {
        let behaviour = Behaviour::Wrong(fault);
        Self { behaviour, ..self }
    }

    /// Shakes hands, or does not.
    pub(crate) fn accept(&self, socket: Socket) -> io::Result<Wire> {
        match &self.behaviour {
            Behaviour::Right(config) => {
                let connection = ServerConnection::new(Arc::clone(config));
                Wire::over_tls(socket, connection.map_err(io::Error::other)?)
            }
            Behaviour::Wrong(fault) => Err(fault.play(&socket)),
        }
    }

    fn configured(self) -> io::Result<Self> {
        let behaviour = Behaviour::Right(Arc::new(self.config().map_err(io::Error::other)?));
        Ok(Self { behaviour, ..self })
    }

    fn config(&self) -> Result<ServerConfig, Box<dyn std::error::Error + Send + Sync>> {
        let builder = ServerConfig::builder_with_provider(provider())
            .with_protocol_versions(self.versions)?;
        let builder = match &self.clients_of {
            None => builder.with_no_client_auth(),
            Some(authority) => {
                let mut roots = RootCertStore::empty();
                roots.add(authority.certificate())?;
                let clients =
                    WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider());
                builder.with_client_cert_verifier(clients.build()?)
            }
        };
        let (chain, key) = self.identity.parsed()?;
        let mut config = builder.with_single_cert(chain, key)?;
        let names = self.protocols.iter();
        config.alpn_protocols = names.map(|name| name.as_bytes().to_vec()).collect();
        if !self.resumption {
            config.session_storage = Arc::new(NoServerSessionStorage {});
            config.send_tls13_tickets = 0;
        }
        Ok(config)
    }
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(ring::default_provider())
}
