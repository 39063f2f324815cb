//! A request's bytes: built once, or for each request from a template.

use deadheat_model::load::{Body, HttpVersion, RequestSpec, Reuse};

use crate::{
    error::{RequestError, TemplateError},
    template::{Choice, Lists, Template, TextPosition, itoa},
};

/// The longest piece of a chunked request body; a body is always cut in two pieces or more.
const CHUNK: usize = 16 * 1024;
/// Methods whose requests have a length even when they have no content (RFC 9110 §8.6).
pub(crate) const DEFINE_CONTENT: [&str; 3] = ["POST", "PUT", "PATCH"];

/// The form of requests on a connection, whatever they ask for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RequestFormat<'a> {
    /// The version in the request line.
    pub(crate) version: HttpVersion,
    /// Whether connections carry more than one request.
    pub(crate) reuse: Reuse,
    /// The value of `Host`, unless the request has its own.
    pub(crate) authority: &'a str,
    /// Set if requests go to a forwarding proxy: its credentials, if any.
    pub(crate) proxy: Option<Authorization<'a>>,
}

/// The value of `Proxy-Authorization`, if there is any.
pub(crate) type Authorization<'a> = Option<&'a str>;

/// A request as it is sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct EncodedRequest {
    content: EncodedContent,
    /// Whether its answer has no body (RFC 9112 §6.3 rule 1).
    pub(crate) is_head: bool,
    /// Whether it announces the end of the connection (RFC 9112 §9.6: no request may follow).
    pub(crate) closes: bool,
    /// Number of bytes sent before the server has asked for the rest with 100 Continue (RFC 9110 §10.1.1); `None`: all.
    pub(crate) hold_at: Option<usize>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum EncodedContent {
    /// All its bytes.
    Fixed(Vec<u8>),
    /// A template that is rendered for each request.
    Template(Box<RequestTemplate>),
}

/// The parts of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
struct RequestTemplate {
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
    /// Encodes `request`; an error says what in it cannot be sent.
    pub(crate) fn new(
        request: &RequestSpec,
        format: RequestFormat<'_>,
        lists: &Lists,
    ) -> Result<Self, RequestError> {
        check(request, format)?;
        let form = RequestTemplate::new(request, format, lists)?;
        let option = |wanted: &str| {
            request.headers.iter().any(|(name, value)| {
                let mut options = value.split(',').map(str::trim);
                name.eq_ignore_ascii_case("connection")
                    && options.any(|option| option.eq_ignore_ascii_case(wanted))
            })
        };
        let persistent = match format.version {
            HttpVersion::Http11 => true,
            HttpVersion::Http10 => format.reuse == Reuse::KeepAlive || option("keep-alive"),
        };
        let closes = format.reuse == Reuse::PerRequest || option("close") || !persistent;
        let (content, hold_at) = if request.template {
            (EncodedContent::Template(Box::new(form)), None)
        } else {
            let mut bytes = Vec::new();
            let head = form.render(
                Choice { count: 0, seed: 0 },
                lists,
                &mut Vec::new(),
                &mut bytes,
            );
            let holds = expects_continue(request) && head < bytes.len();
            (EncodedContent::Fixed(bytes), holds.then_some(head))
        };
        Ok(Self {
            content,
            is_head: request.method == "HEAD",
            closes,
            hold_at,
        })
    }

    /// The bytes, if they are the same for each request.
    #[inline]
    pub(crate) fn fixed(&self) -> Option<&[u8]> {
        match &self.content {
            EncodedContent::Fixed(bytes) => Some(bytes),
            EncodedContent::Template(_) => None,
        }
    }

    /// Appends the bytes. `choice` is called only for a template; `scratch` is a buffer for a body.
    pub(crate) fn append(
        &self,
        choice: impl FnOnce() -> Choice,
        lists: &Lists,
        scratch: &mut Vec<u8>,
        out: &mut Vec<u8>,
    ) {
        match &self.content {
            EncodedContent::Fixed(bytes) => out.extend_from_slice(bytes),
            EncodedContent::Template(form) => {
                form.render(choice(), lists, scratch, out);
            }
        }
    }
}

impl RequestTemplate {
    fn new(
        request: &RequestSpec,
        format: RequestFormat<'_>,
        lists: &Lists,
    ) -> Result<Self, TemplateError> {
        let text = |text: &[u8], place: TextPosition| {
            if request.template {
                Template::parse(text, place, lists)
            } else {
                Ok(Template::literal(text))
            }
        };
        let mut after_path = format!(" HTTP/{}\r\n", format.version).into_bytes();
        let has = |wanted: &str| {
            request
                .headers
                .iter()
                .any(|(name, _)| name.eq_ignore_ascii_case(wanted))
        };
        // RFC 9112 §3.2: a request must have one Host, best as the first field.
        if !has("host") {
            field(&mut after_path, "Host", format.authority.as_bytes());
        }
        if !has("connection") {
            match (format.version, format.reuse) {
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
        if let Some(authorization) = format.proxy {
            // The absolute form (RFC 9112 §3.2.2).
            start.push_str(&format!("http://{}", format.authority));
            if let Some(value) = authorization {
                field(&mut after_path, "Proxy-Authorization", value.as_bytes());
            }
        }
        let own_length = has("content-length");
        let header = |(name, value): &(String, String)| {
            Ok((
                format!("{name}: ").into_bytes(),
                text(value.as_bytes(), TextPosition::Header)?,
            ))
        };
        let body = match &request.body {
            // A server may refuse such a request without a length (411).
            Body::None if DEFINE_CONTENT.contains(&request.method.as_str()) => {
                Some((Framing::Sized, Template::literal(b"")))
            }
            Body::None => None,
            Body::Sized(body) | Body::Call(body) => {
                Some((Framing::Sized, text(body, TextPosition::Body)?))
            }
            Body::Chunked(body) => Some((Framing::Chunked, text(body, TextPosition::Body)?)),
        };
        Ok(Self {
            start: start.into_bytes(),
            path: text(request.path.as_bytes(), TextPosition::Path)?,
            after_path,
            headers: request
                .headers
                .iter()
                .map(header)
                .collect::<Result<_, TemplateError>>()?,
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
        self.path
            .render(choice, &mut nth, TextPosition::Path, lists, out);
        out.extend_from_slice(&self.after_path);
        for (name, value) in &self.headers {
            out.extend_from_slice(name);
            value.render(choice, &mut nth, TextPosition::Header, lists, out);
            out.extend_from_slice(b"\r\n");
        }
        let Some((framing, body)) = &self.body else {
            out.extend_from_slice(b"\r\n");
            return out.len() - from;
        };
        scratch.clear();
        body.render(choice, &mut nth, TextPosition::Body, lists, scratch);
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
    // With a single chunk, a server that reads only the first one would pass.
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

/// Whether the request has `Expect: 100-continue`.
fn expects_continue(request: &RequestSpec) -> bool {
    let is = |(name, value): &(String, String)| {
        name.eq_ignore_ascii_case("expect") && value.trim().eq_ignore_ascii_case("100-continue")
    };
    request.headers.iter().any(is)
}

/// Refuses requests whose bytes would be read differently than specified (RFC 9112 §3, §5; RFC 9110 §5.6.2).
fn check(request: &RequestSpec, format: RequestFormat<'_>) -> Result<(), RequestError> {
    let is_token = |text: &str| {
        let extra = b"!#$%&'*+-.^_`|~";
        !text.is_empty()
            && text
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || extra.contains(&byte))
    };
    if !is_token(&request.method) {
        return Err(RequestError::Method(request.method.clone()));
    }
    if request.method == "CONNECT" {
        return Err(RequestError::Connect);
    }
    // A template's path may have blanks between its braces; its parts are checked separately.
    let plain = request.template || request.path.bytes().all(|byte| byte.is_ascii_graphic());
    if request.path.is_empty() || !plain {
        return Err(RequestError::Path(request.path.clone()));
    }
    let old = format.version == HttpVersion::Http10;
    if old && matches!(request.body, Body::Chunked(_)) {
        return Err(RequestError::ChunkedInHttp10);
    }
    if expects_continue(request) && (old || request.template) {
        return Err(RequestError::Continue);
    }
    for (name, value) in &request.headers {
        if !is_token(name) {
            return Err(RequestError::HeaderName(name.clone()));
        }
        if value
            .bytes()
            .any(|byte| byte.is_ascii_control() && byte != b'\t')
        {
            return Err(RequestError::HeaderValue(name.clone()));
        }
        if name.eq_ignore_ascii_case("transfer-encoding") {
            return Err(RequestError::TransferEncoding(name.clone()));
        }
    }
    check_length(request)
}

/// Refuses a Content-Length header that differs from the body's length.
fn check_length(request: &RequestSpec) -> Result<(), RequestError> {
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
        Some(length) => Err(RequestError::Length(length)),
        None => Err(RequestError::LengthOfEach),
    }
}

#[cfg(test)]
#[path = "request_tests.rs"]
mod tests;
