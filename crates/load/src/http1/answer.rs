//! One answer as it comes: interim heads, head, body, end.

use deadheat_model::Failure;

use super::{
    Malformed,
    body::Body,
    head::{self, HEAD_LIMIT, Head},
};

/// Who wants to see an answer's parts.
pub(crate) trait Sink {
    /// The final head; `raw` are its bytes.
    fn head(&mut self, head: &Head, raw: &[u8]);
    /// Some of the body, after the transfer coding is undone. Never empty.
    fn body(&mut self, data: &[u8]);
}

/// What a feed led to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// The answer goes on.
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

#[derive(Debug)]
enum State {
    Head,
    Body { body: Body, keep_alive: bool },
}

/// Reads one answer, then the next; its buffer is used again.
#[derive(Debug)]
pub(crate) struct AnswerReader {
    state: State,
    /// The bytes of an incomplete head. Empty when the head comes in one piece, which is the rule.
    carry: Vec<u8>,
    to_head: bool,
}

impl AnswerReader {
    /// A reader whose heads may come in pieces without an allocation up to `capacity` bytes.
    pub(crate) fn with_capacity(capacity: usize) -> Self {
        Self {
            state: State::Head,
            carry: Vec::with_capacity(capacity),
            to_head: false,
        }
    }

    /// Gets ready for the answer to the next request; `to_head`: that request is a HEAD.
    pub(crate) fn begin(&mut self, to_head: bool) {
        self.state = State::Head;
        self.carry.clear();
        self.to_head = to_head;
    }

    /// Takes the next bytes from the connection.
    pub(crate) fn feed(&mut self, bytes: &[u8], sink: &mut impl Sink) -> Result<Step, Malformed> {
        let mut at = 0;
        loop {
            match &mut self.state {
                State::Head => {
                    let Some((head, length)) = self.feed_head(&bytes[at..], sink)? else {
                        return Ok(Step::More);
                    };
                    at += length;
                    if !head.is_interim() {
                        self.state = State::Body {
                            body: Body::new(head.framing),
                            keep_alive: head.keep_alive,
                        };
                    } else if at == bytes.len() {
                        return Ok(Step::More);
                    }
                }
                State::Body { body, keep_alive } => {
                    let rest = &bytes[at..];
                    at += body.feed(rest, |data| {
                        if !data.is_empty() {
                            sink.body(data);
                        }
                    })?;
                    return Ok(match body.is_done() {
                        true => Step::Whole {
                            used: at,
                            keep_alive: *keep_alive,
                        },
                        false => Step::More,
                    });
                }
            }
        }
    }

    /// A head, and how many of `bytes` belonged to it.
    fn feed_head(
        &mut self,
        bytes: &[u8],
        sink: &mut impl Sink,
    ) -> Result<Option<(Head, usize)>, Malformed> {
        if self.carry.is_empty() {
            let parsed = head::parse(bytes, self.to_head)?;
            match &parsed {
                Some((head, length)) if !head.is_interim() => sink.head(head, &bytes[..*length]),
                Some(_) => {}
                None => self.carry.extend_from_slice(bytes),
            }
            return Ok(parsed);
        }
        let carried = self.carry.len();
        let room = HEAD_LIMIT - carried;
        self.carry
            .extend_from_slice(&bytes[..bytes.len().min(room)]);
        let Some((head, length)) = head::parse(&self.carry, self.to_head)? else {
            return Ok(None);
        };
        if !head.is_interim() {
            sink.head(&head, &self.carry[..length]);
        }
        self.carry.clear();
        Ok(Some((head, length - carried)))
    }

    /// The connection has ended.
    pub(crate) fn end(&self) -> Ending {
        match &self.state {
            // An interim answer is not yet the answer.
            State::Head if self.carry.is_empty() => Ending::Cut(Failure::ClosedEarly),
            State::Head => Ending::Cut(Failure::TruncatedHead),
            State::Body {
                body: Body::UntilClose,
                ..
            } => Ending::Whole,
            State::Body { .. } => Ending::Cut(Failure::TruncatedBody),
        }
    }
}

#[cfg(test)]
#[path = "answer_tests.rs"]
mod tests;
