//! A line for each interval, for logs and pipes.

use deadheat_model::{Interval, LatencyHistogram, LoadPhase, figure};

use super::{model::per_second, rows};

/// Lines between two heads.
const PAGE: usize = 20;

/// The columns after time and phase, each with its width.
const CLOSED: [(&str, usize); 7] = [
    ("answers/s", 11),
    ("service p50", 13),
    ("p90", 9),
    ("p99", 9),
    ("max", 9),
    ("failed", 8),
    ("connections", 13),
];
const OPEN: [(&str, usize); 9] = [
    ("offered/s", 11),
    ("answers/s", 11),
    ("response p50", 14),
    ("p90", 9),
    ("p99", 9),
    ("max", 9),
    ("failed", 8),
    ("connections", 13),
    ("waiting", 9),
];

/// Writes intervals as lines.
#[derive(Debug)]
pub(super) struct Lines {
    open: bool,
    written: usize,
}

impl Lines {
    /// For a closed or an open loop.
    pub(super) fn new(open: bool) -> Self {
        Self { open, written: 0 }
    }

    /// An interval's line, with the head before it now and then.
    pub(super) fn line(&mut self, interval: &Interval) -> String {
        let mut text = String::new();
        if self.written.is_multiple_of(PAGE) {
            text = self.head() + "\n";
        }
        self.written += 1;
        text + &self.row(interval)
    }

    fn head(&self) -> String {
        let names = self.columns().iter().map(|(name, _)| (*name).to_owned());
        self.laid_out("time", "phase", names)
    }

    fn row(&self, interval: &Interval) -> String {
        let phase = match interval.phase {
            LoadPhase::WarmUp => "warm-up",
            LoadPhase::Measurement => "measurement",
            LoadPhase::CoolDown => "cool-down",
        };
        // An open loop's users wait for the response time.
        let times = if self.open {
            interval.response_time.as_ref()
        } else {
            Some(&interval.service_time)
        };
        let mut figures = vec![figure::figure(interval.throughput())];
        figures.extend(latencies(times));
        figures.push(rows::failed_in(interval));
        figures.push(figure::count(interval.connections));
        if self.open {
            let offered = per_second(interval.offered, interval.length());
            figures.insert(0, figure::figure(offered));
            figures.push(figure::count(interval.waiting));
        }
        let time = rows::clock(interval.until);
        self.laid_out(&time, phase, figures.into_iter())
    }

    fn columns(&self) -> &'static [(&'static str, usize)] {
        if self.open { &OPEN } else { &CLOSED }
    }

    fn laid_out(&self, time: &str, phase: &str, cells: impl Iterator<Item = String>) -> String {
        let mut text = format!("{time:>8}  {phase:<11}");
        for (cell, (_, width)) in cells.zip(self.columns()) {
            text += &format!("{cell:>width$}", width = *width);
        }
        text
    }
}

fn latencies(histogram: Option<&LatencyHistogram>) -> [String; 4] {
    [Some(0.5), Some(0.9), Some(0.99), None].map(|quantile| rows::latency(histogram, quantile))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::synthetic::{self, Scene};

    #[test]
    fn lines_are_aligned_below_their_head() {
        for scene in [Scene::Errors, Scene::Behind] {
            let (spec, events) = synthetic::play(scene);
            let mut lines = Lines::new(spec.schedule.is_open());
            let text: Vec<String> = synthetic::intervals(&events)
                .map(|interval| lines.line(interval))
                .collect();
            insta::assert_snapshot!(format!("lines-{scene:?}"), text.join("\n"));
        }
    }

    #[test]
    fn the_head_comes_again_after_a_page() {
        let mut lines = Lines::new(false);
        let interval = Interval::default();
        let heads: Vec<usize> = (0..45)
            .filter(|_| lines.line(&interval).contains("answers/s"))
            .collect();
        assert_eq!(heads, [0, 20, 40]);
    }
}
