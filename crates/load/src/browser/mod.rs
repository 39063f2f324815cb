//! What a connection does beyond its requests if the load asks for it, as a browser would: it follows redirects and
//! keeps cookies.
//!
//! This allocates and takes requests apart, and costs nothing where it is not asked for. It knows no socket and no
//! counter.

mod jar;

use std::time::SystemTime;

use deadheat_model::{LoadSpec, load::REDIRECTS, observation::CookiesSeen};
use url::{Position, Url};

use jar::{Fate, From, Jar};

/// Bytes of a Location that an example shows.
const SHOWN: usize = 200;

/// What is asked for of all connections.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Browsing {
    most_redirects: u32,
    cookies: bool,
    tls: bool,
}

impl Browsing {
    /// What `spec` asks for, if it asks for any of it.
    pub(crate) fn new(spec: &LoadSpec) -> Option<Self> {
        (spec.redirects > 0 || spec.cookies).then_some(Self {
            most_redirects: spec.redirects,
            cookies: spec.cookies,
            tls: false,
        })
    }

    /// The same on connections with TLS, or without.
    pub(crate) fn over(self, tls: bool) -> Self {
        Self { tls, ..self }
    }
}

/// What an answer leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Leads {
    /// Nowhere: it is the final one.
    Nowhere,
    /// To another request.
    On,
    /// It is a redirect that is not followed, for this reason.
    Astray(&'static str),
}

/// The same, with that request.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Lead {
    /// Nowhere: it is the final one.
    Final,
    /// To this request.
    On(Vec<u8>),
    /// To one that is not sent.
    Astray(&'static str),
}

/// One connection's browser. It has one request on its way at a time.
#[derive(Debug)]
pub(crate) struct Browser {
    browsing: Browsing,
    /// The request on its way, as it is asked for now, without cookies.
    request: Vec<u8>,
    /// Redirects that led to it.
    hops: u32,
    lead: Lead,
    location: Location,
    /// When the connection that its first request went out on was begun.
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
            lead: Lead::Final,
            location: Location::default(),
            dialled: None,
            jar: browsing.cookies.then(Jar::default),
            seen: CookiesSeen::default(),
        }
    }

    /// Begins with another request, which `compose` writes.
    pub(crate) fn ask(&mut self, compose: impl FnOnce(&mut Vec<u8>)) {
        self.request.clear();
        compose(&mut self.request);
        self.hops = 0;
        self.dialled = None;
    }

    /// Appends the bytes of the request on its way.
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
        // The colons of an IPv6 address stand between brackets.
        let port = host.rfind(':').filter(|at| !host[*at..].contains(']'));
        for (name, value) in fields_of_head(raw) {
            if is(name, "set-cookie") {
                let from = From {
                    host: &host[..port.unwrap_or(host.len())],
                    path: request.path(),
                    tls: self.browsing.tls,
                    now: SystemTime::now(),
                };
                match jar.set(value, from) {
                    Fate::Kept => self.seen.set += 1,
                    Fate::Removed => self.seen.removed += 1,
                    Fate::Refused => self.seen.refused += 1,
                }
            }
        }
    }

    /// What it saw of cookies since it was last asked; `None` if it keeps none.
    pub(crate) fn take_seen(&mut self) -> Option<CookiesSeen> {
        self.jar.as_ref()?;
        Some(std::mem::take(&mut self.seen))
    }

    /// Gets ready for an answer.
    pub(crate) fn begin_answer(&mut self) {
        self.lead = Lead::Final;
    }

    /// The head of the answer has come. Whether the answer is the final one, and to be looked at.
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
        self.lead = if self.hops >= self.browsing.most_redirects {
            Lead::Astray("more redirects in a row than are followed")
        } else {
            let (location, tls) = (&self.location, self.browsing.tls);
            next(status, &self.request, location, tls).map_or_else(Lead::Astray, Lead::On)
        };
        false
    }

    /// What the answer leads to.
    pub(crate) fn leads(&self) -> Leads {
        match self.lead {
            Lead::Final => Leads::Nowhere,
            Lead::On(_) => Leads::On,
            Lead::Astray(why) => Leads::Astray(why),
        }
    }

    /// Goes where the answer leads to. `dialled` is when the connection was begun that it came on.
    pub(crate) fn go_on(&mut self, dialled: u64) {
        if let Lead::On(request) = std::mem::replace(&mut self.lead, Lead::Final) {
            self.request = request;
            self.hops += 1;
            self.dialled.get_or_insert(dialled);
        }
    }

    /// When the connection was begun that the first of the requests went out on, if redirects led on from there.
    pub(crate) fn dialled(&self) -> Option<u64> {
        self.dialled
    }

    /// Where the answer leads to, as it may be shown: the values of a query may be secrets, and a user is one.
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

/// A request in its parts.
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
    /// Takes a request apart; `None` if these bytes are no request.
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

/// Fields by lines: name and value. What continues a folded line is left out (RFC 9112 §5.2).
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

/// Where the first `mark` ends.
fn end_of(bytes: &[u8], mark: &[u8]) -> Option<usize> {
    let mut places = bytes.windows(mark.len());
    Some(places.position(|place| place == mark)? + mark.len())
}

/// What a redirect says of where it leads to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Location {
    value: Vec<u8>,
    /// How many fields said so.
    fields: u32,
}

/// Whether an answer with this status leads elsewhere.
fn is_redirect(status: u16) -> bool {
    REDIRECTS.contains(&status)
}

/// The request that a redirect leads to from `request`, on the same origin; or why there is none.
fn next(
    status: u16,
    request: &[u8],
    location: &Location,
    tls: bool,
) -> Result<Vec<u8>, &'static str> {
    let request = Request::parse(request).ok_or("the request before it cannot be read")?;
    let target = target(&request, location, tls)?;
    let method: &[u8] = match (status, request.method) {
        // RFC 9110 §15.4.4: by retrieving it, which is GET, or HEAD where nothing but the head is wanted.
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

/// Path and query of where it leads to: a reference to be resolved (RFC 3986 §5), without its fragment.
fn target(request: &Request<'_>, location: &Location, tls: bool) -> Result<String, &'static str> {
    let no_url = "its Location is not a URL";
    match location.fields {
        0 => return Err("it has no Location"),
        1 => {}
        _ => return Err("it has more than one Location"),
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

/// Whether a field says something of the content (RFC 9110 §8, §15.4), and goes where that goes.
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
        let none = Location::default();
        let error = next(302, request.as_bytes(), &none, false).unwrap_err();
        assert!(error.contains("no Location"), "{error}");
        let bytes = Location {
            value: b"/\xff".to_vec(),
            fields: 1,
        };
        assert!(next(302, request.as_bytes(), &bytes, false).is_err());
        assert!(next(302, request.as_bytes(), &location("https://h/"), true).is_ok());
    }
}
