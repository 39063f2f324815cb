//! Which tool's report begins with a line: those that are read, and those that are only recognised.

mod ab;
mod h2load;
mod hey;
pub(crate) mod json;
mod k6;
mod oha;
mod statuses;
mod vegeta;
mod wrk;

use deadheat_model::imported::Tool;

use crate::{
    report::{Damage, Report},
    text::{Cursor, Line},
};

/// Reads one report; the cursor is at its first line, and behind its last one afterwards.
type Read = fn(&mut Cursor<'_>) -> Result<Report, Damage>;

/// Whose report begins with these lines, and how it is read.
pub(crate) fn beginning(lines: &[Line]) -> Option<(Tool, Read)> {
    let first = lines.first()?;
    let mut rest = lines[1..].iter().filter(|line| !line.is_empty());
    let tool: (Tool, Read) = if first.text == "Summary:" {
        match rest.next() {
            Some(line) if line.after("Success rate:").is_some() => (Tool::Oha, oha::read),
            _ => (Tool::Hey, hey::read),
        }
    } else if ab::begins(first) {
        (Tool::Ab, ab::read)
    } else if wrk::begins(first) {
        (Tool::Wrk, wrk::read)
    } else if h2load::begins(first) {
        (Tool::H2load, h2load::read)
    } else if vegeta::begins(first) {
        (Tool::Vegeta, vegeta::read)
    } else if k6::begins(first) {
        (Tool::K6, k6::read)
    } else {
        return None;
    };
    Some(tool)
}

/// Lines that stand in a report, and are not read outside of one.
const STRAY: [&str; 9] = [
    "Requests per second:",
    "Complete requests:",
    "Time taken for tests:",
    "Requests/sec:",
    "Requests/sec",
    "Transfer/sec:",
    "Percentage of the requests served",
    "Status code distribution:",
    "requests: ",
];

/// Whether a line that belongs to no report looks as if it did.
pub(crate) fn is_stray(line: &Line) -> bool {
    let stray = STRAY.iter().filter_map(|label| line.after(label));
    stray.take(1).any(|value| {
        value.is_empty()
            || value.starts_with(|first: char| first.is_ascii_digit() || first == '-')
            || line.text.starts_with("Percentage")
    })
}

/// Whether a line is one of a tool's report, so that it is nobody's name.
pub(crate) fn is_of_a_report(line: &Line) -> bool {
    let rest = line
        .text
        .trim_start_matches(|one: char| one.is_ascii_digit() || one == '.');
    let is_percentile = rest.len() < line.text.len()
        && rest.strip_prefix('%').is_some_and(|rest| {
            let rest = rest.trim_start_matches(['%', ':']).trim_start();
            rest.strip_prefix("in ")
                .unwrap_or(rest)
                .starts_with(|one: char| one.is_ascii_digit())
        });
    is_percentile || is_stray(line) || ab::is_of_a_report(line) || wrk::is_of_a_report(line)
}

/// How a report begins, and whose it is.
const BEGINNINGS: [(&str, &str); 10] = [
    ("Bombarding ", "bombardier"),
    ("Statistics        Avg      Stdev", "bombardier"),
    ("Beginning round 1...", "rewrk"),
    ("Lifting the server siege", "siege"),
    ("weighttp ", "weighttp"),
    ("Fortio ", "fortio"),
    (
        "request-start,DNS,DNS+dialup",
        "oha with --output-format csv",
    ),
    ("response-time,DNS+dialup,DNS", "hey with -o csv"),
    ("Percentage served,Time in ms", "ab with -e"),
    ("starttime\tseconds\tctime", "ab with -g"),
];

/// The tool whose report begins with this line.
pub(crate) fn foreign_tool(line: &Line) -> Option<&'static str> {
    // Prose has these words, too.
    let is_prose = line.text.ends_with('.') && !line.text.ends_with("...");
    let of = |(begin, tool): &(&str, &'static str)| line.text.starts_with(begin).then_some(*tool);
    BEGINNINGS.iter().filter(|_| !is_prose).find_map(of)
}
