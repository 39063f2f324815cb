//! The URL that is loaded.

use std::net::IpAddr;

use deadheat_runner::secret::typed_without_userinfo;
use url::{Host as ParsedHost, Position, Url};

use super::template::Held;

/// What to load: where it is and what is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LoadUrl {
    /// Where it is.
    pub(crate) origin: Origin,
    /// Path and query, percent-encoded where that is needed.
    pub(crate) path: String,
}

/// Where a URL leads to: what all requests of a load have in common.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Origin {
    /// Whether it is https.
    pub(crate) tls: bool,
    /// The host.
    pub(crate) host: Host,
    /// The port, the scheme's own where the URL has none.
    pub(crate) port: u16,
    /// Host, and port where it is not the scheme's own: the value of `Host` (RFC 9110 §7.2).
    pub(crate) authority: String,
}

/// A host, by name or address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Host {
    /// A name that has to be resolved.
    Name(String),
    /// An address.
    Address(IpAddr),
}

impl std::fmt::Display for Host {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Host::Name(name) => f.write_str(name),
            Host::Address(address) => address.fmt(f),
        }
    }
}

impl LoadUrl {
    /// Reads an http or https URL. With `template`, path and query may have `{{…}}` in them, which are kept as they
    /// are. A fragment is dropped: it is never sent.
    pub(crate) fn parse(text: &str, template: bool) -> Result<Self, String> {
        let text = text.trim();
        let shown = typed_without_userinfo(text);
        let Some((scheme, _)) = text.split_once("://") else {
            return Err(format!(
                "{shown:?} has no scheme: write http://{}",
                shown.trim_start_matches('/')
            ));
        };
        if !["http", "https"].contains(&scheme.to_ascii_lowercase().as_str()) {
            return Err(format!(
                "{shown:?} does not begin with http:// or https://; no other protocol can be loaded"
            ));
        }
        let held = if template {
            Held::of(text)?
        } else {
            Held::nothing(text)
        };
        let url = Url::parse(held.text()).map_err(|error| {
            if template {
                format!(
                    "{shown:?} is not a URL ({error}); templates can be used only in the path and the query"
                )
            } else {
                format!("{shown:?} is not a URL ({error}); write it like http://host:port/path")
            }
        })?;
        if !url.username().is_empty() || url.password().is_some() {
            return Err(format!(
                "{shown:?} contains a user name, and a URL appears in every output. Remove it and use --user \
                 USER:PASSWORD"
            ));
        }
        let host = match url.host() {
            Some(ParsedHost::Domain(name)) => Host::Name(name.to_owned()),
            Some(ParsedHost::Ipv4(address)) => Host::Address(address.into()),
            Some(ParsedHost::Ipv6(address)) => Host::Address(address.into()),
            None => return Err(format!("{shown:?} has no host")),
        };
        let authority = &url[Position::BeforeHost..Position::AfterPort];
        if held.is_in(authority) {
            return Err(format!(
                "{shown:?} has a template in its host; templates can be used only in the path and the query"
            ));
        }
        // Both schemes have a port of their own.
        let port = url.port_or_known_default().unwrap_or(80);
        if port == 0 {
            return Err(format!("{shown:?} has port 0, to which nothing connects"));
        }
        Ok(Self {
            origin: Origin {
                tls: url.scheme() == "https",
                host,
                port,
                authority: authority.to_owned(),
            },
            path: held.restore(&url[Position::BeforePath..Position::AfterQuery]),
        })
    }
}

impl Origin {
    /// As a URL without a path.
    pub(crate) fn shown(&self) -> String {
        let scheme = if self.tls { "https" } else { "http" };
        format!("{scheme}://{}", self.authority)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> LoadUrl {
        LoadUrl::parse(text, false).unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    #[test]
    fn ports_hosts_and_paths_are_completed() {
        let cases = [
            ("http://localhost", "localhost", 80, "localhost", "/"),
            (
                "http://localhost:8080/a?b=c#d",
                "localhost",
                8080,
                "localhost:8080",
                "/a?b=c",
            ),
            (
                "HTTPS://Example.COM:443/a b",
                "example.com",
                443,
                "example.com",
                "/a%20b",
            ),
            (
                "https://example.com:8443",
                "example.com",
                8443,
                "example.com:8443",
                "/",
            ),
            (
                "http://127.0.0.1:80/?x",
                "127.0.0.1",
                80,
                "127.0.0.1",
                "/?x",
            ),
            ("http://[::1]:8080/", "::1", 8080, "[::1]:8080", "/"),
            (
                "http://bücher.example/ü",
                "xn--bcher-kva.example",
                80,
                "xn--bcher-kva.example",
                "/%C3%BC",
            ),
            ("  http://a/%7B?q={1} ", "a", 80, "a", "/%7B?q={1}"),
        ];
        for (text, host, port, authority, path) in cases {
            let url = parsed(text);
            assert_eq!(url.origin.host.to_string(), host, "{text}");
            assert_eq!(url.origin.port, port, "{text}");
            assert_eq!(url.origin.authority, authority, "{text}");
            assert_eq!(url.path, path, "{text}");
            assert_eq!(
                url.origin.tls,
                text.starts_with("HTTPS") || text.starts_with("https")
            );
        }
    }

    #[test]
    fn what_is_no_url_is_refused_with_what_to_write() {
        let cases = [
            ("localhost:8080/a", "write http://localhost:8080/a"),
            ("//host/", "write http://host/"),
            ("ftp://host/", "does not begin with http:// or https://"),
            ("http://", "is not a URL"),
            ("http://host:99999/", "is not a URL"),
            ("http://host:0/", "port 0"),
            ("http://a b/", "is not a URL"),
            ("http://[::1/", "is not a URL"),
            ("http://1.2.3.4.5/", "is not a URL"),
        ];
        for (text, expected) in cases {
            let error = LoadUrl::parse(text, false).unwrap_err();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }

    #[test]
    fn a_user_in_the_url_is_refused_and_never_shown() {
        for text in [
            "http://me:secret@host/",
            "http://secret@host/",
            "http://:secret@host/",
            "https://me:secret@[::1",
            "ftp://me:secret@host/",
            "me:secret@host",
        ] {
            let error = LoadUrl::parse(text, false).unwrap_err();
            assert!(!error.contains("secret"), "{error}");
        }
        let error = LoadUrl::parse("http://me:secret@host/", false).unwrap_err();
        assert!(error.contains("--user"), "{error}");
        // An @ in the path is no user.
        assert_eq!(parsed("http://host/@me").path, "/@me");
    }

    #[test]
    fn templates_pass_through_unharmed() {
        let url = LoadUrl::parse(
            "http://h/u/{{counter}}/{{line a b?.txt}}?r={{random 1 100}}#{{x}}",
            true,
        );
        let path = "/u/{{counter}}/{{line a b?.txt}}?r={{random 1 100}}";
        assert_eq!(url.map(|url| url.path), Ok(path.to_owned()));
        for text in [
            "http://h{{counter}}/",
            "http://h:{{counter}}/",
            "http://{{line a}}/",
        ] {
            let error = LoadUrl::parse(text, true).unwrap_err();
            assert!(
                error.contains("only in the path and the query"),
                "{text}: {error}"
            );
        }
    }
}
