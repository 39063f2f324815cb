//! What stands around a report: the name of the server, the heading above it, and the command.

use crate::{command, text::Line};

/// A longer line is a sentence, no name.
const LONGEST_NAME: usize = 80;

/// What the tools print before their report.
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

/// What k6 prints while it goes on: `default [ 50% ] 4 VUs 1.0s/2s`.
const K6_USERS: &str = " VUs";

/// What the server used, between its name and the report.
const RESOURCES: [&str; 3] = ["CPU:", "RAM:", "Memory:"];

/// Names that stand above a report.
#[derive(Debug, Default)]
pub(crate) struct Names {
    pub(crate) label: Option<String>,
    pub(crate) section: Option<String>,
}

/// The names above the line at `first`. What is above `floor` belongs to another report.
pub(crate) fn names(lines: &[Line], first: usize, floor: usize) -> Names {
    let above = lines[floor..first].iter().enumerate().rev();
    let near = above
        .map(|(index, line)| (floor + index, line))
        .find(|(_, line)| !is_passed_over(line));
    let label_at = near.and_then(|(index, line)| (is_name(line)).then_some(index));
    // A sentence stands between the heading and the report.
    let label_at = label_at.or_else(|| {
        (floor..first)
            .rev()
            .find(|index| level(&lines[*index]).is_some())
    });
    let below = label_at
        .and_then(|index| level(&lines[index]))
        .unwrap_or(usize::MAX);
    let headings = lines[..label_at.unwrap_or(first)].iter().rev();
    let section = headings
        .clone()
        .find(|line| level(line).is_some_and(|level| level < below));
    Names {
        label: label_at
            .map(|index| plain(&lines[index].text))
            .filter(|name| !name.is_empty()),
        section: section.map(|line| plain(&line.text)),
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
    !text.is_empty() && text.chars().count() <= LONGEST_NAME && !is_sentence && !is_list
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
        let lines = lines(text);
        let names = names(&lines, lines.len(), 0);
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
        assert_eq!(of("It was run twice.\n"), (None, None));
        assert_eq!(
            of("## k6\nrunning (01.0s), 4/4 VUs, 9 complete\n\n  █ TOTAL RESULTS\n\n"),
            named("k6", None)
        );
    }
}
