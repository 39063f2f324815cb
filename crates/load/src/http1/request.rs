//! A request's bytes: built once, or for each request from a template.

use deadheat_model::load::{Body, HttpVersion, RequestSpec, Reuse};

use crate::template::{Choice, Lists, Place, Template, itoa};

/// The longest piece of a chunked request body; a body is always cut in two pieces or more.
const CHUNK: usize = 16 * 1024;
/// Methods whose requests have a length even when they have no content (RFC 9110 §8.6).
pub(crate) const DEFINE_CONTENT: [&str; 3] = ["POST", "PUT", "PATCH"];

/// How requests are written, apart from what they ask for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Manner<'a> {
    /// The version in the request line.
    pub(crate) version: HttpVersion,
    /// Whether connections carry more than one request.
    pub(crate) reuse: Reuse,
    /// The value of `Host`, unless the request has its own.
    pub(crate) authority: &'a str,
    /// For a proxy that takes plain requests: its credentials, if any.
    pub(crate) proxy: Option<Authorization<'a>>,
}

/// The value of `Proxy-Authorization`, if there is any.
pub(crate) type Authorization<'a> = Option<&'a str>;

/// A request as it goes on the wire.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct EncodedRequest {
    content: Wire,
    /// Whether its answer has no body (RFC 9112 §6.3 rule 1).
    pub(crate) is_head: bool,
    /// Whether it announces the connection's end (RFC 9112 §9.6: no request may follow).
    pub(crate) closes: bool,
    /// How many of its bytes are sent before the server has said that it wants the rest (RFC 9110 §10.1.1).
    pub(crate) hold_at: Option<usize>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Wire {
    /// All its bytes.
    Fixed(Vec<u8>),
    /// What is filled anew for each request.
    Template(Box<Form>),
}

/// A request in pieces.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Form {
    /// The request line up to the path.
    start: Vec<u8>,
    path: Template,
    /// The end of the request line and `Host`, where it is added.
    after_path: Vec<u8>,
    /// Each header's name with its colon, and its value.
    headers: Vec<(Vec<u8>, Template)>,
    body: Option<(Framing, Template)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Framing {
    Sized,
    Chunked,
    /// The request has its own Content-Length.
    Own,
}

impl EncodedRequest {
    /// Builds the bytes of `request`, or says what in it cannot be sent.
    pub(crate) fn new(
        request: &RequestSpec,
        manner: Manner<'_>,
        lists: &Lists,
    ) -> Result<Self, String> {
        check(request, manner)?;
        let form = Form::new(request, manner, lists)?;
        let option = |wanted: &str| {
            request.headers.iter().any(|(name, value)| {
                let mut options = value.split(',').map(str::trim);
                name.eq_ignore_ascii_case("connection")
                    && options.any(|option| option.eq_ignore_ascii_case(wanted))
            })
        };
        let persistent = match manner.version {
            HttpVersion::Http11 => true,
            HttpVersion::Http10 => manner.reuse == Reuse::KeepAlive || option("keep-alive"),
        };
        let closes = manner.reuse == Reuse::PerRequest || option("close") || !persistent;
        let (content, hold_at) = if request.template {
            (Wire::Template(Box::new(form)), None)
        } else {
            let mut bytes = Vec::new();
            let head = form.render(
                Choice { count: 0, seed: 0 },
                lists,
                &mut Vec::new(),
                &mut bytes,
            );
            let holds = expects_continue(request) && head < bytes.len();
            (Wire::Fixed(bytes), holds.then_some(head))
        };
        Ok(Self {
            content,
            is_head: request.method == "HEAD",
            closes,
            hold_at,
        })
    }

    /// Its bytes, where they are always the same.
    #[inline]
    pub(crate) fn fixed(&self) -> Option<&[u8]> {
        match &self.content {
            Wire::Fixed(bytes) => Some(bytes),
            Wire::Template(_) => None,
        }
    }

    /// Appends its bytes; `choice` is asked for where there is something to fill in. `scratch` is room for a body.
    pub(crate) fn append(
        &self,
        choice: impl FnOnce() -> Choice,
        lists: &Lists,
        scratch: &mut Vec<u8>,
        out: &mut Vec<u8>,
    ) {
        match &self.content {
            Wire::Fixed(bytes) => out.extend_from_slice(bytes),
            Wire::Template(form) => {
                form.render(choice(), lists, scratch, out);
            }
        }
    }
}

impl Form {
    fn new(request: &RequestSpec, manner: Manner<'_>, lists: &Lists) -> Result<Self, String> {
        let text = |text: &[u8], place: Place| {
            if request.template {
                Template::parse(text, place, lists)
            } else {
                Ok(Template::literal(text))
            }
        };
        let mut after_path = format!(" HTTP/{}\r\n", manner.version).into_bytes();
        let has = |wanted: &str| {
            request
                .headers
                .iter()
                .any(|(name, _)| name.eq_ignore_ascii_case(wanted))
        };
        // RFC 9112 §3.2: a request must have one Host, best as the first field.
        if !has("host") {
            field(&mut after_path, "Host", manner.authority.as_bytes());
        }
        if !has("connection") {
            match (manner.version, manner.reuse) {
                (HttpVersion::Http10, Reuse::KeepAlive) => {
                    field(&mut after_path, "Connection", b"keep-alive");
                }
                (HttpVersion::Http11, Reuse::PerRequest) => {
                    field(&mut after_path, "Connection", b"close");
                }
                (HttpVersion::Http11, Reuse::KeepAlive)
                | (HttpVersion::Http10, Reuse::PerRequest) => {}
            }
        }
        let mut start = format!("{} ", request.method);
        if let Some(authorization) = manner.proxy {
            // The absolute form (RFC 9112 §3.2.2).
            start.push_str(&format!("http://{}", manner.authority));
            if let Some(value) = authorization {
                field(&mut after_path, "Proxy-Authorization", value.as_bytes());
            }
        }
        let own_length = has("content-length");
        let header = |(name, value): &(String, String)| {
            Ok((
                format!("{name}: ").into_bytes(),
                text(value.as_bytes(), Place::Header)?,
            ))
        };
        let body = match &request.body {
            // A server may refuse such a request without a length (411).
            Body::None if DEFINE_CONTENT.contains(&request.method.as_str()) => {
                Some((Framing::Sized, Template::literal(b"")))
            }
            Body::None => None,
            Body::Sized(body) | Body::Call(body) => {
                Some((Framing::Sized, text(body, Place::Body)?))
            }
            Body::Chunked(body) => Some((Framing::Chunked, text(body, Place::Body)?)),
        };
        Ok(Self {
            start: start.into_bytes(),
            path: text(request.path.as_bytes(), Place::Path)?,
            after_path,
            headers: request
                .headers
                .iter()
                .map(header)
                .collect::<Result<_, String>>()?,
            body: match body {
                Some((Framing::Sized, body)) if own_length => Some((Framing::Own, body)),
                body => body,
            },
        })
    }

    /// Appends the request; returns its head's length.
    fn render(
        &self,
        choice: Choice,
        lists: &Lists,
        scratch: &mut Vec<u8>,
        out: &mut Vec<u8>,
    ) -> usize {
        let (from, mut nth) = (out.len(), 0);
        out.extend_from_slice(&self.start);
        self.path.render(choice, &mut nth, Place::Path, lists, out);
        out.extend_from_slice(&self.after_path);
        for (name, value) in &self.headers {
            out.extend_from_slice(name);
            value.render(choice, &mut nth, Place::Header, lists, out);
            out.extend_from_slice(b"\r\n");
        }
        let Some((framing, body)) = &self.body else {
            out.extend_from_slice(b"\r\n");
            return out.len() - from;
        };
        scratch.clear();
        body.render(choice, &mut nth, Place::Body, lists, scratch);
        match framing {
            Framing::Sized => {
                field(
                    out,
                    "Content-Length",
                    itoa(scratch.len() as u64, &mut [0; 20]),
                );
                out.extend_from_slice(b"\r\n");
                let head = out.len() - from;
                out.extend_from_slice(scratch);
                head
            }
            Framing::Own => {
                out.extend_from_slice(b"\r\n");
                let head = out.len() - from;
                out.extend_from_slice(scratch);
                head
            }
            Framing::Chunked => {
                field(out, "Transfer-Encoding", b"chunked");
                out.extend_from_slice(b"\r\n");
                let head = out.len() - from;
                chunks(scratch, out);
                head
            }
        }
    }
}

/// Appends a body in the chunked coding (RFC 9112 §7.1).
fn chunks(body: &[u8], out: &mut Vec<u8>) {
    use std::io::Write as _;
    // A single chunk would let a server pass that takes the first one for the whole.
    for chunk in body.chunks(body.len().div_ceil(2).clamp(1, CHUNK)) {
        // Writing into memory does not fail.
        let _ = write!(out, "{:x}\r\n", chunk.len());
        out.extend_from_slice(chunk);
        out.extend_from_slice(b"\r\n");
    }
    out.extend_from_slice(b"0\r\n\r\n");
}

fn field(bytes: &mut Vec<u8>, name: &str, value: &[u8]) {
    bytes.extend_from_slice(name.as_bytes());
    bytes.extend_from_slice(b": ");
    bytes.extend_from_slice(value);
    bytes.extend_from_slice(b"\r\n");
}

/// Whether the server is asked before the body is sent.
fn expects_continue(request: &RequestSpec) -> bool {
    let is = |(name, value): &(String, String)| {
        name.eq_ignore_ascii_case("expect") && value.trim().eq_ignore_ascii_case("100-continue")
    };
    request.headers.iter().any(is)
}

/// Refuses what would make the bytes say something else than the spec (RFC 9112 §3, §5; RFC 9110 §5.6.2).
fn check(request: &RequestSpec, manner: Manner<'_>) -> Result<(), String> {
    let is_token = |text: &str| {
        let extra = b"!#$%&'*+-.^_`|~";
        !text.is_empty()
            && text
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || extra.contains(&byte))
    };
    if !is_token(&request.method) {
        return Err(format!("the method {:?} is not a word", request.method));
    }
    if request.method == "CONNECT" {
        return Err("CONNECT opens a tunnel, whose answers have no end to verify".to_owned());
    }
    // A template's path may have blanks between its braces, and is looked at in its parts.
    let plain = request.template || request.path.bytes().all(|byte| byte.is_ascii_graphic());
    if request.path.is_empty() || !plain {
        return Err(format!(
            "the path {:?} is empty or has bytes to be percent-encoded",
            request.path
        ));
    }
    let old = manner.version == HttpVersion::Http10;
    if old && matches!(request.body, Body::Chunked(_)) {
        return Err("HTTP/1.0 has no chunked bodies (RFC 9112 §6.1)".to_owned());
    }
    if expects_continue(request) && (old || request.template) {
        return Err(
            "Expect: 100-continue goes with HTTP/1.1 and without templates alone".to_owned(),
        );
    }
    for (name, value) in &request.headers {
        if !is_token(name) {
            return Err(format!("the header name {name:?} is not a word"));
        }
        if value
            .bytes()
            .any(|byte| byte.is_ascii_control() && byte != b'\t')
        {
            return Err(format!(
                "the value of the header {name:?} has a control character"
            ));
        }
        if name.eq_ignore_ascii_case("transfer-encoding") {
            return Err(format!(
                "the header {name:?} is derived from the body, omit it"
            ));
        }
    }
    check_length(request)
}

/// Refuses a Content-Length of the request's own that is not the body's length.
fn check_length(request: &RequestSpec) -> Result<(), String> {
    let is_length = |(name, _): &&(String, String)| name.eq_ignore_ascii_case("content-length");
    let mut own = request.headers.iter().filter(is_length);
    let Some((_, value)) = own.next() else {
        return Ok(());
    };
    let length = match &request.body {
        Body::None => Some(0),
        Body::Sized(bytes) if request.template && !bytes.is_empty() => None,
        Body::Sized(bytes) => Some(bytes.len()),
        Body::Chunked(_) | Body::Call(_) => None,
    };
    match length {
        Some(length) if own.next().is_none() && *value == length.to_string() => Ok(()),
        Some(length) => Err(format!(
            "the header Content-Length must be {length}, the body's length; without this header, it is added"
        )),
        None => Err(
            "the header Content-Length is added from the body of each request, so omit it"
                .to_owned(),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MANNER: Manner<'_> = Manner {
        version: HttpVersion::Http11,
        reuse: Reuse::KeepAlive,
        authority: "127.0.0.1:8080",
        proxy: None,
    };

    fn encoded(request: &RequestSpec, manner: Manner<'_>) -> EncodedRequest {
        EncodedRequest::new(request, manner, &Lists::default()).unwrap()
    }

    fn encode(request: &RequestSpec) -> String {
        String::from_utf8(encoded(request, MANNER).fixed().unwrap().to_vec()).unwrap()
    }

    fn encode_any(request: &RequestSpec) -> String {
        let (mut out, mut scratch) = (Vec::new(), Vec::new());
        let choice = || Choice { count: 0, seed: 0 };
        let encoded = encoded(request, MANNER);
        encoded.append(choice, &Lists::default(), &mut scratch, &mut out);
        String::from_utf8(out).unwrap()
    }

    fn post(body: Body) -> RequestSpec {
        RequestSpec {
            method: "POST".to_owned(),
            headers: vec![("Content-Type".to_owned(), "text/plain".to_owned())],
            body,
            ..RequestSpec::get("/x?y=1")
        }
    }

    #[test]
    fn host_is_added_unless_given() {
        assert_eq!(
            encode(&RequestSpec::get("/")),
            "GET / HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n\r\n"
        );
        let mut own = RequestSpec::get("/");
        own.headers.push(("host".to_owned(), "example".to_owned()));
        assert_eq!(encode(&own), "GET / HTTP/1.1\r\nhost: example\r\n\r\n");
    }

    #[test]
    fn bodies_are_framed() {
        let start = "POST /x?y=1 HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nContent-Type: text/plain\r\n";
        let sized = encode(&post(Body::Sized(b"Hello".to_vec())));
        assert_eq!(sized, format!("{start}Content-Length: 5\r\n\r\nHello"));
        let chunked = encode(&post(Body::Chunked(b"Hello".to_vec())));
        let chunks = "3\r\nHel\r\n2\r\nlo\r\n0\r\n\r\n";
        assert_eq!(
            chunked,
            format!("{start}Transfer-Encoding: chunked\r\n\r\n{chunks}")
        );
        let empty = encode(&post(Body::Chunked(Vec::new())));
        assert_eq!(
            empty,
            format!("{start}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n")
        );
    }

    #[test]
    fn methods_that_define_content_have_a_length_without_a_body() {
        let line = |method: &str, headers: &[(&str, &str)], template| {
            encode_any(&RequestSpec {
                method: method.to_owned(),
                headers: headers
                    .iter()
                    .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                    .collect(),
                template,
                ..RequestSpec::get("/")
            })
        };
        let start = "/ HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n";
        for template in [false, true] {
            for method in ["POST", "PUT", "PATCH"] {
                let expected = format!("{method} {start}Content-Length: 0\r\n\r\n");
                assert_eq!(line(method, &[], template), expected);
                let own = [("content-length", "0")];
                let expected = format!("{method} {start}content-length: 0\r\n\r\n");
                assert_eq!(line(method, &own, template), expected);
            }
            for method in ["GET", "HEAD", "DELETE", "OPTIONS"] {
                let expected = format!("{method} {start}\r\n");
                assert_eq!(line(method, &[], template), expected);
            }
        }
        assert_eq!(
            line("DELETE", &[("Content-Length", "0")], false),
            format!("DELETE {start}Content-Length: 0\r\n\r\n")
        );
        let mut own = post(Body::Sized(b"Hello".to_vec()));
        own.headers = vec![("Content-Length".to_owned(), "5".to_owned())];
        assert!(encode(&own).ends_with("8080\r\nContent-Length: 5\r\n\r\nHello"));
    }

    #[test]
    fn what_would_be_misread_is_refused() {
        let with_header = |name: &str, value: &str| RequestSpec {
            headers: vec![(name.to_owned(), value.to_owned())],
            ..RequestSpec::get("/")
        };
        let with_method = |method: &str| RequestSpec {
            method: method.to_owned(),
            ..RequestSpec::get("/")
        };
        for request in [
            RequestSpec::get(""),
            RequestSpec::get("/a b"),
            RequestSpec::get("/\r\nX: y"),
            with_method(""),
            with_method("GET /"),
            with_method("CONNECT"),
            with_header("a b", "c"),
            with_header("a", "b\r\nc: d"),
            with_header("Content-Length", "5"),
            with_header("transfer-encoding", "chunked"),
        ] {
            assert!(
                EncodedRequest::new(&request, MANNER, &Lists::default()).is_err(),
                "{request:?}"
            );
        }
    }

    #[test]
    fn head_and_close_are_noticed() {
        let mut request = RequestSpec::get("/");
        request.method = "HEAD".to_owned();
        request
            .headers
            .push(("Connection".to_owned(), "x, Close".to_owned()));
        let encoded = encoded(&request, MANNER);
        assert!(encoded.is_head && encoded.closes);
        assert!(
            encoded
                .fixed()
                .unwrap()
                .starts_with(b"HEAD / HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n")
        );
    }

    #[test]
    fn versions_and_reuse_show_in_the_head() {
        let get = RequestSpec::get("/");
        for (version, reuse, line, closes) in [
            (
                HttpVersion::Http11,
                Reuse::KeepAlive,
                "1.1\r\nHost: 127.0.0.1:8080\r\n\r\n",
                false,
            ),
            (
                HttpVersion::Http11,
                Reuse::PerRequest,
                "1.1\r\nHost: 127.0.0.1:8080\r\nConnection: close\r\n\r\n",
                true,
            ),
            (
                HttpVersion::Http10,
                Reuse::KeepAlive,
                "1.0\r\nHost: 127.0.0.1:8080\r\nConnection: keep-alive\r\n\r\n",
                false,
            ),
            (
                HttpVersion::Http10,
                Reuse::PerRequest,
                "1.0\r\nHost: 127.0.0.1:8080\r\n\r\n",
                true,
            ),
        ] {
            let encoded = encoded(
                &get,
                Manner {
                    version,
                    reuse,
                    ..MANNER
                },
            );
            let bytes = String::from_utf8(encoded.fixed().unwrap().to_vec()).unwrap();
            assert_eq!(bytes, format!("GET / HTTP/{line}"));
            assert_eq!(encoded.closes, closes);
        }
        let old = Manner {
            version: HttpVersion::Http10,
            ..MANNER
        };
        let chunked = post(Body::Chunked(b"x".to_vec()));
        assert!(EncodedRequest::new(&chunked, old, &Lists::default()).is_err());
    }

    #[test]
    fn a_body_that_is_asked_for_first_is_held_back() {
        let mut request = post(Body::Sized(b"Hello".to_vec()));
        assert_eq!(encoded(&request, MANNER).hold_at, None);
        request
            .headers
            .push(("Expect".to_owned(), "100-Continue".to_owned()));
        let encoded = encoded(&request, MANNER);
        let bytes = encoded.fixed().unwrap();
        assert_eq!(&bytes[encoded.hold_at.unwrap()..], b"Hello");
        request.body = Body::None;
        assert_eq!(
            self::encoded(&request, MANNER).hold_at,
            None,
            "there is nothing to hold back"
        );
    }

    #[test]
    fn a_template_is_filled_for_each_request() {
        let mut request = RequestSpec {
            template: true,
            ..post(Body::Sized(b"{\"n\": {{counter}}}".to_vec()))
        };
        request.path = "/x?n={{ counter }}".to_owned();
        request.headers[0].1 = "x/{{counter}}".to_owned();
        let encoded = encoded(&request, MANNER);
        assert_eq!(encoded.fixed(), None);
        let (mut out, mut scratch) = (Vec::new(), Vec::new());
        for count in [7, 1_000] {
            let choice = || Choice { count, seed: 0 };
            encoded.append(choice, &Lists::default(), &mut scratch, &mut out);
        }
        let line = |count: &str, length: usize| {
            format!(
                "POST /x?n={count} HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nContent-Type: x/{count}\r\n\
                 Content-Length: {length}\r\n\r\n{{\"n\": {count}}}"
            )
        };
        assert_eq!(
            String::from_utf8(out).unwrap(),
            line("7", 8) + &line("1000", 11)
        );
    }
}
