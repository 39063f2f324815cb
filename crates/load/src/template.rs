//! Text templates with placeholders that are filled in for each request.

use std::{
    collections::BTreeMap,
    sync::atomic::{AtomicU64, Ordering},
};

use crate::{error::TemplateError, random};

/// A piece of a template: literal text or a placeholder.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Segment {
    Literal(Vec<u8>),
    /// 0, 1, 2, … over the requests of all workers.
    Counter,
    /// A number from low to high, both included.
    Random {
        low: u64,
        high: u64,
    },
    /// The lines of a list, one after the other.
    Line {
        list: usize,
    },
    /// A line of a list, each equally likely.
    RandomLine {
        list: usize,
    },
}

/// The lists of lines that templates choose from.
#[derive(Debug, Default)]
pub(crate) struct Lists(Vec<(String, Vec<String>)>);

impl Lists {
    pub(crate) fn new(lists: &BTreeMap<String, Vec<String>>) -> Self {
        Self(lists.clone().into_iter().collect())
    }

    fn find(&self, name: &str) -> Result<usize, TemplateError> {
        let found = self.0.iter().position(|(other, _)| other == name);
        let found = found.ok_or_else(|| TemplateError::NoList(name.to_owned()))?;
        if self.0[found].1.is_empty() {
            Err(TemplateError::NoLines(name.to_owned()))
        } else {
            Ok(found)
        }
    }
}

/// The position of a text in a request, which decides how inserted values are encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TextPosition {
    /// In the path: other characters are percent-encoded.
    Path,
    /// In a header's value.
    Header,
    /// In the body: values are inserted as they are.
    Body,
}

/// The values that decide how placeholders of a request are filled in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Choice {
    /// The value of the counter.
    pub(crate) count: u64,
    /// The seed of random values.
    pub(crate) seed: u64,
}

/// Counts the requests of all workers that are built from templates.
#[derive(Debug, Default)]
pub(crate) struct Counter(AtomicU64);

impl Counter {
    /// The next number.
    pub(crate) fn next(&self) -> u64 {
        // `Relaxed` suffices: the counter publishes no other memory.
        self.0.fetch_add(1, Ordering::Relaxed)
    }
}

/// A text with placeholders.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Template(Vec<Segment>);

impl Template {
    /// A template without placeholders.
    pub(crate) fn literal(text: &[u8]) -> Self {
        Self(vec![Segment::Literal(text.to_vec())])
    }

    /// Reads `{{counter}}`, `{{random LOW HIGH}}`, `{{line NAME}}` and `{{random-line NAME}}`.
    pub(crate) fn parse(
        text: &[u8],
        place: TextPosition,
        lists: &Lists,
    ) -> Result<Self, TemplateError> {
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some(open) = find(rest, b"{{") {
            let after = &rest[open + 2..];
            let close = find(after, b"}}").ok_or_else(|| {
                let open = String::from_utf8_lossy(&rest[open..]);
                TemplateError::Open(open.into_owned())
            })?;
            if open > 0 {
                parts.push(literal(&rest[..open], place)?);
            }
            let words = String::from_utf8_lossy(&after[..close]);
            parts.push(part(words.trim(), place, lists)?);
            rest = &after[close + 2..];
        }
        if !rest.is_empty() || parts.is_empty() {
            parts.push(literal(rest, place)?);
        }
        Ok(Self(parts))
    }

    /// Appends the text with its placeholders filled in. `nth` is the number of placeholders of this request so far, so
    /// that each has its own random number.
    pub(crate) fn render(
        &self,
        choice: Choice,
        nth: &mut u64,
        place: TextPosition,
        lists: &Lists,
        out: &mut Vec<u8>,
    ) {
        for part in &self.0 {
            let index = choice.count.wrapping_mul(64).wrapping_add(*nth);
            match part {
                Segment::Literal(bytes) => {
                    out.extend_from_slice(bytes);
                    continue;
                }
                Segment::Counter => number(out, choice.count),
                Segment::Random { low, high } => {
                    number(out, random::between(choice.seed, index, *low, *high));
                }
                Segment::Line { list } => {
                    let lines = &lists.0[*list].1;
                    put(
                        out,
                        &lines[(choice.count % lines.len() as u64) as usize],
                        place,
                    );
                }
                Segment::RandomLine { list } => {
                    let lines = &lists.0[*list].1;
                    let last = lines.len() as u64 - 1;
                    let line = random::between(choice.seed, index, 0, last);
                    put(out, &lines[line as usize], place);
                }
            }
            *nth += 1;
        }
    }
}

fn find(text: &[u8], wanted: &[u8; 2]) -> Option<usize> {
    text.windows(2).position(|pair| pair == wanted)
}

fn literal(text: &[u8], place: TextPosition) -> Result<Segment, TemplateError> {
    if place == TextPosition::Path && !text.iter().all(u8::is_ascii_graphic) {
        let part = String::from_utf8_lossy(text).into_owned();
        Err(TemplateError::Path(part))
    } else {
        Ok(Segment::Literal(text.to_vec()))
    }
}

fn part(words: &str, place: TextPosition, lists: &Lists) -> Result<Segment, TemplateError> {
    let (name, rest) = words.split_once(char::is_whitespace).unwrap_or((words, ""));
    let rest = rest.trim();
    let list = || {
        let list = lists.find(rest)?;
        let control = |line: &&String| {
            line.bytes()
                .any(|byte| byte.is_ascii_control() && byte != b'\t')
        };
        match lists.0[list].1.iter().find(control) {
            Some(line) if place == TextPosition::Header => Err(TemplateError::ControlCharacter {
                line: line.clone(),
                list: rest.to_owned(),
            }),
            _ => Ok(list),
        }
    };
    match name {
        "counter" if rest.is_empty() => Ok(Segment::Counter),
        "random" => {
            let mut numbers = rest.split_whitespace().map(str::parse::<u64>);
            match (numbers.next(), numbers.next(), numbers.next()) {
                (Some(Ok(low)), Some(Ok(high)), None) if low <= high => {
                    Ok(Segment::Random { low, high })
                }
                _ => Err(TemplateError::Random(words.to_owned())),
            }
        }
        "line" => Ok(Segment::Line { list: list()? }),
        "random-line" => Ok(Segment::RandomLine { list: list()? }),
        _ => Err(TemplateError::Unknown(words.to_owned())),
    }
}

fn number(out: &mut Vec<u8>, number: u64) {
    out.extend_from_slice(itoa(number, &mut [0; 20]));
}

/// Decimal digits without an allocation.
pub(crate) fn itoa(mut number: u64, digits: &mut [u8; 20]) -> &[u8] {
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            return &digits[at..];
        }
    }
}

fn put(out: &mut Vec<u8>, line: &str, place: TextPosition) {
    match place {
        TextPosition::Header | TextPosition::Body => out.extend_from_slice(line.as_bytes()),
        TextPosition::Path => {
            for byte in line.bytes() {
                // What RFC 3986 §3.3 and §3.4 allow in a path and a query, and a percent sign: a line may be encoded
                // already.
                let plain = byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@/?%".contains(&byte);
                if plain {
                    out.push(byte)
                } else {
                    const HEX: &[u8; 16] = b"0123456789ABCDEF";
                    out.extend_from_slice(&[
                        b'%',
                        HEX[usize::from(byte >> 4)],
                        HEX[usize::from(byte & 15)],
                    ]);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lists() -> BTreeMap<String, Vec<String>> {
        let lines = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect();
        BTreeMap::from([
            ("users".to_owned(), lines(&["ann", "b c/é", "100%25"])),
            ("empty".to_owned(), Vec::new()),
            ("odd".to_owned(), lines(&["a\rb"])),
        ])
    }

    fn render(text: &str, place: TextPosition, count: u64) -> String {
        let lists = lists();
        let lists = Lists::new(&lists);
        let template = Template::parse(text.as_bytes(), place, &lists).unwrap();
        let mut out = Vec::new();
        template.render(Choice { count, seed: 9 }, &mut 0, place, &lists, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn places_are_filled() {
        assert_eq!(
            render("/x?n={{counter}}&m={{ counter }}", TextPosition::Path, 17),
            "/x?n=17&m=17"
        );
        assert_eq!(render("no place {", TextPosition::Body, 0), "no place {");
        assert_eq!(render("", TextPosition::Body, 0), "");
        let lines: Vec<String> = (0..4)
            .map(|count| render("{{line users}}", TextPosition::Body, count))
            .collect();
        assert_eq!(lines, ["ann", "b c/é", "100%25", "ann"]);
        assert_eq!(
            render("/{{line users}}", TextPosition::Path, 1),
            "/b%20c/%C3%A9"
        );
        assert_eq!(render("/{{line users}}", TextPosition::Path, 2), "/100%25");
        assert_eq!(render("{{random 7 7}}", TextPosition::Body, 0), "7");
        assert_eq!(
            itoa(u64::MAX, &mut [0; 20]),
            u64::MAX.to_string().as_bytes()
        );
    }

    #[test]
    fn random_places_differ_between_places_and_requests() {
        let text = "{{random 0 1000000}} {{random 0 1000000}}";
        let (first, second) = (
            render(text, TextPosition::Body, 0),
            render(text, TextPosition::Body, 1),
        );
        assert_ne!(first, second);
        let (a, b) = first.split_once(' ').unwrap();
        assert_ne!(a, b);
        assert_eq!(
            first,
            render(text, TextPosition::Body, 0),
            "and come again with the same seed"
        );
        let mut seen: Vec<String> = (0..50)
            .map(|count| render("{{random-line users}}", TextPosition::Body, count))
            .collect();
        seen.sort();
        seen.dedup();
        assert_eq!(seen.len(), 3);
    }

    #[test]
    fn what_is_no_place_is_refused() {
        let lists = lists();
        let lists = Lists::new(&lists);
        for (text, place, says) in [
            ("{{count}}", TextPosition::Body, "is not a placeholder"),
            ("{{counter 1}}", TextPosition::Body, "is not a placeholder"),
            ("{{random}}", TextPosition::Body, "two whole numbers"),
            ("{{random 5 1}}", TextPosition::Body, "two whole numbers"),
            ("{{random 1 2 3}}", TextPosition::Body, "two whole numbers"),
            (
                "{{line nobody}}",
                TextPosition::Body,
                "the list \"nobody\" does not exist",
            ),
            ("{{line empty}}", TextPosition::Body, "no lines"),
            ("{{line odd}}", TextPosition::Header, "control character"),
            ("a {{counter", TextPosition::Body, "not closed"),
            ("/a b{{counter}}", TextPosition::Path, "percent-encoded"),
        ] {
            let error = Template::parse(text.as_bytes(), place, &lists).unwrap_err();
            assert!(error.to_string().contains(says), "{text}: {error}");
        }
        assert!(Template::parse(b"{{line odd}}", TextPosition::Body, &lists).is_ok());
    }
}
