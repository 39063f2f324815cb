//! An answer as a stream of events: a state machine over the bytes of its body. Any split of them gives the same events,
//! and nothing is copied.

use deadheat_model::load::{Stream, StreamEvent};

/// The optional start of a stream of server-sent events, which belongs to no line.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
/// The field that makes lines an event.
const DATA: &[u8] = b"data";

/// Counts the events of one answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EventCounter {
    place: StreamPosition,
    /// The number of events that completes an answer.
    enough: u64,
    seen: u64,
    /// Events that were not reported yet.
    fresh: u64,
}

/// The position of the next byte in the stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StreamPosition {
    Sse(Sse),
    /// `begun`: in a line that is not empty.
    Lines {
        begun: bool,
    },
    Chunks,
}

impl EventCounter {
    pub(crate) fn new(stream: Stream) -> Self {
        Self {
            place: match stream.event {
                StreamEvent::Sse => StreamPosition::Sse(Sse::START),
                StreamEvent::Lines => StreamPosition::Lines { begun: false },
                StreamEvent::Chunks => StreamPosition::Chunks,
            },
            enough: stream.enough.unwrap_or(u64::MAX),
            seen: 0,
            fresh: 0,
        }
    }

    /// Events so far.
    pub(crate) fn seen(&self) -> u64 {
        self.seen
    }

    /// Whether the events complete the answer.
    pub(crate) fn is_enough(&self) -> bool {
        self.seen >= self.enough
    }

    /// Number of events since the last call.
    pub(crate) fn take_fresh(&mut self) -> u64 {
        std::mem::take(&mut self.fresh)
    }

    fn one(&mut self) {
        self.seen += 1;
        self.fresh += 1;
    }

    /// Reads the next bytes of the body. Returns the number of bytes that belong to the answer: none after its last
    /// event.
    pub(crate) fn feed(&mut self, data: &[u8]) -> usize {
        if self.is_enough() {
            return 0;
        }
        let mut at = 0;
        while at < data.len() {
            let (used, is_event) = match &mut self.place {
                StreamPosition::Sse(sse) => sse.feed(&data[at..]),
                StreamPosition::Lines { begun } => line(begun, &data[at..]),
                StreamPosition::Chunks => return data.len(),
            };
            at += used;
            if is_event {
                self.one();
                if self.is_enough() {
                    break;
                }
            }
        }
        at
    }

    /// Ends a chunk of the chunked coding.
    #[inline]
    pub(crate) fn end_chunk(&mut self) {
        if self.place == StreamPosition::Chunks && !self.is_enough() {
            self.one();
        }
    }

    /// Ends the answer. A last line needs no line end; an unfinished server-sent event does not count.
    pub(crate) fn end(&mut self) {
        if self.place == (StreamPosition::Lines { begun: true }) && !self.is_enough() {
            self.one();
        }
    }
}

/// Reads bytes of a line up to its end. Returns their number, and whether a line that is not empty ends with them.
fn line(begun: &mut bool, data: &[u8]) -> (usize, bool) {
    let end = data.iter().position(|byte| *byte == b'\n');
    let text = &data[..end.unwrap_or(data.len())];
    *begun |= text.iter().any(|byte| *byte != b'\r');
    match end {
        None => (data.len(), false),
        Some(end) => (end + 1, std::mem::take(begun)),
    }
}

/// Server-sent events (WHATWG HTML §9.2.5, §9.2.6). Lines end with LF, CR or CR LF. A blank line makes an event of the
/// lines before it, if one of them has data: neither comments nor an `id` alone are one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Sse {
    /// Bytes of the byte order mark received so far; all of them if the stream has no mark.
    mark: usize,
    field: Field,
    has_data: bool,
    /// Whether an LF belongs to the CR before it.
    after_cr: bool,
}

/// The position of the next byte in a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Field {
    /// After this many bytes of [`DATA`], and nothing else.
    Name(usize),
    /// In the rest of a line whose field is known or irrelevant.
    Rest,
}

impl Sse {
    const START: Self = Self {
        mark: 0,
        field: Field::Name(0),
        has_data: false,
        after_cr: false,
    };

    /// Reads bytes up to the end of an event. Returns their number, and whether an event ends with them.
    fn feed(&mut self, data: &[u8]) -> (usize, bool) {
        let mut at = 0;
        while at < data.len() {
            if self.field == Field::Rest && !self.after_cr {
                // Most bytes: nothing but the line's end matters.
                let rest = data[at..].iter();
                let skipped = rest.take_while(|byte| !matches!(byte, b'\n' | b'\r'));
                at += skipped.count();
                if at == data.len() {
                    break;
                }
            }
            at += 1;
            if self.step(data[at - 1]) {
                return (at, true);
            }
        }
        (at, false)
    }

    /// Reads a byte. Returns whether an event ends with it.
    fn step(&mut self, byte: u8) -> bool {
        if self.mark < BYTE_ORDER_MARK.len() {
            if byte == BYTE_ORDER_MARK[self.mark] {
                self.mark += 1;
                return false;
            }
            if self.mark > 0 {
                self.field = Field::Rest;
            }
            self.mark = BYTE_ORDER_MARK.len();
        }
        let after_cr = std::mem::replace(&mut self.after_cr, byte == b'\r');
        match (byte, self.field) {
            (b'\n', _) if after_cr => false,
            (b'\n' | b'\r', Field::Name(0)) => std::mem::take(&mut self.has_data),
            (b'\n' | b'\r', field) => {
                // A name alone is a field with nothing in it.
                self.has_data |= field == Field::Name(DATA.len());
                self.field = Field::Name(0);
                false
            }
            (byte, Field::Name(read)) => {
                self.has_data |= read == DATA.len() && byte == b':';
                self.field = match DATA.get(read) {
                    Some(next) if *next == byte => Field::Name(read + 1),
                    _ => Field::Rest,
                };
                false
            }
            (_, Field::Rest) => false,
        }
    }
}

#[cfg(test)]
#[path = "stream_tests.rs"]
mod tests;
