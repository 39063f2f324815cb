//! What to connect to, through which proxy, and how requests travel.

use std::{
    fmt,
    net::{IpAddr, SocketAddr},
    path::PathBuf,
};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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

/// A proxy that connections go through. The endpoint of its target is the proxy's own address.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Proxy {
    /// What it speaks.
    pub kind: ProxyKind,
    /// Host and port that it is asked to connect to. A name is resolved by the proxy.
    pub to: String,
    /// Who asks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub login: Option<Login>,
}

/// What a proxy speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ProxyKind {
    /// HTTP. Plain requests have the whole URL (RFC 9112 §3.2.2); TLS goes through a tunnel (CONNECT).
    Http,
    /// SOCKS 5 (RFC 1928).
    Socks5,
}

/// A user of a proxy.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Login {
    /// The name.
    pub user: String,
    /// The password. It is part of a spec that is sent to another host, and is emptied before a load is recorded.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schemars(skip)]
    pub password: String,
}

impl fmt::Debug for Login {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Login")
            .field("user", &self.user)
            .finish_non_exhaustive()
    }
}

/// How requests travel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "protocol")]
pub enum Protocol {
    /// HTTP/1.
    Http1 {
        /// The version in the request line.
        version: HttpVersion,
        /// Whether connections carry more than one request.
        reuse: Reuse,
        /// Requests on a connection that are sent before the first of them is answered; 1: no pipelining.
        pipeline: u32,
    },
    /// HTTP/2: agreed on in TLS (ALPN) where there is TLS, with prior knowledge where there is none (RFC 9113 §3).
    Http2 {
        /// Requests on a connection at once, at least 1. The server may allow fewer.
        streams: u32,
    },
}

impl Protocol {
    /// HTTP/1.1 with keep-alive, without pipelining: what most clients speak.
    pub const HTTP_1_1: Self = Protocol::Http1 {
        version: HttpVersion::Http11,
        reuse: Reuse::KeepAlive,
        pipeline: 1,
    };

    /// Requests that are on their way on a connection at once, at most.
    pub const fn depth(self) -> u32 {
        match self {
            Protocol::Http1 { pipeline, .. } => pipeline,
            Protocol::Http2 { streams, .. } => streams,
        }
    }

    /// The version of HTTP: "1.1".
    pub const fn version(self) -> &'static str {
        match self {
            Protocol::Http1 {
                version: HttpVersion::Http10,
                ..
            } => "1.0",
            Protocol::Http1 {
                version: HttpVersion::Http11,
                ..
            } => "1.1",
            Protocol::Http2 { .. } => "2",
        }
    }

    /// Whether each request has a connection of its own.
    pub const fn is_per_request(self) -> bool {
        matches!(
            self,
            Protocol::Http1 {
                reuse: Reuse::PerRequest,
                ..
            }
        )
    }
}

/// A version of HTTP/1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum HttpVersion {
    /// HTTP/1.0: connections end after an answer, unless both sides say keep-alive.
    #[serde(rename = "1.0")]
    Http10,
    /// HTTP/1.1: connections go on, unless one side says close.
    #[serde(rename = "1.1")]
    Http11,
}

/// The number, as it stands behind `HTTP/`.
impl fmt::Display for HttpVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            HttpVersion::Http10 => "1.0",
            HttpVersion::Http11 => "1.1",
        })
    }
}

/// Whether connections carry more than one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Reuse {
    /// As many as the server allows; HTTP/1.0 asks for it with `Connection: keep-alive`.
    KeepAlive,
    /// One; HTTP/1.1 announces it with `Connection: close`.
    PerRequest,
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

    #[test]
    fn a_password_travels_and_is_not_shown() {
        let login = Login {
            user: "ann".to_owned(),
            password: "hunter2".to_owned(),
        };
        assert!(!format!("{login:?}").contains("hunter2"));
        let json = serde_json::to_string(&login).unwrap();
        assert_eq!(serde_json::from_str::<Login>(&json).unwrap(), login);
    }
}
