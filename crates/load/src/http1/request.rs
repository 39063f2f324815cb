//! A request's bytes, built once.

use std::net::SocketAddr;

use deadheat_model::load::{Body, RequestSpec};

/// The longest piece of a chunked request body; a body is always cut in two pieces or more.
const CHUNK: usize = 16 * 1024;

/// A request as it goes on the wire.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct EncodedRequest {
    /// All its bytes.
    pub(crate) bytes: Vec<u8>,
    /// Whether its answer has no body (RFC 9112 §6.3 rule 1).
    pub(crate) is_head: bool,
    /// Whether it announces the connection's end (RFC 9112 §9.6: no request may follow).
    pub(crate) closes: bool,
}

impl EncodedRequest {
    /// Builds the bytes of `request`, or says what in it cannot be sent.
    pub(crate) fn new(request: &RequestSpec, address: SocketAddr) -> Result<Self, String> {
        check(request)?;
        let mut bytes = format!("{} {} HTTP/1.1\r\n", request.method, request.path).into_bytes();
        // RFC 9112 §3.2: a request must have one Host, best as the first field.
        if !request
            .headers
            .iter()
            .any(|(name, _)| name.eq_ignore_ascii_case("host"))
        {
            field(&mut bytes, "Host", &address.to_string());
        }
        for (name, value) in &request.headers {
            field(&mut bytes, name, value);
        }
        match &request.body {
            Body::None => bytes.extend_from_slice(b"\r\n"),
            Body::Sized(body) => {
                field(&mut bytes, "Content-Length", &body.len().to_string());
                bytes.extend_from_slice(b"\r\n");
                bytes.extend_from_slice(body);
            }
            Body::Chunked(body) => {
                field(&mut bytes, "Transfer-Encoding", "chunked");
                bytes.extend_from_slice(b"\r\n");
                // A single chunk would let a server pass that takes the first one for the whole.
                for chunk in body.chunks(body.len().div_ceil(2).clamp(1, CHUNK)) {
                    bytes.extend_from_slice(format!("{:x}\r\n", chunk.len()).as_bytes());
                    bytes.extend_from_slice(chunk);
                    bytes.extend_from_slice(b"\r\n");
                }
                bytes.extend_from_slice(b"0\r\n\r\n");
            }
        }
        let closes = request.headers.iter().any(|(name, value)| {
            let mut options = value.split(',').map(str::trim);
            name.eq_ignore_ascii_case("connection")
                && options.any(|option| option.eq_ignore_ascii_case("close"))
        });
        Ok(Self {
            bytes,
            is_head: request.method == "HEAD",
            closes,
        })
    }
}

fn field(bytes: &mut Vec<u8>, name: &str, value: &str) {
    bytes.extend_from_slice(name.as_bytes());
    bytes.extend_from_slice(b": ");
    bytes.extend_from_slice(value.as_bytes());
    bytes.extend_from_slice(b"\r\n");
}

/// Refuses what would make the bytes say something else than the spec (RFC 9112 §3, §5; RFC 9110 §5.6.2).
fn check(request: &RequestSpec) -> Result<(), String> {
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
    if request.path.is_empty() || !request.path.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(format!(
            "the path {:?} is empty or has bytes to be percent-encoded",
            request.path
        ));
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
        let framing = ["content-length", "transfer-encoding"];
        if framing.iter().any(|own| name.eq_ignore_ascii_case(own)) {
            return Err(format!(
                "the header {name:?} is added from the body, leave it out"
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encode(request: &RequestSpec) -> String {
        let address = "127.0.0.1:8080".parse().unwrap();
        String::from_utf8(EncodedRequest::new(request, address).unwrap().bytes).unwrap()
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
    fn what_would_be_misread_is_refused() {
        let address = "127.0.0.1:80".parse().unwrap();
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
                EncodedRequest::new(&request, address).is_err(),
                "{request:?}"
            );
        }
    }

    #[test]
    fn head_and_close_are_noticed() {
        let address = "[::1]:80".parse().unwrap();
        let mut request = RequestSpec::get("/");
        request.method = "HEAD".to_owned();
        request
            .headers
            .push(("Connection".to_owned(), "x, Close".to_owned()));
        let encoded = EncodedRequest::new(&request, address).unwrap();
        assert!(encoded.is_head && encoded.closes);
        assert!(
            encoded
                .bytes
                .starts_with(b"HEAD / HTTP/1.1\r\nHost: [::1]:80\r\n")
        );
    }
}
