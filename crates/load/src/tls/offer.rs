//! What a client offers in a TLS handshake: versions, cipher suites, and sessions to be resumed (RFC 8446, section 2.2;
//! RFC 5246, 7.3).

use std::{
    collections::VecDeque,
    fmt,
    sync::{Mutex, MutexGuard, PoisonError},
};

use deadheat_model::load::TlsVersion;
use rustls::{
    ALL_VERSIONS, CipherSuite, NamedGroup, SupportedCipherSuite, SupportedProtocolVersion,
    client::{ClientSessionStore, Tls12ClientSessionValue, Tls13ClientSessionValue},
    crypto::{CryptoProvider, ring},
    pki_types::ServerName,
    version::{TLS12, TLS13},
};

/// The versions of an offer of a single version.
const ONLY_1_2: &[&SupportedProtocolVersion] = &[&TLS12];
const ONLY_1_3: &[&SupportedProtocolVersion] = &[&TLS13];

/// The versions and cipher suites that are offered to a server.
pub(super) struct Offer {
    pub(super) provider: CryptoProvider,
    pub(super) versions: &'static [&'static SupportedProtocolVersion],
}

/// Why a cipher suite cannot be offered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OfferError {
    /// No cipher suite has this name.
    #[error("{name} is not a cipher suite that Deadheat has; choose from {all}")]
    Unknown {
        /// The name.
        name: String,
        /// The names that there are, with commas.
        all: String,
    },
    /// It is of another version of TLS.
    #[error(
        "{name} is a cipher suite of TLS {of}, and only TLS {spoken} is spoken; choose from {all}"
    )]
    OtherVersion {
        /// The name.
        name: String,
        /// The version that has it.
        of: TlsVersion,
        /// The version that is offered.
        spoken: TlsVersion,
        /// The names that this version has, with commas.
        all: String,
    },
}

/// An offer of everything supported, or of the given version and cipher suites (by IANA name, in this order).
pub(super) fn offer(version: Option<TlsVersion>, suites: &[String]) -> Result<Offer, OfferError> {
    let mut provider = ring::default_provider();
    if !suites.is_empty() {
        let named = suites.iter().map(|name| suite(name, version));
        provider.cipher_suites = named.collect::<Result<_, _>>()?;
    }
    Ok(Offer {
        provider,
        versions: match version {
            None => ALL_VERSIONS,
            Some(TlsVersion::Tls12) => ONLY_1_2,
            Some(TlsVersion::Tls13) => ONLY_1_3,
        },
    })
}

/// Whether these versions and cipher suites can be offered; an error says what does not fit.
///
/// # Errors
///
/// An unknown cipher suite, or one of another version.
pub fn can_offer(version: Option<TlsVersion>, suites: &[String]) -> Result<(), OfferError> {
    offer(version, suites).map(drop)
}

/// A cipher suite's IANA name. In rustls, names for TLS 1.3 contain the version.
pub(super) fn iana(suite: CipherSuite) -> String {
    format!("{suite:?}").replacen("TLS13_", "TLS_", 1)
}

fn suite(name: &str, version: Option<TlsVersion>) -> Result<SupportedCipherSuite, OfferError> {
    let found = ring::ALL_CIPHER_SUITES
        .iter()
        .find(|suite| iana(suite.suite()) == name)
        .ok_or_else(|| OfferError::Unknown {
            name: name.to_owned(),
            all: all_of(version),
        })?;
    match version {
        Some(spoken) if version_of(found) != spoken => Err(OfferError::OtherVersion {
            name: name.to_owned(),
            of: version_of(found),
            spoken,
            all: all_of(Some(spoken)),
        }),
        _ => Ok(*found),
    }
}

/// The names of all cipher suites of this version, or of both.
fn all_of(version: Option<TlsVersion>) -> String {
    let all = ring::ALL_CIPHER_SUITES.iter();
    let fits = |suite: &&SupportedCipherSuite| version.is_none_or(|one| version_of(suite) == one);
    let names: Vec<String> = all.filter(fits).map(|suite| iana(suite.suite())).collect();
    names.join(", ")
}

fn version_of(suite: &SupportedCipherSuite) -> TlsVersion {
    match suite {
        SupportedCipherSuite::Tls13(_) => TlsVersion::Tls13,
        SupportedCipherSuite::Tls12(_) => TlsVersion::Tls12,
    }
}

/// A worker's TLS sessions with one server, to be resumed. (rustls's own store keeps eight tickets per server, too few
/// for more than eight connections that reconnect.)
pub(super) struct SessionStore(Mutex<StoredSessions>);

struct StoredSessions {
    group: Option<NamedGroup>,
    /// TLS 1.2: a session can be resumed any number of times.
    session: Option<Tls12ClientSessionValue>,
    /// TLS 1.3: each ticket is used once. When there is one for each connection, the oldest is dropped.
    tickets: VecDeque<Tls13ClientSessionValue>,
    most_tickets: usize,
}

impl SessionStore {
    /// An empty store with room for a ticket of each connection.
    pub(super) fn new(connections: usize) -> Self {
        Self(Mutex::new(StoredSessions {
            group: None,
            session: None,
            tickets: VecDeque::with_capacity(connections),
            most_tickets: connections,
        }))
    }

    /// Locks the sessions. The lock is never contended, because a worker is one thread.
    fn remembered(&self) -> MutexGuard<'_, StoredSessions> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for SessionStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Secrets are not printed.
        f.write_str("SessionStore")
    }
}

impl ClientSessionStore for SessionStore {
    fn set_kx_hint(&self, _: ServerName<'static>, group: NamedGroup) {
        self.remembered().group = Some(group);
    }

    fn kx_hint(&self, _: &ServerName<'_>) -> Option<NamedGroup> {
        self.remembered().group
    }

    fn set_tls12_session(&self, _: ServerName<'static>, session: Tls12ClientSessionValue) {
        self.remembered().session = Some(session);
    }

    fn tls12_session(&self, _: &ServerName<'_>) -> Option<Tls12ClientSessionValue> {
        self.remembered().session.clone()
    }

    fn remove_tls12_session(&self, _: &ServerName<'static>) {
        self.remembered().session = None;
    }

    fn insert_tls13_ticket(&self, _: ServerName<'static>, ticket: Tls13ClientSessionValue) {
        let mut remembered = self.remembered();
        if remembered.tickets.len() >= remembered.most_tickets {
            remembered.tickets.pop_front();
        }
        remembered.tickets.push_back(ticket);
    }

    fn take_tls13_ticket(&self, _: &ServerName<'static>) -> Option<Tls13ClientSessionValue> {
        self.remembered().tickets.pop_back()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offered(version: Option<TlsVersion>, names: &[&str]) -> Result<Vec<String>, OfferError> {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let offer = offer(version, &names)?;
        let suites = offer.provider.cipher_suites.iter();
        Ok(suites.map(|suite| iana(suite.suite())).collect())
    }

    #[test]
    fn suites_are_offered_in_the_order_that_they_are_named_in() {
        let names = [
            "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
            "TLS_CHACHA20_POLY1305_SHA256",
        ];
        assert_eq!(offered(None, &names).unwrap(), names);
        assert_eq!(
            offered(None, &[]).unwrap().len(),
            ring::ALL_CIPHER_SUITES.len()
        );
    }

    #[test]
    fn what_is_unknown_or_of_another_version_is_refused_with_what_there_is() {
        let error = offered(None, &["AES128-SHA"]).unwrap_err().to_string();
        assert!(
            error.contains("AES128-SHA is not a cipher suite")
                && error.contains("TLS_AES_128_GCM_SHA256, TLS_CHACHA20_POLY1305_SHA256")
                && error.contains("TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"),
            "{error}"
        );
        let (old, new) = (Some(TlsVersion::Tls12), Some(TlsVersion::Tls13));
        let refused = offered(old, &["TLS_AES_128_GCM_SHA256"]).unwrap_err();
        let error = refused.to_string();
        assert!(
            error.contains("of TLS 1.3, and only TLS 1.2")
                && !error.contains("TLS_AES_256_GCM_SHA384"),
            "{error}"
        );
        assert!(offered(new, &["TLS_AES_128_GCM_SHA256"]).is_ok());
        assert!(offered(new, &["TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"]).is_err());
    }
}
