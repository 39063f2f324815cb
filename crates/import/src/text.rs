//! The lines of a file without what terminals, mail, Markdown and Windows add, and the JSON between them: where a value
//! begins, how long it is, and whose it may be if it is damaged.

use deadheat_model::imported::Tool;
use serde::de::IgnoredAny;
use serde_json::{Deserializer, Value};

use crate::{
    report::{Damage, damage},
    tools,
};

/// A line of a file.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    /// From 1.
    pub(crate) number: usize,
    /// Its text, without blanks at either end.
    pub(crate) text: String,
    /// Whether its end was there: the last line of a file that was cut has none.
    pub(crate) ended: bool,
}

/// The most lines that are kept of a file.
pub(crate) const MOST_LINES: usize = 2_000_000;

/// The lines of a text; of many empty ones in a row, two. `None`: they are too many.
pub(crate) fn lines(text: &str) -> Option<Vec<Line>> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut kept: Vec<Line> = Vec::new();
    for (line, number) in text.split_inclusive('\n').zip(1..) {
        let line = Line {
            number,
            text: cleaned(line),
            ended: line.ends_with('\n'),
        };
        let is_third =
            line.is_empty() && kept.len() >= 2 && kept[kept.len() - 2..].iter().all(Line::is_empty);
        if is_third {
            continue;
        }
        if kept.len() == MOST_LINES {
            return None;
        }
        kept.push(line);
    }
    Some(kept)
}

/// A line without colours, the marks of a quotation, and what was overwritten on the screen.
fn cleaned(line: &str) -> String {
    let line = line.trim_end_matches(['\r', '\n']);
    let shown = line.rsplit('\r').find(|part| !part.trim().is_empty());
    let text = without_escapes(shown.unwrap_or("")).replace('\u{a0}', " ");
    let mut text = text.trim();
    while let Some(quoted) = text
        .strip_prefix('>')
        .filter(|rest| rest.is_empty() || rest.starts_with(' '))
    {
        text = quoted.trim_start();
    }
    text.to_owned()
}

/// A text without the sequences that set colours (ECMA-48 § 5.4).
fn without_escapes(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text.chars();
    while let Some(one) = rest.next() {
        if one != '\u{1b}' {
            kept.push(one);
            continue;
        }
        if rest.next() == Some('[') {
            // Parameters, and one final byte.
            let _final = rest.find(|one| ('\u{40}'..='\u{7e}').contains(one));
        }
    }
    kept
}

impl Line {
    pub(crate) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Whether it begins or ends a block of code in Markdown.
    pub(crate) fn is_fence(&self) -> bool {
        self.text.starts_with("```") || self.text.starts_with("~~~")
    }

    /// What follows `label`, without blanks.
    pub(crate) fn after(&self, label: &str) -> Option<&str> {
        self.text.strip_prefix(label).map(str::trim)
    }

    /// Damage: this is not what the tool prints here.
    pub(crate) fn wrong<T>(&self, expected: &str) -> Result<T, Damage> {
        let shown: String = self.text.chars().take(80).collect();
        damage(self.number, format!("expected {expected}, found `{shown}`"))
    }

    /// A value, or damage.
    pub(crate) fn expect<T>(&self, value: Option<T>, expected: &str) -> Result<T, Damage> {
        value.map_or_else(|| self.wrong(expected), Ok)
    }
}

/// The lines of a file, one after the other.
pub(crate) struct Cursor<'a> {
    lines: &'a [Line],
    at: usize,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(lines: &'a [Line], at: usize) -> Self {
        Self { lines, at }
    }

    /// The index of the next line.
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    /// The next line that is not empty; `None` at the end of the file, or of a block of code.
    pub(crate) fn peek(&mut self) -> Option<&'a Line> {
        while self.lines.get(self.at).is_some_and(Line::is_empty) {
            self.at += 1;
        }
        self.lines.get(self.at).filter(|line| !line.is_fence())
    }

    /// Whether the next line is this one.
    pub(crate) fn is_at(&mut self, text: &str) -> bool {
        self.peek().is_some_and(|line| line.text == text)
    }

    /// Whether the next line begins with this.
    pub(crate) fn is_before(&mut self, begin: &str) -> bool {
        self.peek().is_some_and(|line| line.text.starts_with(begin))
    }

    pub(crate) fn skip(&mut self) {
        self.at += 1;
    }

    /// Whether at least `count` lines follow, empty ones included, and the next non-empty one has its end. Then the
    /// report was not cut off here.
    pub(crate) fn is_followed_by(&self, count: usize) -> bool {
        let rest = self.lines.get(self.at..).unwrap_or_default();
        let next = rest.iter().find(|line| !line.is_empty());
        rest.len() >= count && next.is_none_or(|line| line.ended || line.is_fence())
    }

    /// The number of the next line, or of the last one.
    pub(crate) fn number(&self) -> usize {
        let line = self.lines.get(self.at).or(self.lines.last());
        line.map_or(1, |line| line.number)
    }

    /// Damage: the report ends here, and something is missing.
    pub(crate) fn missing<T>(&self, what: &str) -> Result<T, Damage> {
        damage(
            self.number(),
            format!("the report is not complete: `{what}` is missing"),
        )
    }

    /// A value that a report must have.
    pub(crate) fn require<T>(&self, value: Option<T>, what: &str) -> Result<T, Damage> {
        value.map_or_else(|| self.missing(what), Ok)
    }
}

/// A value that a report has only once.
pub(crate) fn once<T>(slot: &mut Option<T>, value: T, line: &Line) -> Result<(), Damage> {
    if slot.replace(value).is_some() {
        let shown: String = line.text.chars().take(40).collect();
        return damage(line.number, format!("`{shown}` is there twice"));
    }
    Ok(())
}

/// A longer value is no report: those of the tools have some kilobytes. In memory a value is many times as long.
const LONGEST: usize = 1 << 20;

/// The text as one, for JSON that has many lines. Each byte is looked at a bounded number of times, whatever the text is.
pub(crate) struct JsonText<'a> {
    lines: &'a [Line],
    /// Empty if no line begins a value.
    text: String,
    /// Where each line begins in it.
    begins: Vec<usize>,
    /// The keys by which reports are known: where they are, and whose they are.
    marks: Vec<(usize, Tool)>,
    /// The lines that no value has: empty ones, and fences.
    ends: Vec<usize>,
    /// Lines before this one lie in a value that failed.
    next: usize,
}

/// Why there is no value.
pub(crate) struct Failed {
    /// The index of the line.
    pub(crate) line: usize,
    pub(crate) why: String,
}

impl<'a> JsonText<'a> {
    pub(crate) fn new(lines: &'a [Line]) -> Self {
        let mut text = String::new();
        let (mut begins, mut ends) = (Vec::new(), Vec::new());
        if lines.iter().any(|line| line.text.starts_with('{')) {
            for (index, line) in lines.iter().enumerate() {
                if line.is_empty() || line.is_fence() {
                    ends.push(index);
                }
                begins.push(text.len());
                text += &line.text;
                text.push('\n');
            }
        }
        let of_mark = |(mark, tool): &(&str, Tool)| -> Vec<(usize, Tool)> {
            let found = text.match_indices(mark);
            found.map(|(at, _)| (at, *tool)).collect()
        };
        let mut marks: Vec<(usize, Tool)> = tools::json::MARKS.iter().flat_map(of_mark).collect();
        marks.sort_by_key(|(at, _)| *at);
        Self {
            lines,
            text,
            begins,
            marks,
            ends,
            next: 0,
        }
    }

    /// The value that begins at a line, and how many lines it has; `None`: the line lies in a value that failed before.
    pub(crate) fn value(&mut self, at: usize) -> Result<Option<(Value, usize)>, Failed> {
        if at < self.next {
            return Ok(None);
        }
        let rest = &self.text[self.begins[at]..];
        // First without keeping anything of it.
        let mut values = Deserializer::from_str(rest).into_iter::<IgnoredAny>();
        let failed = match values.next() {
            Some(Ok(_)) | None => None,
            Some(Err(error)) if error.is_eof() => Some((self.lines.len() - 1, error.to_string())),
            Some(Err(error)) => Some((at + error.line().saturating_sub(1), error.to_string())),
        };
        if let Some((line, why)) = failed {
            // What failed may end where another value begins.
            self.next = if line + 1 == self.lines.len() {
                line + 1
            } else {
                line.max(at + 1)
            };
            return Err(Failed { line, why });
        }
        let end = values.byte_offset();
        let length = rest[..end].matches('\n').count() + 1;
        if end > LONGEST {
            self.next = at + length;
            let why = format!("the value has {end} bytes, and no report has more than {LONGEST}");
            return Err(Failed { line: at, why });
        }
        let value = serde_json::from_str(&rest[..end]).unwrap_or(Value::Null);
        Ok(Some((value, length)))
    }

    /// Whose JSON the damaged value at a line seems to be. It ends at the latest at an empty line or a fence.
    pub(crate) fn marked(&self, at: usize) -> Option<Tool> {
        let from = self.begins[at];
        let first = self.marks.partition_point(|(mark, _)| *mark < from);
        let (mark, tool) = *self.marks.get(first)?;
        let line = self.begins.partition_point(|begin| *begin <= mark) - 1;
        let end = self.ends.partition_point(|end| *end < at);
        let is_before_end = self.ends.get(end).is_none_or(|end| line < *end);
        is_before_end.then_some(tool)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_added_is_taken_away() {
        let text = "\u{feff}> \u{1b}[32mRequests/sec: 1.0000\u{1b}[0m  \r\n\n50 %\r  90 %\r\nend";
        let lines = lines(text).expect("a few lines");
        let texts: Vec<&str> = lines.iter().map(|line| line.text.as_str()).collect();
        assert_eq!(texts, ["Requests/sec: 1.0000", "", "90 %", "end"]);
        assert!(lines[2].ended && !lines[3].ended);
    }
}
