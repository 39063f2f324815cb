//! TLS on a connection (rustls). It works on bytes in memory and on sockets that belong to the caller.

mod offer;
mod trust;

use std::{
    io::{self, Read as _, Write as _},
    os::fd::OwnedFd,
    sync::Arc,
};

use deadheat_model::{
    figure,
    load::{Identity, Tls},
    observation::TlsSeen,
};
use rustix::io::Errno;
use rustls::{
    AlertDescription, ClientConfig, ClientConnection, HandshakeKind, OtherError,
    client::Resumption,
    crypto::CryptoProvider,
    pki_types::{CertificateDer, PrivateKeyDer, ServerName, pem::PemObject as _},
    sign::{CertifiedKey, SingleCertAndKey},
};

use self::offer::SessionStore;
pub use self::{
    offer::{OfferError, can_offer},
    trust::any_certificate,
};
use crate::{LoadError, socket};

/// Names of protocols (RFC 7301 §6, RFC 9113 §3.1).
const HTTP1: &[u8] = b"http/1.1";
const HTTP2: &[u8] = b"h2";
/// The most names of a certificate that a message lists.
const MAX_NAMES: usize = 4;

fn problem(problem: impl Into<String>) -> LoadError {
    LoadError::Tls {
        problem: problem.into(),
    }
}

/// The TLS configuration that all connections to one server share.
#[derive(Clone, Debug)]
pub(crate) struct Client {
    config: Arc<ClientConfig>,
    name: ServerName<'static>,
}

impl Client {
    /// Reads certificates and keys; loads the system's authorities if the spec asks for them.
    pub(crate) fn new(tls: &Tls, is_http2: bool) -> Result<Self, LoadError> {
        let name = ServerName::try_from(tls.server_name.clone()).map_err(|_| {
            problem(format!(
                "{:?} is neither a DNS name nor an IP address: name the server (--server-name)",
                tls.server_name
            ))
        })?;
        let offer = offer::offer(tls.version, &tls.cipher_suites)
            .map_err(|error| problem(error.to_string()))?;
        let provider = Arc::new(offer.provider);
        let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_protocol_versions(offer.versions)
            .map_err(|error| problem(error.to_string()))?
            .dangerous()
            .with_custom_certificate_verifier(trust::verifier(&tls.trust, &provider)?);
        let mut config = match &tls.identity {
            None => builder.with_no_client_auth(),
            Some(identity) => {
                let key = certified(identity, &provider)?;
                builder.with_client_cert_resolver(Arc::new(SingleCertAndKey::from(key)))
            }
        };
        // Each worker has its own session store.
        config.resumption = Resumption::disabled();
        // A server that does not speak HTTP/2 is asked what it speaks instead, so that it can be named.
        let offered = if is_http2 {
            &[HTTP2, HTTP1][..]
        } else {
            &[HTTP1]
        };
        config.alpn_protocols = offered.iter().map(|name| name.to_vec()).collect();
        Ok(Self {
            config: Arc::new(config),
            name,
        })
    }

    /// A copy with its own session store for this many connections, so that workers share no lock.
    pub(crate) fn for_worker(&self, resumption: bool, connections: usize) -> Self {
        let mut config = ClientConfig::clone(&self.config);
        if resumption {
            config.resumption = Resumption::store(Arc::new(SessionStore::new(connections)));
        }
        Self {
            config: Arc::new(config),
            name: self.name.clone(),
        }
    }

    /// TLS for a new connection.
    pub(crate) fn new_stream(&self) -> Result<TlsStream, rustls::Error> {
        let mut connection = ClientConnection::new(Arc::clone(&self.config), self.name.clone())?;
        // The buffer takes a request of any length; bytes that the socket has no room for wait in it.
        connection.set_buffer_limit(None);
        Ok(TlsStream { connection })
    }
}

/// The client's certificate with its key. The certificate is sent unchecked; the server verifies it.
fn certified(identity: &Identity, provider: &CryptoProvider) -> Result<CertifiedKey, LoadError> {
    let chain = CertificateDer::pem_slice_iter(identity.certificates.as_bytes());
    let chain: Vec<CertificateDer<'static>> = chain
        .collect::<Result<_, _>>()
        .map_err(|error| problem(format!("the client's certificate cannot be read: {error}")))?;
    let key = PrivateKeyDer::from_pem_slice(identity.key.as_bytes())
        .map_err(|error| problem(format!("the client's key cannot be read: {error}")))?;
    let flaw = trust::flaw_of_key(key.secret_der());
    let signer = provider
        .key_provider
        .load_private_key(key)
        .map_err(|error| {
            let why = flaw.map_or_else(|| error.to_string(), str::to_owned);
            problem(format!("the client's key cannot be used: {why}"))
        })?;
    let of_key = signer.public_key();
    let of_certificate = chain.first().and_then(|own| trust::public_key(own));
    if let (Some(of_key), Some(of_certificate)) = (of_key, of_certificate)
        && of_key.as_ref() != of_certificate
    {
        return Err(problem(
            "the client's certificate and key do not belong together: --cert has another public key than --key",
        ));
    }
    Ok(CertifiedKey::new(chain, signer))
}

/// Why a TLS connection failed.
#[derive(Debug)]
pub(crate) enum TlsError {
    /// The socket failed.
    Socket(Errno),
    /// The peer breaks a rule of TLS, or one side rejects the other: the reason in a few words, which groups failures,
    /// and the full error.
    Tls(&'static str, rustls::Error),
}

impl From<Errno> for TlsError {
    fn from(error: Errno) -> Self {
        TlsError::Socket(error)
    }
}

impl From<rustls::Error> for TlsError {
    fn from(error: rustls::Error) -> Self {
        TlsError::Tls(why(&error), error)
    }
}

/// The full description of a TLS error.
pub(crate) fn in_full(error: &rustls::Error) -> String {
    use rustls::CertificateError as Certificate;
    match error {
        rustls::Error::InvalidCertificate(Certificate::NotValidForNameContext {
            expected,
            presented,
        }) if !presented.is_empty() => {
            // "DnsName(\"a.example\")", "IpAddress(127.0.0.1)".
            let name = |text: &String| {
                let inner = text
                    .split_once('(')
                    .and_then(|(_, rest)| rest.strip_suffix(')'));
                inner.unwrap_or(text).trim_matches('"').to_owned()
            };
            let names: Vec<String> = presented.iter().map(name).collect();
            format!(
                "the server's certificate is for {}, not for {}",
                figure::some(&names, MAX_NAMES),
                expected.to_str()
            )
        }
        rustls::Error::InvalidCertificate(_) => why(error).to_owned(),
        other => other.to_string(),
    }
}

/// A TLS error in a few words, which group failures.
pub fn why(error: &rustls::Error) -> &'static str {
    use rustls::CertificateError as Certificate;
    match error {
        rustls::Error::InvalidCertificate(certificate) => match certificate {
            Certificate::Expired | Certificate::ExpiredContext { .. } => {
                "the server's certificate has expired"
            }
            Certificate::NotValidYet | Certificate::NotValidYetContext { .. } => {
                "the server's certificate is not valid yet"
            }
            Certificate::UnknownIssuer => "nobody trusted has signed the server's certificate",
            Certificate::NotValidForNameContext { presented, .. } if presented.is_empty() => {
                "the server's certificate names no host: it has no subjectAltName"
            }
            Certificate::NotValidForName | Certificate::NotValidForNameContext { .. } => {
                "the server's certificate is for another name"
            }
            Certificate::Other(OtherError(why)) => why
                .downcast_ref::<trust::CertificateFlaw>()
                .map_or("the server's certificate is not accepted", |flaw| flaw.0),
            Certificate::BadSignature => "the server's certificate has a wrong signature",
            Certificate::BadEncoding => "the server's certificate cannot be parsed",
            Certificate::Revoked => "the server's certificate has been revoked",
            Certificate::InvalidPurpose | Certificate::InvalidPurposeContext { .. } => {
                "the server's certificate is not for servers"
            }
            _ => "the server's certificate is not accepted",
        },
        rustls::Error::AlertReceived(alert) => of_alert(*alert),
        rustls::Error::InvalidMessage(_) => "what the server sent is not TLS",
        rustls::Error::PeerIncompatible(_) => {
            "the server has no TLS version or cipher suite that Deadheat offers"
        }
        rustls::Error::PeerMisbehaved(_) => "the server breaks the rules of TLS",
        rustls::Error::DecryptError => "what the server sent cannot be decrypted",
        _ => "TLS failed",
    }
}

/// The meaning of a server's alert (RFC 8446 §6.2), with its name there.
fn of_alert(alert: AlertDescription) -> &'static str {
    use AlertDescription as Alert;
    match alert {
        Alert::HandshakeFailure => {
            "TLS alert handshake_failure: the server and Deadheat have no cipher suite or signature algorithm in common"
        }
        Alert::ProtocolVersion => {
            "TLS alert protocol_version: the server has no TLS version that Deadheat offers"
        }
        Alert::InsufficientSecurity => {
            "TLS alert insufficient_security: the server wants a stronger cipher suite"
        }
        Alert::UnrecognisedName => {
            "TLS alert unrecognized_name: the server does not know the name that it was asked for"
        }
        Alert::CertificateRequired => {
            "TLS alert certificate_required: the server wants a client certificate"
        }
        Alert::BadCertificate => {
            "TLS alert bad_certificate: the server does not accept the client certificate, or its absence"
        }
        Alert::UnsupportedCertificate => {
            "TLS alert unsupported_certificate: the server does not accept this kind of client certificate"
        }
        Alert::CertificateRevoked => {
            "TLS alert certificate_revoked: for the server, the client certificate is revoked"
        }
        Alert::CertificateExpired => {
            "TLS alert certificate_expired: for the server, the client certificate has expired"
        }
        Alert::CertificateUnknown => {
            "TLS alert certificate_unknown: the server does not accept the client certificate"
        }
        Alert::UnknownCA => {
            "TLS alert unknown_ca: the server does not know who signed the client certificate"
        }
        Alert::AccessDenied => "TLS alert access_denied: the server denies this client access",
        Alert::NoApplicationProtocol => {
            "TLS alert no_application_protocol: the server does not offer this version of HTTP over TLS"
        }
        Alert::InternalError => "TLS alert internal_error: something failed inside the server",
        Alert::UserCanceled => "TLS alert user_canceled: the server broke off the handshake",
        Alert::UnexpectedMessage => "TLS alert unexpected_message: for the server, TLS was broken",
        Alert::BadRecordMac => "TLS alert bad_record_mac: for the server, TLS was broken",
        Alert::RecordOverflow => "TLS alert record_overflow: for the server, TLS was broken",
        Alert::IllegalParameter => "TLS alert illegal_parameter: for the server, TLS was broken",
        Alert::DecodeError => "TLS alert decode_error: for the server, TLS was broken",
        Alert::DecryptError => {
            "TLS alert decrypt_error: the server could not verify a signature or decrypt a message"
        }
        Alert::MissingExtension => {
            "TLS alert missing_extension: the server wants a TLS extension that was not sent"
        }
        Alert::UnsupportedExtension => {
            "TLS alert unsupported_extension: the server does not accept a TLS extension"
        }
        Alert::InappropriateFallback => {
            "TLS alert inappropriate_fallback: the server has a newer TLS version"
        }
        Alert::EncryptedClientHelloRequired => {
            "TLS alert ech_required: the server wants an encrypted client hello"
        }
        _ => "the server refused with a TLS alert that is seldom used",
    }
}

/// The TLS state of one connection.
#[derive(Debug)]
pub(crate) struct TlsStream {
    connection: ClientConnection,
}

impl TlsStream {
    pub(crate) fn is_handshaking(&self) -> bool {
        self.connection.is_handshaking()
    }

    /// Why HTTP/2 was not agreed on; `None` if it was.
    pub(crate) fn not_http2(&self) -> Option<&'static str> {
        match self.connection.alpn_protocol() {
            Some(HTTP2) => None,
            Some(HTTP1) => Some("the server does not agree to HTTP/2: it offers HTTP/1.1 (ALPN)"),
            Some(_) => {
                Some("the server does not agree to HTTP/2: it offers another protocol (ALPN)")
            }
            None => Some("the server does not agree to HTTP/2: it offers no protocol (ALPN)"),
        }
    }

    /// Whether the peer has said that nothing follows (`close_notify`).
    pub(crate) fn has_said_goodbye(&mut self) -> bool {
        let state = self.connection.process_new_packets();
        state.is_ok_and(|state| state.peer_has_closed())
    }

    /// Encrypts bytes; [`Self::flush`] sends them.
    pub(crate) fn put(&mut self, bytes: &[u8]) {
        // Without a limit of the buffer everything is taken.
        let _ = self.connection.writer().write_all(bytes);
    }

    /// Writes encrypted bytes to the socket. Returns whether all were written.
    pub(crate) fn flush(&mut self, socket: &OwnedFd) -> Result<bool, Errno> {
        let mut out = SocketWriter {
            socket,
            failed: None,
        };
        while self.connection.wants_write() {
            match self.connection.write_tls(&mut out) {
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
                Err(_) => return Err(out.failed.unwrap_or(Errno::IO)),
            }
        }
        Ok(true)
    }

    /// Sends a `close_notify` if that does not block: some servers log a connection that ends without one.
    pub(crate) fn send_close_notify(&mut self, socket: &OwnedFd) {
        self.connection.send_close_notify();
        // The connection is closed anyway.
        let _ = self.flush(socket);
    }

    /// Decrypts some of the received bytes, and removes them from `wire`. The caller must read all plaintext with
    /// [`Self::take`] before the next call.
    pub(crate) fn feed(&mut self, wire: &mut &[u8]) -> Result<(), TlsError> {
        let came = *wire;
        // Reading from memory fails only if plaintext is left, and the caller takes it. After the peer's
        // `close_notify`, nothing is read any more.
        if !matches!(self.connection.read_tls(wire), Ok(read) if read > 0) {
            *wire = &[];
        }
        let state = self.connection.process_new_packets();
        state.map(drop).map_err(|error| match error {
            rustls::Error::InvalidMessage(_) if came.starts_with(b"HTTP/") => {
                TlsError::Tls("this port speaks plain HTTP: use http://", error)
            }
            error => error.into(),
        })
    }

    /// Reads plaintext into `buffer`. Returns the number of bytes; 0: no plaintext is available.
    pub(crate) fn take(&mut self, buffer: &mut [u8]) -> usize {
        // An error means that no plaintext is available, or that the peer closed, which the socket reports too.
        self.connection.reader().read(buffer).unwrap_or(0)
    }

    /// Counts the finished handshake.
    pub(crate) fn note(&self, seen: &mut TlsSeen) {
        match self.connection.handshake_kind() {
            Some(HandshakeKind::Resumed) => seen.resumed += 1,
            Some(HandshakeKind::Full | HandshakeKind::FullWithHelloRetryRequest) | None => {
                seen.full += 1;
            }
        }
        if seen.agreed.is_empty() {
            let version = self.connection.protocol_version();
            let suite = self.connection.negotiated_cipher_suite();
            if let (Some(version), Some(suite)) = (version, suite) {
                let version = match version {
                    rustls::ProtocolVersion::TLSv1_2 => "TLS 1.2",
                    rustls::ProtocolVersion::TLSv1_3 => "TLS 1.3",
                    _ => "TLS",
                };
                seen.agreed = format!("{version}, {}", offer::iana(suite.suite()));
            }
        }
    }
}

/// A writer to a nonblocking socket, which keeps the error of the system call.
struct SocketWriter<'a> {
    socket: &'a OwnedFd,
    failed: Option<Errno>,
}

impl io::Write for SocketWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        socket::write(self.socket, bytes).map_err(|error| {
            self.failed = Some(error);
            error.into()
        })
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
