//! Progress: a line that changes for a person who watches, and lines that stay. Beside it, the steps and results of
//! preparing stacks, which come before whatever is measured.

use std::time::Duration;

use deadheat_model::{
    Event,
    session::{TargetState, WorkloadFailure},
};
use indicatif::{ProgressBar, ProgressStyle};

use crate::{output, plan_text};

/// How often the line is drawn anew: seldom, because heats are measured meanwhile.
const TICK: Duration = Duration::from_millis(500);

/// What the line that changes looks like. Constants; a test parses them.
const SPINNER: &str = "{spinner} {wide_msg}";
/// The time of a session.
pub(crate) const OF_TIME: &str = "{bar:16} {prefix} · {wide_msg}";
/// The heats of a comparison.
pub(crate) const OF_HEATS: &str = "{bar:24} {pos}/{len} · {elapsed} · {wide_msg}";

/// Shows how far something is.
#[derive(Default)]
pub(crate) struct Progress {
    bar: Option<ProgressBar>,
}

impl Progress {
    /// Shows a bar of so many parts in place of what was shown.
    pub(crate) fn begin(&mut self, template: &str, parts: u64) {
        self.finish();
        self.bar = Some(bar(template, Some(parts)));
    }

    /// Shows a spinner with the step, or a line with the result, of a preparation.
    pub(crate) fn prepare(&mut self, event: &Event) {
        self.bar.get_or_insert_with(|| bar(SPINNER, None));
        match event {
            Event::ServiceStarting { name } => self.step(format!("starting {name}")),
            Event::ServiceReady { name, detail } => self.line(&format!("{name}: {detail}")),
            Event::PrepareStarted { target, step } => self.step(format!("{target}: {step}")),
            Event::Built { target, build } => self.line(&format!(
                "{}: built in {}",
                target.stack,
                plan_text::about(Duration::from_secs_f64(build.seconds))
            )),
            Event::Prepared {
                target,
                state,
                failed_workloads,
            } => self.prepared(&target.to_string(), state, failed_workloads),
            // The progress of what is measured shows the others.
            _ => {}
        }
    }

    fn step(&self, text: String) {
        tracing::info!("{text}");
        self.say(text);
    }

    /// How far it is, and what is beside the bar.
    pub(crate) fn reach(&self, part: u64, prefix: String) {
        if let Some(bar) = &self.bar {
            bar.set_position(part);
            bar.set_prefix(prefix);
        }
    }

    /// What is being done.
    pub(crate) fn say(&self, text: String) {
        tracing::debug!("{text}");
        if let Some(bar) = &self.bar {
            bar.set_message(text);
        }
    }

    /// A line that stays.
    pub(crate) fn line(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.suspend(|| output::note(text)),
            None => output::note(text),
        }
    }

    /// A line that stays, about a problem.
    pub(crate) fn problem(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.suspend(|| output::warn(text)),
            None => output::warn(text),
        }
    }

    /// Takes the line away.
    pub(crate) fn finish(&mut self) {
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
            TargetState::Failed(failure) => {
                self.problem(&format!("{target}: FAILED {}", output::told(failure)))
            }
        }
        for one in failed {
            self.problem(&format!(
                "  {}: FAILED {}",
                one.workload,
                output::told(&one.failure)
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
    fn the_templates_parse() {
        for template in [SPINNER, OF_TIME, OF_HEATS] {
            assert!(ProgressStyle::with_template(template).is_ok(), "{template}");
        }
    }
}
