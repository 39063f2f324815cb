//! The protocols of stacks: HTTP/1.1 or HTTP/2, with TLS or without.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A protocol of a stack. It determines the port that requests go to.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum StackProtocol {
    /// HTTP/1 without TLS, on `PORT`. Every stack speaks it.
    #[default]
    Http1,
    /// HTTP/1.1 over TLS, on `TLS_PORT`.
    Tls,
    /// HTTP/2 over TLS, agreed on by ALPN (RFC 7301), on `TLS_PORT`.
    H2,
    /// HTTP/2 without TLS, with prior knowledge (RFC 9113 §3.3), on `H2C_PORT`.
    H2c,
}

impl StackProtocol {
    /// Whether it is the protocol that every stack speaks.
    pub fn is_usual(&self) -> bool {
        *self == Self::Http1
    }

    /// Whether it uses TLS.
    pub const fn is_over_tls(self) -> bool {
        matches!(self, Self::Tls | Self::H2)
    }

    /// Whether it is HTTP/2.
    pub const fn is_http2(self) -> bool {
        matches!(self, Self::H2 | Self::H2c)
    }

    /// The environment variable with its port.
    pub const fn port_variable(self) -> &'static str {
        match self {
            Self::Http1 => "PORT",
            Self::Tls | Self::H2 => "TLS_PORT",
            Self::H2c => "H2C_PORT",
        }
    }

    /// Its key in manifests and records: "h2c".
    pub const fn key(self) -> &'static str {
        match self {
            Self::Http1 => "http1",
            Self::Tls => "tls",
            Self::H2 => "h2",
            Self::H2c => "h2c",
        }
    }
}

/// Writes the name for people: "HTTP/2 without TLS (h2c)".
impl fmt::Display for StackProtocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Http1 => "HTTP/1.1",
            Self::Tls => "HTTP/1.1 over TLS",
            Self::H2 => "HTTP/2 over TLS",
            Self::H2c => "HTTP/2 without TLS (h2c)",
        })
    }
}

/// Protocols in addition to HTTP/1.1 without TLS: those that a manifest declares, or those that a process has to serve.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Protocols {
    /// HTTP/1.1 over TLS.
    pub tls: bool,
    /// HTTP/2 over TLS. A stack that declares it declares `tls`, too.
    pub h2: bool,
    /// HTTP/2 without TLS.
    pub h2c: bool,
}

impl Protocols {
    /// Whether the set contains `protocol`. It always contains HTTP/1.1 without TLS.
    pub const fn include(self, protocol: StackProtocol) -> bool {
        match protocol {
            StackProtocol::Http1 => true,
            StackProtocol::Tls => self.tls,
            StackProtocol::H2 => self.h2,
            StackProtocol::H2c => self.h2c,
        }
    }

    /// All protocols of the set, HTTP/1.1 without TLS first.
    pub fn iter(self) -> impl Iterator<Item = StackProtocol> {
        use StackProtocol::{H2, H2c, Http1, Tls};
        [Http1, Tls, H2, H2c]
            .into_iter()
            .filter(move |protocol| self.include(*protocol))
    }

    /// Whether one of them uses TLS.
    pub const fn need_tls(self) -> bool {
        self.tls || self.h2
    }
}

impl FromIterator<StackProtocol> for Protocols {
    fn from_iter<I: IntoIterator<Item = StackProtocol>>(all: I) -> Self {
        all.into_iter()
            .fold(Self::default(), |so_far, protocol| Self {
                tls: so_far.tls || protocol == StackProtocol::Tls,
                h2: so_far.h2 || protocol == StackProtocol::H2,
                h2c: so_far.h2c || protocol == StackProtocol::H2c,
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_has_what_it_was_made_of_and_always_http_1() {
        use StackProtocol::{H2, H2c, Http1, Tls};
        let set = |all: &[StackProtocol]| all.iter().copied().collect::<Protocols>();
        for given in [&[][..], &[H2c], &[Tls, H2], &[Tls, H2, H2c]] {
            let found: Vec<StackProtocol> = set(given).iter().collect();
            assert_eq!(found, [&[Http1], given].concat());
        }
        assert!(set(&[H2]).need_tls() && !set(&[H2c]).need_tls());
    }

    #[test]
    fn keys_are_those_of_records() {
        use StackProtocol::{H2, H2c, Http1, Tls};
        for protocol in [Http1, Tls, H2, H2c] {
            let written = serde_json::to_value(protocol).unwrap();
            assert_eq!(written, protocol.key());
        }
    }
}
