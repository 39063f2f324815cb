//! What a comparison of two servers tells while it goes on: a bar for a person who watches, plain lines otherwise.

use std::time::Duration;

use deadheat_model::comparison::{ComparisonOutcome, ComparisonTrial};
use deadheat_runner::session::comparison::ComparisonEvent;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::output;

/// A constant; a test parses it.
const BAR: &str = "{bar:24} {pos}/{len} · {elapsed} · {wide_msg}";

/// Shows what happens.
pub(super) struct Progress {
    bar: ProgressBar,
    watched: bool,
    done: u64,
    all: u64,
}

impl Progress {
    pub(super) fn new() -> Self {
        let watched = output::watched();
        let target = match watched {
            true => ProgressDrawTarget::stderr(),
            false => ProgressDrawTarget::hidden(),
        };
        let bar = ProgressBar::with_draw_target(None, target);
        let style = ProgressStyle::with_template(BAR);
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        bar.enable_steady_tick(Duration::from_millis(250));
        Self {
            bar,
            watched,
            done: 0,
            all: 0,
        }
    }

    /// Takes an event.
    pub(super) fn on(&mut self, event: &ComparisonEvent) {
        match event {
            ComparisonEvent::Started { header, .. } => {
                self.all = 2 * u64::from(header.plan.blocks);
                self.bar.set_length(self.all);
            }
            ComparisonEvent::TrialStarted { block, side } => {
                self.bar
                    .set_message(format!("block {} · {side}", block + 1));
            }
            ComparisonEvent::TrialEnded { trial, void } => self.trial(trial, *void),
        }
    }

    /// Takes the bar away.
    pub(super) fn finish(&mut self) {
        self.bar.finish_and_clear();
    }

    fn trial(&mut self, trial: &ComparisonTrial, void: bool) {
        // A repetition is in place of a trial that was counted already.
        if trial.attempt == 0 {
            self.done += 1;
            self.bar.inc(1);
        }
        let (done, all) = (self.done, self.all);
        let what = format!("[{done}/{all}] block {} {}", trial.block + 1, trial.side);
        let line = match &trial.outcome {
            ComparisonOutcome::Failed(failure) => {
                format!("{what}: FAILED {}", output::told(failure))
            }
            ComparisonOutcome::Measured(_) if self.watched => return,
            ComparisonOutcome::Measured(measured) => {
                let void = if void { ", void: disturbed" } else { "" };
                format!("{what}: {:.0}/s{void}", measured.load.throughput())
            }
        };
        self.bar.suspend(|| output::note(&line));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_template_parses() {
        assert!(ProgressStyle::with_template(BAR).is_ok());
    }
}
