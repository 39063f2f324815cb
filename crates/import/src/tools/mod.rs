//! Which tool's report begins with a line: those that are read, and those that are only recognised. Statuses and errors
//! are read here for all tools that print them alike.

mod ab;
mod h2load;
mod hey;
pub(crate) mod json;
mod k6;
mod oha;
mod vegeta;
mod wrk;

use deadheat_model::imported::Tool;

use crate::{
    report::{Damage, ToolReport},
    text::{Cursor, Line, count},
};

/// Reads one report; the cursor is at its first line, and behind its last one afterwards.
type ReportReader = fn(&mut Cursor<'_>) -> Result<ToolReport, Damage>;

/// Whose report begins with these lines, and how it is read.
pub(crate) fn beginning(lines: &[Line]) -> Option<(Tool, ReportReader)> {
    let first = lines.first()?;
    let mut rest = lines[1..].iter().filter(|line| !line.is_empty());
    let tool: (Tool, ReportReader) = if first.text == "Summary:" {
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

/// Lines that are in a report, and are not read outside of one.
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

/// Counts of statuses and of failures.
#[derive(Debug, Default)]
struct StatusCounts {
    /// Answers with each status.
    statuses: Vec<(u16, u64)>,
    /// Requests without an answer, by the reason.
    errors: Vec<(String, u64)>,
    /// Whether the lines after the counts show that the report was not cut off before its list of errors.
    is_closed: bool,
}

impl StatusCounts {
    /// Reads both sections; the cursor is behind the title of the first.
    fn read(cursor: &mut Cursor<'_>) -> Result<Self, Damage> {
        let mut counted = Self::default();
        while let Some(line) = cursor.peek().filter(|line| line.text.starts_with('[')) {
            counted.statuses.push(status(line)?);
            cursor.skip();
            // An empty line comes before the errors, if there are some.
            counted.is_closed = cursor.is_followed_by(2);
        }
        if cursor.is_at("Error distribution:") {
            counted.read_errors(cursor)?;
        }
        Ok(counted)
    }

    /// Reads the errors; the cursor is at their title.
    fn read_errors(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Damage> {
        cursor.skip();
        self.is_closed = false;
        while let Some(line) = cursor.peek().filter(|line| line.text.starts_with('[')) {
            self.errors.push(error(line)?);
            cursor.skip();
            self.is_closed = cursor.is_followed_by(1);
        }
        Ok(())
    }

    /// Answers of any status.
    fn answers(&self) -> u64 {
        sum(self.statuses.iter().map(|(_, count)| *count))
    }

    /// Answers with another status than 2xx.
    fn non_2xx(&self) -> u64 {
        let errors = self
            .statuses
            .iter()
            .filter(|(status, _)| !(200..300).contains(status));
        sum(errors.map(|(_, count)| *count))
    }

    /// Requests that failed, but for those that the end of the run cut off.
    fn failed(&self) -> u64 {
        let failed = self
            .errors
            .iter()
            .filter(|(reason, _)| !is_deadline(reason));
        sum(failed.map(|(_, count)| *count))
    }

    /// All errors.
    fn errors(&self) -> u64 {
        sum(self.errors.iter().map(|(_, count)| *count))
    }
}

/// Counts that are too large to be true are the largest one, which then fits no rate.
fn sum(counts: impl Iterator<Item = u64>) -> u64 {
    counts.fold(0, u64::saturating_add)
}

/// Whether a request was merely in flight when oha's time was over.
fn is_deadline(reason: &str) -> bool {
    reason == "aborted due to deadline"
}

fn status(line: &Line) -> Result<(u16, u64), Damage> {
    let read = || {
        let (status, rest) = line.text.strip_prefix('[')?.split_once(']')?;
        let status = count(status).filter(|status| (100..1000).contains(status))?;
        let answers = count(rest.trim().strip_suffix("responses")?.trim())?;
        Some((u16::try_from(status).ok()?, answers))
    };
    line.expect(read(), "`[STATUS] N responses`")
}

fn error(line: &Line) -> Result<(String, u64), Damage> {
    let read = || {
        let (failed, reason) = line.text.strip_prefix('[')?.split_once(']')?;
        Some((reason.trim().to_owned(), count(failed)?))
    };
    line.expect(read(), "`[N] REASON`")
}
