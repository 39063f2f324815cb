//! Browser behaviour of a connection, if the load asks for it: following redirects and keeping cookies.
//!
//! This allocates and parses requests, and costs nothing if it is not asked for. It knows no socket and no counter.

mod jar;

use std::time::SystemTime;

use deadheat_model::{LoadSpec, load::REDIRECTS, observation::CookiesSeen};
use url::{Position, Url};

use jar::{CookieOutcome, CookieSource, Jar};

/// The most bytes of a Location that an example shows.
const SHOWN: usize = 200;

/// The browser behaviour of all connections.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Browsing {
    most_redirects: u32,
    cookies: bool,
    tls: bool,
}

impl Browsing {
    /// The behaviour that `spec` asks for; `None`: neither redirects nor cookies.
    pub(crate) fn new(spec: &LoadSpec) -> Option<Self> {
        (spec.redirects > 0 || spec.cookies).then_some(Self {
            most_redirects: spec.redirects,
            cookies: spec.cookies,
            tls: false,
        })
    }

    /// This browser on connections with or without TLS.
    pub(crate) fn over(self, tls: bool) -> Self {
        Self { tls, ..self }
    }
}

/// Whether an answer is a redirect, and whether it is followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RedirectOutcome {
    /// The answer is the final one.
    Final,
    /// The answer is a redirect that is followed by another request.
    Followed,
    /// The answer is a redirect that is not followed, for this reason.
    NotFollowed(&'static str),
}

/// The request that follows an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
enum NextRequest {
    /// None: the answer is the final one.
    None,
    /// The bytes of the request that the redirect asks for.
    Redirected(Vec<u8>),
    /// None: the redirect is not followed, for this reason.
    NotFollowed(&'static str),
}

/// The browser of a connection. It has one request in flight at a time.
#[derive(Debug)]
pub(crate) struct Browser {
    browsing: Browsing,
    /// The bytes of the request in flight, after redirects, without cookies.
    request: Vec<u8>,
    /// Number of redirects that led to it.
    hops: u32,
    next_request: NextRequest,
    location: Location,
    /// The dial time of the connection that carried the first request; `None` before a redirect.
    dialled: Option<u64>,
    /// Its cookies, if it keeps any.
    jar: Option<Jar>,
    seen: CookiesSeen,
}

impl Browser {
    pub(crate) fn new(browsing: Browsing) -> Self {
        Self {
            browsing,
            request: Vec::new(),
            hops: 0,
            next_request: NextRequest::None,
            location: Location::default(),
            dialled: None,
            jar: browsing.cookies.then(Jar::default),
            seen: CookiesSeen::default(),
        }
    }

    /// Begins a new request, which `compose` writes.
    pub(crate) fn ask(&mut self, compose: impl FnOnce(&mut Vec<u8>)) {
        self.request.clear();
        compose(&mut self.request);
        self.hops = 0;
        self.dialled = None;
    }

    /// Appends the bytes of the request in flight, with its cookies.
    pub(crate) fn write(&mut self, out: &mut Vec<u8>) {
        let (Some(jar), Some(request)) = (&self.jar, Request::parse(&self.request)) else {
            return out.extend_from_slice(&self.request);
        };
        // Before the empty line.
        let end = self.request.len() - request.content.len() - 2;
        out.extend_from_slice(&self.request[..end]);
        let has_some = jar.write(request.path(), SystemTime::now(), out);
        self.seen.sent += u64::from(has_some);
        out.extend_from_slice(&self.request[end..]);
    }

    /// Keeps the cookies that a head sets.
    fn keep_cookies(&mut self, raw: &[u8]) {
        let (Some(jar), Some(request)) = (&mut self.jar, Request::parse(&self.request)) else {
            return;
        };
        let host = request.field("host").unwrap_or_default();
        let host = std::str::from_utf8(host).unwrap_or_default();
        // The colons of an IPv6 address are between brackets.
        let port = host.rfind(':').filter(|at| !host[*at..].contains(']'));
        for (name, value) in fields_of_head(raw) {
            if is(name, "set-cookie") {
                let from = CookieSource {
                    host: &host[..port.unwrap_or(host.len())],
                    path: request.path(),
                    tls: self.browsing.tls,
                    now: SystemTime::now(),
                };
                match jar.set(value, from) {
                    CookieOutcome::Kept => self.seen.set += 1,
                    CookieOutcome::Removed => self.seen.removed += 1,
                    CookieOutcome::Refused => self.seen.refused += 1,
                }
            }
        }
    }

    /// The cookie counts since the last call; `None` if it keeps no cookies.
    pub(crate) fn take_seen(&mut self) -> Option<CookiesSeen> {
        self.jar.as_ref()?;
        Some(std::mem::take(&mut self.seen))
    }

    /// Prepares for the next answer.
    pub(crate) fn begin_answer(&mut self) {
        self.next_request = NextRequest::None;
    }

    /// Reads the head of the answer. Returns whether the answer is the final one, which is verified.
    pub(crate) fn head(&mut self, status: u16, raw: &[u8]) -> bool {
        self.keep_cookies(raw);
        if self.browsing.most_redirects == 0 || !is_redirect(status) {
            return true;
        }
        self.location = Location::default();
        for (name, value) in fields_of_head(raw) {
            if is(name, "location") {
                self.location.fields += 1;
                self.location.value = value.to_vec();
            }
        }
        // A redirect without a Location is a final answer (RFC 9110 §15.4).
        if self.location.fields == 0 {
            return true;
        }
        self.next_request = if self.hops >= self.browsing.most_redirects {
            NextRequest::NotFollowed("more redirects in a row than are followed")
        } else {
            let (location, tls) = (&self.location, self.browsing.tls);
            next(status, &self.request, location, tls)
                .map_or_else(NextRequest::NotFollowed, NextRequest::Redirected)
        };
        false
    }

    /// Whether the answer is a redirect, and whether it is followed.
    pub(crate) fn redirect_outcome(&self) -> RedirectOutcome {
        match self.next_request {
            NextRequest::None => RedirectOutcome::Final,
            NextRequest::Redirected(_) => RedirectOutcome::Followed,
            NextRequest::NotFollowed(why) => RedirectOutcome::NotFollowed(why),
        }
    }

    /// Replaces the request by the redirected one. `dialled` is the dial time of the connection.
    pub(crate) fn go_on(&mut self, dialled: u64) {
        let next_request = std::mem::replace(&mut self.next_request, NextRequest::None);
        if let NextRequest::Redirected(request) = next_request {
            self.request = request;
            self.hops += 1;
            self.dialled.get_or_insert(dialled);
        }
    }

    /// The dial time of the connection that carried the first request; `None` if no redirect was followed.
    pub(crate) fn dialled(&self) -> Option<u64> {
        self.dialled
    }

    /// The location of the redirect without secrets: no query values and no user.
    pub(crate) fn location(&self) -> String {
        let value = String::from_utf8_lossy(&self.location.value);
        let end = value.find(['?', '#']).unwrap_or(value.len());
        let (scheme, rest) = value[..end].split_once("//").unwrap_or(("", &value[..end]));
        let authority = rest.find('/').unwrap_or(rest.len());
        let shown = match rest[..authority].rfind('@') {
            Some(at) => format!("{scheme}//…{}", &rest[at..]),
            None => value[..end].to_owned(),
        };
        shown.chars().take(SHOWN).collect()
    }
}

/// The parts of an encoded request.
#[derive(Clone, Copy, Debug)]
struct Request<'a> {
    method: &'a [u8],
    target: &'a str,
    /// The rest of the first line after the target, from the blank to CR LF.
    version: &'a [u8],
    /// The header fields, each with its CR LF, without the empty line.
    fields: &'a [u8],
    /// The bytes after the empty line.
    content: &'a [u8],
}

impl<'a> Request<'a> {
    /// Parses a request; `None` if these bytes are no request.
    fn parse(bytes: &'a [u8]) -> Option<Self> {
        let (line, rest) = bytes.split_at(end_of(bytes, b"\r\n")?);
        let mut blanks = (0..line.len()).filter(|at| line[*at] == b' ');
        let (first, second) = (blanks.next()?, blanks.next()?);
        // A request without fields has none but the empty line.
        let fields = if rest.starts_with(b"\r\n") {
            0
        } else {
            end_of(rest, b"\r\n\r\n")? - 2
        };
        let (fields, content) = rest.split_at(fields);
        Some(Self {
            method: &line[..first],
            target: std::str::from_utf8(&line[first + 1..second]).ok()?,
            version: &line[second..],
            fields,
            content: &content[2..],
        })
    }

    /// The value of a field.
    fn field(&self, name: &str) -> Option<&'a [u8]> {
        let mut found = fields(self.fields).filter(|(other, _)| is(other, name));
        found.next().map(|(_, value)| value)
    }

    /// The path, without the query.
    fn path(&self) -> &'a str {
        self.target.split(['?', '#']).next().unwrap_or_default()
    }
}

/// The fields of a head, without its first line.
fn fields_of_head(head: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    fields(&head[end_of(head, b"\n").unwrap_or(head.len())..])
}

/// The name and value of each field. Continuations of folded lines are left out (RFC 9112 §5.2).
fn fields(lines: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    lines.split(|byte| *byte == b'\n').filter_map(|line| {
        let colon = line.iter().position(|byte| *byte == b':')?;
        let is_folded = line.starts_with(b" ") || line.starts_with(b"\t");
        (!is_folded).then(|| (&line[..colon], line[colon + 1..].trim_ascii()))
    })
}

/// Whether a field's name is this one.
fn is(name: &[u8], wanted: &str) -> bool {
    name.eq_ignore_ascii_case(wanted.as_bytes())
}

/// The index after the first `mark`.
fn end_of(bytes: &[u8], mark: &[u8]) -> Option<usize> {
    let mut places = bytes.windows(mark.len());
    Some(places.position(|place| place == mark)? + mark.len())
}

/// The Location of a redirect.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Location {
    value: Vec<u8>,
    /// Number of Location fields.
    fields: u32,
}

/// Whether this status is a redirect.
fn is_redirect(status: u16) -> bool {
    REDIRECTS.contains(&status)
}

/// The request after a redirect of `request`, on the same origin; an error says why it is not followed.
fn next(
    status: u16,
    request: &[u8],
    location: &Location,
    tls: bool,
) -> Result<Vec<u8>, &'static str> {
    let request = Request::parse(request).ok_or("the request before it cannot be read")?;
    let target = target(&request, location, tls)?;
    let method: &[u8] = match (status, request.method) {
        // RFC 9110 §15.4.4: GET, or HEAD after a HEAD request.
        (303, method) if method != b"HEAD" => b"GET",
        // RFC 9110 §15.4.2 and §15.4.3, as browsers do it.
        (301 | 302, b"POST") => b"GET",
        (_, method) => method,
    };
    let keeps_content = method == request.method;
    let mut next = Vec::with_capacity(request.fields.len() + target.len() + 64);
    next.extend_from_slice(method);
    next.push(b' ');
    next.extend_from_slice(target.as_bytes());
    next.extend_from_slice(request.version);
    for line in request.fields.split_inclusive(|byte| *byte == b'\n') {
        let name = line.split(|byte| *byte == b':').next().unwrap_or_default();
        if keeps_content || !is_of_content(name) {
            next.extend_from_slice(line);
        }
    }
    next.extend_from_slice(b"\r\n");
    if keeps_content {
        next.extend_from_slice(request.content);
    }
    Ok(next)
}

/// Path and query of the location, resolved as a reference (RFC 3986 §5), without its fragment.
fn target(request: &Request<'_>, location: &Location, tls: bool) -> Result<String, &'static str> {
    let no_url = "its Location is not a URL";
    if location.fields > 1 {
        return Err("it has more than one Location");
    }
    let reference = std::str::from_utf8(&location.value).map_err(|_| no_url)?;
    // The origin is what the request says (RFC 9110 §7.1): the server knows no other.
    let host = request.field("host").unwrap_or_default();
    let host = String::from_utf8_lossy(host);
    let scheme = if tls { "https" } else { "http" };
    let base = Url::parse(&format!("{scheme}://{host}{}", request.target))
        .map_err(|_| "the request's Host is not a host, so no origin is the same")?;
    let url = base.join(reference).map_err(|_| no_url)?;
    if url.origin() == base.origin() {
        Ok(url[Position::BeforePath..Position::AfterQuery].to_owned())
    } else {
        Err("it leads to another origin")
    }
}

/// Whether a field describes the content (RFC 9110 §8, §15.4). Such a field is dropped with the content.
fn is_of_content(name: &[u8]) -> bool {
    let prefix = b"content-";
    let starts = name
        .get(..prefix.len())
        .is_some_and(|start| start.eq_ignore_ascii_case(prefix));
    starts
        || ["transfer-encoding", "trailer", "expect"]
            .iter()
            .any(|other| is(name, other))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_has_its_parts() {
        let bytes = b"PUT /a?b HTTP/1.1\r\nHost: h\r\nX-Y:  z \r\n\r\nbo\r\n\r\ndy";
        let request = Request::parse(bytes).unwrap();
        assert_eq!((request.method, request.target), (&b"PUT"[..], "/a?b"));
        assert_eq!(
            (request.path(), request.version),
            ("/a", &b" HTTP/1.1\r\n"[..])
        );
        assert_eq!(request.fields, b"Host: h\r\nX-Y:  z \r\n");
        assert_eq!(request.content, b"bo\r\n\r\ndy");
        assert_eq!(request.field("x-y"), Some(&b"z"[..]));
        let bare = Request::parse(b"GET / HTTP/1.0\r\n\r\nx").unwrap();
        assert_eq!((bare.fields, bare.content), (&b""[..], &b"x"[..]));
        assert!(Request::parse(b"GET / HTTP/1.0\r\n").is_none());
    }

    #[test]
    fn folded_lines_are_no_fields() {
        let head = b"HTTP/1.1 200 OK: x\r\nA: 1\r\n b: 2\r\nC:3\r\n\r\n";
        let fields: Vec<_> = fields_of_head(head).collect();
        assert_eq!(fields, [(&b"A"[..], &b"1"[..]), (b"C", b"3")]);
    }

    fn location(value: &str) -> Location {
        Location {
            value: value.as_bytes().to_vec(),
            fields: 1,
        }
    }

    fn follow(status: u16, request: &str, to: &str) -> Result<String, &'static str> {
        next(status, request.as_bytes(), &location(to), false)
            .map(|next| String::from_utf8(next).unwrap())
    }

    #[test]
    fn methods_follow_rfc_9110() {
        for (status, before, after, keeps) in [
            (301, "POST", "GET", false),
            (302, "POST", "GET", false),
            (303, "POST", "GET", false),
            (307, "POST", "POST", true),
            (308, "POST", "POST", true),
            (301, "PUT", "PUT", true),
            (302, "DELETE", "DELETE", true),
            (303, "PUT", "GET", false),
            (303, "HEAD", "HEAD", true),
            (301, "HEAD", "HEAD", true),
            (308, "GET", "GET", true),
        ] {
            let head = "HTTP/1.1\r\nHost: h:1\r\nContent-Type: text/plain\r\nX: 1\r\nContent-Length: 2\r\n\r\nhi";
            let found = follow(status, &format!("{before} /a {head}"), "/b").unwrap();
            let expected = if keeps {
                format!("{after} /b {head}")
            } else {
                format!("{after} /b HTTP/1.1\r\nHost: h:1\r\nX: 1\r\n\r\n")
            };
            assert_eq!(found, expected, "{status} {before}");
        }
    }

    #[test]
    fn references_are_resolved_as_in_rfc_3986() {
        let request = "GET /b/c/d;p?q HTTP/1.1\r\nHost: h:8080\r\n\r\n";
        // Most are of its §5.4.
        for (to, expected) in [
            ("g", "/b/c/g"),
            ("./g", "/b/c/g"),
            ("g/", "/b/c/g/"),
            ("/g", "/g"),
            ("?y", "/b/c/d;p?y"),
            ("g?y", "/b/c/g?y"),
            ("#s", "/b/c/d;p?q"),
            ("g?y#s", "/b/c/g?y"),
            (";x", "/b/c/;x"),
            ("", "/b/c/d;p?q"),
            ("..", "/b/"),
            ("../../g", "/g"),
            ("../../../g", "/g"),
            ("g;x=1/../y", "/b/c/y"),
            ("g?y/../x", "/b/c/g?y/../x"),
            ("//h:8080/g", "/g"),
            ("HTTP://H:8080/g?h", "/g?h"),
            ("http://h:8080", "/"),
            ("a b?c d", "/b/c/a%20b?c%20d"),
        ] {
            let found = follow(302, request, to).unwrap();
            let expected = format!("GET {expected} HTTP/1.1\r\nHost: h:8080\r\n\r\n");
            assert_eq!(found, expected, "{to}");
        }
    }

    #[test]
    fn what_leads_nowhere_says_why() {
        let request = "GET / HTTP/1.1\r\nHost: h\r\n\r\n";
        for (to, why) in [
            ("//other/", "another origin"),
            ("https://h/", "another origin"),
            ("http://h:81/", "another origin"),
            ("mailto:a@b", "another origin"),
            ("http://[", "not a URL"),
        ] {
            let error = follow(302, request, to).unwrap_err();
            assert!(error.contains(why), "{to}: {error}");
        }
        assert!(follow(302, request, "http://h:80/").is_ok());
        let mut twice = location("/");
        twice.fields = 2;
        let error = next(302, request.as_bytes(), &twice, false).unwrap_err();
        assert!(error.contains("more than one"), "{error}");
        let bytes = Location {
            value: b"/\xff".to_vec(),
            fields: 1,
        };
        assert!(next(302, request.as_bytes(), &bytes, false).is_err());
        assert!(next(302, request.as_bytes(), &location("https://h/"), true).is_ok());
    }
}
