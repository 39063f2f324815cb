//! Progress: a line that changes for a person who watches, and lines that stay; and the steps and results of preparing
//! stacks, which come before all measurements.

use std::time::Duration;

use deadheat_document::text::wrap;
use deadheat_model::{
    Event, TargetId, figure,
    session::{TargetState, WorkloadFailure},
};
use deadheat_shell::{data::COLUMNS, output};
use indicatif::{ProgressBar, ProgressStyle};

/// How often the line is drawn anew: seldom, because heats are measured meanwhile.
const TICK: Duration = Duration::from_millis(500);

/// The template of a spinner. A test parses this and the next ones.
const SPINNER: &str = "{spinner} {wide_msg}";
/// The template of a bar for the time of a session.
pub(crate) const OF_TIME: &str = "{bar:8} {prefix} · {msg}";
/// The template of a bar for the heats of a comparison.
pub const OF_HEATS: &str = "{bar:24} {pos}/{len} · {elapsed} · {wide_msg}";

/// The columns that the templates have next to their message: the bar, the numbers and what is between them, and the last
/// column, at which some terminals wrap.
const BESIDE_SPINNER: usize = 3;
const BESIDE_TIME: usize = 13;
const BESIDE_HEATS: usize = 48;
/// Before a line below a message.
const INDENT: &str = "  ";
/// Between parts of a message.
const BETWEEN: &str = " · ";

/// The first part, and as many of the others as fit `width`. A first part that is longer ends after a word.
fn fitting(parts: &[String], width: usize) -> String {
    let length = |text: &str| text.chars().count();
    let Some((first, others)) = parts.split_first() else {
        return String::new();
    };
    if length(first) > width {
        let short: String = first.chars().take(width.saturating_sub(2)).collect();
        let end = short.rfind(' ').unwrap_or(short.len());
        return format!("{} …", short[..end].trim_end_matches([',', ':', ' ']));
    }
    let mut text = first.clone();
    for part in others {
        if length(&text) + length(BETWEEN) + length(part) <= width {
            text = format!("{text}{BETWEEN}{part}");
        }
    }
    text
}

/// The columns of lines for a person: those of the terminal, or of a text file without one.
pub(crate) fn columns() -> usize {
    output::terminal_size().map_or(COLUMNS, |(columns, _)| columns.into())
}

/// `text` in lines of at most `width` columns, with whole words.
fn wrapped(text: &str, width: usize) -> String {
    let width = width.saturating_sub(INDENT.len());
    wrap(text, width, "", false).join(&format!("\n{INDENT}"))
}

/// Shows how far something is.
#[derive(Default)]
pub struct Progress {
    bar: Option<ProgressBar>,
    /// The columns of what is next to the message and its prefix.
    beside: usize,
    /// Stacks that were reported as unavailable before.
    known: Vec<TargetId>,
}

impl Progress {
    /// Shows a spinner next to `what`, at once.
    pub(crate) fn spinning(what: &str) -> Self {
        let progress = Self {
            bar: Some(bar(SPINNER, None)),
            beside: BESIDE_SPINNER,
            known: Vec::new(),
        };
        progress.say(what.to_owned());
        progress
    }

    /// Does not report these stacks as unavailable again.
    pub(crate) fn knowing(mut self, unavailable: Vec<TargetId>) -> Self {
        self.known = unavailable;
        self
    }

    /// Shows a bar with this many parts in place of what was shown.
    pub fn begin(&mut self, template: &str, parts: u64) {
        self.finish();
        self.bar = Some(bar(template, Some(parts)));
        self.beside = match template {
            OF_HEATS => BESIDE_HEATS,
            OF_TIME => BESIDE_TIME,
            _ => BESIDE_SPINNER,
        };
    }

    /// Shows a spinner with the step, or a line with the result, of a preparation.
    pub fn prepare(&mut self, event: &Event) {
        if self.bar.is_none() {
            self.bar = Some(bar(SPINNER, None));
            self.beside = BESIDE_SPINNER;
        }
        match event {
            Event::ServiceStarting { name } => self.step(format!("starting {name}")),
            Event::ServiceReady { name, detail } => self.line(&format!("{name}: {detail}")),
            Event::PrepareStarted { target, step } => self.step(format!("{target}: {step}")),
            Event::Built { target, build } => self.line(&format!(
                "{}: built in {}",
                target.stack,
                figure::about(Duration::from_secs_f64(build.seconds))
            )),
            Event::Prepared {
                target,
                state: TargetState::Unavailable { .. },
                ..
            } if self.known.contains(target) => {}
            Event::Prepared {
                target,
                state,
                failed_workloads,
            } => self.prepared(&target.to_string(), state, failed_workloads),
            // The other events are shown by the progress of measurements.
            _ => {}
        }
    }

    fn step(&self, text: String) {
        tracing::info!("{text}");
        self.say(text);
    }

    /// Sets how far it is, and the text next to the bar.
    pub fn reach(&self, part: u64, prefix: String) {
        if let Some(bar) = &self.bar {
            bar.set_position(part);
            bar.set_prefix(prefix);
        }
    }

    /// Shows what is being done.
    pub fn say(&self, text: String) {
        self.say_parts(&[text]);
    }

    /// Shows what is being done, and further parts as long as there is room for them.
    pub(crate) fn say_parts(&self, parts: &[String]) {
        self.say_lines(parts, &[]);
    }

    /// Shows lines next to the bar, and lines below it.
    pub(crate) fn say_lines(&self, parts: &[String], below: &[String]) {
        tracing::debug!("{}", [parts, below].concat().join(BETWEEN));
        let Some(bar) = &self.bar else { return };
        let columns = columns();
        let taken = self.beside + bar.prefix().chars().count();
        let mut text = fitting(parts, columns.saturating_sub(taken));
        if !below.is_empty() {
            let below = fitting(below, columns.saturating_sub(INDENT.len() + 1));
            text = format!("{text}\n{INDENT}{below}");
        }
        bar.set_message(text);
    }

    /// Prints a line that stays.
    pub fn line(&self, text: &str) {
        let text = wrapped(text, columns());
        match &self.bar {
            Some(bar) => bar.suspend(|| output::note(&text)),
            None => output::note(&text),
        }
    }

    /// Prints a line that stays, about a problem.
    pub fn problem(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.suspend(|| output::warn(text)),
            None => output::warn(text),
        }
    }

    /// Removes the line that changes.
    pub fn finish(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }

    fn prepared(&self, target: &str, state: &TargetState, failed: &[WorkloadFailure]) {
        match state {
            TargetState::Ready { .. } => {
                let wrong = failed.len();
                match wrong {
                    0 => self.line(&format!("{target}: ready")),
                    _ => self.problem(&format!(
                        "{target}: ready, but {wrong} of its workloads cannot be measured:"
                    )),
                }
            }
            TargetState::Unavailable { reason, remedy } => {
                self.problem(&format!(
                    "{target}: UNAVAILABLE: {reason}\n    to change that: {remedy}"
                ));
            }
            TargetState::Failed(failure) => self.problem(&format!(
                "{target}: FAILED {}",
                output::failure_text(failure)
            )),
        }
        for one in failed {
            self.problem(&format!(
                "  {}: FAILED {}",
                one.workload,
                output::failure_text(&one.failure)
            ));
        }
    }
}

fn bar(template: &str, parts: Option<u64>) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(parts, output::bar_target());
    let style = ProgressStyle::with_template(template);
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar.enable_steady_tick(TICK);
    bar
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_has_whole_words_and_whole_parts() {
        let parts =
            ["heat 3: round 2", "so far go 1,000/s", "4 slices discarded"].map(str::to_owned);
        let cases = [
            (
                80,
                "heat 3: round 2 · so far go 1,000/s · 4 slices discarded",
            ),
            (36, "heat 3: round 2 · so far go 1,000/s"),
            (34, "heat 3: round 2"),
            (15, "heat 3: round 2"),
            (14, "heat 3 …"),
        ];
        for (width, expected) in cases {
            let text = fitting(&parts, width);
            assert_eq!(text, expected, "{width}");
            assert!(text.chars().count() <= width, "{text}");
        }
    }

    #[test]
    fn a_line_of_a_heat_fits_its_width_and_keeps_its_words() {
        let heat = "heat 12 · plaintext: 76 rounds in 10 s; so far rust-axum 71,200/s, go-nethttp 41,000/s, node-http 9,000/s";
        for width in [80, 60, 40] {
            let text = wrapped(heat, width);
            let mut lines = text.lines();
            assert!(lines.all(|line| line.chars().count() <= width), "{text}");
            assert_eq!(text.replace(&format!("\n{INDENT}"), " "), heat);
        }
        assert_eq!(wrapped(heat, 200), heat);
    }

    #[test]
    fn the_templates_parse() {
        for template in [SPINNER, OF_TIME, OF_HEATS] {
            assert!(ProgressStyle::with_template(template).is_ok(), "{template}");
        }
    }
}
