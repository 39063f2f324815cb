//! A server's side of TLS, right and wrong. Certificates are made at run time: none is in the repository, so none
//! expires there.

use std::{
    io::{self, Write as _},
    net::Shutdown,
    os::fd::AsFd as _,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
};

use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose, date_time_ymd,
};
use rustls::{
    RootCertStore, ServerConfig, ServerConnection, SupportedProtocolVersion,
    crypto::{CryptoProvider, ring},
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject as _},
    server::{NoServerSessionStorage, WebPkiClientVerifier},
    version::{TLS12, TLS13},
};

use crate::{
    sys,
    wire::{Socket, Wire},
};

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

    /// No handshake leads to a connection that can be used.
    #[must_use]
    pub fn failing(self, fault: TlsFault) -> Self {
        let behaviour = Behaviour::Wrong(fault);
        Self { behaviour, ..self }
    }

    /// The server's part of the handshake that a client's first bytes begin, and a close_notify right behind it.
    /// (In TLS 1.2, the server's part would not be over.)
    fn goodbye(&self, mut hello: &[u8]) -> io::Result<Vec<u8>> {
        let config = self.config().map_err(io::Error::other)?;
        let connection = ServerConnection::new(Arc::new(config));
        let mut connection = connection.map_err(io::Error::other)?;
        connection.read_tls(&mut hello)?;
        connection.process_new_packets().map_err(io::Error::other)?;
        connection.send_close_notify();
        let mut bytes = Vec::new();
        while connection.wants_write() {
            connection.write_tls(&mut bytes)?;
        }
        Ok(bytes)
    }

    /// Shakes hands, or does not.
    pub(crate) fn accept(&self, socket: Socket) -> io::Result<Wire> {
        match &self.behaviour {
            Behaviour::Right(config) => {
                let connection = ServerConnection::new(Arc::clone(config));
                Wire::over_tls(socket, connection.map_err(io::Error::other)?)
            }
            Behaviour::Wrong(fault) => Err(fault.play(self, &socket)),
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

/// A fatal alert, handshake_failure (RFC 8446 § 6.2).
const HANDSHAKE_FAILURE: [u8; 7] = [21, 3, 3, 0, 2, 2, 40];

/// What a server does instead of a handshake, once the client has sent its first bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TlsFault {
    /// Refuses with an alert, handshake_failure.
    Alert,
    /// Answers without TLS.
    Garbage,
    /// FIN.
    Close,
    /// RST.
    Reset,
    /// Nothing, until the client gives up.
    Silence,
    /// Its part of a handshake in TLS 1.3, and with the same bytes a close_notify.
    Goodbye,
}

impl TlsFault {
    /// Does it, until the client has gone; the error says what was done.
    pub(crate) fn play(self, server: &TlsServer, socket: &Socket) -> io::Error {
        match self.try_play(server, socket) {
            Ok(()) => io::Error::other(format!("as the test wants it: {self:?}")),
            Err(error) => error,
        }
    }

    fn try_play(self, server: &TlsServer, socket: &Socket) -> io::Result<()> {
        let mut buffer = [0; 4096];
        // What is left unread would turn a close into a reset.
        let length = sys::receive(socket.as_fd(), &mut buffer)?.0;
        if length == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let mut to = socket;
        match self {
            TlsFault::Alert => to.write_all(&HANDSHAKE_FAILURE)?,
            TlsFault::Garbage => {
                to.write_all(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")?;
            }
            TlsFault::Goodbye => to.write_all(&server.goodbye(&buffer[..length])?)?,
            TlsFault::Reset => return sys::reset_on_close(socket.as_fd()),
            TlsFault::Close | TlsFault::Silence => {}
        }
        if self != TlsFault::Silence {
            socket.shutdown(Shutdown::Write)?;
        }
        while sys::receive(socket.as_fd(), &mut buffer)?.0 > 0 {}
        Ok(())
    }
}

/// What a server's certificate says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CertificateKind {
    /// "localhost", 127.0.0.1 and ::1, for as long as the authority.
    Localhost,
    /// "elsewhere.test", which nobody here connects to.
    Elsewhere,
    /// "localhost", 127.0.0.1 and ::1, until the end of 2001.
    Past,
}

impl CertificateKind {
    /// The names and the dates.
    fn params(self) -> Result<CertificateParams, rcgen::Error> {
        let names: &[&str] = match self {
            CertificateKind::Localhost | CertificateKind::Past => {
                &["localhost", "127.0.0.1", "::1"]
            }
            CertificateKind::Elsewhere => &["elsewhere.test"],
        };
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let mut params = CertificateParams::new(names)?;
        if self == CertificateKind::Past {
            params.not_before = date_time_ymd(2001, 1, 1);
            params.not_after = date_time_ymd(2001, 12, 31);
        }
        Ok(params)
    }
}

/// A certificate authority of a test's own.
#[derive(Clone)]
pub struct Authority {
    issuer: Arc<Issuer<'static, KeyPair>>,
    certificate: CertificateDer<'static>,
    pem: String,
}

impl Authority {
    /// A new one.
    ///
    /// # Errors
    ///
    /// When no key can be made.
    pub fn new() -> io::Result<Self> {
        Self::make().map_err(io::Error::other)
    }

    fn make() -> Result<Self, rcgen::Error> {
        let mut params = CertificateParams::default();
        let name = &mut params.distinguished_name;
        // One of the same name would be taken for it, with a signature that is wrong, and not for a stranger.
        static COUNT: AtomicU32 = AtomicU32::new(1);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let own_name = format!("Deadheat's test authority {number}");
        name.push(DnType::CommonName, own_name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        let key = KeyPair::generate()?;
        let certificate = params.self_signed(&key)?;
        Ok(Self {
            pem: certificate.pem(),
            certificate: certificate.into(),
            issuer: Arc::new(Issuer::new(params, key)),
        })
    }

    /// Its own certificate, in PEM: what a client has to believe.
    pub fn pem(&self) -> &str {
        &self.pem
    }

    pub(crate) fn certificate(&self) -> CertificateDer<'static> {
        self.certificate.clone()
    }

    /// A server's certificate.
    ///
    /// # Errors
    ///
    /// When no key can be made.
    pub fn server(&self, of: CertificateKind) -> io::Result<Identity> {
        let make = || self.issue(of.params()?, ExtendedKeyUsagePurpose::ServerAuth);
        make().map_err(io::Error::other)
    }

    /// A client's certificate.
    ///
    /// # Errors
    ///
    /// When no key can be made.
    pub fn client(&self) -> io::Result<Identity> {
        let make = || {
            let params = CertificateParams::new(["client.test".to_owned()])?;
            self.issue(params, ExtendedKeyUsagePurpose::ClientAuth)
        };
        make().map_err(io::Error::other)
    }

    fn issue(
        &self,
        mut params: CertificateParams,
        purpose: ExtendedKeyUsagePurpose,
    ) -> Result<Identity, rcgen::Error> {
        params
            .distinguished_name
            .push(DnType::CommonName, "Deadheat's test");
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = vec![purpose];
        let key = KeyPair::generate()?;
        let certificate = params.signed_by(&key, &self.issuer)?;
        Ok(Identity {
            certificate: certificate.pem(),
            key: key.serialize_pem(),
        })
    }
}

/// A certificate with its key, both in PEM.
#[derive(Clone)]
pub struct Identity {
    /// The certificate.
    pub certificate: String,
    /// Its private key.
    pub key: String,
}

type Parsed = (Vec<CertificateDer<'static>>, PrivateKeyDer<'static>);

impl Identity {
    /// A server's certificate that is its own authority, as `openssl req -x509` makes it.
    ///
    /// # Errors
    ///
    /// When no key can be made.
    pub fn self_signed(of: CertificateKind) -> io::Result<Self> {
        let make = || {
            let mut params = of.params()?;
            params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
            let key = KeyPair::generate()?;
            let certificate = params.self_signed(&key)?;
            Ok(Self {
                certificate: certificate.pem(),
                key: key.serialize_pem(),
            })
        };
        make().map_err(|error: rcgen::Error| io::Error::other(error))
    }

    pub(crate) fn parsed(&self) -> Result<Parsed, rustls::pki_types::pem::Error> {
        let certificates = CertificateDer::pem_slice_iter(self.certificate.as_bytes());
        let certificates = certificates.collect::<Result<_, _>>()?;
        Ok((
            certificates,
            PrivateKeyDer::from_pem_slice(self.key.as_bytes())?,
        ))
    }
}
