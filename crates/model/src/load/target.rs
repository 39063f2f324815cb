//! What to connect to.

use std::{
    fmt,
    net::{IpAddr, SocketAddr},
    path::PathBuf,
};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Proxy, ProxyKind};

/// What to connect to, and as whom. Names are resolved and files are read before: the load itself asks nobody.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Target {
    /// Where to connect to.
    pub endpoint: Endpoint,
    /// More addresses of the same server. Connections are made to all of them in turn.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub more: Vec<SocketAddr>,
    /// The value of `Host`, unless a request has its own.
    pub authority: String,
    /// TLS on the connections; `None`: plain.
    pub tls: Option<Tls>,
    /// A proxy on the way. `endpoint` is its address then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proxy: Option<Proxy>,
    /// Addresses that connections are made from, in turn; empty: the system chooses.
    pub sources: Vec<IpAddr>,
}

impl Target {
    /// Plain TCP to an address, which is also the host's name.
    pub fn plain(address: SocketAddr) -> Self {
        Self {
            endpoint: Endpoint::Tcp { address },
            more: Vec::new(),
            authority: address.to_string(),
            tls: None,
            proxy: None,
            sources: Vec::new(),
        }
    }

    /// Where connections lead, in turn.
    pub fn endpoints(&self) -> impl Iterator<Item = Endpoint> {
        let more = self.more.iter();
        let more = more.map(|address| Endpoint::Tcp { address: *address });
        std::iter::once(self.endpoint.clone()).chain(more)
    }

    /// The proxy that takes its requests as they are, with the whole URL in each: one of HTTP, without TLS. Through any
    /// other proxy there is a tunnel.
    pub fn forwarding_proxy(&self) -> Option<&Proxy> {
        let proxy = self.proxy.as_ref().filter(|_| self.tls.is_none());
        proxy.filter(|proxy| proxy.kind == ProxyKind::Http)
    }

    /// The URL of its root.
    pub fn origin(&self) -> String {
        let scheme = if self.tls.is_some() { "https" } else { "http" };
        format!("{scheme}://{}", self.authority)
    }
}

/// Where a socket connects to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Endpoint {
    /// A TCP port.
    Tcp {
        /// Its address.
        address: SocketAddr,
    },
    /// A Unix socket.
    Unix {
        /// Its file, or `@` and its name if it is abstract (unix(7)).
        path: PathBuf,
    },
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Endpoint::Tcp { address } => address.fmt(f),
            Endpoint::Unix { path } => write!(f, "unix:{}", path.display()),
        }
    }
}

/// TLS 1.2 or 1.3, as a client.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Tls {
    /// The name that the server is asked for (SNI) and that its certificate must carry: a DNS name or an IP address.
    pub server_name: String,
    /// Whose certificates are believed.
    pub trust: Trust,
    /// The client's own certificate.
    pub identity: Option<Identity>,
    /// Whether later connections resume the session of earlier ones.
    pub resumption: bool,
    /// The only version that is spoken; `None`: either.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<TlsVersion>,
    /// The cipher suites that are offered, by their names at IANA, the preferred one first; empty: all that there are.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cipher_suites: Vec<String>,
}

/// A version of TLS.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum TlsVersion {
    /// RFC 5246.
    #[serde(rename = "1.2")]
    Tls12,
    /// RFC 8446.
    #[serde(rename = "1.3")]
    Tls13,
}

/// The number alone.
impl fmt::Display for TlsVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            TlsVersion::Tls12 => "1.2",
            TlsVersion::Tls13 => "1.3",
        })
    }
}

/// Whose certificates are believed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "trust")]
pub enum Trust {
    /// The authorities that the system knows.
    System,
    /// These authorities alone.
    Authorities {
        /// Certificates in PEM.
        pem: String,
    },
    /// Anybody's, of any name and date.
    Anything,
}

/// A certificate with its key.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Identity {
    /// The chain in PEM, the client's own certificate first.
    pub certificates: String,
    /// The private key in PEM. It is part of a spec that is sent to another host, and is emptied before a load is
    /// recorded.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schemars(skip)]
    pub key: String,
}

impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Identity").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_private_key_travels_with_its_target_and_is_not_missed_in_a_record() {
        let tls = |key: &str| Tls {
            server_name: "localhost".to_owned(),
            trust: Trust::System,
            identity: Some(Identity {
                certificates: "PEM".to_owned(),
                key: key.to_owned(),
            }),
            resumption: true,
            version: None,
            cipher_suites: Vec::new(),
        };
        let json = |key| serde_json::to_string(&tls(key)).unwrap();
        for key in ["a secret key", ""] {
            assert_eq!(serde_json::from_str::<Tls>(&json(key)).unwrap(), tls(key));
        }
        assert!(!json("").contains("key"));
        assert!(!format!("{:?}", tls("a secret key")).contains("a secret key"));
    }
}
