//! What is shown while a load goes on.

mod lines;
mod model;
mod palette;
mod plot;
mod rows;
mod screen;
mod series;
#[cfg(test)]
mod synthetic;
#[cfg(test)]
mod tests;
mod view;

use std::time::{Duration, Instant};

use deadheat_load::LoadEvent;
use deadheat_model::LoadSpec;
use deadheat_shell::output;

use self::{lines::Lines, model::Model, palette::Palette, screen::Screen};

/// The least time between two frames.
const FRAME: Duration = Duration::from_millis(100);

/// How a load is shown while it goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// A view in the terminal, or lines if the terminal cannot show one.
    Terminal,
    /// A line for each interval.
    Lines,
    /// Nothing.
    Silent,
}

/// Shows a load while it goes on, on standard error.
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

    /// Shows what has happened.
    pub(crate) fn on(&mut self, event: &LoadEvent) {
        match (&mut self.view, event) {
            (View::Terminal(terminal), event) => terminal.on(event),
            (View::Lines(lines), LoadEvent::Interval(interval)) => {
                output::note(&lines.line(interval));
            }
            (View::Lines(_), LoadEvent::Started | LoadEvent::Slice(_)) | (View::Silent, _) => {}
        }
    }

    /// Leaves the terminal as it was. Dropping does the same.
    pub(crate) fn finish(self) {}
}

/// The model with the screen that it is drawn on.
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
        // Only intervals repeat. Other events come once, so they are drawn at any time.
        if !early || !matches!(event, LoadEvent::Interval(_)) {
            self.draw();
        }
    }

    fn draw(&mut self) {
        let (model, palette) = (&self.model, self.palette);
        self.screen.draw(view::MOST_ROWS, |area, buffer| {
            view::render(model, palette, area, buffer);
        });
        self.drawn = Some(Instant::now());
    }
}
