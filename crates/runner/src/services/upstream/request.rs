//! Requests out of a connection's bytes, the same ones however the bytes are split.

/// A request head may have so many bytes.
pub(super) const MAX_HEAD: usize = 16 * 1024;
/// A request head may have so many fields.
const MAX_FIELDS: usize = 64;
/// The path that asks how many requests have come.
pub(super) const COUNT_PATH: &str = "/__count";

/// A request, as far as this server cares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Request {
    pub(super) asks: Asks,
    pub(super) then: Then,
}

/// What a request asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asks {
    /// The slow answer.
    Slow,
    /// How many requests have asked for the slow answer.
    Count,
    /// Something that it does not get.
    Refused(Refusal),
}

/// Why a request is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// It is not HTTP/1.
    Malformed,
    /// Its method is not GET.
    Method,
    /// Its body has a transfer coding.
    Coded,
    /// Its head is too large.
    TooLarge,
}

/// What happens to the connection after the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Then {
    /// It stays open, as HTTP/1.1 has it.
    Keep,
    /// It stays open because an HTTP/1.0 client asked for that.
    KeepExplicitly,
    /// It is closed.
    Close,
}

/// The bytes of one connection that have not become a request yet.
#[derive(Debug, Default)]
pub(super) struct Requests {
    buffer: Vec<u8>,
    start: usize,
    body_left: u64,
    ended: bool,
}

impl Requests {
    /// Adds bytes that have arrived.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        if !self.ended {
            self.buffer.extend_from_slice(bytes);
        }
    }

    /// Takes the next whole request head. The body that its length announces is skipped. Nothing follows a request
    /// that closes the connection.
    pub(super) fn next(&mut self) -> Option<Request> {
        let request = self.take();
        if request.is_none() {
            self.buffer.drain(..self.start);
            self.start = 0;
        }
        request
    }

    fn take(&mut self) -> Option<Request> {
        if self.ended {
            return None;
        }
        let unread = (self.buffer.len() - self.start) as u64;
        let skipped = self.body_left.min(unread);
        self.body_left -= skipped;
        self.start += skipped as usize;
        let bytes = &self.buffer[self.start..];
        if bytes.is_empty() {
            return None;
        }
        let (request, body) = match parse(bytes) {
            Ok(None) => return None,
            Ok(Some(head)) => {
                self.start += head.bytes;
                (head.request, head.body)
            }
            Err(refusal) => (refused(refusal, Then::Close), 0),
        };
        self.body_left = body;
        self.ended = request.then == Then::Close;
        if self.ended {
            self.start = self.buffer.len();
        }
        Some(request)
    }
}

/// A whole head.
struct Head {
    request: Request,
    bytes: usize,
    body: u64,
}

fn refused(refusal: Refusal, then: Then) -> Request {
    Request {
        asks: Asks::Refused(refusal),
        then,
    }
}

/// The head at the start of `bytes`; `None` when more bytes are needed.
fn parse(bytes: &[u8]) -> Result<Option<Head>, Refusal> {
    let mut fields = [httparse::EMPTY_HEADER; MAX_FIELDS];
    let mut parsed = httparse::Request::new(&mut fields);
    let within = &bytes[..bytes.len().min(MAX_HEAD)];
    let length = match parsed.parse(within) {
        Ok(httparse::Status::Complete(length)) => length,
        Ok(httparse::Status::Partial) if within.len() == MAX_HEAD => {
            return Err(Refusal::TooLarge);
        }
        Ok(httparse::Status::Partial) => return Ok(None),
        Err(httparse::Error::TooManyHeaders) => return Err(Refusal::TooLarge),
        Err(_) => return Err(Refusal::Malformed),
    };
    let facts = Facts::of(parsed.headers)?;
    let then = match (parsed.version, facts.close, facts.keep_alive) {
        (_, true, _) | (Some(0), _, false) => Then::Close,
        (Some(0), false, true) => Then::KeepExplicitly,
        _ => Then::Keep,
    };
    let asks = match (parsed.method, parsed.path) {
        (Some("GET"), Some(COUNT_PATH)) => Asks::Count,
        (Some("GET"), _) => Asks::Slow,
        _ => Asks::Refused(Refusal::Method),
    };
    Ok(Some(Head {
        request: Request { asks, then },
        bytes: length,
        body: facts.body,
    }))
}

/// What the fields say.
#[derive(Default)]
struct Facts {
    close: bool,
    keep_alive: bool,
    body: u64,
}

impl Facts {
    fn of(fields: &[httparse::Header<'_>]) -> Result<Self, Refusal> {
        let mut facts = Self::default();
        let mut length = None;
        for field in fields {
            let name = field.name;
            if name.eq_ignore_ascii_case("connection") {
                for word in field.value.split(|byte| *byte == b',') {
                    let word = word.trim_ascii();
                    facts.close |= word.eq_ignore_ascii_case(b"close");
                    facts.keep_alive |= word.eq_ignore_ascii_case(b"keep-alive");
                }
            } else if name.eq_ignore_ascii_case("content-length") {
                let said = decimal(field.value).ok_or(Refusal::Malformed)?;
                if *length.get_or_insert(said) != said {
                    return Err(Refusal::Malformed);
                }
                facts.body = said;
            } else if name.eq_ignore_ascii_case("transfer-encoding") {
                return Err(Refusal::Coded);
            }
        }
        Ok(facts)
    }
}

/// Digits and nothing else (RFC 9110, section 8.6).
fn decimal(text: &[u8]) -> Option<u64> {
    let digits = !text.is_empty() && text.iter().all(u8::is_ascii_digit);
    let text = digits.then(|| std::str::from_utf8(text).ok())??;
    text.parse().ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn all(pieces: &[&[u8]]) -> Vec<Request> {
        let mut requests = Requests::default();
        let mut found = Vec::new();
        for piece in pieces {
            requests.push(piece);
            while let Some(request) = requests.next() {
                found.push(request);
            }
        }
        found
    }

    fn one(head: &str) -> Request {
        let found = all(&[head.as_bytes()]);
        assert_eq!(found.len(), 1, "{head:?}: {found:?}");
        found[0]
    }

    const fn request(asks: Asks, then: Then) -> Request {
        Request { asks, then }
    }

    #[test]
    fn a_request_says_what_it_asks_and_what_follows() {
        let cases = [
            ("GET / HTTP/1.1", "", Asks::Slow, Then::Keep),
            (
                "GET /any?a=b HTTP/1.1",
                "host: x\r\n",
                Asks::Slow,
                Then::Keep,
            ),
            ("GET /__count HTTP/1.1", "", Asks::Count, Then::Keep),
            ("GET / HTTP/1.0", "", Asks::Slow, Then::Close),
            (
                "GET / HTTP/1.0",
                "Connection: Keep-Alive\r\n",
                Asks::Slow,
                Then::KeepExplicitly,
            ),
            (
                "GET / HTTP/1.1",
                "Connection: te, Close\r\n",
                Asks::Slow,
                Then::Close,
            ),
            (
                "POST / HTTP/1.1",
                "",
                Asks::Refused(Refusal::Method),
                Then::Keep,
            ),
            (
                "GET / HTTP/1.1",
                "transfer-encoding: chunked\r\n",
                Asks::Refused(Refusal::Coded),
                Then::Close,
            ),
            (
                "GET / HTTP/1.1",
                "content-length: +1\r\n",
                Asks::Refused(Refusal::Malformed),
                Then::Close,
            ),
            (
                "GET / HTTP/1.1",
                "content-length: 1\r\ncontent-length: 2\r\n",
                Asks::Refused(Refusal::Malformed),
                Then::Close,
            ),
        ];
        for (line, fields, asks, then) in cases {
            let head = format!("{line}\r\n{fields}\r\n");
            assert_eq!(one(&head), request(asks, then), "{head:?}");
        }
        let refused = request(Asks::Refused(Refusal::Malformed), Then::Close);
        assert_eq!(one("\u{1}\u{2}\r\n\r\n"), refused);
    }

    #[test]
    fn the_largest_head_is_taken_and_a_larger_one_is_not() {
        let head = |length: usize| {
            let rest = length - "GET / HTTP/1.1\r\nx: \r\n\r\n".len();
            format!("GET / HTTP/1.1\r\nx: {}\r\n\r\n", "a".repeat(rest))
        };
        assert_eq!(one(&head(MAX_HEAD)).asks, Asks::Slow);
        let refused = request(Asks::Refused(Refusal::TooLarge), Then::Close);
        assert_eq!(one(&head(MAX_HEAD + 1)), refused);
        let many = format!(
            "GET / HTTP/1.1\r\n{}\r\n",
            "x: y\r\n".repeat(MAX_FIELDS + 1)
        );
        assert_eq!(one(&many), refused);
    }

    #[test]
    fn nothing_follows_a_request_that_closes() {
        let found = all(&[b"GET / HTTP/1.0\r\n\r\nGET / HTTP/1.1\r\n\r\n"]);
        assert_eq!(found, [request(Asks::Slow, Then::Close)]);
    }

    fn message() -> impl Strategy<Value = Vec<u8>> {
        let methods = prop::sample::select(vec!["GET / ", "GET /__count ", "POST / ", "bad\u{0}"]);
        let versions = prop::sample::select(vec!["HTTP/1.1", "HTTP/1.0", "HTTP/9"]);
        let fields = prop::sample::select(vec![
            "",
            "connection: close\r\n",
            "connection: keep-alive\r\n",
            "transfer-encoding: chunked\r\n",
        ]);
        let body = prop::collection::vec(any::<u8>(), 0..40);
        (methods, versions, fields, body).prop_map(|(method, version, fields, body)| {
            let length = body.len();
            let head = format!("{method}{version}\r\n{fields}content-length: {length}\r\n\r\n");
            [head.as_bytes(), &body].concat()
        })
    }

    proptest! {
        #[test]
        fn any_split_gives_the_same_requests(
            messages in prop::collection::vec(message(), 1..6),
            cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
        ) {
            let bytes = messages.concat();
            let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
            cuts.extend([0, bytes.len()]);
            cuts.sort_unstable();
            let pieces: Vec<&[u8]> = cuts.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect();
            let single: Vec<&[u8]> = bytes.chunks(1).collect();
            let whole = all(&[&bytes]);
            prop_assert_eq!(&all(&pieces), &whole);
            prop_assert_eq!(&all(&single), &whole);
        }
    }
}
