//! JSON between other text: where a value begins, how long it is, and whose it may be if it is damaged. Each byte is
//! looked at a bounded number of times, whatever the text is.

use deadheat_model::imported::Tool;
use serde::de::IgnoredAny;
use serde_json::{Deserializer, Value};

use crate::{text::Line, tools};

/// A longer value is no report: those of the tools have some kilobytes. In memory a value is many times as long.
const LONGEST: usize = 1 << 20;

/// The text as one, for JSON that has many lines.
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
