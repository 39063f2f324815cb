//! What to connect to, through which proxy, and with which protocol.

use std::{
    fmt,
    net::{IpAddr, SocketAddr},
    path::PathBuf,
};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A server, and how to connect to it. Names are resolved and files are read before the load starts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Target {
    /// The address to connect to.
    pub endpoint: Endpoint,
    /// More addresses of the same server. Connections use all of them in turn.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub more: Vec<SocketAddr>,
    /// The value of `Host`, unless a request has its own.
    pub authority: String,
    /// The TLS settings; `None`: no TLS.
    pub tls: Option<Tls>,
    /// The proxy, whose address is then `endpoint`; `None`: no proxy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proxy: Option<Proxy>,
    /// Local addresses that connections use in turn; empty: the system chooses.
    pub sources: Vec<IpAddr>,
}

impl Target {
    /// A target over plain TCP. Its address is also its host name.
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

    /// All addresses, in the order in which connections use them.
    pub fn endpoints(&self) -> impl Iterator<Item = Endpoint> {
        let more = self.more.iter();
        let more = more.map(|address| Endpoint::Tcp { address: *address });
        std::iter::once(self.endpoint.clone()).chain(more)
    }

    /// The HTTP proxy that gets requests without TLS, each with the whole URL; `None`: there is no proxy, or
    /// connections go through it by a tunnel.
    pub fn forwarding_proxy(&self) -> Option<&Proxy> {
        let proxy = self.proxy.as_ref().filter(|_| self.tls.is_none());
        proxy.filter(|proxy| proxy.kind == ProxyKind::Http)
    }

    /// The scheme and authority of the server's URLs.
    pub fn origin(&self) -> String {
        let scheme = if self.tls.is_some() { "https" } else { "http" };
        format!("{scheme}://{}", self.authority)
    }
}

/// The address that a socket connects to.
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
        /// The path of its file, or `@` and its name if it is abstract (unix(7)).
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

/// The client's settings for TLS 1.2 or 1.3.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Tls {
    /// The server's name, a DNS name or an IP address. The client sends it (SNI), and the certificate must contain it.
    pub server_name: String,
    /// The accepted certificates.
    pub trust: Trust,
    /// The client's certificate; `None`: no certificate.
    pub identity: Option<Identity>,
    /// Whether later connections resume the session of earlier ones.
    pub resumption: bool,
    /// The only offered version; `None`: both are offered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<TlsVersion>,
    /// The offered cipher suites by their IANA names, the preferred one first; empty: all supported ones.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cipher_suites: Vec<String>,
}

/// A version of TLS.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum TlsVersion {
    /// TLS 1.2 (RFC 5246).
    #[serde(rename = "1.2")]
    Tls12,
    /// TLS 1.3 (RFC 8446).
    #[serde(rename = "1.3")]
    Tls13,
}

/// Writes the number alone.
impl fmt::Display for TlsVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            TlsVersion::Tls12 => "1.2",
            TlsVersion::Tls13 => "1.3",
        })
    }
}

/// The accepted certificates.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "trust")]
pub enum Trust {
    /// Certificates from authorities that the system trusts.
    System,
    /// Certificates from these authorities alone.
    Authorities {
        /// The authorities' certificates in PEM.
        pem: String,
    },
    /// Any certificate, whatever its name and dates.
    Anything,
}

/// A client certificate with its key.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Identity {
    /// The chain in PEM, the client's own certificate first.
    pub certificates: String,
    /// The private key in PEM. It is part of a spec that is sent to another host. It is emptied before a load is
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

/// A proxy that connections go through. The endpoint of the target is the proxy's own address.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Proxy {
    /// The proxy's protocol.
    pub kind: ProxyKind,
    /// The host and port that the proxy connects to. The proxy resolves the name.
    pub to: String,
    /// The user and password at the proxy; `None`: no login.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub login: Option<Login>,
}

/// The protocol of a proxy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ProxyKind {
    /// HTTP. Requests without TLS contain the whole URL (RFC 9112 §3.2.2). TLS goes through a tunnel (CONNECT).
    Http,
    /// SOCKS 5 (RFC 1928).
    Socks5,
}

/// A user and password at a proxy.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Login {
    /// The user's name.
    pub user: String,
    /// The password. It is part of a spec that is sent to another host. It is emptied before a load is recorded.
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

/// The protocol of requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "protocol")]
pub enum Protocol {
    /// HTTP/1.
    Http1 {
        /// The version in the request line.
        version: HttpVersion,
        /// Whether connections carry more than one request.
        reuse: Reuse,
        /// The maximum number of requests that are sent on a connection before the first is answered; 1: no pipelining.
        pipeline: u32,
    },
    /// HTTP/2. With TLS, it is negotiated by ALPN. Without TLS, the client uses prior knowledge (RFC 9113 §3).
    Http2 {
        /// The maximum number of concurrent requests on a connection, at least 1. The server may allow fewer.
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

    /// The maximum number of requests in flight on a connection.
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum HttpVersion {
    /// HTTP/1.0: a connection closes after an answer, unless both sides say keep-alive.
    #[serde(rename = "1.0")]
    Http10,
    /// HTTP/1.1: a connection stays open after an answer, unless one side says close.
    #[default]
    #[serde(rename = "1.1")]
    Http11,
}

/// Writes the number that follows `HTTP/`.
impl fmt::Display for HttpVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            HttpVersion::Http10 => "1.0",
            HttpVersion::Http11 => "1.1",
        })
    }
}

/// Whether connections carry more than one request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Reuse {
    /// Connections carry as many requests as the server allows. HTTP/1.0 asks for this with `Connection: keep-alive`.
    #[default]
    KeepAlive,
    /// Each connection carries one request. HTTP/1.1 announces this with `Connection: close`.
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
