//! Raw results: of each stack at each load point one trial as ab prints it, folded.

use super::{Page, escape};
use crate::view::{CellDetail, GroupView, RESPONSE_TIME, TrialDetail};

/// What the blocks are, before the first of them.
const INTRODUCTION: &str = "Of each stack at each load point one trial, the nearest to the median, in the form in which \
     ab prints its results. Complete requests are verified answers, failed ones are not among them, and the time per \
     request is the mean that was measured. What the server's processes used stands below it. The CSV and JSON reports \
     have all trials.";

/// A failed trial's output is long, and the losses have shown it.
const COUNTS: &str = "counts";

impl Page {
    pub(super) fn raw_results(&mut self, groups: &[&GroupView]) {
        if groups.is_empty() {
            return;
        }
        self.heading(2, "Raw results");
        self.paragraph(INTRODUCTION);
        for group in groups {
            self.heading(3, &group.title);
            for cell in &group.cells {
                self.cell(group, cell);
            }
        }
    }

    fn cell(&mut self, group: &GroupView, cell: &CellDetail) {
        let (what, block) = match &cell.raw {
            Some(raw) => {
                let trial = &cell.trials[raw.trial];
                let among = match raw.of {
                    1 => ", the only one that has a result".to_owned(),
                    of => format!(", the nearest to the median of {of}"),
                };
                let what = format!("the trial in block {}{among}", trial.block);
                let mut lines = raw.lines.clone();
                lines.extend(beside(trial));
                (what, lines)
            }
            None if cell.trials.is_empty() => ("no trial".to_owned(), Vec::new()),
            None => ("no trial has a result".to_owned(), Vec::new()),
        };
        // HTML up to the empty line, where Markdown begins.
        let summary = format!("{}: {what}", html(&cell.target));
        self.paragraph(&format!("<details>\n<summary>{summary}</summary>"));
        self.verbatim(block.iter().map(String::as_str));
        if cell.trials.len() > 1 {
            self.paragraph(&escape(&in_order(group, cell)));
        }
        let others = cell.trials.iter().filter(|trial| trial.verdict != COUNTS);
        let others: Vec<String> = others
            .map(|trial| format!("Block {}: {}", trial.block, trial.verdict))
            .collect();
        self.bullets(&others, "", "");
        if let Some(sentence) = &cell.left_out {
            self.paragraph(&escape(sentence));
        }
        self.paragraph("</details>");
    }
}

/// The figure of each trial, in the order of the blocks.
fn in_order(group: &GroupView, cell: &CellDetail) -> String {
    let is_open = group.latency_name == RESPONSE_TIME;
    let figure = |trial: &TrialDetail| match is_open {
        true => trial.p50.clone(),
        false => trial.throughput.clone(),
    };
    let figures: Vec<String> = cell.trials.iter().map(figure).collect();
    let what = if is_open {
        "The trials' median response times"
    } else {
        "The trials' requests/s"
    };
    format!("{what}, in the order of the blocks: {}", figures.join("; "))
}

/// What ab does not know: doubts, and what GNU time prints.
fn beside(trial: &TrialDetail) -> Vec<String> {
    let mut lines = Vec::new();
    if !trial.flags.is_empty() {
        lines.push(String::new());
        lines.extend(trial.flags.iter().map(|flag| format!("WARNING: {flag}")));
    }
    if !trial.used.is_empty() {
        lines.push(String::new());
        let used = trial.used.iter();
        lines.extend(used.map(|(value, name)| format!("{value:>16}  {name}")));
    }
    if !trial.examples.is_empty() {
        lines.extend([String::new(), "Examples of failed requests:".to_owned()]);
        lines.extend(trial.examples.iter().map(|line| format!("  {line}")));
    }
    lines
}

/// Text from outside as HTML, in which Markdown does not stand.
fn html(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}
