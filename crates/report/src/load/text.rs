//! The report of a load for a terminal.

use anstyle::Style;
use deadheat_stats::load::{Severity, Standing};
use textwrap::core::display_width;

use super::{FailureRow, LatencyTable, LoadView, REQUEST_HEADS, RequestRow, StatusRow};
use crate::{
    figure::{count, counted},
    text::{BAD, DIM, GOOD, Page, Screen, WARN, pad_left, pad_right},
    view::Fact,
};

/// The most requests on one screen.
const BRIEFLY: usize = 10;

/// The whole report, wrapped at `width` columns, with ANSI colours if `colour`. The first line is the verdict.
pub fn text(view: &LoadView, width: usize, colour: bool) -> String {
    let mut page = Page::new(Screen::new(width, colour));
    page.verdict(view);
    page.wrapped(DIM, "", &view.plan);
    page.doubts(view);
    page.section("Answers");
    page.facts(&view.answers);
    page.statuses(&view.statuses);
    page.latency(&view.latency);
    for note in &view.latency.notes {
        page.wrapped(DIM, "  ", note);
    }
    page.events(&view.events);
    page.requests(&view.requests, usize::MAX);
    page.failures(&view.failures);
    page.examples(&view.examples);
    page.section("Connections");
    page.facts(&view.connections);
    page.named_facts("Addresses", &view.addresses);
    page.named_facts("Hosts", &view.hosts);
    page.section("The generator itself");
    page.facts(&view.generator);
    page.bullets("Notes", "- ", &notes(view));
    page.section("Where it comes from");
    page.facts(&view.provenance);
    page.text
}

/// What answers the question, on one screen: the verdict, what makes it doubtful, latencies, and what failed. Laid out
/// like [`text`].
pub fn brief(view: &LoadView, width: usize, colour: bool) -> String {
    let mut page = Page::new(Screen::new(width, colour));
    page.verdict(view);
    page.doubts(view);
    let as_expected = |row: &StatusRow| row.is_expected;
    if view.statuses.len() > 1 || !view.statuses.iter().all(as_expected) {
        page.statuses(&view.statuses);
    }
    page.latency(&view.latency);
    page.events(&view.events);
    page.requests(&view.requests, BRIEFLY);
    page.failures(&view.failures);
    page.examples(&view.examples);
    page.named_facts("Addresses", &view.addresses);
    page.named_facts("Hosts", &view.hosts);
    let (routine, others): (Vec<_>, Vec<_>) = view.notes.iter().partition(|note| note.is_routine);
    if !others.is_empty() {
        page.line(Style::new(), "");
    }
    for note in others {
        page.wrapped(Style::new(), "- ", &note.sentence);
    }
    page.line(Style::new(), "");
    let more = match routine.len() {
        0 => String::new(),
        some => format!(" and {}", counted(some, "note")),
    };
    let more = format!("--details: more figures{more}; -o load.html: a page with plots.");
    page.wrapped(DIM, "", &more);
    page.text
}

impl Page {
    /// The answer, and what was loaded.
    fn verdict(&mut self, view: &LoadView) {
        let style = match view.standing {
            Standing::Sound => GOOD,
            Standing::Doubtful => WARN.bold(),
            Standing::GeneratorLimited | Standing::MostlyFailed | Standing::Failed => BAD.bold(),
        };
        self.wrapped(style, "", &view.headline);
        self.wrapped(Style::new(), "", &view.url);
    }

    /// A section, if there is anything in it.
    fn named_facts(&mut self, name: &str, facts: &[Fact]) {
        if !facts.is_empty() {
            self.section(name);
            self.facts(facts);
        }
    }

    fn doubts(&mut self, view: &LoadView) {
        for sign in view.doubts.iter().filter(|sign| !sign.in_headline) {
            let style = match sign.severity {
                Severity::Limit => BAD,
                Severity::Doubt | Severity::Note => WARN,
            };
            self.wrapped(style, "! ", &sign.sentence);
        }
    }

    fn statuses(&mut self, statuses: &[StatusRow]) {
        if statuses.is_empty() {
            return;
        }
        self.section("Status codes");
        let rows: Vec<_> = statuses.iter().map(|row| row.shown().to_vec()).collect();
        self.table("  ", &["status", "answers", "share", ""], &rows);
    }

    fn latency(&mut self, table: &LatencyTable) {
        if table.columns.is_empty() {
            return;
        }
        self.section("Latency");
        let columns = table.columns.iter().map(String::as_str);
        let head: Vec<&str> = [""].into_iter().chain(columns).collect();
        let rows = table.rows.iter().map(|row| {
            let name = [row.name.clone()].into_iter();
            name.chain(row.shown()).collect()
        });
        let rows: Vec<Vec<String>> = rows.collect();
        self.table("  ", &head, &rows);
    }

    fn events(&mut self, events: &[Fact]) {
        if !events.is_empty() {
            self.section("Events");
            self.facts(events);
        }
    }

    /// At most so many of them.
    fn requests(&mut self, requests: &[RequestRow], most: usize) {
        let has_ended = |row: &RequestRow| row.per_second > 0.0 || row.failed > 0;
        if !requests.iter().any(has_ended) {
            return;
        }
        self.section("Requests");
        let shown = requests.iter().take(most);
        let rows: Vec<_> = shown.map(|row| row.shown().to_vec()).collect();
        self.table("  ", &REQUEST_HEADS, &rows);
        let more = requests.len().saturating_sub(most);
        if more > 0 {
            let note = format!("and {} more", count(more as u64));
            self.wrapped(DIM, "  ", &note);
        }
    }

    fn failures(&mut self, failures: &[FailureRow]) {
        if failures.is_empty() {
            return;
        }
        self.section("Failures");
        let width = |field: fn(&FailureRow) -> String| {
            let widths = failures.iter().map(|row| display_width(&field(row)));
            widths.max().unwrap_or(0)
        };
        let counts = width(|row| count(row.measured));
        let kinds = width(|row| row.kind.clone());
        let phases = width(|row| row.phase.clone());
        for row in failures {
            let mark = format!(
                "  {}  {}  {}  ",
                pad_left(&count(row.measured), counts),
                pad_right(&row.kind, kinds),
                pad_right(&row.phase, phases)
            );
            let more = if row.total == row.measured {
                String::new()
            } else {
                format!(" ({} over the whole load)", count(row.total))
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

fn notes(view: &LoadView) -> Vec<&str> {
    let notes = view.notes.iter();
    notes.map(|sign| sign.sentence.as_str()).collect()
}
