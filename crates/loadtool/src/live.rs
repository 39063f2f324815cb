//! The display while a load runs: a view in the terminal, or a line for each interval.

mod model;
mod plot;
mod rows;
mod screen;
#[cfg(test)]
mod synthetic;
#[cfg(test)]
mod tests;
mod view;

use std::time::{Duration, Instant};

use deadheat_load::LoadEvent;
use deadheat_model::{Interval, LatencyHistogram, LoadPhase, LoadSpec, figure};
use deadheat_shell::output;

use self::{
    model::{Model, per_second},
    rows::Palette,
    screen::Screen,
};

/// The least time between two frames.
const FRAME: Duration = Duration::from_millis(100);

/// How a load is shown while it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// A view in the terminal, or lines if the terminal cannot show one.
    Terminal,
    /// A line for each interval.
    Lines,
    /// Nothing.
    Silent,
}

/// Shows a load while it runs, on standard error.
pub(crate) struct Live {
    view: View,
}

enum View {
    Terminal(Box<Terminal>),
    Lines(Lines),
    Silent,
}

impl Live {
    /// Begins to show a load of `target`, a URL.
    pub(crate) fn start(mode: Mode, spec: &LoadSpec, target: &str) -> Self {
        let lines = || View::Lines(Lines::new(spec.schedule.is_open()));
        let view = match mode {
            Mode::Terminal => Screen::open().map_or_else(lines, |screen| {
                View::Terminal(Box::new(Terminal::new(screen, Model::new(spec, target))))
            }),
            Mode::Lines => lines(),
            Mode::Silent => View::Silent,
        };
        Self { view }
    }

    /// Shows an event.
    pub(crate) fn on(&mut self, event: &LoadEvent) {
        match (&mut self.view, event) {
            (View::Terminal(terminal), event) => terminal.on(event),
            (View::Lines(lines), LoadEvent::Interval(interval)) => {
                output::note(&lines.line(interval));
            }
            (View::Lines(_), LoadEvent::Started | LoadEvent::Slice(_)) | (View::Silent, _) => {}
        }
    }

    /// Restores the terminal. Dropping does the same.
    pub(crate) fn finish(self) {}
}

/// The model and the screen on which it is drawn.
struct Terminal {
    model: Model,
    screen: Screen,
    palette: Palette,
    drawn: Option<Instant>,
}

impl Terminal {
    fn new(screen: Screen, model: Model) -> Self {
        let mut terminal = Self {
            model,
            screen,
            palette: Palette {
                colour: output::colour_of_notes(),
            },
            drawn: None,
        };
        terminal.draw();
        terminal
    }

    fn on(&mut self, event: &LoadEvent) {
        self.model.on(event);
        let early = self.drawn.is_some_and(|last| last.elapsed() < FRAME);
        // Other events are rare, so they are drawn at once.
        if !early || !matches!(event, LoadEvent::Interval(_)) {
            self.draw();
        }
    }

    fn draw(&mut self) {
        let (model, palette) = (&self.model, self.palette);
        self.screen.draw(view::MAX_ROWS, |area, buffer| {
            view::render(model, palette, area, buffer);
        });
        self.drawn = Some(Instant::now());
    }
}

/// Number of lines between two heads.
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
struct Lines {
    open: bool,
    written: usize,
}

impl Lines {
    /// Lines for a closed loop, or an open one.
    fn new(open: bool) -> Self {
        Self { open, written: 0 }
    }

    /// An interval's line; every [`PAGE`] lines with the head before it.
    fn line(&mut self, interval: &Interval) -> String {
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
            LoadPhase::Drain => "drain",
        };
        // In an open loop, the response time is what users experience.
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
