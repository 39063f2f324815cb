//! One answer as it comes: interim heads, head, body, end.

use deadheat_model::Failure;

use super::{
    Malformed,
    body::Body,
    head::{HEAD_LIMIT, Head, Heads},
};

/// Receives the parts of an answer.
pub(crate) trait Sink {
    /// An interim head (1xx).
    fn interim(&mut self, _status: u16) {}
    /// The final head; `raw` are its bytes.
    fn head(&mut self, head: &Head, raw: &[u8]);
    /// Some of the body, after the transfer coding is undone. Never empty.
    fn body(&mut self, data: &[u8]);
    /// A chunk of the chunked coding ends with what came last.
    fn chunk_end(&mut self) {}
}

/// What a feed led to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FeedOutcome {
    /// The answer is not complete.
    More,
    /// The answer is whole.
    Whole {
        /// How many of the fed bytes belonged to it.
        used: usize,
        /// Whether the connection may carry another request.
        keep_alive: bool,
    },
}

/// What the end of the connection means for an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// It was its proper end.
    Whole,
    /// It came too early.
    Cut(Failure),
}

/// How much of an answer has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    /// Not a byte, apart from interim answers.
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

/// Reads one answer, then the next; its buffer is used again.
#[derive(Debug)]
pub(crate) struct AnswerReader {
    state: AnswerState,
    /// The bytes of an incomplete head. Empty when the head comes in one piece, which is the rule.
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

    /// How much of the answer has come.
    pub(crate) fn progress(&self) -> Progress {
        match &self.state {
            AnswerState::Head if self.carry.is_empty() => Progress::Nothing,
            AnswerState::Head => Progress::Head,
            AnswerState::Body { .. } => Progress::Body,
        }
    }

    /// How many bytes of the body are still to come, if that is known and nothing else comes before them.
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

    /// Whether the connection may carry another answer after the one whose body comes.
    #[inline]
    pub(crate) fn keeps_alive(&self) -> bool {
        match &self.state {
            AnswerState::Body { keep_alive, .. } => *keep_alive,
            AnswerState::Head => true,
        }
    }

    /// Takes note of bytes of the body that came and were dropped unseen; no more than [`Self::body_left`].
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

    /// Takes the next bytes from the connection; `heads` reads the heads of all connections.
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

    /// A head, and how many of `bytes` belonged to it.
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

    /// The connection has ended.
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

#[cfg(test)]
#[path = "answer_tests.rs"]
mod tests;
