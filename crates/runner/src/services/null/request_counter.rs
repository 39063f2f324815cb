//! Requests counted in a connection's bytes: heads, and bodies of the length that these announce. The same count however
//! the bytes are split.

/// Bytes that are read from a connection at once.
pub(super) const READ_BYTES: usize = 64 * 1024;
/// A request head may have so many bytes.
const MAX_HEAD: usize = 16 * 1024;
/// A request head may have so many fields.
const MAX_FIELDS: usize = 64;

/// What happens to the connection after an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Then {
    /// It stays open, as HTTP/1.1 has it.
    Keep,
    /// It is closed.
    Close,
}

/// What came is no request that this server takes; the connection cannot go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Refused;

/// Where in its requests a connection is.
#[derive(Debug, Default)]
pub(super) struct Intake {
    /// The beginning of a head that has not come whole.
    rest: Vec<u8>,
    /// The body that is still to come, and what follows its request.
    body: Option<(u64, Then)>,
    /// Nothing follows a request that closes.
    over: bool,
}

impl Intake {
    /// Takes bytes, and calls `on_request` for each request that is whole with them. Nothing is allocated unless a head
    /// comes in pieces.
    pub(super) fn take(
        &mut self,
        bytes: &[u8],
        mut on_request: impl FnMut(Then),
    ) -> Result<(), Refused> {
        if self.rest.is_empty() {
            let used = self.scan(bytes, &mut on_request)?;
            self.rest.extend_from_slice(&bytes[used..]);
        } else {
            let mut all = std::mem::take(&mut self.rest);
            all.extend_from_slice(bytes);
            let used = self.scan(&all, &mut on_request)?;
            all.drain(..used);
            self.rest = all;
        }
        Ok(())
    }

    /// How many bytes belong to requests that are whole, or to a body.
    fn scan(&mut self, bytes: &[u8], on_request: &mut impl FnMut(Then)) -> Result<usize, Refused> {
        let mut at = 0;
        loop {
            if self.over {
                return Ok(bytes.len());
            }
            if let Some((left, then)) = self.body {
                let here = left.min((bytes.len() - at) as u64);
                at += here as usize;
                if here < left {
                    self.body = Some((left - here, then));
                    return Ok(at);
                }
                self.body = None;
                self.over = then == Then::Close;
                on_request(then);
                continue;
            }
            match head(&bytes[at..])? {
                None => return Ok(at),
                Some((length, body, then)) => {
                    at += length;
                    self.body = Some((body, then));
                }
            }
        }
    }
}

/// The head at the start of `bytes`: its length, its body's, and what follows; `None` when more bytes are needed.
fn head(bytes: &[u8]) -> Result<Option<(usize, u64, Then)>, Refused> {
    if bytes.is_empty() {
        return Ok(None);
    }
    let mut fields = [httparse::EMPTY_HEADER; MAX_FIELDS];
    let mut parsed = httparse::Request::new(&mut fields);
    let within = &bytes[..bytes.len().min(MAX_HEAD)];
    let length = match parsed.parse(within) {
        Ok(httparse::Status::Complete(length)) => length,
        Ok(httparse::Status::Partial) if within.len() < MAX_HEAD => return Ok(None),
        _ => return Err(Refused),
    };
    let mut then = match parsed.version {
        Some(1) => Then::Keep,
        _ => Then::Close,
    };
    let mut body = None;
    for field in parsed.headers {
        let name = field.name;
        if name.eq_ignore_ascii_case("content-length") {
            let said = decimal(field.value).ok_or(Refused)?;
            if *body.get_or_insert(said) != said {
                return Err(Refused);
            }
        } else if name.eq_ignore_ascii_case("connection") {
            let mut words = field.value.split(|byte| *byte == b',');
            if words.any(|word| word.trim_ascii().eq_ignore_ascii_case(b"close")) {
                then = Then::Close;
            }
        } else if name.eq_ignore_ascii_case("transfer-encoding") {
            return Err(Refused);
        }
    }
    Ok(Some((length, body.unwrap_or(0), then)))
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

    /// What follows each request of the pieces, and whether the connection could go on.
    fn all(pieces: &[&[u8]]) -> (Vec<Then>, Result<(), Refused>) {
        let mut intake = Intake::default();
        let mut found = Vec::new();
        for piece in pieces {
            if let Err(refused) = intake.take(piece, |then| found.push(then)) {
                return (found, Err(refused));
            }
        }
        (found, Ok(()))
    }

    #[test]
    fn requests_are_counted_with_their_bodies() {
        let get = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n";
        let post = b"POST / HTTP/1.1\r\ncontent-LENGTH: 25\r\n\r\nGET / HTTP/1.1\r\nHost:\r\n\r\n";
        let bytes = [&get[..], post, get].concat();
        assert_eq!(all(&[&bytes]), (vec![Then::Keep; 3], Ok(())));
        assert_eq!(all(&[&bytes[..bytes.len() - 1]]).0.len(), 2);
        let short = &[&get[..], &post[..post.len() - 1]].concat();
        assert_eq!(all(&[short]).0.len(), 1, "a body that lacks a byte");
    }

    #[test]
    fn what_closes_is_the_last() {
        for closing in [
            "GET / HTTP/1.0\r\n\r\n",
            "GET / HTTP/1.1\r\nConnection: te, Close\r\n\r\n",
        ] {
            let bytes = format!("{closing}GET / HTTP/1.1\r\n\r\n\u{0}");
            assert_eq!(all(&[bytes.as_bytes()]), (vec![Then::Close], Ok(())));
        }
    }

    #[test]
    fn odd_input_is_refused() {
        let long = format!("GET / HTTP/1.1\r\nx: {}\r\n\r\n", "a".repeat(MAX_HEAD));
        let many = format!(
            "GET / HTTP/1.1\r\n{}\r\n",
            "x: y\r\n".repeat(MAX_FIELDS + 1)
        );
        for bytes in [
            "\u{1}\u{2}\r\n\r\n",
            "GET / HTTP/1.1\r\ncontent-length: +1\r\n\r\n",
            "GET / HTTP/1.1\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n",
            "GET / HTTP/1.1\r\ncontent-length: 99999999999999999999\r\n\r\n",
            "POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n",
            long.as_str(),
            many.as_str(),
        ] {
            assert_eq!(
                all(&[bytes.as_bytes()]),
                (Vec::new(), Err(Refused)),
                "{bytes:.60}"
            );
        }
    }

    fn message() -> impl Strategy<Value = Vec<u8>> {
        let lines = prop::sample::select(vec![
            "GET / HTTP/1.1",
            "POST /x HTTP/1.1",
            "GET / HTTP/1.0",
            "bad",
        ]);
        let fields = prop::sample::select(vec!["", "connection: close\r\n", "host: x\r\n"]);
        let body = prop::collection::vec(any::<u8>(), 0..40);
        (lines, fields, body).prop_map(|(line, fields, body)| {
            let length = body.len();
            let head = format!("{line}\r\n{fields}content-length: {length}\r\n\r\n");
            [head.as_bytes(), &body].concat()
        })
    }

    proptest! {
        #[test]
        fn any_split_gives_the_same_count(
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
