//! Whether an answer is the expected one: status and length of each, content of a sample.
//!
//! Content is compared as it comes and not gathered, except for JSON that differs in its bytes from what was once
//! found equal in value.

use deadheat_model::{
    Failure,
    load::{Content, Exchange, Expectation},
};

use crate::{
    http1::{Head, Sink},
    recorder::Examples,
};

/// The most bytes of JSON that are gathered for one answer; more is taken as different.
const GATHER_LIMIT: usize = 16 * 1024 * 1024;
/// The piece in which repeated bytes are compared.
const PATTERN: usize = 4 * 1024;
/// Bytes of an answer that an example shows.
const EXCERPT: usize = 200;

/// The start of some bytes, for a person.
pub(crate) fn excerpt(bytes: &[u8]) -> String {
    String::from_utf8_lossy(&bytes[..bytes.len().min(EXCERPT)]).into_owned()
}

/// What a worker holds for comparing.
#[derive(Debug)]
pub(crate) struct Contents {
    /// For each exchange: the exact content, a piece of the repeated one, or JSON text known to be equal (empty
    /// until there is one, then never changed: comparisons under way rely on it).
    known: Vec<Vec<u8>>,
    /// Buffers for gathering, to be used again.
    spare: Vec<Vec<u8>>,
    every: u32,
    until_next: u32,
}

impl Contents {
    /// Compares the content of the first answer and then of one in `every`; 0: of none.
    pub(crate) fn new(exchanges: &[&Exchange], every: u32) -> Self {
        let known = |exchange: &&Exchange| match &exchange.expect.content {
            Some(Content::Exact { bytes }) => bytes.clone(),
            Some(Content::Repeated { byte, .. }) => vec![*byte; PATTERN],
            Some(Content::Json { .. } | Content::JsonAt { .. } | Content::Contains { .. })
            | None => Vec::new(),
        };
        Self {
            known: exchanges.iter().map(known).collect(),
            spare: Vec::with_capacity(4),
            every,
            until_next: 0,
        }
    }

    fn is_sampled(&mut self) -> bool {
        if self.every == 0 {
            return false;
        }
        if self.until_next == 0 {
            self.until_next = self.every;
        }
        self.until_next -= 1;
        self.until_next == self.every - 1
    }
}

#[derive(Debug)]
enum Comparison {
    /// This answer is not in the sample.
    Off,
    /// All bytes so far are as known.
    Same,
    /// They are not.
    Different,
    /// JSON that is spelled differently: all of it.
    Gathering(Vec<u8>),
}

/// What is known of one answer so far.
#[derive(Debug)]
pub(crate) struct Answer {
    status: u16,
    length: u64,
    comparison: Comparison,
    /// What an example would say, if one is wanted.
    note: Option<String>,
}

/// What an answer turned out to be.
#[derive(Debug)]
pub(crate) struct Verdict {
    pub(crate) failure: Option<Failure>,
    pub(crate) content_checked: bool,
    pub(crate) note: Option<String>,
}

impl Answer {
    pub(crate) const fn new() -> Self {
        Self {
            status: 0,
            length: 0,
            comparison: Comparison::Off,
            note: None,
        }
    }

    /// Gets ready for the next answer.
    pub(crate) fn begin(&mut self) {
        self.length = 0;
        self.comparison = Comparison::Off;
        self.note = None;
    }

    /// Judges the whole answer. The first of status, length and content that is wrong names the failure.
    pub(crate) fn verdict(
        &mut self,
        exchange: usize,
        expect: &Expectation,
        contents: &mut Contents,
    ) -> Verdict {
        let content = self.compare_end(exchange, expect, contents);
        let failure = if !expect.status.contains(self.status) {
            Some(Failure::WrongStatus)
        } else if expect.length.is_some_and(|length| length != self.length) {
            Some(Failure::WrongLength)
        } else if content == Some(false) {
            Some(Failure::WrongContent)
        } else {
            None
        };
        Verdict {
            failure,
            content_checked: content.is_some(),
            note: self.note.take(),
        }
    }

    /// What an example of `failure` says where no bytes were kept.
    pub(crate) fn describe(&self, failure: Failure, expect: &Expectation) -> String {
        match (failure, expect.length) {
            (Failure::WrongLength, Some(length)) => {
                format!("the body has {} bytes instead of {length}", self.length)
            }
            _ => format!("status {}, a body of {} bytes", self.status, self.length),
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
            (Comparison::Same, Content::Json { .. }) => {
                let length = self.length as usize;
                // Of the known text's length it is the known text; shorter, it may still be JSON of that value.
                Some((length > 0 && length == known.len()) || content.matches(&known[..length]))
            }
            (Comparison::Same, content) => Some(content.length() == Some(self.length)),
            (Comparison::Gathering(text), content) => {
                let same = content.matches(&text);
                if same && known.is_empty() {
                    known.extend_from_slice(&text);
                }
                contents.spare.push(text);
                Some(same)
            }
        }
    }
}

/// Looks at an answer's parts as they come.
pub(crate) struct Examiner<'a> {
    pub(crate) answer: &'a mut Answer,
    pub(crate) exchange: usize,
    pub(crate) expect: &'a Expectation,
    pub(crate) contents: &'a mut Contents,
    pub(crate) examples: &'a Examples,
    /// Body bytes that came.
    pub(crate) received: u64,
}

impl Sink for Examiner<'_> {
    fn head(&mut self, head: &Head, raw: &[u8]) {
        self.answer.status = head.status;
        if !self.expect.status.contains(head.status) {
            if self.examples.wants(Failure::WrongStatus) {
                self.answer.note = Some(excerpt(raw));
            }
        } else if self.expect.content.is_some() && self.contents.is_sampled() {
            self.answer.comparison = Comparison::Same;
        }
    }

    #[inline]
    fn body(&mut self, data: &[u8]) {
        if !matches!(self.answer.comparison, Comparison::Off) {
            self.compare(data);
        }
        self.answer.length += data.len() as u64;
        self.received += data.len() as u64;
    }
}

impl Examiner<'_> {
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
            (Comparison::Gathering(text), _) => {
                if text.len() + data.len() <= GATHER_LIMIT {
                    text.extend_from_slice(data);
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
                    text.clear();
                    text.extend_from_slice(&known[..from as usize]);
                    text.extend_from_slice(data);
                    self.answer.comparison = Comparison::Gathering(text);
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
mod tests {
    use super::*;
    use crate::http1::AnswerReader;
    use deadheat_model::load::{RequestSpec, StatusSet};

    fn exchange(content: Content) -> Exchange {
        Exchange::new(
            RequestSpec::get("/"),
            Expectation {
                status: StatusSet::just(200),
                length: content.length(),
                content: Some(content),
            },
        )
    }

    /// The verdicts on `bodies`, one after the other, each delivered in pieces of `piece` bytes.
    fn judge(
        exchange: &Exchange,
        every: u32,
        bodies: &[&[u8]],
        piece: usize,
    ) -> Vec<(Option<Failure>, bool)> {
        let mut contents = Contents::new(&[exchange], every);
        let (mut answer, examples) = (Answer::new(), Examples::default());
        let mut reader = AnswerReader::with_capacity(0);
        let mut verdicts = Vec::new();
        for body in bodies {
            let mut bytes =
                format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len()).into_bytes();
            bytes.extend_from_slice(body);
            answer.begin();
            reader.begin(false);
            for piece in bytes.chunks(piece) {
                let mut examiner = Examiner {
                    answer: &mut answer,
                    exchange: 0,
                    expect: &exchange.expect,
                    contents: &mut contents,
                    examples: &examples,
                    received: 0,
                };
                reader.feed(piece, &mut examiner).unwrap();
            }
            let verdict = answer.verdict(0, &exchange.expect, &mut contents);
            verdicts.push((verdict.failure, verdict.content_checked));
        }
        verdicts
    }

    const RIGHT: (Option<Failure>, bool) = (None, true);
    const LENGTH: (Option<Failure>, bool) = (Some(Failure::WrongLength), true);
    const CONTENT: (Option<Failure>, bool) = (Some(Failure::WrongContent), true);

    #[test]
    fn exact_and_repeated_content_however_it_comes() {
        let exact = exchange(Content::Exact {
            bytes: b"Hello".to_vec(),
        });
        let repeated = exchange(Content::Repeated {
            byte: b'd',
            count: 9_000,
        });
        let (right, mut wrong) = (vec![b'd'; 9_000], vec![b'd'; 9_000]);
        wrong[8_999] = b'e';
        for piece in [1, 3, 100, 10_000] {
            let bodies: [&[u8]; 5] = [b"Hello", b"Hellu", b"Hell", b"Hello!", b"Hello"];
            let verdicts = judge(&exact, 1, &bodies, piece);
            assert_eq!(verdicts, [RIGHT, CONTENT, LENGTH, LENGTH, RIGHT]);
            let verdicts = judge(&repeated, 1, &[&right, &wrong, &right[1..]], piece);
            assert_eq!(verdicts, [RIGHT, CONTENT, LENGTH]);
        }
    }

    #[test]
    fn json_is_compared_by_value() {
        let value: serde_json::Value = serde_json::json!([{"a": 1, "b": "x"}]);
        let json = exchange(Content::Json { value });
        let bodies: [&[u8]; 7] = [
            br#"[{"a":1,"b":"x"}]"#,
            br#"[{"a":1,"b":"x"}]"#,
            br#"[ {"b": "x", "a": 1} ]"#,
            br#"[{"a":1,"b":"y"}]"#,
            br#"[{"a":1"#,
            br#"[{"a":1,"b":"x"}] "#,
            b"",
        ];
        for piece in [1, 5, 1_000] {
            let verdicts = judge(&json, 1, &bodies, piece);
            let expected = [RIGHT, RIGHT, RIGHT, CONTENT, CONTENT, RIGHT, CONTENT];
            assert_eq!(verdicts, expected, "pieces of {piece}");
        }
        assert_eq!(judge(&json, 1, &[b"", b"x"], 9), [CONTENT, CONTENT]);
    }

    #[test]
    fn one_in_so_many_is_compared() {
        let exact = exchange(Content::Exact {
            bytes: b"Hello".to_vec(),
        });
        let checked = |every: u32| -> Vec<bool> {
            let verdicts = judge(&exact, every, &[b"Hello".as_slice(); 7], 9);
            verdicts.into_iter().map(|(_, checked)| checked).collect()
        };
        assert_eq!(checked(3), [true, false, false, true, false, false, true]);
        assert_eq!(checked(1), [true; 7]);
        assert_eq!(checked(0), [false; 7]);
    }

    #[test]
    fn an_answer_outside_the_sample_is_still_measured() {
        let exact = exchange(Content::Exact {
            bytes: b"Hello".to_vec(),
        });
        let verdicts = judge(&exact, 0, &[b"Hellu", b"Hell"], 9);
        assert_eq!(
            verdicts,
            [(None, false), (Some(Failure::WrongLength), false)]
        );
    }
}
