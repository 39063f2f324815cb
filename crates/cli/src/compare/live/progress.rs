//! What a comparison tells while it goes on: a bar for a person who watches, plain lines otherwise.

use std::time::Duration;

use deadheat_model::{
    comparison::{ComparedHeat, ComparedPoint, Side},
    heat::SliceRecord,
};
use deadheat_runner::session::comparison::ComparisonEvent;
use indicatif::{ProgressBar, ProgressStyle};

use crate::{output, progress};

/// A constant; a test parses it.
const BAR: &str = "{bar:24} {pos}/{len} · {elapsed} · {wide_msg}";

/// Shows what happens.
pub(super) struct Progress {
    /// While stacks are prepared.
    preparing: Option<progress::Progress>,
    bar: ProgressBar,
    watched: bool,
    points: Vec<ComparedPoint>,
}

impl Progress {
    pub(super) fn new() -> Self {
        Self {
            preparing: None,
            bar: ProgressBar::hidden(),
            watched: output::watched(),
            points: Vec::new(),
        }
    }

    /// Takes an event.
    pub(super) fn on(&mut self, event: &ComparisonEvent) {
        match event {
            ComparisonEvent::Preparing(event) => {
                self.preparing
                    .get_or_insert_with(progress::Progress::new)
                    .on(event);
            }
            ComparisonEvent::Started { header } => {
                self.finish();
                self.points.clone_from(&header.points);
                self.begin(u64::from(header.plan.heats) * self.points.len() as u64);
            }
            ComparisonEvent::HeatStarted { heat, point } => {
                let message = format!("heat {}{}", heat + 1, self.at(*point));
                self.bar.set_message(message);
            }
            ComparisonEvent::HeatEnded { heat } => self.heat(heat),
        }
    }

    /// Takes the bar away.
    pub(super) fn finish(&mut self) {
        if let Some(mut preparing) = self.preparing.take() {
            preparing.finish();
        }
        self.bar.finish_and_clear();
    }

    fn begin(&mut self, heats: u64) {
        let bar = ProgressBar::with_draw_target(Some(heats), output::bar_target());
        let style = ProgressStyle::with_template(BAR);
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        bar.enable_steady_tick(Duration::from_millis(250));
        self.bar = bar;
    }

    /// The load, where there are several.
    fn at(&self, point: usize) -> String {
        match self.points.get(point).filter(|_| self.points.len() > 1) {
            Some(one) => format!(" · {} {}", one.workload, one.point),
            None => String::new(),
        }
    }

    fn heat(&self, ended: &ComparedHeat) {
        self.bar.inc(1);
        let heat = &ended.heat;
        let most = self.bar.length().unwrap_or(0);
        let what = format!(
            "[{}/{most}]{}",
            heat.heat + 1,
            self.at(ended.point as usize)
        );
        let failed = Side::BOTH.into_iter().zip(&heat.members);
        for (side, member) in failed {
            if let Some(failure) = &member.failure {
                let told = output::told(&failure.failure);
                self.line(&format!("{what} {side}: FAILED {told}"));
            }
        }
        if self.watched {
            return;
        }
        let [a, b] = Side::BOTH.map(|side| throughput(heat.rounds.iter().flatten(), side));
        if a > 0.0 && b > 0.0 {
            let rounds = heat.rounds.len();
            self.line(&format!(
                "{what} A {a:.0}/s, B {b:.0}/s, B/A {:.3} ({rounds} rounds)",
                b / a
            ));
        }
    }

    fn line(&self, text: &str) {
        self.bar.suspend(|| output::note(text));
    }
}

/// Verified answers per second over all slices of a side.
fn throughput<'a>(slices: impl Iterator<Item = &'a SliceRecord>, side: Side) -> f64 {
    let own = slices.filter(|slice| slice.member as usize == side.member());
    let (answers, seconds) = own.fold((0, 0.0), |(answers, seconds), slice| {
        let window = slice.window.as_secs_f64();
        (answers + slice.tally.answers(), seconds + window)
    });
    answers as f64 / f64::max(seconds, 1e-9)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_template_parses() {
        assert!(ProgressStyle::with_template(BAR).is_ok());
    }
}
