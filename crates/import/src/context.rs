//! The text around a report: the name of the server, the heading above it, and the command.

use crate::{command, text::Line, tools};

/// The most characters of a name; a longer line is a sentence.
const LONGEST_NAME: usize = 80;

/// The starts of lines that the tools print before their report.
const BANNERS: [&str; 12] = [
    "This is ApacheBench",
    "Copyright ",
    "Licensed to ",
    "Benchmarking ",
    "Completed ",
    "Finished ",
    "progress:",
    // k6
    "█",
    "✓",
    "✗",
    "↳",
    "output: ",
];

/// A part of the progress line of k6: `default [ 50% ] 4 VUs 1.0s/2s`.
const K6_USERS: &str = " VUs";

/// The starts of lines about the server's resources, between its name and the report.
const RESOURCES: [&str; 3] = ["CPU:", "RAM:", "Memory:"];

/// Names above a report.
#[derive(Debug, Default)]
pub(crate) struct Names {
    pub(crate) label: Option<String>,
    /// The index of the label's line.
    pub(crate) label_at: Option<usize>,
    pub(crate) section: Option<String>,
}

/// The headings above a line, each of a higher level than the one before: the indices of their lines, and their levels.
#[derive(Debug, Default)]
pub(crate) struct TextContext {
    headings: Vec<(usize, usize)>,
    /// The index of the first unread line.
    read: usize,
}

impl TextContext {
    /// Reads the headings before the line `to`.
    pub(crate) fn advance(&mut self, lines: &[Line], to: usize) {
        for (index, line) in lines.iter().enumerate().take(to).skip(self.read) {
            if let Some(level) = level(line) {
                let above = self.headings.iter().rposition(|(_, one)| *one < level);
                self.headings.truncate(above.map_or(0, |above| above + 1));
                self.headings.push((index, level));
            }
        }
        self.read = self.read.max(to);
    }

    /// The nearest heading before the line at `before` with a level below `level`.
    fn above(&self, before: usize, level: usize) -> Option<usize> {
        let mut near = self.headings.iter().rev();
        let found = near.find(|(at, one)| *at < before && *one < level);
        found.map(|(at, _)| *at)
    }
}

/// The names above the line at `first`, to which `context` was advanced. What is above `floor` belongs to another
/// report.
pub(crate) fn names(lines: &[Line], first: usize, floor: usize, context: &TextContext) -> Names {
    let above = lines[floor..first].iter().enumerate().rev();
    let near = above
        .map(|(index, line)| (floor + index, line))
        .find(|(_, line)| !is_passed_over(line));
    let label_at = near.and_then(|(index, line)| (is_name(line)).then_some(index));
    // There is a sentence between the heading and the report.
    let label_at = label_at.or_else(|| {
        (floor..first)
            .rev()
            .find(|index| level(&lines[*index]).is_some())
    });
    let below = label_at
        .and_then(|index| level(&lines[index]))
        .unwrap_or(usize::MAX);
    let section = context.above(label_at.unwrap_or(first), below);
    Names {
        label: label_at
            .map(|index| plain(&lines[index].text))
            .filter(|name| !name.is_empty()),
        label_at,
        section: section.map(|index| plain(&lines[index].text)),
    }
}

fn is_passed_over(line: &Line) -> bool {
    line.is_empty()
        || line.is_fence()
        || command::of_line(&line.text).is_some()
        || line.text.contains(K6_USERS)
        || BANNERS
            .iter()
            .chain(&RESOURCES)
            .any(|begin| line.text.starts_with(begin))
}

/// Whether a line is a heading.
pub(crate) fn is_heading(line: &Line) -> bool {
    level(line).is_some()
}

/// The level of a heading.
fn level(line: &Line) -> Option<usize> {
    let level = line.text.bytes().take_while(|byte| *byte == b'#').count();
    ((1..=6).contains(&level) && line.text[level..].starts_with(' ')).then_some(level)
}

/// Whether a line may be the name of a server.
fn is_name(line: &Line) -> bool {
    let text = plain(&line.text);
    let is_list =
        line.text.starts_with(['-', '|', '=', '{', '}', '<']) || line.text.starts_with("* ");
    let is_sentence = text.ends_with(['.', '!', '?', ';', ',']);
    let is_short = text.chars().take(LONGEST_NAME + 1).count() <= LONGEST_NAME;
    !text.is_empty() && is_short && !is_sentence && !is_list && !tools::is_of_a_report(line)
}

/// A name without Markdown.
fn plain(text: &str) -> String {
    let text = text.trim_start_matches('#').trim();
    let text = text.replace(['*', '`'], "");
    let text = text.trim().trim_end_matches(':').trim();
    if let Some((before, rest)) = text.split_once('[')
        && let Some((name, rest)) = rest.split_once("](")
        && let Some((_, after)) = rest.split_once(')')
    {
        return format!("{before}{name}{after}").trim().to_owned();
    }
    text.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::lines;

    fn of(text: &str) -> (Option<String>, Option<String>) {
        let lines = lines(text).expect("a few lines");
        let mut context = TextContext::default();
        context.advance(&lines, lines.len());
        let names = names(&lines, lines.len(), 0, &context);
        (names.label, names.section)
    }

    #[test]
    fn a_report_is_called_after_the_line_above_it() {
        let named = |label: &str, section: Option<&str>| {
            (Some(label.to_owned()), section.map(str::to_owned))
        };
        assert_eq!(
            of("## JSON\n\n**Go 1 CPU**\n\n```\n"),
            named("Go 1 CPU", Some("JSON"))
        );
        assert_eq!(of("## A\n### [node](x)\n"), named("node", Some("A")));
        assert_eq!(
            of("# T\n## Go\nIt was run twice.\n$ ab -n 1 http://x/\n"),
            named("Go", Some("T"))
        );
        assert_eq!(
            of("# A\n## B\n### C\n## D\n**Go**\n"),
            named("Go", Some("D"))
        );
        for line in ["100%      5 (longest request)", "Total:  0  1  0.1  0  5"] {
            assert_eq!(of(line), (None, None), "{line}");
        }
        assert_eq!(of("It was run twice.\n"), (None, None));
        assert_eq!(
            of("## k6\nrunning (01.0s), 4/4 VUs, 9 complete\n\n  █ TOTAL RESULTS\n\n"),
            named("k6", None)
        );
    }
}
