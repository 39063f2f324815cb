//! A proxy between the load and its target.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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

#[cfg(test)]
mod tests {
    use super::*;

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
