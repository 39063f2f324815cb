//! Whether an answer is the expected one: status and length of each, content of a sample.
//!
//! Content is compared as it arrives, without buffering. The exception is JSON whose bytes differ from a text that was
//! found equal in value.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use deadheat_model::{
    Failure,
    load::{Content, Exchange, Expectation},
    redact,
};

use crate::{
    browser::Browser,
    http1::{Head, Sink},
    http2::grpc::Call,
    plan::StatusMap,
    recorder::{Cause, Examples},
    stream::EventCounter,
};

/// The most bytes that a worker buffers at a time, for all its connections. A longer answer counts as different. An
/// answer that finds no room is not checked, and not counted as checked.
const GATHER_LIMIT: usize = 16 * 1024 * 1024;
/// The number of repeated bytes that are compared at a time.
const PATTERN: usize = 4 * 1024;
/// Bytes of an answer that an example shows.
const EXCERPT: usize = 200;

/// Fields of answers that are URLs, whose queries may have secrets in them.
const URLS: [&str; 4] = ["location", "content-location", "refresh", "link"];

/// The start of received bytes for an example, without the values of cookies and queries.
pub(crate) fn excerpt(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(EXCERPT)]);
    let lines = text.split_inclusive('\n').map(|line| {
        let name = line.split(':').next().unwrap_or_default();
        if name.eq_ignore_ascii_case("set-cookie") && name.len() < line.len() {
            format!("{name}: …\r\n")
        } else if URLS.iter().any(|url| name.eq_ignore_ascii_case(url)) {
            redact::url(line.trim_end()) + "\r\n"
        } else {
            line.to_owned()
        }
    });
    lines.collect()
}

/// The expected contents of a worker, and its buffers for comparing.
#[derive(Debug)]
pub(crate) struct Contents {
    /// For each exchange: the exact content, a piece of the repeated one, or JSON text known to be equal (empty
    /// until there is one, then never changed: comparisons under way rely on it).
    known: Vec<Vec<u8>>,
    /// The bytes of what is known to be equal.
    known_bytes: usize,
    /// Unused buffers.
    spare: Vec<Vec<u8>>,
    /// The capacity of all unused buffers, in bytes.
    spare_bytes: usize,
    /// The number of bytes buffered now, over all answers.
    gathered: Arc<AtomicUsize>,
    every: u32,
    /// For each exchange: answers until the next one whose content is compared.
    until_next: Vec<u32>,
}

impl Contents {
    /// Compares the content of each exchange's first answer, and then of one in `every`; 0: compares none.
    pub(crate) fn new<'a>(exchanges: impl Iterator<Item = &'a Exchange>, every: u32) -> Self {
        let known = |exchange: &Exchange| match &exchange.expect.content {
            Some(Content::Exact { bytes }) => bytes.clone(),
            Some(Content::Repeated { byte, .. }) => vec![*byte; PATTERN],
            Some(
                Content::Json { .. }
                | Content::JsonAt { .. }
                | Content::Gzip { .. }
                | Content::Records { .. }
                | Content::Contains { .. },
            )
            | None => Vec::new(),
        };
        let known: Vec<Vec<u8>> = exchanges.map(known).collect();
        Self {
            until_next: vec![0; known.len()],
            known,
            known_bytes: 0,
            spare: Vec::with_capacity(4),
            spare_bytes: 0,
            gathered: Arc::default(),
            every,
        }
    }

    fn is_sampled(&mut self, exchange: usize) -> bool {
        if self.every == 0 {
            return false;
        }
        let until_next = &mut self.until_next[exchange];
        if *until_next == 0 {
            *until_next = self.every;
        }
        *until_next -= 1;
        *until_next == self.every - 1
    }
}

#[derive(Debug)]
enum Comparison {
    /// This answer is not in the sample.
    Off,
    /// All bytes so far match the known content.
    Same,
    /// They differ.
    Different,
    /// JSON with other bytes, buffered to compare its value.
    Gathering(Gathered),
}

/// The buffered bytes of an answer. They count until they are taken out or dropped.
#[derive(Debug)]
struct Gathered {
    text: Vec<u8>,
    all: Arc<AtomicUsize>,
}

impl Gathered {
    /// Adds `data`; `false`: there is no room for it.
    fn add(&mut self, data: &[u8]) -> bool {
        let before = self.all.fetch_add(data.len(), Ordering::Relaxed);
        let fits = before + data.len() <= GATHER_LIMIT;
        if fits {
            self.text.extend_from_slice(data);
        } else {
            self.all.fetch_sub(data.len(), Ordering::Relaxed);
        }
        fits
    }

    fn into_text(mut self) -> Vec<u8> {
        self.all.fetch_sub(self.text.len(), Ordering::Relaxed);
        std::mem::take(&mut self.text)
    }
}

impl Drop for Gathered {
    fn drop(&mut self) {
        self.all.fetch_sub(self.text.len(), Ordering::Relaxed);
    }
}

/// The state of the check of one answer.
#[derive(Debug)]
pub(crate) struct AnswerSoFar {
    /// The status, once the head has come.
    pub(crate) status: u16,
    is_right_status: bool,
    /// Whether 100 Continue has come.
    pub(crate) may_continue: bool,
    /// Bytes of the body, after the transfer coding is undone.
    pub(crate) length: u64,
    /// The events in it, if they are counted.
    pub(crate) events: Option<EventCounter>,
    /// The gRPC status, if it is the answer to a call. `length` and content are then those of the message.
    pub(crate) call: Option<Call>,
    comparison: Comparison,
    /// Whether a note is to say how JSON differs.
    describes_json: bool,
    /// The text of an example, if one is wanted.
    pub(crate) note: Option<String>,
}

/// The result of checking an answer.
#[derive(Debug)]
pub(crate) struct AnswerVerdict {
    pub(crate) failure: Option<Failure>,
    pub(crate) content_checked: bool,
    pub(crate) note: Option<String>,
}

impl AnswerSoFar {
    pub(crate) const fn new() -> Self {
        Self {
            status: 0,
            is_right_status: false,
            may_continue: false,
            length: 0,
            events: None,
            call: None,
            comparison: Comparison::Off,
            describes_json: false,
            note: None,
        }
    }

    /// Gets ready for the next answer, in which `events` are counted.
    pub(crate) fn begin(&mut self, events: Option<EventCounter>) {
        self.events = events;
        self.call = None;
        self.may_continue = false;
        self.length = 0;
        self.comparison = Comparison::Off;
        self.note = None;
    }

    /// Whether the body of this answer is not checked. The head must have arrived.
    #[inline]
    pub(crate) fn ignores_body(&self) -> bool {
        matches!(self.comparison, Comparison::Off) && self.events.is_none()
    }

    /// Counts bytes of the body that were received and dropped.
    #[inline]
    pub(crate) fn dropped(&mut self, bytes: u64) {
        self.length += bytes;
    }

    /// Judges the whole answer. The first of status, gRPC's status, length and content that is wrong names the failure.
    pub(crate) fn verdict(
        &mut self,
        exchange: usize,
        expect: &Expectation,
        contents: &mut Contents,
    ) -> AnswerVerdict {
        let content = self.compare_end(exchange, expect, contents);
        let failure = if !self.is_right_status {
            Some(Failure::WrongStatus)
        } else if self.call_failure().is_some() {
            Some(Failure::Grpc)
        } else if expect.length.is_some_and(|length| length != self.length) {
            Some(Failure::WrongLength)
        } else if content == Some(false) {
            Some(Failure::WrongContent)
        } else {
            None
        };
        AnswerVerdict {
            failure,
            content_checked: content.is_some(),
            note: self.note.take(),
        }
    }

    /// Why a gRPC call failed; `None` if it succeeded, or the answer is not to a call.
    fn call_failure(&self) -> Option<&'static str> {
        self.call.as_ref()?.failure()
    }

    /// The cause that is counted for `failure`.
    pub(crate) fn cause(&self, failure: Failure) -> Cause {
        match failure {
            Failure::WrongStatus => Cause::Status(self.status),
            Failure::Grpc => Cause::Why(self.call_failure().unwrap_or_default()),
            Failure::WrongLength => Cause::Why("another length"),
            _ => Cause::Why("another content"),
        }
    }

    /// The text of an example of `failure` if no bytes were kept.
    pub(crate) fn describe(&self, failure: Failure, expect: &Expectation) -> String {
        match (failure, expect.length) {
            (Failure::WrongLength, Some(length)) => {
                format!("the body has {} bytes instead of {length}", self.length)
            }
            _ => {
                let call = self.call.as_ref();
                let length = call.map_or(self.length, Call::body_length);
                format!("status {}, a body of {length} bytes", self.status)
            }
        }
    }

    fn compare_end(
        &mut self,
        exchange: usize,
        expect: &Expectation,
        contents: &mut Contents,
    ) -> Option<bool> {
        let comparison = std::mem::replace(&mut self.comparison, Comparison::Off);
        let content = expect.content.as_ref()?;
        let known = &mut contents.known[exchange];
        match (comparison, content) {
            (Comparison::Off, _) => None,
            (Comparison::Different, _) => Some(false),
            (Comparison::Same, Content::Exact { .. } | Content::Repeated { .. }) => {
                Some(content.length() == Some(self.length))
            }
            (Comparison::Same, content) => {
                let length = self.length as usize;
                // A body that matched and has the known length is equal. A shorter one can be JSON of the same value.
                let same =
                    (length > 0 && length == known.len()) || content.matches(&known[..length]);
                if !same && self.describes_json {
                    self.note = content.json_difference(&known[..length]);
                }
                Some(same)
            }
            (Comparison::Gathering(gathered), content) => {
                let text = gathered.into_text();
                let same = content.matches(&text);
                if !same && self.describes_json {
                    self.note = content.json_difference(&text);
                }
                if same && known.is_empty() && contents.known_bytes + text.len() <= GATHER_LIMIT {
                    contents.known_bytes += text.len();
                    known.extend_from_slice(&text);
                }
                if contents.spare_bytes + text.capacity() <= GATHER_LIMIT {
                    contents.spare_bytes += text.capacity();
                    contents.spare.push(text);
                }
                Some(same)
            }
        }
    }
}

/// Checks an answer's parts as they arrive.
pub(crate) struct Examiner<'a> {
    pub(crate) answer: &'a mut AnswerSoFar,
    /// Reads heads first: it follows redirects and keeps cookies. `None`: the load asks for neither.
    pub(crate) browser: Option<&'a mut Browser>,
    pub(crate) exchange: usize,
    pub(crate) expect: &'a Expectation,
    pub(crate) statuses: &'a StatusMap,
    pub(crate) contents: &'a mut Contents,
    pub(crate) examples: &'a Examples,
    /// Body bytes received.
    pub(crate) received: u64,
}

impl Sink for Examiner<'_> {
    fn interim(&mut self, status: u16) {
        self.answer.may_continue |= status == 100;
    }

    #[inline]
    fn head(&mut self, head: &Head, raw: &[u8]) {
        self.see_head(head.status, raw);
    }

    #[inline]
    fn body(&mut self, data: &[u8]) {
        self.see_body(data);
    }

    #[inline]
    fn chunk_end(&mut self) {
        if let (Some(events), true) = (&mut self.answer.events, self.answer.is_right_status) {
            events.end_chunk();
        }
    }
}

impl Examiner<'_> {
    /// The final head; `raw` are its bytes, if they can be shown.
    pub(crate) fn see_head(&mut self, status: u16, raw: &[u8]) {
        self.answer.status = status;
        self.answer.is_right_status = self.statuses.contains(status);
        if let Some(browser) = self.browser.as_deref_mut()
            && !browser.head(status, raw)
        {
            return;
        }
        if !self.answer.is_right_status {
            if self.examples.wants(Failure::WrongStatus) && !raw.is_empty() {
                self.answer.note = Some(excerpt(raw));
            }
        } else if self.expect.content.is_some() && self.contents.is_sampled(self.exchange) {
            self.answer.comparison = Comparison::Same;
            self.answer.describes_json = self.examples.wants(Failure::WrongContent);
        }
    }

    /// Some of the body.
    #[inline]
    pub(crate) fn see_body(&mut self, data: &[u8]) {
        self.received += data.len() as u64;
        let data = match &mut self.answer.events {
            None => data,
            // An answer with a wrong status is no stream.
            Some(_) if !self.answer.is_right_status => data,
            Some(events) => &data[..events.feed(data)],
        };
        if !matches!(self.answer.comparison, Comparison::Off) {
            self.compare(data);
        }
        self.answer.length += data.len() as u64;
    }

    fn compare(&mut self, data: &[u8]) {
        let Some(content) = &self.expect.content else {
            return;
        };
        let from = self.answer.length;
        let to = from + data.len() as u64;
        let known = &self.contents.known[self.exchange];
        let is_next = || known.get(from as usize..to as usize) == Some(data);
        let same = match (&mut self.answer.comparison, content) {
            (Comparison::Off | Comparison::Different, _) => return,
            (Comparison::Gathering(gathered), _) => {
                if gathered.add(data) {
                    return;
                }
                if gathered.text.len() + data.len() <= GATHER_LIMIT {
                    self.answer.comparison = Comparison::Off;
                    return;
                }
                false
            }
            (Comparison::Same, Content::Exact { .. }) => is_next(),
            (Comparison::Same, Content::Repeated { count, .. }) => {
                to <= *count
                    && data
                        .chunks(PATTERN)
                        .all(|piece| piece == &known[..piece.len()])
            }
            (Comparison::Same, _) => {
                if !is_next() {
                    let mut text = self.contents.spare.pop().unwrap_or_default();
                    self.contents.spare_bytes -= text.capacity();
                    text.clear();
                    let all = Arc::clone(&self.contents.gathered);
                    let mut gathered = Gathered { text, all };
                    self.answer.comparison =
                        if gathered.add(&known[..from as usize]) && gathered.add(data) {
                            Comparison::Gathering(gathered)
                        } else {
                            Comparison::Off
                        };
                }
                return;
            }
        };
        if !same {
            self.answer.comparison = Comparison::Different;
            if self.examples.wants(Failure::WrongContent) {
                self.answer.note =
                    Some(format!("in the piece from byte {from}: {}", excerpt(data)));
            }
        }
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
