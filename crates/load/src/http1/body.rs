//! The body of an answer, by its framing; chunks (RFC 9112 §7.1) are a state machine over bytes.

use super::{Malformed, head::Framing};

/// What is left of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Body {
    /// This many bytes.
    Sized { left: u64 },
    /// What the chunked coding says.
    Chunked(Chunked),
    /// Everything up to the end of the connection.
    UntilClose,
}

impl Body {
    pub(crate) fn new(framing: Framing) -> Self {
        match framing {
            Framing::Empty => Body::Sized { left: 0 },
            Framing::Sized(left) => Body::Sized { left },
            Framing::Chunked => Body::Chunked(Chunked::new()),
            Framing::UntilClose => Body::UntilClose,
        }
    }

    /// Takes bytes until the body's end; the data goes to `data`, with whether a chunk ends with it. Returns how many bytes belonged to the body.
    pub(crate) fn feed(
        &mut self,
        bytes: &[u8],
        mut data: impl FnMut(&[u8], bool),
    ) -> Result<usize, Malformed> {
        match self {
            Body::Sized { left } => {
                let here = (*left).min(bytes.len() as u64);
                if here > 0 {
                    data(&bytes[..here as usize], false);
                    *left -= here;
                }
                Ok(here as usize)
            }
            Body::Chunked(chunked) => chunked.feed(bytes, data),
            Body::UntilClose => {
                data(bytes, false);
                Ok(bytes.len())
            }
        }
    }

    /// Whether nothing is left, without the end of the connection.
    pub(crate) fn is_done(&self) -> bool {
        matches!(self, Body::Sized { left: 0 } | Body::Chunked(Chunked::Done))
    }
}

/// The most bytes of one chunk extension, and of all trailer fields: nobody needs more, and a server that sends
/// them for ever must not look alive.
const LINE_LIMIT: u32 = 64 * 1024;

/// Where in the coding the next byte lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Chunked {
    /// In a chunk's size; `digits` of it were read.
    Size { size: u64, digits: u8 },
    /// In blanks after a size, which the grammar allows before an extension (and servers that pad send alone).
    Blank { size: u64 },
    /// In a chunk extension, which is ignored (§7.1.1).
    Extension { size: u64, read: u32 },
    /// At the LF of a size line.
    SizeLf { size: u64 },
    /// In a chunk's data.
    Data { left: u64 },
    /// At the CR after a chunk's data.
    DataCr,
    /// At the LF after a chunk's data.
    DataLf,
    /// At the start of a trailer line; `read` bytes of trailers are over (§7.1.2).
    TrailerStart { read: u32 },
    /// In a trailer line.
    Trailer { read: u32 },
    /// At the LF of a trailer line.
    TrailerLf { read: u32 },
    /// At the last LF.
    EndLf,
    /// After the end.
    Done,
}

impl Chunked {
    pub(crate) const fn new() -> Self {
        Chunked::Size { size: 0, digits: 0 }
    }

    /// Takes bytes until the body's end; the data goes to `data`, with whether a chunk ends with it. Returns how many bytes belonged to the body.
    pub(crate) fn feed(
        &mut self,
        bytes: &[u8],
        mut data: impl FnMut(&[u8], bool),
    ) -> Result<usize, Malformed> {
        let mut at = 0;
        while at < bytes.len() {
            match *self {
                Chunked::Done => break,
                Chunked::Data { left } => {
                    let here = left.min((bytes.len() - at) as u64);
                    data(&bytes[at..at + here as usize], here == left);
                    at += here as usize;
                    *self = match left - here {
                        0 => Chunked::DataCr,
                        left => Chunked::Data { left },
                    };
                }
                state => {
                    *self = state.step(bytes[at])?;
                    at += 1;
                }
            }
        }
        Ok(at)
    }

    /// The state after one byte that is not data. Lines end in CR LF here, never in LF alone: §2.2 grants that
    /// only to the status line and fields.
    fn step(self, byte: u8) -> Result<Self, Malformed> {
        Ok(match (self, byte) {
            (Chunked::Size { size, digits }, _) if byte.is_ascii_hexdigit() => {
                let digit = (byte as char).to_digit(16).unwrap_or_default();
                // Leading zeros are allowed (§7.1), a size beyond 64 bits is not.
                let size = size.checked_mul(16).ok_or(TOO_LARGE)? + u64::from(digit);
                let digits = digits.saturating_add(1);
                Chunked::Size { size, digits }
            }
            (Chunked::Size { digits: 0, .. }, _) => return Err(NO_SIZE),
            (Chunked::Size { size, .. } | Chunked::Blank { size }, b'\r') => {
                Chunked::SizeLf { size }
            }
            (Chunked::Size { size, .. } | Chunked::Blank { size }, b' ' | b'\t') => {
                Chunked::Blank { size }
            }
            (Chunked::Size { size, .. } | Chunked::Blank { size }, b';') => {
                Chunked::Extension { size, read: 0 }
            }
            (Chunked::Size { .. } | Chunked::Blank { .. }, _) => return Err(NO_SIZE),
            (Chunked::Extension { size, .. }, b'\r') => Chunked::SizeLf { size },
            (Chunked::Extension { .. }, b'\n') => return Err(NO_LINE),
            (Chunked::Extension { size, read }, _) if read < LINE_LIMIT => Chunked::Extension {
                size,
                read: read + 1,
            },
            (Chunked::SizeLf { size: 0 }, b'\n') => Chunked::TrailerStart { read: 0 },
            (Chunked::SizeLf { size }, b'\n') => Chunked::Data { left: size },
            (Chunked::DataCr, b'\r') => Chunked::DataLf,
            (Chunked::DataLf, b'\n') => Chunked::new(),
            (Chunked::DataCr | Chunked::DataLf, _) => return Err(NO_END),
            (Chunked::TrailerStart { .. }, b'\r') => Chunked::EndLf,
            (Chunked::Trailer { read }, b'\r') => Chunked::TrailerLf { read },
            (Chunked::TrailerStart { .. } | Chunked::Trailer { .. }, b'\n') => return Err(NO_LINE),
            (Chunked::TrailerStart { read } | Chunked::Trailer { read }, _)
                if read < LINE_LIMIT =>
            {
                Chunked::Trailer { read: read + 1 }
            }
            (Chunked::TrailerLf { read }, b'\n') => Chunked::TrailerStart { read },
            (Chunked::EndLf, b'\n') => Chunked::Done,
            (Chunked::SizeLf { .. } | Chunked::TrailerLf { .. } | Chunked::EndLf, _) => {
                return Err(NO_LINE);
            }
            (
                Chunked::Extension { .. } | Chunked::TrailerStart { .. } | Chunked::Trailer { .. },
                _,
            ) => {
                return Err(TOO_LONG);
            }
            (state @ (Chunked::Data { .. } | Chunked::Done), _) => state,
        })
    }
}

const NO_SIZE: Malformed = Malformed::framing("a chunk's size is not a hexadecimal number");
const TOO_LARGE: Malformed = Malformed::framing("a chunk's size does not fit in 64 bits");
const NO_LINE: Malformed = Malformed::framing("a line of the chunked coding does not end in CR LF");
const NO_END: Malformed = Malformed::framing("a chunk's data is longer than its announced size");
const TOO_LONG: Malformed =
    Malformed::framing("a chunk extension or the trailers are longer than 64 KiB");

#[cfg(test)]
mod tests {
    use super::*;

    fn decode(text: &[u8]) -> Result<(Vec<u8>, usize, Chunked), Malformed> {
        let (mut state, mut body) = (Chunked::new(), Vec::new());
        let used = state.feed(text, |data, _| body.extend_from_slice(data))?;
        Ok((body, used, state))
    }

    #[test]
    fn decodes_extensions_trailers_and_blanks() {
        let text = b"5;a=\"b;c\" ;d\r\nHello\r\n00A  \r\n, big wide\r\n2\t;x\r\n!!\r\n000\r\nTrailer: yes\r\nB: c\r\n\r\nrest";
        let (body, used, state) = decode(text).unwrap();
        assert_eq!(body, b"Hello, big wide!!");
        assert_eq!(&text[used..], b"rest");
        assert_eq!(state, Chunked::Done);
    }

    #[test]
    fn malformed_chunks_are_refused() {
        let long = format!("5;{}\r\n", "x".repeat(70_000));
        let trailers = format!("0\r\n{}", "a: b\r\n".repeat(20_000));
        for text in [
            "\r\n",
            "x\r\n",
            "-5\r\n",
            "0x5\r\n",
            "5\nHello",
            "5 6\r\n",
            "5;a\n",
            "5\r\nHello!\r\n",
            "5\r\nHello\n",
            "5\r\nHello\rx",
            "10000000000000000\r\n",
            "0\r\n\n",
            "0\r\nTrailer: x\n\r\n",
            "0\r\n\rx",
            &long,
            &trailers,
        ] {
            assert!(
                decode(text.as_bytes()).is_err(),
                "{:?}",
                &text[..text.len().min(40)]
            );
        }
        let many_zeros = format!("{}5\r\nHello\r\n0\r\n\r\n", "0".repeat(1000));
        assert_eq!(decode(many_zeros.as_bytes()).unwrap().0, b"Hello");
    }
}
