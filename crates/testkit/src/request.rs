//! Reading requests. Independent of the load generator's code, so that neither proves the other's mistakes right.

use std::io::{self, BufRead, Read};

/// A request as it arrived.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// The method.
    pub method: String,
    /// Path and query.
    pub path: String,
    /// The version: "HTTP/1.1" or "HTTP/1.0".
    pub version: String,
    /// Headers in order, names as they came.
    pub headers: Vec<(String, String)>,
    /// The body, after the transfer coding is undone.
    pub body: Vec<u8>,
    /// The sizes of the body's chunks, the last (0) left out; empty when it was not chunked.
    pub chunks: Vec<usize>,
    /// All bytes on the wire.
    pub wire_bytes: u64,
}

impl Request {
    /// The value of the first header of that name.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        let found = headers.find(|(other, _)| other.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    /// Reads one request; `None` when the peer closed before its first byte.
    ///
    /// # Errors
    ///
    /// When the bytes are no request, or end in the middle of one.
    pub fn read(input: &mut impl BufRead) -> io::Result<Option<Self>> {
        let mut request = Self::default();
        let Some(start) = request.line(input)? else {
            return Ok(None);
        };
        let mut words = start.split(' ');
        let (Some(method), Some(path), Some(version @ ("HTTP/1.0" | "HTTP/1.1")), None) =
            (words.next(), words.next(), words.next(), words.next())
        else {
            return Err(bad(format!("no request line: {start:?}")));
        };
        (request.method, request.path) = (method.to_owned(), path.to_owned());
        request.version = version.to_owned();
        loop {
            let line = request.line(input)?.ok_or_else(cut)?;
            if line.is_empty() {
                break;
            }
            let (name, value) = line
                .split_once(": ")
                .ok_or_else(|| bad(format!("no header: {line:?}")))?;
            request.headers.push((name.to_owned(), value.to_owned()));
        }
        if request.header("host").is_none() && request.version == "HTTP/1.1" {
            return Err(bad("no Host".to_owned()));
        }
        match (
            request.header("content-length"),
            request.header("transfer-encoding"),
        ) {
            (None, None) => {}
            (Some(length), None) => {
                let length = length
                    .parse()
                    .map_err(|_| bad(format!("content-length {length:?}")))?;
                request.take(input, length)?;
            }
            (None, Some("chunked")) if request.version == "HTTP/1.1" => {
                request.read_chunks(input)?
            }
            both => return Err(bad(format!("framed by {both:?}"))),
        }
        Ok(Some(request))
    }

    fn read_chunks(&mut self, input: &mut impl BufRead) -> io::Result<()> {
        loop {
            let size = self.line(input)?.ok_or_else(cut)?;
            let size = usize::from_str_radix(&size, 16)
                .map_err(|_| bad(format!("chunk size {size:?}")))?;
            if size > 0 {
                self.chunks.push(size);
                self.take(input, size)?;
            }
            let end = self.line(input)?.ok_or_else(cut)?;
            if !end.is_empty() {
                return Err(bad(format!("{end:?} after a chunk")));
            }
            if size == 0 {
                return Ok(());
            }
        }
    }

    fn take(&mut self, input: &mut impl Read, length: usize) -> io::Result<()> {
        let from = self.body.len();
        self.body.resize(from + length, 0);
        input.read_exact(&mut self.body[from..])?;
        self.wire_bytes += length as u64;
        Ok(())
    }

    /// A line without its CR LF; `None` at the end of the stream.
    fn line(&mut self, input: &mut impl BufRead) -> io::Result<Option<String>> {
        let mut line = Vec::new();
        input.read_until(b'\n', &mut line)?;
        self.wire_bytes += line.len() as u64;
        if line.is_empty() {
            return Ok(None);
        }
        let Some(line) = line.strip_suffix(b"\r\n") else {
            return Err(cut());
        };
        Ok(Some(String::from_utf8_lossy(line).into_owned()))
    }
}

fn bad(what: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

fn cut() -> io::Error {
    bad("the request is cut short".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_requests_one_after_the_other() {
        let mut input: &[u8] = b"GET /a HTTP/1.1\r\nHost: x\r\n\r\n\
            POST /b HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi\
            POST /c HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n";
        let all = input.len() as u64;
        let mut read = || Request::read(&mut input).unwrap();
        let (a, b, c) = (read().unwrap(), read().unwrap(), read().unwrap());
        assert_eq!(
            (a.path.as_str(), b.body.as_slice()),
            ("/a", b"hi".as_slice())
        );
        assert_eq!(
            (c.body.as_slice(), c.chunks.as_slice()),
            (b"abc".as_slice(), [2, 1].as_slice())
        );
        assert_eq!(a.wire_bytes + b.wire_bytes + c.wire_bytes, all);
        assert_eq!(read(), None);
    }

    #[test]
    fn refuses_what_is_none() {
        for bytes in [
            "GET / HTTP/1.1\r\n\r\n",
            "GET /\r\nHost: x\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: x\r\n",
            "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nhi",
            "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n",
            "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nabc\r\n",
            "POST / HTTP/1.0\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            "GET / HTTP/1.2\r\nHost: x\r\n\r\n",
        ] {
            assert!(Request::read(&mut bytes.as_bytes()).is_err(), "{bytes:?}");
        }
    }
}
