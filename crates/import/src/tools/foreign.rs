//! Load generators whose reports are known by their first line, and not read.

use crate::text::Line;

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
pub(crate) fn tool(line: &Line) -> Option<&'static str> {
    // Prose has these words, too.
    let is_prose = line.text.ends_with('.') && !line.text.ends_with("...");
    let of = |(begin, tool): &(&str, &'static str)| line.text.starts_with(begin).then_some(*tool);
    BEGINNINGS.iter().filter(|_| !is_prose).find_map(of)
}
