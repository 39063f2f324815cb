//! Progress of preparing stacks: the step for a person who watches, and a line for each result.

use std::time::Duration;

use deadheat_model::{
    Event,
    session::{TargetState, WorkloadFailure},
};
use indicatif::{ProgressBar, ProgressStyle};

use crate::{output, plan_text};

/// Shows what happens while stacks are prepared.
pub(crate) struct Progress {
    bar: ProgressBar,
}

impl Progress {
    /// A spinner with the step of the preparation.
    pub(crate) fn new() -> Self {
        let bar = ProgressBar::with_draw_target(None, output::bar_target());
        let style = ProgressStyle::with_template(SPINNER);
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        bar.enable_steady_tick(Duration::from_millis(250));
        Self { bar }
    }

    /// Takes an event.
    pub(crate) fn on(&mut self, event: &Event) {
        match event {
            Event::ServiceStarting { name } => self.step(&format!("starting {name}")),
            Event::ServiceReady { name, detail } => self.line(&format!("{name}: {detail}")),
            Event::PrepareStarted { target, step } => self.step(&format!("{target}: {step}")),
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
            // Measuring has a progress of its own.
            _ => {}
        }
    }

    /// Takes the bar away.
    pub(crate) fn finish(&mut self) {
        self.bar.finish_and_clear();
    }

    fn step(&self, text: &str) {
        self.bar.set_message(text.to_owned());
    }

    /// A line that stays.
    fn line(&self, text: &str) {
        self.bar.suspend(|| output::note(text));
    }

    fn prepared(&self, target: &str, state: &TargetState, failed: &[WorkloadFailure]) {
        match state {
            TargetState::Ready { .. } => {
                let wrong = failed.len();
                let text = match wrong {
                    0 => "ready".to_owned(),
                    _ => format!("ready, but {wrong} of its workloads cannot be measured:"),
                };
                self.line(&format!("{target}: {text}"));
            }
            TargetState::Unavailable { reason, remedy } => {
                self.line(&format!(
                    "{target}: UNAVAILABLE: {reason}\n    to change that: {remedy}"
                ));
            }
            TargetState::Failed(failure) => {
                self.line(&format!("{target}: FAILED {}", output::told(failure)))
            }
        }
        for one in failed {
            self.line(&format!(
                "  {}: FAILED {}",
                one.workload,
                output::told(&one.failure)
            ));
        }
    }
}

// A constant; a test below parses it.
const SPINNER: &str = "{spinner} {wide_msg}";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_template_parses() {
        assert!(ProgressStyle::with_template(SPINNER).is_ok());
    }
}
