//! Counts the requests in the bytes of a connection: heads, and bodies with the lengths that the heads announce. The
//! count does not depend on how the bytes are split.

/// The size of the read buffer in bytes.
pub(super) const READ_BYTES: usize = 64 * 1024;
/// The maximum length of a request head in bytes.
const MAX_HEAD: usize = 16 * 1024;
/// The maximum number of fields in a request head.
const MAX_FIELDS: usize = 64;

/// Whether the connection stays open after an answer (RFC 9112, section 9.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Persistence {
    /// The connection stays open, the default of HTTP/1.1.
    Keep,
    /// The connection is closed.
    Close,
}

/// The error for bytes that this server does not accept as a request. The connection must be closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Refused;

/// An incremental counter of the requests on a connection.
#[derive(Debug, Default)]
pub(super) struct RequestCounter {
    /// The received part of an incomplete head.
    rest: Vec<u8>,
    /// The number of body bytes still to come, and the persistence after this request.
    body: Option<(u64, Persistence)>,
    /// Whether the last request has been received, so that further bytes are ignored.
    over: bool,
}

impl RequestCounter {
    /// Processes received bytes, and calls `on_request` for each request that they complete. Allocates only if a head
    /// arrives in pieces.
    pub(super) fn take(
        &mut self,
        bytes: &[u8],
        mut on_request: impl FnMut(Persistence),
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

    /// Returns the number of bytes that belong to complete heads or to bodies.
    fn scan(
        &mut self,
        bytes: &[u8],
        on_request: &mut impl FnMut(Persistence),
    ) -> Result<usize, Refused> {
        let mut at = 0;
        loop {
            if self.over {
                return Ok(bytes.len());
            }
            if let Some((left, persistence)) = self.body {
                let here = left.min((bytes.len() - at) as u64);
                at += here as usize;
                if here < left {
                    self.body = Some((left - here, persistence));
                    return Ok(at);
                }
                self.body = None;
                self.over = persistence == Persistence::Close;
                on_request(persistence);
                continue;
            }
            match head(&bytes[at..])? {
                None => return Ok(at),
                Some((length, body, persistence)) => {
                    at += length;
                    self.body = Some((body, persistence));
                }
            }
        }
    }
}

/// Parses the head at the start of `bytes`: its length, its body's length, and the persistence. `None` if more bytes
/// are needed.
fn head(bytes: &[u8]) -> Result<Option<(usize, u64, Persistence)>, Refused> {
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
    let mut persistence = match parsed.version {
        Some(1) => Persistence::Keep,
        _ => Persistence::Close,
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
                persistence = Persistence::Close;
            }
        } else if name.eq_ignore_ascii_case("transfer-encoding") {
            return Err(Refused);
        }
    }
    Ok(Some((length, body.unwrap_or(0), persistence)))
}

/// Parses a number that consists of digits only (RFC 9110, section 8.6).
fn decimal(text: &[u8]) -> Option<u64> {
    let digits = !text.is_empty() && text.iter().all(u8::is_ascii_digit);
    let text = digits.then(|| std::str::from_utf8(text).ok())??;
    text.parse().ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The persistence after each request of the pieces, and whether all bytes were accepted.
    fn all(pieces: &[&[u8]]) -> (Vec<Persistence>, Result<(), Refused>) {
        let mut counter = RequestCounter::default();
        let mut found = Vec::new();
        for piece in pieces {
            if let Err(refused) = counter.take(piece, |persistence| found.push(persistence)) {
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
        assert_eq!(all(&[&bytes]), (vec![Persistence::Keep; 3], Ok(())));
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
            assert_eq!(all(&[bytes.as_bytes()]), (vec![Persistence::Close], Ok(())));
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
