//! The head of an answer: status, and what its headers say about the body and the connection.

use std::mem::MaybeUninit;

use super::Malformed;

/// The most bytes of one head, from the status line to the empty line.
pub(crate) const HEAD_LIMIT: usize = 64 * 1024;
/// Why something is no head at all.
pub(crate) const NOT_HTTP: &str = "it does not start with \"HTTP/1.\"";
/// Bytes before a frame's payload in HTTP/2 (RFC 9113 §4.1).
const FRAME_HEADER: usize = 9;
/// Why a first frame of HTTP/2 is no answer in HTTP/1.
const SPEAKS_HTTP2: &str =
    "the server speaks HTTP/2: use --http2-prior-knowledge, or --http2 for https://";
/// Header fields that nearly every head has room in.
const USUAL_FIELDS: usize = 64;
/// Header fields that every head has room in: a field takes three bytes at least.
const MAX_FIELDS: usize = HEAD_LIMIT / 3;

/// How the body's end is found (RFC 9112 §6.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Framing {
    /// There is no body.
    Empty,
    /// After this many bytes.
    Sized(u64),
    /// After the last chunk.
    Chunked,
    /// Where the connection ends.
    UntilClose,
}

/// What matters of an answer's head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    /// The status code.
    pub(crate) status: u16,
    /// How the body's end is found.
    pub(crate) framing: Framing,
    /// Whether the connection may carry another request (RFC 9112 §9.3).
    pub(crate) keep_alive: bool,
}

impl Head {
    /// Whether another head follows for the same request (RFC 9110 §15.2). After a 101 the connection speaks
    /// another protocol, so that one is final.
    pub(crate) fn is_interim(&self) -> bool {
        matches!(self.status, 100 | 102..=199)
    }
}

/// Whether bytes begin as the first frame of a server of HTTP/2 does (RFC 9113 §3.4): SETTINGS of less than 64 KiB.
fn may_be_settings(bytes: &[u8]) -> bool {
    let length = [Some(0), None, None];
    let [kind, flags, stream] = [&[Some(4)][..], &[Some(0)], &[Some(0); 4]];
    let header = length.iter().chain(kind).chain(flags).chain(stream);
    let mut both = bytes.iter().zip(header);
    both.all(|(byte, wanted)| wanted.is_none_or(|wanted| *byte == wanted))
}

/// Reads the head at the start of `bytes`: the head and its length, or `None` when more bytes are needed.
pub(crate) fn parse(bytes: &[u8], to_head: bool) -> Result<Option<(Head, usize)>, Malformed> {
    // httparse skips empty lines before the status line; RFC 9112 §2.2 allows that to servers only, and bytes that
    // nobody asked for must not pass.
    let start = b"HTTP/1.";
    if bytes.iter().zip(start).any(|(byte, wanted)| byte != wanted) {
        if !may_be_settings(bytes) {
            return Err(Malformed::head(NOT_HTTP));
        }
        return if bytes.len() < FRAME_HEADER {
            Ok(None)
        } else {
            Err(Malformed::head(SPEAKS_HTTP2))
        };
    }
    let bytes = &bytes[..bytes.len().min(HEAD_LIMIT)];
    match parse_fields::<USUAL_FIELDS>(bytes, to_head) {
        Err(HeadError::TooManyFields) => {
            parse_fields::<MAX_FIELDS>(bytes, to_head).map_err(Malformed::from)
        }
        parsed => parsed.map_err(Malformed::from),
    }
}

/// Why a head was not read.
enum HeadError {
    /// There was no room for its fields.
    TooManyFields,
    Malformed(Malformed),
}

impl From<HeadError> for Malformed {
    fn from(refused: HeadError) -> Self {
        match refused {
            HeadError::TooManyFields => explain(httparse::Error::TooManyHeaders),
            HeadError::Malformed(wrong) => wrong,
        }
    }
}

/// Reads a head of at most `N` fields. Each call has only its own fields on the stack: the largest take 700 KB.
#[inline(never)]
fn parse_fields<const N: usize>(
    bytes: &[u8],
    to_head: bool,
) -> Result<Option<(Head, usize)>, HeadError> {
    let mut fields = [const { MaybeUninit::uninit() }; N];
    let mut response = httparse::Response::new(&mut []);
    // RFC 9112 §5.2: a user agent replaces a folded line by spaces; no field that matters here is changed by them.
    let mut config = httparse::ParserConfig::default();
    config.allow_obsolete_multiline_headers_in_responses(true);
    match config.parse_response_with_uninit_headers(&mut response, bytes, &mut fields) {
        Ok(httparse::Status::Complete(length)) => {
            let head = interpret(&response, to_head).map_err(HeadError::Malformed)?;
            Ok(Some((head, length)))
        }
        Ok(httparse::Status::Partial) if bytes.len() == HEAD_LIMIT => Err(HeadError::Malformed(
            Malformed::head("it is larger than 64 KiB"),
        )),
        Ok(httparse::Status::Partial) => Ok(None),
        Err(httparse::Error::TooManyHeaders) => Err(HeadError::TooManyFields),
        Err(error) => Err(HeadError::Malformed(explain(error))),
    }
}

/// The longest head that is known again, in bytes.
const KNOWN_LIMIT: usize = 1024;

/// Reads heads, and knows the last one again by its bytes: most servers change theirs once a second, with the date, and
/// comparing costs a tenth of reading.
#[derive(Debug)]
pub(crate) struct Heads {
    /// The last head from its status line to its empty line; empty before the first.
    known: Vec<u8>,
    known_as: Option<(Head, bool)>,
}

impl Heads {
    pub(crate) fn new() -> Self {
        Self {
            known: Vec::with_capacity(KNOWN_LIMIT),
            known_as: None,
        }
    }

    /// What [`parse`] says.
    #[inline]
    pub(crate) fn read(
        &mut self,
        bytes: &[u8],
        to_head: bool,
    ) -> Result<Option<(Head, usize)>, Malformed> {
        match self.known_as {
            // A head ends where it ends, whatever follows it.
            Some((head, known_to_head))
                if known_to_head == to_head && bytes.starts_with(&self.known) =>
            {
                Ok(Some((head, self.known.len())))
            }
            _ => self.learn(bytes, to_head),
        }
    }

    #[inline(never)]
    fn learn(&mut self, bytes: &[u8], to_head: bool) -> Result<Option<(Head, usize)>, Malformed> {
        let read = parse(bytes, to_head);
        if let Ok(Some((head, length))) = &read
            && *length <= KNOWN_LIMIT
        {
            self.known.clear();
            self.known.extend_from_slice(&bytes[..*length]);
            self.known_as = Some((*head, to_head));
        }
        read
    }
}

fn explain(error: httparse::Error) -> Malformed {
    Malformed::head(match error {
        httparse::Error::HeaderName => "a header's name has a byte that is not allowed there",
        httparse::Error::HeaderValue => "a header's value has a byte that is not allowed there",
        httparse::Error::NewLine => "a line does not end in CR LF",
        httparse::Error::Status => "the status is not a number of three digits",
        httparse::Error::TooManyHeaders => "it has too many headers",
        httparse::Error::Version => "its version is not HTTP/1.0 or HTTP/1.1",
        httparse::Error::Token => "the status line has a byte that is not allowed there",
    })
}

/// The fields of a head that frame the body or end the connection.
#[derive(Default)]
struct Fields {
    content_length: Option<u64>,
    chunked: bool,
    close: bool,
    keep_alive: bool,
}

impl Fields {
    fn read(headers: &[httparse::Header<'_>]) -> Result<Self, Malformed> {
        let mut fields = Self::default();
        for header in headers {
            // Three names matter; their lengths tell most others apart without a comparison.
            match header.name.len() {
                10 if header.name.eq_ignore_ascii_case("connection") => {
                    for option in header.value.split(|byte| *byte == b',') {
                        let option = option.trim_ascii();
                        fields.close |= option.eq_ignore_ascii_case(b"close");
                        fields.keep_alive |= option.eq_ignore_ascii_case(b"keep-alive");
                    }
                }
                14 if header.name.eq_ignore_ascii_case("content-length") => {
                    // RFC 9110 §8.6 allows to accept equal duplicates or to reject them. A server that sends two
                    // has two opinions on who frames the answer: rejected.
                    if fields.content_length.is_some() {
                        return Err(Malformed::framing("it has more than one content-length"));
                    }
                    fields.content_length = Some(number(header.value.trim_ascii())?);
                }
                17 if header.name.eq_ignore_ascii_case("transfer-encoding") => {
                    // RFC 9112 §6.1: chunked is applied at most once. Other codings need a TE header in the
                    // request, and nothing could be verified behind them.
                    if fields.chunked || !header.value.trim_ascii().eq_ignore_ascii_case(b"chunked")
                    {
                        return Err(Malformed::framing(
                            "its transfer-encoding is not just chunked",
                        ));
                    }
                    fields.chunked = true;
                }
                _ => {}
            }
        }
        Ok(fields)
    }
}

/// RFC 9110 §8.6: content-length is 1*DIGIT.
fn number(digits: &[u8]) -> Result<u64, Malformed> {
    let bad = Malformed::framing("its content-length is not a number");
    if digits.is_empty() {
        return Err(bad);
    }
    let mut value = 0u64;
    for digit in digits {
        if !digit.is_ascii_digit() {
            return Err(bad);
        }
        let next = value.checked_mul(10);
        let next = next.and_then(|next| next.checked_add(u64::from(digit - b'0')));
        value = next.ok_or(bad)?;
    }
    Ok(value)
}

fn interpret(response: &httparse::Response<'_, '_>, to_head: bool) -> Result<Head, Malformed> {
    // A complete head has both.
    let status = response.code.unwrap_or_default();
    // RFC 9110 §15: from 100 on. httparse takes any three digits, and 020 is no 20.
    if status < 100 {
        return Err(Malformed::head("its status is less than 100"));
    }
    let is_1_1 = response.version == Some(1);
    // RFC 9112 §6.3 rule 1: answers to HEAD, 1xx, 204 and 304 end with their head, whatever their headers say.
    let bodiless = to_head || matches!(status, 100..=199 | 204 | 304);
    let fields = match Fields::read(response.headers) {
        Err(wrong) if !bodiless => return Err(wrong),
        Err(_) => Fields {
            // It has no body to misjudge, but its sender is not to be trusted with another request.
            close: true,
            ..Fields::default()
        },
        Ok(fields) => fields,
    };
    let framing = match fields {
        _ if bodiless => Framing::Empty,
        // RFC 9112 §6.3 rule 3 calls it an attempt at response splitting or an error: never a success.
        Fields {
            chunked: true,
            content_length: Some(_),
            ..
        } => {
            return Err(Malformed::framing(
                "it has a content-length and a transfer-encoding",
            ));
        }
        // RFC 9112 §6.1: transfer-encoding in an HTTP/1.0 message means faulty framing.
        Fields { chunked: true, .. } if !is_1_1 => {
            return Err(Malformed::framing(
                "it is HTTP/1.0 with a transfer-encoding",
            ));
        }
        Fields { chunked: true, .. } => Framing::Chunked,
        Fields {
            content_length: Some(length),
            ..
        } => Framing::Sized(length),
        // RFC 9112 §6.3 rule 8.
        _ => Framing::UntilClose,
    };
    // RFC 9112 §9.3; "close" wins over "keep-alive".
    let persistent = !fields.close && (is_1_1 || fields.keep_alive);
    Ok(Head {
        status,
        framing,
        keep_alive: persistent && framing != Framing::UntilClose && status != 101,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use deadheat_model::Failure;

    fn head(text: &str) -> Result<Head, Failure> {
        let (head, length) = parse(text.as_bytes(), false)
            .map_err(|wrong| wrong.kind)?
            .expect("a whole head");
        assert_eq!(length, text.len());
        Ok(head)
    }

    #[test]
    fn the_first_frame_of_http2_is_known_whatever_it_is_cut_into() {
        let settings = [0, 0, 6, 4, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 100];
        for cut in 1..FRAME_HEADER {
            assert!(matches!(parse(&settings[..cut], false), Ok(None)), "{cut}");
        }
        let why = |bytes: &[u8]| parse(bytes, false).map(|_| ()).unwrap_err().why;
        assert_eq!(why(&settings), SPEAKS_HTTP2);
        let ping = [0, 0, 8, 6, 0, 0, 0, 0, 0];
        assert_eq!((why(&ping), why(&[0x15, 3, 3])), (NOT_HTTP, NOT_HTTP));
    }

    fn framing(headers: &str) -> Result<Framing, Failure> {
        head(&format!("HTTP/1.1 200 OK\r\n{headers}\r\n")).map(|head| head.framing)
    }

    #[test]
    fn framing_follows_rfc_9112_6_3() {
        assert_eq!(framing("content-length: 12\r\n"), Ok(Framing::Sized(12)));
        assert_eq!(framing("Content-Length:12 \t\r\n"), Ok(Framing::Sized(12)));
        assert_eq!(framing("CONTENT-LENGTH: 0\r\n"), Ok(Framing::Sized(0)));
        assert_eq!(
            framing("Transfer-Encoding: Chunked\r\n"),
            Ok(Framing::Chunked)
        );
        assert_eq!(framing("server: x\r\n"), Ok(Framing::UntilClose));
        assert_eq!(framing("content-length:\r\n 7\r\n"), Ok(Framing::Sized(7)));
    }

    #[test]
    fn contradictory_framing_is_refused() {
        for headers in [
            "content-length: 5\r\ncontent-length: 6\r\n",
            "content-length: 5\r\ncontent-length: 5\r\n",
            "content-length: 5, 5\r\n",
            "content-length: +5\r\n",
            "content-length: -1\r\n",
            "content-length: 0x5\r\n",
            "content-length: \r\n",
            "content-length: 18446744073709551616\r\n",
            "content-length: 5\r\ntransfer-encoding: chunked\r\n",
            "transfer-encoding: chunked\r\ntransfer-encoding: chunked\r\n",
            "transfer-encoding: chunked, chunked\r\n",
            "transfer-encoding: gzip, chunked\r\n",
            "transfer-encoding: identity\r\n",
        ] {
            assert_eq!(framing(headers), Err(Failure::BadFraming), "{headers:?}");
        }
        let old = head("HTTP/1.0 200 OK\r\ntransfer-encoding: chunked\r\n\r\n");
        assert_eq!(old, Err(Failure::BadFraming));
    }

    #[test]
    fn some_answers_end_with_their_head() {
        for status in [100, 101, 103, 204, 304] {
            let text = format!("HTTP/1.1 {status} X\r\ncontent-length: 5\r\n\r\n");
            assert_eq!(head(&text).unwrap().framing, Framing::Empty, "{status}");
        }
        let text = b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n";
        assert_eq!(
            parse(text, true).unwrap().unwrap().0.framing,
            Framing::Empty
        );
    }

    #[test]
    fn interim_answers_are_told_from_final_ones() {
        for (status, interim) in [
            (100, true),
            (101, false),
            (102, true),
            (103, true),
            (199, true),
            (200, false),
        ] {
            let head = head(&format!("HTTP/1.1 {status} X\r\n\r\n")).unwrap();
            assert_eq!(head.is_interim(), interim, "{status}");
        }
    }

    #[test]
    fn persistence_follows_rfc_9112_9_3() {
        let keep_alive = |text: &str| head(text).unwrap().keep_alive;
        assert!(keep_alive("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n"));
        assert!(!keep_alive(
            "HTTP/1.1 200 OK\r\ncontent-length: 0\r\nConnection: x, Close\r\n\r\n"
        ));
        assert!(
            !keep_alive("HTTP/1.1 200 OK\r\n\r\n"),
            "ends with the connection"
        );
        assert!(!keep_alive("HTTP/1.0 200 OK\r\ncontent-length: 0\r\n\r\n"));
        assert!(keep_alive(
            "HTTP/1.0 200 OK\r\ncontent-length: 0\r\nConnection: Keep-Alive\r\n\r\n"
        ));
        assert!(!keep_alive("HTTP/1.1 101 Switching\r\n\r\n"));
        assert!(!keep_alive(
            "HTTP/1.1 204 X\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n"
        ));
    }

    #[test]
    fn what_is_not_http_is_a_bad_head() {
        for text in [
            "garbage",
            "\r\nHTTP/1.1 200 OK\r\n\r\n",
            "HTTP/2.0 200 OK\r\n\r\n",
            "HTTP/1.1 20 OK\r\n\r\n",
            "HTTP/1.1 2x0 OK\r\n\r\n",
            "HTTP/1.1 020 OK\r\n\r\n",
            "HTTP/1.1 000 OK\r\n\r\n",
            "HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
            "HTTP/1.1 200 OK\r\ncontent-length : 5\r\n\r\n",
        ] {
            assert_eq!(
                parse(text.as_bytes(), false).map_err(|wrong| wrong.kind),
                Err(Failure::BadHead),
                "{text:?}"
            );
        }
    }

    #[test]
    fn heads_are_bounded_in_bytes_and_not_in_lines() {
        let with = |headers: usize| format!("HTTP/1.1 200 OK\n{}\n", "a:\n".repeat(headers));
        let frame = with(0).len();
        let most = (HEAD_LIMIT - frame) / 3;
        for headers in [USUAL_FIELDS, USUAL_FIELDS + 1, 200, most] {
            let head = with(headers);
            let (_, length) = parse(head.as_bytes(), false).unwrap().unwrap();
            assert_eq!(length, head.len());
        }
        assert_eq!(
            parse(with(most + 1).as_bytes(), false).unwrap_err().kind,
            Failure::BadHead
        );
        let of = |bytes: usize| {
            let frame = "HTTP/1.1 200 OK\r\na: \r\n\r\n".len();
            format!(
                "HTTP/1.1 200 OK\r\na: {}\r\n\r\n",
                "b".repeat(bytes - frame)
            )
        };
        assert!(parse(of(HEAD_LIMIT).as_bytes(), false).unwrap().is_some());
        assert_eq!(
            parse(of(HEAD_LIMIT + 1).as_bytes(), false)
                .unwrap_err()
                .kind,
            Failure::BadHead
        );
    }

    #[test]
    fn a_head_is_known_again_only_by_all_of_its_bytes() {
        let text = b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello";
        let other = b"HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nhello!";
        let mut heads = Heads::new();
        for bytes in [
            &text[..],
            &text[..],
            &other[..],
            &text[..],
            &text[..30],
            &text[..],
        ] {
            for to_head in [false, true, false] {
                assert_eq!(heads.read(bytes, to_head), parse(bytes, to_head));
            }
        }
        let long = format!(
            "HTTP/1.1 204 X\r\na: {}\r\n\r\n",
            "b".repeat(2 * KNOWN_LIMIT)
        );
        heads.read(long.as_bytes(), false).unwrap();
        assert_eq!(heads.read(text, false), parse(text, false));
    }

    #[test]
    fn an_incomplete_head_is_no_error() {
        let text = b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\nserver: x\r\n\r\n";
        for cut in 0..text.len() {
            assert_eq!(parse(&text[..cut], false), Ok(None), "{cut}");
        }
    }
}
