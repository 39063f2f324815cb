//! Text of a bounded width for a terminal.

use std::borrow::Cow;

use anstyle::{AnsiColor, Style};
use textwrap::core::display_width;

use crate::view::Fact;

/// A narrower terminal gets this: the tables need it.
const LEAST_WIDTH: usize = 72;

pub(crate) const BOLD: Style = Style::new().bold();
pub(crate) const DIM: Style = Style::new().dimmed();
pub(crate) const GOOD: Style = AnsiColor::Green.on_default().bold();
pub(crate) const WARN: Style = AnsiColor::Yellow.on_default();
pub(crate) const BAD: Style = AnsiColor::Red.on_default();

/// Text under construction.
pub(crate) struct Page {
    /// What there is of it.
    pub(crate) text: String,
    /// The columns that it keeps to.
    pub(crate) width: usize,
    colour: bool,
}

impl Page {
    /// An empty page of so many columns, with ANSI colours if `colour`.
    pub(crate) fn new(width: usize, colour: bool) -> Self {
        Self {
            text: String::new(),
            width: width.max(LEAST_WIDTH),
            colour,
        }
    }

    /// A line as it is.
    pub(crate) fn line(&mut self, style: Style, line: &str) {
        let line = self.paint(style, line.trim_end()).into_owned();
        self.text.push_str(&line);
        self.text.push('\n');
    }

    /// `text` in a style, where there is colour.
    pub(crate) fn paint<'a>(&self, style: Style, text: &'a str) -> Cow<'a, str> {
        if self.colour && !style.is_plain() && !text.is_empty() {
            return format!("{style}{text}{style:#}").into();
        }
        text.into()
    }

    /// An empty line and a title.
    pub(crate) fn section(&mut self, title: &str) {
        self.text.push('\n');
        self.line(BOLD, title);
    }

    /// Text wrapped to the width; after the first line as deep as `mark` is wide.
    pub(crate) fn wrapped(&mut self, style: Style, mark: &str, text: &str) {
        let rest = " ".repeat(display_width(mark));
        let options = textwrap::Options::new(self.width)
            // A path is not broken at its slashes.
            .word_separator(textwrap::WordSeparator::AsciiSpace)
            .word_splitter(textwrap::WordSplitter::NoHyphenation)
            .initial_indent(mark)
            .subsequent_indent(&rest);
        for line in textwrap::wrap(&glued(text), options) {
            self.line(style, &line.replace(GLUE, " "));
        }
    }

    /// Facts, their names in a column.
    pub(crate) fn facts(&mut self, facts: &[Fact]) {
        let widths = facts.iter().map(|fact| display_width(&fact.name));
        let width = widths.max().unwrap_or(0);
        for fact in facts {
            let mark = format!("  {}  ", left(&fact.name, width));
            self.wrapped(Style::new(), &mark, &fact.value);
        }
    }
}

/// Keeps a number and its unit on one line.
pub(crate) const GLUE: char = '\u{a0}';

/// The text with its numbers glued to their units.
pub(crate) fn glued(text: &str) -> String {
    const UNITS: [&str; 8] = ["µs", "ms", "s", "%", "B", "KiB", "MiB", "GiB"];
    let mut glued = String::with_capacity(text.len());
    for word in text.split_inclusive(' ') {
        let unit = word
            .trim_end_matches(|end: char| end.is_ascii_punctuation() && end != '%' || end == ' ')
            .trim_end_matches("/s");
        let after_number = glued
            .strip_suffix(' ')
            .is_some_and(|before| before.ends_with(|end: char| end.is_ascii_digit()));
        if after_number && UNITS.contains(&unit) {
            glued.pop();
            glued.push(GLUE);
        }
        glued.push_str(word);
    }
    glued
}

/// `text` with blanks up to a width.
pub(crate) fn left(text: &str, width: usize) -> String {
    let blank = width.saturating_sub(display_width(text));
    format!("{text}{}", " ".repeat(blank))
}

#[cfg(test)]
mod tests {
    use super::glued;

    #[test]
    fn units_stay_with_their_numbers_and_nothing_else_does() {
        let cases = [
            ("for 3.00 s after 500 ms.", "for 3.00~s after 500~ms."),
            ("(27.5 % of 1,020 KiB/s)", "(27.5~% of 1,020~KiB/s)"),
            ("up to 51 B.", "up to 51~B."),
            ("50 connections, s 3", "50 connections, s 3"),
            ("8 seconds", "8 seconds"),
        ];
        for (text, expected) in cases {
            assert_eq!(glued(text), expected.replace('~', "\u{a0}"));
        }
    }
}
