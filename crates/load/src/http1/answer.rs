//! An incremental reader of answers: interim heads, head, body by its framing, end. Chunks: RFC 9112 §7.1.

use deadheat_model::Failure;

use super::{
    Malformed,
    head::{Framing, HEAD_LIMIT, Head, Heads},
};

/// Receives the parts of an answer.
pub(crate) trait Sink {
    /// An interim head (1xx).
    fn interim(&mut self, _status: u16) {}
    /// The final head; `raw` are its bytes.
    fn head(&mut self, head: &Head, raw: &[u8]);
    /// Some of the body, after the transfer coding is undone. Never empty.
    fn body(&mut self, data: &[u8]);
    /// A chunk of the chunked coding ends with the last data.
    fn chunk_end(&mut self) {}
}

/// The result of feeding bytes to an [`AnswerReader`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FeedOutcome {
    /// The answer is not complete.
    More,
    /// The answer is complete.
    Whole {
        /// Number of fed bytes that belonged to it.
        used: usize,
        /// Whether the connection may carry another request.
        keep_alive: bool,
    },
}

/// What the end of the connection means for an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// The answer is complete.
    Whole,
    /// The answer was cut off.
    Cut(Failure),
}

/// How much of an answer has arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AnswerProgress {
    /// Nothing, apart from interim answers.
    Nothing,
    /// Some of its head.
    Head,
    /// Its head, and perhaps some of its body.
    Body,
}

/// The capacity for an incomplete head, in bytes. Most heads fit; ten thousand readers take 5 MiB.
const CARRIED: usize = 512;

#[derive(Debug)]
enum AnswerState {
    Head,
    Body { body: Body, keep_alive: bool },
}

/// Reads one answer after the other, and reuses its buffer.
#[derive(Debug)]
pub(crate) struct AnswerReader {
    state: AnswerState,
    /// The bytes of an incomplete head. Usually empty, because heads arrive in one piece.
    carry: Vec<u8>,
    to_head: bool,
}

impl AnswerReader {
    /// A reader.
    pub(crate) fn new() -> Self {
        Self {
            state: AnswerState::Head,
            carry: Vec::with_capacity(CARRIED),
            to_head: false,
        }
    }

    /// Gets ready for the answer to the next request; `to_head`: that request is a HEAD.
    pub(crate) fn begin(&mut self, to_head: bool) {
        self.state = AnswerState::Head;
        self.carry.clear();
        self.to_head = to_head;
    }

    /// How much of the answer has arrived.
    pub(crate) fn progress(&self) -> AnswerProgress {
        match &self.state {
            AnswerState::Head if self.carry.is_empty() => AnswerProgress::Nothing,
            AnswerState::Head => AnswerProgress::Head,
            AnswerState::Body { .. } => AnswerProgress::Body,
        }
    }

    /// Bytes of the body still to come; `None` if that is unknown or the head is incomplete.
    #[inline]
    pub(crate) fn body_left(&self) -> Option<u64> {
        match &self.state {
            AnswerState::Body {
                body: Body::Sized { left },
                ..
            } => Some(*left),
            _ => None,
        }
    }

    /// Whether the connection may carry another answer after the current one.
    #[inline]
    pub(crate) fn keeps_alive(&self) -> bool {
        match &self.state {
            AnswerState::Body { keep_alive, .. } => *keep_alive,
            AnswerState::Head => true,
        }
    }

    /// Counts bytes of the body that were received and dropped; at most [`Self::body_left`].
    #[inline]
    pub(crate) fn skip(&mut self, dropped: u64) -> FeedOutcome {
        if let AnswerState::Body {
            body: Body::Sized { left },
            keep_alive,
        } = &mut self.state
        {
            *left = left.saturating_sub(dropped);
            if *left == 0 {
                return FeedOutcome::Whole {
                    used: 0,
                    keep_alive: *keep_alive,
                };
            }
        }
        FeedOutcome::More
    }

    /// Reads the next bytes from the connection; `heads` parses the heads of all connections.
    pub(crate) fn feed(
        &mut self,
        bytes: &[u8],
        heads: &mut Heads,
        sink: &mut impl Sink,
    ) -> Result<FeedOutcome, Malformed> {
        let mut at = 0;
        loop {
            match &mut self.state {
                AnswerState::Head => {
                    let Some((head, length)) = self.feed_head(&bytes[at..], heads, sink)? else {
                        return Ok(FeedOutcome::More);
                    };
                    at += length;
                    if !head.is_interim() {
                        self.state = AnswerState::Body {
                            body: Body::new(head.framing),
                            keep_alive: head.keep_alive,
                        };
                    } else if at == bytes.len() {
                        return Ok(FeedOutcome::More);
                    }
                }
                AnswerState::Body { body, keep_alive } => {
                    let rest = &bytes[at..];
                    at += body.feed(rest, |data, ends_chunk| {
                        if !data.is_empty() {
                            sink.body(data);
                        }
                        if ends_chunk {
                            sink.chunk_end();
                        }
                    })?;
                    return Ok(if body.is_done() {
                        FeedOutcome::Whole {
                            used: at,
                            keep_alive: *keep_alive,
                        }
                    } else {
                        FeedOutcome::More
                    });
                }
            }
        }
    }

    /// Reads a head. Returns it with the number of `bytes` that belonged to it; `None` if it is incomplete.
    fn feed_head(
        &mut self,
        bytes: &[u8],
        heads: &mut Heads,
        sink: &mut impl Sink,
    ) -> Result<Option<(Head, usize)>, Malformed> {
        if self.carry.is_empty() {
            let parsed = heads.read(bytes, self.to_head)?;
            match &parsed {
                Some((head, length)) => tell(head, &bytes[..*length], sink),
                None => self.carry.extend_from_slice(bytes),
            }
            return Ok(parsed);
        }
        let carried = self.carry.len();
        let room = HEAD_LIMIT - carried;
        self.carry
            .extend_from_slice(&bytes[..bytes.len().min(room)]);
        let Some((head, length)) = heads.read(&self.carry, self.to_head)? else {
            return Ok(None);
        };
        tell(&head, &self.carry[..length], sink);
        self.carry.clear();
        Ok(Some((head, length - carried)))
    }

    /// What the end of the connection means for the answer.
    pub(crate) fn end(&self) -> Ending {
        match &self.state {
            // An interim answer is not yet the answer.
            AnswerState::Head if self.carry.is_empty() => Ending::Cut(Failure::ClosedEarly),
            AnswerState::Head => Ending::Cut(Failure::TruncatedHead),
            AnswerState::Body {
                body: Body::UntilClose,
                ..
            } => Ending::Whole,
            AnswerState::Body { .. } => Ending::Cut(Failure::TruncatedBody),
        }
    }
}

fn tell(head: &Head, raw: &[u8], sink: &mut impl Sink) {
    if head.is_interim() {
        sink.interim(head.status)
    } else {
        sink.head(head, raw)
    }
}

/// The rest of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Body {
    /// This many bytes.
    Sized { left: u64 },
    /// Up to the end of the chunked coding.
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

    /// Reads up to the body's end. `data` gets data, and whether a chunk ends with it. Returns the bytes read.
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

    /// Whether the body is complete. One that lasts until the connection closes never is.
    pub(crate) fn is_done(&self) -> bool {
        matches!(self, Body::Sized { left: 0 } | Body::Chunked(Chunked::Done))
    }
}

/// The most bytes of one chunk extension, and of all trailer fields. A server that sends them endlessly fails, instead
/// of appearing alive.
const LINE_LIMIT: u32 = 64 * 1024;

/// The position of the next byte in the chunked coding.
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

    /// Reads up to the body's end. `data` gets data, and whether a chunk ends with it. Returns the bytes read.
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
#[path = "answer_tests.rs"]
mod tests;
