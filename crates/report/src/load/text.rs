//! The report of a load for a terminal.

use std::borrow::Cow;

use anstyle::{AnsiColor, Style};
use deadheat_stats::load::{Severity, Standing};
use textwrap::core::display_width;

use super::{FailureRow, LatencyTable, LoadView, StatusRow};
use crate::view::Fact;

/// A narrower terminal gets this: the latencies of an open loop need it.
const LEAST_WIDTH: usize = 72;

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();
const GOOD: Style = AnsiColor::Green.on_default().bold();
const WARN: Style = AnsiColor::Yellow.on_default();
const BAD: Style = AnsiColor::Red.on_default();

/// The whole report, wrapped at `width` columns, with ANSI colours if `colour`. The first line is the verdict.
pub fn text(view: &LoadView, width: usize, colour: bool) -> String {
    let mut page = Page {
        text: String::new(),
        width: width.max(LEAST_WIDTH),
        colour,
    };
    let style = match view.standing {
        Standing::Sound => GOOD,
        Standing::Doubtful => WARN.bold(),
        Standing::GeneratorLimited | Standing::Failed => BAD.bold(),
    };
    page.wrapped(style, "", &view.headline);
    page.wrapped(Style::new(), "", &view.url);
    page.wrapped(DIM, "", &view.plan);
    for sign in view.doubts.iter().filter(|sign| !sign.in_headline) {
        let style = match sign.severity {
            Severity::Limit => BAD,
            Severity::Doubt | Severity::Note => WARN,
        };
        page.wrapped(style, "! ", &sign.sentence);
    }
    page.section("Answers");
    page.facts(&view.answers);
    page.statuses(&view.statuses);
    page.latency(&view.latency);
    page.failures(&view.failures);
    page.examples(&view.examples);
    page.section("Connections");
    page.facts(&view.connections);
    page.section("The generator itself");
    page.facts(&view.generator);
    if !view.notes.is_empty() {
        page.section("To know");
        for sign in &view.notes {
            page.wrapped(Style::new(), "- ", &sign.sentence);
        }
    }
    page.section("Where it comes from");
    page.facts(&view.provenance);
    page.text
}

struct Page {
    text: String,
    width: usize,
    colour: bool,
}

impl Page {
    fn line(&mut self, style: Style, line: &str) {
        let line = self.paint(style, line.trim_end()).into_owned();
        self.text.push_str(&line);
        self.text.push('\n');
    }

    fn paint<'a>(&self, style: Style, text: &'a str) -> Cow<'a, str> {
        if self.colour && !style.is_plain() && !text.is_empty() {
            return format!("{style}{text}{style:#}").into();
        }
        text.into()
    }

    fn section(&mut self, title: &str) {
        self.text.push('\n');
        self.line(BOLD, title);
    }

    /// Text wrapped to the width; after the first line as deep as `mark` is wide.
    fn wrapped(&mut self, style: Style, mark: &str, text: &str) {
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

    fn facts(&mut self, facts: &[Fact]) {
        let widths = facts.iter().map(|fact| display_width(&fact.name));
        let width = widths.max().unwrap_or(0);
        for fact in facts {
            let mark = format!("  {}  ", left(&fact.name, width));
            self.wrapped(Style::new(), &mark, &fact.value);
        }
    }

    /// Rows of which the first column is aligned to the left, the others to the right.
    fn table(&mut self, head: &[String], rows: &[Vec<String>]) {
        let widths: Vec<usize> = (0..head.len())
            .map(|column| {
                let cells = rows.iter().map(|row| display_width(&row[column]));
                cells.max().unwrap_or(0).max(display_width(&head[column]))
            })
            .collect();
        let line = |cells: &[String]| {
            let mut line = String::from("  ");
            for (column, (cell, width)) in cells.iter().zip(&widths).enumerate() {
                if column == 0 {
                    line += &left(cell, *width);
                } else {
                    let blank = width.saturating_sub(display_width(cell)) + 3;
                    line += &format!("{}{cell}", " ".repeat(blank));
                }
            }
            line
        };
        self.line(DIM, &line(head));
        for row in rows {
            self.line(Style::new(), &line(row));
        }
    }

    fn statuses(&mut self, statuses: &[StatusRow]) {
        if statuses.is_empty() {
            return;
        }
        self.section("Status codes");
        let row = |row: &StatusRow| {
            vec![
                row.status.clone(),
                row.count.clone(),
                row.share.clone(),
                row.expected.to_owned(),
            ]
        };
        let rows: Vec<_> = statuses.iter().map(row).collect();
        self.table(
            &["status", "answers", "share", ""].map(str::to_owned),
            &rows,
        );
    }

    fn latency(&mut self, table: &LatencyTable) {
        if table.columns.is_empty() {
            return;
        }
        self.section("Latency");
        let head: Vec<String> = std::iter::once(String::new())
            .chain(table.columns.iter().cloned())
            .collect();
        let rows = table.rows.iter().map(|row| {
            let name = std::iter::once(row.name.clone());
            name.chain(row.cells.iter().cloned()).collect()
        });
        let rows: Vec<Vec<String>> = rows.collect();
        self.table(&head, &rows);
        for note in &table.notes {
            self.wrapped(DIM, "  ", note);
        }
    }

    fn failures(&mut self, failures: &[FailureRow]) {
        if failures.is_empty() {
            return;
        }
        self.section("Failures");
        let width = |field: fn(&FailureRow) -> &str| {
            let widths = failures.iter().map(|row| display_width(field(row)));
            widths.max().unwrap_or(0)
        };
        let counts = width(|row| &row.measured);
        let (kinds, phases) = (width(|row| &row.kind), width(|row| &row.phase));
        for row in failures {
            let blank = " ".repeat(counts - display_width(&row.measured));
            let mark = format!(
                "  {blank}{}  {}  {}  ",
                row.measured,
                left(&row.kind, kinds),
                left(&row.phase, phases)
            );
            let more = if row.total == row.measured {
                String::new()
            } else {
                format!(" ({} over the whole load)", row.total)
            };
            self.wrapped(BAD, &mark, &format!("{}{more}", row.cause));
        }
    }

    fn examples(&mut self, examples: &[Fact]) {
        for example in examples {
            let mark = format!("  e.g. {}: ", example.name);
            self.wrapped(DIM, &mark, &example.value);
        }
    }
}

/// Keeps a number and its unit on one line.
const GLUE: char = '\u{a0}';

/// The text with its numbers glued to their units.
fn glued(text: &str) -> String {
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

fn left(text: &str, width: usize) -> String {
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
