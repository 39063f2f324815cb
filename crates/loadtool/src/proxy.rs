//! The proxy that a load goes through.

use std::net::IpAddr;

use deadheat_model::load::{Login, ProxyKind};
use deadheat_runner::secret::typed_without_userinfo;
use percent_encoding::percent_decode_str;
use url::Url;

use super::url::Host;

/// A proxy as it was typed.
#[derive(Debug)]
pub(super) struct ProxyUrl {
    /// What it speaks.
    pub(super) kind: ProxyKind,
    /// Whether the target's name is resolved here, and the proxy gets an address.
    pub(super) resolves_here: bool,
    pub(super) host: Host,
    pub(super) port: u16,
    pub(super) login: Option<Login>,
    /// Without user and password.
    pub(super) shown: String,
}

impl ProxyUrl {
    /// Reads `http://`, `socks5://` or `socks5h://`, then `[USER:PASSWORD@]HOST:PORT`.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let shown = typed_without_userinfo(text);
        let wrong = |what: &str| {
            format!(
                "--proxy {shown}: {what}; write http://HOST:PORT, socks5://HOST:PORT (the name in the URL is resolved here) \
                 or socks5h://HOST:PORT (by the proxy), with USER:PASSWORD@ in front of HOST if it needs that"
            )
        };
        let (scheme, rest) = text
            .split_once("://")
            .ok_or_else(|| wrong("there is no scheme"))?;
        let (kind, resolves_here) = match scheme {
            "http" => (ProxyKind::Http, false),
            "socks5" => (ProxyKind::Socks5, true),
            "socks5h" => (ProxyKind::Socks5, false),
            "https" => return Err(wrong("TLS to the proxy itself is not spoken")),
            _ => return Err(wrong("this kind of proxy is not spoken to")),
        };
        // Hosts of a scheme that is not http are not looked at by the parser, and ports of http may go missing.
        let url =
            Url::parse(&format!("http://{rest}")).map_err(|error| wrong(&error.to_string()))?;
        let host = match url.host() {
            Some(url::Host::Domain(name)) => Host::Name(name.to_owned()),
            Some(url::Host::Ipv4(address)) => Host::Address(IpAddr::V4(address)),
            Some(url::Host::Ipv6(address)) => Host::Address(IpAddr::V6(address)),
            None => return Err(wrong("there is no host")),
        };
        let is_bare = url.path() == "/" && url.query().is_none() && url.fragment().is_none();
        if !is_bare {
            return Err(wrong("a proxy has no path"));
        }
        let port = match url.port() {
            Some(port) => port,
            None if rest.trim_end_matches('/').ends_with(":80") => 80,
            None => return Err(wrong("there is no port")),
        };
        let decoded = |text: &str| {
            let text = percent_decode_str(text).decode_utf8();
            text.map(|text| text.into_owned())
                .map_err(|_| wrong("user and password are not UTF-8"))
        };
        let login = match (url.username(), url.password()) {
            ("", None) => None,
            (user, password) => Some(Login {
                user: decoded(user)?,
                password: decoded(password.unwrap_or_default())?,
            }),
        };
        Ok(Self {
            kind,
            resolves_here,
            host,
            port,
            login,
            shown,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_hosts_and_users_are_read() {
        let read = |text| ProxyUrl::parse(text).unwrap();
        let plain = read("http://proxy.test:3128");
        assert_eq!(
            (plain.kind, plain.port, plain.resolves_here),
            (ProxyKind::Http, 3128, false)
        );
        assert_eq!(plain.login, None);
        assert_eq!(read("http://127.0.0.1:80/").port, 80);
        let login = read("socks5://ann:p%40w@[::1]:1080");
        assert_eq!((login.kind, login.resolves_here), (ProxyKind::Socks5, true));
        assert_eq!(login.host, Host::Address("::1".parse().unwrap()));
        let user = login.login.unwrap();
        assert_eq!((user.user.as_str(), user.password.as_str()), ("ann", "p@w"));
        assert!(!login.shown.contains("p%40w"), "{}", login.shown);
        assert!(!read("socks5h://h:1").resolves_here);
    }

    #[test]
    fn what_is_no_proxy_is_refused_without_its_password() {
        for (text, expected) in [
            ("proxy:3128", "no scheme"),
            ("https://ann:s3cret@h:1", "TLS to the proxy"),
            ("socks4://ann:s3cret@h:1", "not spoken to"),
            ("http://ann:s3cret@h", "no port"),
            ("http://ann:s3cret@h:1/x", "no path"),
            ("http://ann:s3cret@:1", "write http://HOST:PORT"),
        ] {
            let error = ProxyUrl::parse(text).unwrap_err();
            assert!(
                error.contains(expected) && !error.contains("s3cret"),
                "{error}"
            );
        }
    }
}
