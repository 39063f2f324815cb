//! URLs as they are typed: what is loaded, and the proxy on the way to it.

use std::net::IpAddr;

use deadheat_model::load::{Login, ProxyKind};
use deadheat_runner::secret::{typed_without_userinfo, without_secret_values};
use percent_encoding::percent_decode_str;
use url::{Host as ParsedHost, Position, Url};

use crate::{template::Held, values::zone};

/// What to load: where it is and what is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadUrl {
    /// Where it is.
    pub origin: Origin,
    /// Path and query, percent-encoded where that is needed.
    pub(crate) path: String,
}

/// Where a URL leads to: what all requests of a load have in common.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// Whether it is https.
    pub(crate) tls: bool,
    /// The host.
    pub(crate) host: Host,
    /// The index of the interface that the zone of an IPv6 address names (`[fe80::1%25eth0]`); 0: there is none.
    pub(crate) zone: u32,
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
    pub fn parse(text: &str, template: bool) -> Result<Self, String> {
        let text = text.trim();
        let shown = without_secret_values(&typed_without_userinfo(text));
        // "host/?to=http://other" has none.
        let is_name = |(scheme, _): &(&str, &str)| !scheme.contains(['/', '?', '#', ':', '@']);
        let Some((scheme, rest)) = text.split_once("://").filter(is_name) else {
            return Err(format!("{shown:?} has no scheme: {}", advice(text)));
        };
        if !["http", "https"].contains(&scheme.to_ascii_lowercase().as_str()) {
            return Err(format!(
                "{shown:?} does not begin with http:// or https://; no other protocol can be loaded"
            ));
        }
        // A URL library reads "http:///host" as "http://host".
        if !has_host(rest) {
            return Err(format!("{shown:?} has no host: {}", advice(text)));
        }
        let held = if template {
            Held::new(text)?
        } else {
            Held::nothing(text)
        };
        let (without_zone, zone) = take_zone(held.text())?;
        let url = Url::parse(&without_zone).map_err(|error| {
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
                zone,
                port,
                authority: authority.to_owned(),
            },
            path: held.restore(&url[Position::BeforePath..Position::AfterQuery]),
        })
    }
}

/// Takes the zone off an IPv6 address, because URL parsers know none (RFC 6874): the URL without it, and the index of the
/// interface.
fn take_zone(text: &str) -> Result<(String, u32), String> {
    let none = || Ok((text.to_owned(), 0));
    let Some(start) = text.find("://[") else {
        return none();
    };
    let start = start + 4;
    let Some(end) = text[start..]
        .find([']', '/', '?', '#'])
        .map(|at| start + at)
    else {
        return none();
    };
    let Some(percent) = text[start..end].find('%').map(|at| start + at) else {
        return none();
    };
    let name = &text[percent + 1..end];
    let name = name
        .strip_prefix("25")
        .filter(|name| !name.is_empty())
        .unwrap_or(name);
    let index = zone(name)?;
    Ok((format!("{}{}", &text[..percent], &text[end..]), index))
}

/// Whether something that can be a host follows the scheme.
fn has_host(rest: &str) -> bool {
    !rest.is_empty() && !rest.starts_with(['/', '?', '#', '\\', ':'])
}

/// What to write instead of `text`, which is not a URL: tried before it is recommended.
fn advice(text: &str) -> String {
    let lower = text.to_ascii_lowercase();
    let schemes = ["https", "http"];
    let typed = schemes.into_iter().find_map(|scheme| {
        let rest = lower.strip_prefix(scheme)?;
        // A colon or slashes that were left out or are too many.
        let rest = rest.trim_start_matches([':', ';', '/', '\\']);
        let dropped = lower.len() - rest.len();
        (dropped > scheme.len()).then(|| (scheme, &text[dropped..], &text[scheme.len()..dropped]))
    });
    let (scheme, rest, between) =
        typed.unwrap_or(("http", text.trim_start_matches(['/', '\\']), ""));
    // Without a user and a password, which a URL must not have.
    let authority = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let rest = rest[..authority]
        .rfind('@')
        .map_or(rest, |at| &rest[at + 1..]);
    let port = rest.strip_prefix(':').unwrap_or(rest);
    let digits = port.bytes().take_while(u8::is_ascii_digit).count();
    let is_port = digits > 0
        && !port[digits..].starts_with(['.', ':'])
        && (digits == port.len() || port[digits..].starts_with(['/', '?', '#']));
    let candidate = if is_port && (rest.len() > port.len() || digits <= 5) {
        format!("{scheme}://localhost:{port}")
    } else if between.ends_with(":///") && !rest.contains(['.', ':']) {
        // It may be a path: "http:///path".
        format!("{scheme}://localhost/{rest}")
    } else if rest.parse::<std::net::Ipv6Addr>().is_ok() {
        format!("{scheme}://[{rest}]/")
    } else {
        format!("{scheme}://{rest}")
    };
    let (_, after_scheme) = candidate.split_once("://").unwrap_or_default();
    // What is before an @ may be a password.
    let is_safe = has_host(after_scheme) && !rest.contains('@');
    match Url::parse(&candidate) {
        Ok(url) if is_safe && url.port() != Some(0) => {
            format!("write {}", without_secret_values(&candidate))
        }
        _ => format!("write it like {scheme}://localhost:8080/path"),
    }
}

impl Origin {
    /// As a URL without a path.
    pub fn shown(&self) -> String {
        let scheme = if self.tls { "https" } else { "http" };
        match self.zone {
            0 => format!("{scheme}://{}", self.authority),
            zone => format!(
                "{scheme}://{}",
                self.authority.replacen(']', &format!("%25{zone}]"), 1)
            ),
        }
    }
}

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
    fn an_ipv6_address_may_have_a_zone_that_is_not_sent() {
        for text in [
            "http://[fe80::1%25lo]:8080/a",
            "http://[fe80::1%lo]:8080/a",
            "http://[fe80::1%251]:8080/a",
        ] {
            let url = parsed(text);
            assert_eq!(url.origin.host.to_string(), "fe80::1");
            assert_eq!((url.origin.zone, url.origin.port), (1, 8080), "{text}");
            assert_eq!(url.origin.authority, "[fe80::1]:8080");
        }
        assert_eq!(parsed("http://[::1]/%25lo").origin.zone, 0);
        let error = LoadUrl::parse("http://[fe80::1%25no-such0]/", false).unwrap_err();
        assert!(
            error.contains("\"no-such0\" is not a network interface"),
            "{error}"
        );
    }

    #[test]
    fn what_is_no_url_is_refused_with_what_to_write() {
        let cases = [
            ("localhost:8080/a", "write http://localhost:8080/a"),
            ("//host/", "write http://host/"),
            (":8080/", "write http://localhost:8080/"),
            ("h:80/?to=http://b", "write http://h:80/?to=…"),
            (":8080", "write http://localhost:8080"),
            ("8080", "write http://localhost:8080"),
            ("http://:8080/", "write http://localhost:8080/"),
            ("http:/127.0.0.1:8080/", "write http://127.0.0.1:8080/"),
            ("http:127.0.0.1:8080/", "write http://127.0.0.1:8080/"),
            ("HTTPS:/h:8443/a?b", "write https://h:8443/a?…"),
            ("http//h/", "write http://h/"),
            ("http:\\\\h/", "write http://h/"),
            ("http:8080/", "write http://localhost:8080/"),
            ("http:///a", "write http://localhost/a"),
            ("http:///h:80/a", "write http://h:80/a"),
            ("https:///127.0.0.1/", "write https://127.0.0.1/"),
            ("127.0.0.1", "write http://127.0.0.1"),
            ("127.0.0.1:80/a", "write http://127.0.0.1:80/a"),
            ("::1", "write http://[::1]/"),
            ("[::1]:80", "write http://[::1]:80"),
            ("http-server:80/", "write http://http-server:80/"),
            ("", "like http://localhost:8080/path"),
            ("/", "like http://localhost:8080/path"),
            ("?a", "like http://localhost:8080/path"),
            ("a b", "like http://localhost:8080/path"),
            ("http://", "like http://localhost:8080/path"),
            ("http:", "like http://localhost:8080/path"),
            ("https://?a", "like https://localhost:8080/path"),
            ("ftp://host/", "does not begin with http:// or https://"),
            ("http://host:99999/", "is not a URL"),
            ("http://host:0/", "port 0"),
            ("http://a b/", "is not a URL"),
            ("http://[::1/", "is not a URL"),
            ("http://1.2.3.4.5/", "is not a URL"),
        ];
        for (text, expected) in cases {
            let error = LoadUrl::parse(text, false).unwrap_err();
            assert!(error.contains(expected), "{text}: {error}");
            if let Some((_, advice)) = error.split_once(": write ")
                && !advice.starts_with("it ")
            {
                parsed(advice);
            }
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
