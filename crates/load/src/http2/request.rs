//! A request's header block and body: built once, or for each request from a template.

use deadheat_model::load::{Body, RequestSpec};

use super::{
    grpc,
    hpack::{put_indexed_name, put_name, put_text},
};
use crate::{
    error::RequestError,
    http1::DEFINE_CONTENT,
    template::{Choice, Lists, Template, TextPosition, itoa},
};

/// Indices in the static table (RFC 7541 appendix A).
const AUTHORITY: usize = 1;
const METHOD: usize = 2;
const PATH: usize = 4;
const CONTENT_LENGTH: usize = 28;

/// Headers that HTTP/2 forbids, because it has frames for them (RFC 9113 §8.2.2).
const FORBIDDEN: [&str; 5] = [
    "connection",
    "keep-alive",
    "proxy-connection",
    "transfer-encoding",
    "upgrade",
];

/// A request as it is sent.
#[derive(Debug)]
pub(crate) struct Request {
    content: EncodedContent,
    /// Whether its answer has no body.
    pub(crate) is_head: bool,
    /// Whether it is a call of gRPC.
    pub(crate) is_call: bool,
}

#[derive(Debug)]
enum EncodedContent {
    /// The same each time.
    Fixed { block: Vec<u8>, body: Vec<u8> },
    /// A template that is rendered for each request.
    Template(Box<RequestTemplate>),
}

/// The parts of a request.
#[derive(Debug)]
struct RequestTemplate {
    /// The pseudo-headers before the path.
    start: Vec<u8>,
    path: Template,
    /// Each header's name as it is in the block, and its value.
    headers: Vec<(Vec<u8>, Template)>,
    body: Option<Template>,
    /// Whether the body is a message of gRPC.
    is_call: bool,
    /// Whether no Content-Length is added.
    has_length: bool,
}

impl Request {
    /// Encodes `request` to `authority`; an error says what in it cannot be sent.
    pub(crate) fn new(
        request: &RequestSpec,
        authority: &str,
        is_tls: bool,
        lists: &Lists,
    ) -> Result<Self, RequestError> {
        let form = RequestTemplate::new(request, authority, is_tls, lists)?;
        let content = if request.template {
            EncodedContent::Template(Box::new(form))
        } else {
            let (mut block, mut body) = (Vec::new(), Vec::new());
            let choice = Choice { count: 0, seed: 0 };
            form.render(choice, lists, &mut block, &mut body);
            EncodedContent::Fixed { block, body }
        };
        Ok(Self {
            content,
            is_head: request.method == "HEAD",
            is_call: request.body.is_call(),
        })
    }

    /// The body, if it is the same for each request.
    #[inline]
    pub(crate) fn fixed_body(&self) -> Option<&[u8]> {
        match &self.content {
            EncodedContent::Fixed { body, .. } => Some(body),
            EncodedContent::Template(_) => None,
        }
    }

    /// The length of the body in bytes; `usize::MAX`: unknown.
    pub(crate) fn body_length(&self) -> usize {
        match &self.content {
            EncodedContent::Fixed { body, .. } => body.len(),
            EncodedContent::Template(form) => form.body.as_ref().map_or(0, |_| usize::MAX),
        }
    }

    /// The length of the header block in bytes; of a template, without the inserted values.
    pub(crate) fn head_length(&self) -> usize {
        match &self.content {
            EncodedContent::Fixed { block, .. } => block.len(),
            EncodedContent::Template(form) => {
                let names = form.headers.iter().map(|(name, _)| name.len());
                form.start.len() + names.sum::<usize>()
            }
        }
    }

    /// Appends the header block to `block`. Only for a template, `choice` is called and the body is put into `own`.
    /// Returns the body's length in bytes.
    #[inline]
    pub(crate) fn append(
        &self,
        choice: impl FnOnce() -> Choice,
        lists: &Lists,
        block: &mut Vec<u8>,
        own: &mut Vec<u8>,
    ) -> usize {
        match &self.content {
            EncodedContent::Fixed { block: fixed, body } => {
                block.extend_from_slice(fixed);
                body.len()
            }
            EncodedContent::Template(form) => {
                form.render(choice(), lists, block, own);
                own.len()
            }
        }
    }
}

impl RequestTemplate {
    fn new(
        request: &RequestSpec,
        authority: &str,
        is_tls: bool,
        lists: &Lists,
    ) -> Result<Self, RequestError> {
        let text = |text: &[u8], place: TextPosition| {
            if request.template {
                Template::parse(text, place, lists)
            } else {
                Ok(Template::literal(text))
            }
        };
        let mut start = Vec::new();
        match request.method.as_str() {
            "GET" => start.push(0x82),
            "POST" => start.push(0x83),
            other => {
                put_indexed_name(METHOD, &mut start);
                put_text(other.as_bytes(), &mut start);
            }
        }
        start.push(if is_tls { 0x87 } else { 0x86 });
        let own_host = request
            .headers
            .iter()
            .find(|(name, _)| name.eq_ignore_ascii_case("host"));
        let authority = own_host.map_or(authority, |(_, value)| value);
        put_indexed_name(AUTHORITY, &mut start);
        put_text(authority.as_bytes(), &mut start);
        let has = |name: &str| {
            let mut headers = request.headers.iter();
            headers.any(|(other, _)| other.eq_ignore_ascii_case(name))
        };
        let is_call = request.body.is_call();
        let of_calls = grpc::HEADERS
            .iter()
            .filter(|(name, _)| is_call && !has(name));
        let of_calls = of_calls.map(|(name, value)| (*name, *value));
        let own = request.headers.iter();
        let own = own.map(|(name, value)| (name.as_str(), value.as_str()));
        let mut headers = Vec::new();
        for (name, value) in of_calls.chain(own) {
            let name = name.to_ascii_lowercase();
            if FORBIDDEN.contains(&name.as_str()) {
                return Err(RequestError::HeaderInHttp2(name));
            }
            if name == "te" && value != "trailers" {
                return Err(RequestError::TeInHttp2);
            }
            if name == "expect" && value.trim().eq_ignore_ascii_case("100-continue") {
                return Err(RequestError::ContinueInHttp2);
            }
            if name == "host" {
                if request.template && value.contains("{{") {
                    return Err(RequestError::HostTemplate);
                }
                continue;
            }
            let mut encoded = Vec::new();
            put_name(name.as_bytes(), &mut encoded);
            headers.push((encoded, text(value.as_bytes(), TextPosition::Header)?));
        }
        let body = match &request.body {
            // A server may refuse such a request without a length (411).
            Body::None if DEFINE_CONTENT.contains(&request.method.as_str()) => {
                Some(Template::literal(b""))
            }
            Body::None => None,
            Body::Sized(body) | Body::Call(body) => Some(text(body, TextPosition::Body)?),
            Body::Chunked(_) => return Err(RequestError::ChunkedInHttp2),
        };
        // Like other gRPC clients, a call has no Content-Length.
        let has_length = is_call || has("content-length");
        Ok(Self {
            start,
            path: text(request.path.as_bytes(), TextPosition::Path)?,
            headers,
            body,
            is_call,
            has_length,
        })
    }

    /// Appends the header block, and replaces `out` by the body.
    fn render(&self, choice: Choice, lists: &Lists, block: &mut Vec<u8>, out: &mut Vec<u8>) {
        let mut nth = 0;
        block.extend_from_slice(&self.start);
        // A value's length precedes it, so the value is rendered into the body's buffer first.
        out.clear();
        put_indexed_name(PATH, block);
        self.path
            .render(choice, &mut nth, TextPosition::Path, lists, out);
        put_text(out, block);
        for (name, value) in &self.headers {
            out.clear();
            value.render(choice, &mut nth, TextPosition::Header, lists, out);
            block.extend_from_slice(name);
            put_text(out, block);
        }
        out.clear();
        let Some(body) = &self.body else {
            return;
        };
        if self.is_call {
            grpc::begin(out);
        }
        body.render(choice, &mut nth, TextPosition::Body, lists, out);
        if self.is_call {
            grpc::finish(out);
        }
        if !self.has_length {
            put_indexed_name(CONTENT_LENGTH, block);
            put_text(itoa(out.len() as u64, &mut [0; 20]), block);
        }
    }
}
