//! URLs of targets and proxies, as they are typed or listed in a file.

use std::{
    net::IpAddr,
    path::{Path, PathBuf},
};

use deadheat_model::load::{Login, ProxyKind};
use deadheat_runner::{
    files,
    secret::{typed_without_userinfo, without_secret_values},
};
use deadheat_shell::{exit::CommandFailure, file_errors::unreadable};
use percent_encoding::percent_decode_str;
use url::{Host as ParsedHost, Position, Url};

use crate::{
    template::{MaskedText, TemplateError},
    values::{NoInterface, zone},
};

/// Why a text is not the URL of a load. The text is shown without secrets.
#[derive(Debug, thiserror::Error)]
pub enum UrlError {
    /// It has no scheme; what to write.
    #[error("{0:?} has no scheme: {1}")]
    NoScheme(String, String),
    /// It has another scheme than http and https.
    #[error("{0:?} does not begin with http:// or https://; no other protocol can be loaded")]
    OtherScheme(String),
    /// It has no host behind its scheme; what to write.
    #[error("{0:?} has no host: {1}")]
    NoHost(String, String),
    /// It is not a URL; what to write.
    #[error("{0:?} is not a URL ({1}); {2}")]
    NotAUrl(String, url::ParseError, &'static str),
    /// It has a user or a password in it.
    #[error(
        "{0:?} contains a user name, and a URL appears in every output. Remove it and use --user USER:PASSWORD"
    )]
    User(String),
    /// A URL has no host.
    #[error("{0:?} has no host")]
    Hostless(String),
    /// Its host differs from request to request.
    #[error(
        "{0:?} has a template in its host; templates can be used only in the path and the query"
    )]
    HostTemplate(String),
    /// Its port is 0.
    #[error("{0:?} has port 0, to which nothing connects")]
    PortZero(String),
    /// The zone of its IPv6 address names no interface of this machine.
    #[error(transparent)]
    Zone(#[from] NoInterface),
    /// A template in it has no end.
    #[error(transparent)]
    Template(#[from] TemplateError),
}

/// The URL of a request: origin and path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadUrl {
    /// Its origin.
    pub origin: Origin,
    /// Path and query, percent-encoded if needed.
    pub(crate) path: String,
}

/// The origin of a URL: scheme, host and port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// Whether the scheme is https.
    pub(crate) tls: bool,
    /// The host.
    pub(crate) host: Host,
    /// The index of the interface that the zone of an IPv6 address names (`[fe80::1%25eth0]`); 0: no zone.
    pub(crate) zone: u32,
    /// The port; the scheme's default if the URL has none.
    pub(crate) port: u16,
    /// The host, and the port unless it is the scheme's default: the value of `Host` (RFC 9110 §7.2).
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
    ///
    /// # Errors
    /// When it is not such a URL, or has a user name.
    pub fn parse(text: &str, template: bool) -> Result<Self, UrlError> {
        let text = text.trim();
        let shown = without_secret_values(&typed_without_userinfo(text));
        // "host/?to=http://other" has none.
        let is_name = |(scheme, _): &(&str, &str)| !scheme.contains(['/', '?', '#', ':', '@']);
        let Some((scheme, rest)) = text.split_once("://").filter(is_name) else {
            return Err(UrlError::NoScheme(shown, advice(text)));
        };
        if !["http", "https"].contains(&scheme.to_ascii_lowercase().as_str()) {
            return Err(UrlError::OtherScheme(shown));
        }
        // A URL library reads "http:///host" as "http://host".
        if !has_host(rest) {
            return Err(UrlError::NoHost(shown, advice(text)));
        }
        let masked = if template {
            MaskedText::new(text)?
        } else {
            MaskedText::nothing(text)
        };
        let (without_zone, zone) = take_zone(masked.text())?;
        let hint = if template {
            "templates can be used only in the path and the query"
        } else {
            "write it like http://host:port/path"
        };
        let url = match Url::parse(&without_zone) {
            Ok(url) => url,
            Err(error) => return Err(UrlError::NotAUrl(shown, error, hint)),
        };
        if !url.username().is_empty() || url.password().is_some() {
            return Err(UrlError::User(shown));
        }
        let host = match url.host() {
            Some(ParsedHost::Domain(name)) => Host::Name(name.to_owned()),
            Some(ParsedHost::Ipv4(address)) => Host::Address(address.into()),
            Some(ParsedHost::Ipv6(address)) => Host::Address(address.into()),
            None => return Err(UrlError::Hostless(shown)),
        };
        let authority = &url[Position::BeforeHost..Position::AfterPort];
        if masked.is_in(authority) {
            return Err(UrlError::HostTemplate(shown));
        }
        // Both schemes have a port of their own.
        let port = url.port_or_known_default().unwrap_or(80);
        if port == 0 {
            return Err(UrlError::PortZero(shown));
        }
        Ok(Self {
            origin: Origin {
                tls: url.scheme() == "https",
                host,
                zone,
                port,
                authority: authority.to_owned(),
            },
            path: masked.restore(&url[Position::BeforePath..Position::AfterQuery]),
        })
    }
}

/// Removes the zone of an IPv6 address (RFC 6874), which URL parsers do not support. Returns the URL without it, and
/// the index of the interface; 0: no zone.
fn take_zone(text: &str) -> Result<(String, u32), NoInterface> {
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

/// Whether a possible host follows the scheme.
fn has_host(rest: &str) -> bool {
    !rest.is_empty() && !rest.starts_with(['/', '?', '#', '\\', ':'])
}

/// Advice on what to write instead of `text`, which is not a URL. A recommended URL is known to parse.
fn advice(text: &str) -> String {
    let lower = text.to_ascii_lowercase();
    let schemes = ["https", "http"];
    let typed = schemes.into_iter().find_map(|scheme| {
        let rest = lower.strip_prefix(scheme)?;
        // The colon or slashes are missing or too many.
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
    // The text before an @ may contain a password.
    let is_safe = has_host(after_scheme) && !rest.contains('@');
    match Url::parse(&candidate) {
        Ok(url) if is_safe && url.port() != Some(0) => {
            format!("write {}", without_secret_values(&candidate))
        }
        _ => format!("write it like {scheme}://localhost:8080/path"),
    }
}

impl Origin {
    /// The origin as a URL without a path.
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
    /// The protocol of the proxy.
    pub(super) kind: ProxyKind,
    /// Whether the target's name is resolved on this machine, so that the proxy gets an address.
    pub(super) resolves_here: bool,
    pub(super) host: Host,
    pub(super) port: u16,
    pub(super) login: Option<Login>,
    /// The URL without user and password.
    pub(super) shown: String,
}

/// Why a text is not the URL of a proxy.
#[derive(Debug, thiserror::Error)]
#[error(
    "--proxy {shown}: {flaw}; write http://HOST:PORT, socks5://HOST:PORT (the name in the URL is resolved here) or \
     socks5h://HOST:PORT (by the proxy), with USER:PASSWORD@ in front of HOST if it needs that"
)]
pub(super) struct ProxyUrlError {
    /// The text without user and password.
    shown: String,
    flaw: ProxyFlaw,
}

#[derive(Debug, thiserror::Error)]
enum ProxyFlaw {
    #[error("there is no scheme")]
    NoScheme,
    #[error("TLS to the proxy itself is not spoken")]
    Tls,
    #[error("this kind of proxy is not spoken to")]
    OtherKind,
    #[error(transparent)]
    NotAUrl(#[from] url::ParseError),
    #[error("there is no host")]
    NoHost,
    #[error("a proxy has no path")]
    Path,
    #[error("there is no port")]
    NoPort,
    #[error("user and password are not UTF-8")]
    NotUtf8,
}

impl ProxyUrl {
    /// Reads `http://`, `socks5://` or `socks5h://`, then `[USER:PASSWORD@]HOST:PORT`.
    pub(super) fn parse(text: &str) -> Result<Self, ProxyUrlError> {
        let text = text.trim();
        let shown = typed_without_userinfo(text);
        let wrong = |flaw| ProxyUrlError {
            shown: shown.clone(),
            flaw,
        };
        let (scheme, rest) = text
            .split_once("://")
            .ok_or_else(|| wrong(ProxyFlaw::NoScheme))?;
        let (kind, resolves_here) = match scheme {
            "http" => (ProxyKind::Http, false),
            "socks5" => (ProxyKind::Socks5, true),
            "socks5h" => (ProxyKind::Socks5, false),
            "https" => return Err(wrong(ProxyFlaw::Tls)),
            _ => return Err(wrong(ProxyFlaw::OtherKind)),
        };
        // The parser does not check hosts of schemes other than http, and it drops the default port of http.
        let url = Url::parse(&format!("http://{rest}")).map_err(|error| wrong(error.into()))?;
        let host = match url.host() {
            Some(url::Host::Domain(name)) => Host::Name(name.to_owned()),
            Some(url::Host::Ipv4(address)) => Host::Address(IpAddr::V4(address)),
            Some(url::Host::Ipv6(address)) => Host::Address(IpAddr::V6(address)),
            None => return Err(wrong(ProxyFlaw::NoHost)),
        };
        let is_bare = url.path() == "/" && url.query().is_none() && url.fragment().is_none();
        if !is_bare {
            return Err(wrong(ProxyFlaw::Path));
        }
        let port = match url.port() {
            Some(port) => port,
            None if rest.trim_end_matches('/').ends_with(":80") => 80,
            None => return Err(wrong(ProxyFlaw::NoPort)),
        };
        let decoded = |text: &str| {
            let text = percent_decode_str(text).decode_utf8();
            text.map(|text| text.into_owned())
                .map_err(|_| wrong(ProxyFlaw::NotUtf8))
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

/// A line of a file of URLs: `[WEIGHT] [METHOD] URL [@BODYFILE]`. A `#` at a line's start begins a comment. If the origin is
/// known, a path is enough.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct UrlLine {
    /// The share of requests relative to the other lines.
    pub(crate) weight: u32,
    /// The method, if the line names one.
    pub(crate) method: Option<String>,
    /// The URL.
    pub(crate) url: LoadUrl,
    /// The file with the body, if the line names one.
    pub(crate) body: Option<PathBuf>,
}

/// Why the text of a file of URLs cannot be read, to follow the file's name.
#[derive(Debug, thiserror::Error)]
enum UrlsError {
    #[error(": it contains no URL")]
    Empty,
    #[error(", line {number}: {flaw}")]
    Line { number: usize, flaw: LineFlaw },
}

/// The format of a line, for messages.
const EXPECTED_LINE: &str = "expected [WEIGHT] [METHOD] URL [@BODYFILE]";

#[derive(Debug, thiserror::Error)]
enum LineFlaw {
    #[error("a control character; {line}", line = EXPECTED_LINE)]
    ControlCharacter,
    #[error("the weight {0:?} must be a whole number from 1 to {most}: {line}", most = u32::MAX, line = EXPECTED_LINE)]
    Weight(String),
    #[error("no file is named after the @")]
    NoBodyFile,
    #[error("{0:?} after {1:?}: {line}; in a URL, a blank is %20", line = EXPECTED_LINE)]
    Unexpected(String, String),
    #[error("{0:?} is neither a URL nor a path, which begins with /: {line}", line = EXPECTED_LINE)]
    Neither(String),
    #[error(
        "{0:?} is a path, and the command names no server: add its URL, like http://localhost:8080, to the command"
    )]
    Path(String),
    #[error(transparent)]
    OfPath(UrlError),
    #[error("{0}: {line}", line = EXPECTED_LINE)]
    Url(UrlError),
    #[error("{0} is another origin than {1}. Omit the URL of the command to load several origins")]
    OtherOrigin(String, String),
}

/// Reads the file of URLs. Body files are relative to its folder. With `origin`, a line may have only a path.
pub(crate) fn read_urls_file(
    path: &Path,
    template: bool,
    origin: Option<&Origin>,
) -> Result<Vec<UrlLine>, CommandFailure> {
    let shown = path.display();
    let text = files::read_typed_text(path)
        .map_err(|error| unreadable("--urls: reading", path, &error))?;
    let lines = parse_urls(&text, template, origin);
    let mut lines =
        lines.map_err(|error| CommandFailure::usage(format!("--urls {shown}{error}")))?;
    let folder = path.parent().unwrap_or(Path::new(""));
    for body in lines.iter_mut().filter_map(|line| line.body.as_mut()) {
        *body = folder.join(&*body);
    }
    Ok(lines)
}

/// Parses the text of the file.
fn parse_urls(
    text: &str,
    template: bool,
    origin: Option<&Origin>,
) -> Result<Vec<UrlLine>, UrlsError> {
    let mut lines: Vec<UrlLine> = Vec::new();
    for (number, text) in (1..).zip(text.lines()) {
        let text = text.trim();
        if text.is_empty() || text.starts_with('#') {
            continue;
        }
        let line = url_line(text, template, origin);
        lines.push(line.map_err(|flaw| UrlsError::Line { number, flaw })?);
    }
    if lines.is_empty() {
        Err(UrlsError::Empty)
    } else {
        Ok(lines)
    }
}

fn url_line(text: &str, template: bool, origin: Option<&Origin>) -> Result<UrlLine, LineFlaw> {
    if text.contains(char::is_control) && !text.contains('\t') {
        return Err(LineFlaw::ControlCharacter);
    }
    let (weight, rest) = match first_word(text) {
        (word, rest) if is_number_like(word) => (line_weight(word)?, rest),
        _ => (1, text),
    };
    let (method, rest) = match first_word(rest) {
        (word, rest) if !rest.is_empty() && is_method(word) => (Some(word.to_owned()), rest),
        _ => (None, rest),
    };
    let (url, rest) = url_word(rest);
    let body = match rest.strip_prefix('@') {
        Some("") => return Err(LineFlaw::NoBodyFile),
        Some(file) => Some(file.into()),
        None if rest.is_empty() => None,
        None => {
            let unexpected: String = rest.chars().take(40).collect();
            return Err(LineFlaw::Unexpected(
                unexpected,
                typed_without_userinfo(url),
            ));
        }
    };
    let url = match origin {
        Some(origin) if url.starts_with('/') => {
            let whole = format!("{}{url}", origin.shown());
            LoadUrl::parse(&whole, template).map_err(LineFlaw::OfPath)?
        }
        Some(_) if !url.contains("://") => {
            return Err(LineFlaw::Neither(typed_without_userinfo(url)));
        }
        None if url.starts_with('/') && !url.starts_with("//") => {
            return Err(LineFlaw::Path(url.to_owned()));
        }
        _ => LoadUrl::parse(url, template).map_err(LineFlaw::Url)?,
    };
    if let Some(other) = origin
        && *other != url.origin
    {
        let (own, other) = (url.origin.shown(), other.shown());
        return Err(LineFlaw::OtherOrigin(own, other));
    }
    Ok(UrlLine {
        weight,
        method,
        url,
        body,
    })
}

/// The first word, and the rest without the blanks around it.
fn first_word(text: &str) -> (&str, &str) {
    let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    (word, rest.trim_start())
}

/// The URL at the start, whose templates may contain blanks, and the rest.
fn url_word(text: &str) -> (&str, &str) {
    let mut end = 0;
    for (at, letter) in text.char_indices() {
        if at < end {
            continue;
        }
        if let Some(template) = text[at..].strip_prefix("{{")
            && let Some(length) = template.find("}}")
        {
            end = at + length + 4;
        } else if letter.is_whitespace() {
            return (&text[..at], text[at..].trim_start());
        }
    }
    (text, "")
}

/// Whether a word was probably meant as a number.
fn is_number_like(word: &str) -> bool {
    let digits = word.trim_start_matches(['+', '-', '.']);
    digits.starts_with(|first: char| first.is_ascii_digit())
}

fn line_weight(word: &str) -> Result<u32, LineFlaw> {
    let digits = word.bytes().all(|byte| byte.is_ascii_digit());
    let weight = digits.then(|| word.parse().ok()).flatten();
    weight
        .filter(|weight| *weight > 0)
        .ok_or_else(|| LineFlaw::Weight(word.to_owned()))
}

/// Whether a word is a method. Methods must be in capitals, like all registered ones, so that no other word matches.
fn is_method(word: &str) -> bool {
    word.starts_with(|first: char| first.is_ascii_uppercase())
        && word
            .bytes()
            .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || b"-_".contains(&byte))
}

#[cfg(test)]
#[path = "url_tests.rs"]
mod tests;
