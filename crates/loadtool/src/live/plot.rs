//! A plot of steps over time, with its labels on both sides. Everything that it shows is handed to it.

use std::time::Duration;

use deadheat_model::figure;
use ratatui::{
    buffer::Buffer,
    layout::Rect,
    style::{Color, Modifier, Style},
    symbols::Marker,
    widgets::{
        Widget,
        canvas::{Canvas, Line},
    },
};

/// Columns of the labels on the left and on the right.
const LEFT: u16 = 9;
const RIGHT: u16 = 9;

/// Dots of a braille character, from top to bottom.
const DOTS: f64 = 4.0;

/// How a value becomes a height.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Scale {
    /// Per second, from 0.
    Rate {
        /// The value at the top.
        top: f64,
    },
    /// Seconds, each decade as high as any other.
    Seconds {
        /// The power of ten at the bottom.
        low: i32,
        /// The power of ten at the top.
        high: i32,
    },
}

impl Scale {
    /// Rates from 0 to the next round value over all of them.
    pub(super) fn rates(values: impl Iterator<Item = f64>) -> Self {
        let most = values.fold(0.0, f64::max);
        let decade = 10f64.powf(most.max(1.0).log10().floor());
        let steps = [1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0];
        let fits = steps.iter().find(|step| *step * decade >= most);
        Scale::Rate {
            top: fits.unwrap_or(&10.0) * decade,
        }
    }

    /// Times within whole decades.
    pub(super) fn seconds(values: impl Iterator<Item = f64>) -> Self {
        let (mut low, mut high) = (f64::INFINITY, 0.0f64);
        for value in values {
            (low, high) = (low.min(value), high.max(value));
        }
        if high <= 0.0 {
            return Scale::Seconds { low: -4, high: -3 };
        }
        let low = low.log10().floor() as i32;
        Scale::Seconds {
            low,
            high: (high.log10().ceil() as i32).max(low + 1),
        }
    }

    /// From the bottom, 0, to the top, 1.
    fn height(self, value: f64) -> f64 {
        match self {
            Scale::Rate { top } => value / top,
            Scale::Seconds { low, high } => {
                (value.max(f64::MIN_POSITIVE).log10() - f64::from(low)) / f64::from(high - low)
            }
        }
    }

    /// Heights with their labels.
    fn labels(self) -> Vec<(f64, String)> {
        match self {
            Scale::Rate { top } => [1.0, 0.5, 0.0]
                .map(|share| (share, figure::figure(top * share)))
                .to_vec(),
            Scale::Seconds { low, high } => (low..=high)
                .rev()
                .map(|decade| {
                    let height = f64::from(decade - low) / f64::from(high - low);
                    (height, whole_seconds(decade))
                })
                .collect(),
        }
    }
}

/// A power of ten of seconds ("10 ms"), without the digits that a figure would have.
fn whole_seconds(decade: i32) -> String {
    let (unit, name) = match decade {
        ..-3 => (-6, "µs"),
        -3..0 => (-3, "ms"),
        0.. => (0, "s"),
    };
    let digits = 10f64.powi(decade - unit);
    if digits < 1.0 {
        return format!("{digits} {name}");
    }
    format!("{} {name}", figure::count(digits as u64))
}

/// A value from one instant to another, in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct PlotSegment {
    pub(super) from: f64,
    pub(super) until: f64,
    /// `None`: a gap.
    pub(super) value: Option<f64>,
    /// Whether it counts, or is drawn as something past.
    pub(super) counts: bool,
}

/// Steps that belong together.
#[derive(Clone, Debug)]
pub(super) struct Trace {
    pub(super) label: &'static str,
    pub(super) colour: Color,
    pub(super) steps: Vec<PlotSegment>,
}

/// The plot.
#[derive(Debug)]
pub(super) struct Plot<'a> {
    pub(super) scale: Scale,
    /// Drawn in this order: later ones over earlier ones.
    pub(super) traces: &'a [Trace],
    /// The time from the load's start that the width represents.
    pub(super) length: Duration,
    /// An instant that is marked.
    pub(super) mark: Option<Duration>,
    /// The colour of steps that do not count.
    pub(super) faint: Color,
}

impl Widget for Plot<'_> {
    fn render(self, area: Rect, buffer: &mut Buffer) {
        if area.height < 2 || area.width <= LEFT + RIGHT {
            return;
        }
        let inner = Rect {
            x: area.x + LEFT,
            y: area.y,
            width: area.width - LEFT - RIGHT,
            height: area.height - 1,
        };
        self.frame(inner, buffer);
        self.lines(inner, buffer);
        self.names(inner, buffer);
    }
}

impl Plot<'_> {
    /// The axes with their labels, and the mark.
    fn frame(&self, inner: Rect, buffer: &mut Buffer) {
        let dim = Style::new().add_modifier(Modifier::DIM);
        for y in inner.top()..inner.bottom() {
            buffer.set_string(inner.x - 1, y, "│", dim);
        }
        // The bottom's label first: where two want the same row, the ends matter more.
        let empty = self.traces.iter().all(|trace| trace.steps.is_empty());
        let mut labels = if empty {
            Vec::new()
        } else {
            self.scale.labels()
        };
        let last = labels.len().min(1);
        labels.rotate_right(last);
        let mut taken = Vec::new();
        for (height, label) in labels {
            let row = row(height, inner.height);
            if !taken.contains(&row) {
                taken.push(row);
                let text = format!("{label:>width$}", width = usize::from(LEFT) - 2);
                buffer.set_string(inner.x - LEFT, inner.y + row, text, dim);
                buffer.set_string(inner.x - 1, inner.y + row, "┤", dim);
            }
        }
        buffer.set_string(inner.x - 1, inner.bottom(), "└", dim);
        buffer.set_string(inner.x, inner.bottom(), "─".repeat(inner.width.into()), dim);
        if let Some(mark) = self.mark {
            let share = mark.as_secs_f64() / self.seconds();
            let x = inner.x + (share * f64::from(inner.width - 1)).round() as u16;
            if x < inner.right() {
                for y in inner.top()..inner.bottom() {
                    buffer.set_string(x, y, "┊", dim);
                }
                buffer.set_string(x, inner.bottom(), "┴", dim);
            }
        }
        let end = super::rows::clock(self.length);
        let width = end.chars().count() as u16;
        buffer.set_string(inner.right() + 1, inner.bottom(), &end, dim);
        debug_assert!(width < RIGHT, "{end}");
    }

    fn lines(&self, inner: Rect, buffer: &mut Buffer) {
        Canvas::default()
            .marker(Marker::Braille)
            .x_bounds([0.0, self.seconds()])
            .y_bounds([0.0, 1.0])
            .paint(|context| {
                for trace in self.traces {
                    let mut last: Option<f64> = None;
                    for step in &trace.steps {
                        let height = step.value.map(|value| self.scale.height(value));
                        let colour = if step.counts {
                            trace.colour
                        } else {
                            self.faint
                        };
                        if let Some(height) = height {
                            let before = last.unwrap_or(height);
                            let (from, until) = (step.from, step.until);
                            context.draw(&Line::new(from, before, from, height, colour));
                            context.draw(&Line::new(from, height, until, height, colour));
                        }
                        last = height;
                    }
                }
            })
            .render(inner, buffer);
    }

    /// Each trace's name next to its last value; where two want the same row, below each other.
    fn names(&self, inner: Rect, buffer: &mut Buffer) {
        let mut names: Vec<(f64, &Trace)> = self
            .traces
            .iter()
            .filter_map(|trace| {
                let last = trace.steps.iter().rev().find_map(|step| step.value)?;
                Some((self.scale.height(last), trace))
            })
            .collect();
        names.sort_by(|a, b| b.0.total_cmp(&a.0));
        names.truncate(inner.height.into());
        let heights: Vec<f64> = names.iter().map(|(height, _)| *height).collect();
        for (row, (_, trace)) in apart(&heights, inner.height).into_iter().zip(names) {
            let style = Style::new().fg(trace.colour);
            buffer.set_string(inner.right() + 1, inner.y + row, trace.label, style);
        }
    }

    fn seconds(&self) -> f64 {
        self.length.as_secs_f64().max(f64::MIN_POSITIVE)
    }
}

/// The row, from the top, of a height from 0 to 1: where braille draws it.
fn row(height: f64, rows: u16) -> u16 {
    let dots = f64::from(rows) * DOTS - 1.0;
    ((1.0 - height.clamp(0.0, 1.0)) * dots / DOTS) as u16
}

/// Rows for heights that go down, no two in the same; there must be enough of them.
fn apart(heights: &[f64], rows: u16) -> Vec<u16> {
    let mut taken: Vec<u16> = Vec::new();
    for height in heights {
        let next = taken.last().map_or(0, |row| row + 1);
        taken.push(row(*height, rows).max(next));
    }
    let mut limit = rows;
    for row in taken.iter_mut().rev() {
        *row = (*row).min(limit.saturating_sub(1));
        limit = *row;
    }
    taken
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scales_hold_every_value_and_are_not_much_larger() {
        for most in [0.0, 0.3, 1.0, 7.0, 99.0, 100.0, 101.0, 41_234.0, 9.9e6] {
            let Scale::Rate { top } = Scale::rates([1.0, most].into_iter()) else {
                panic!("a rate");
            };
            assert!(
                top >= most.max(1.0) && top <= 2.0 * most.max(1.0),
                "{most}: {top}"
            );
        }
        let scale = |values: &[f64]| Scale::seconds(values.iter().copied());
        assert_eq!(scale(&[]), Scale::Seconds { low: -4, high: -3 });
        assert_eq!(
            scale(&[0.0012, 0.0034]),
            Scale::Seconds { low: -3, high: -2 }
        );
        assert_eq!(scale(&[0.00002, 31.0]), Scale::Seconds { low: -5, high: 2 });
        assert_eq!(scale(&[0.01, 0.01]), Scale::Seconds { low: -2, high: -1 });
    }

    #[test]
    fn decades_are_written_in_the_unit_that_suits_them() {
        let written: Vec<String> = (-6..=3).map(whole_seconds).collect();
        assert_eq!(
            written,
            [
                "1 µs", "10 µs", "100 µs", "1 ms", "10 ms", "100 ms", "1 s", "10 s", "100 s",
                "1,000 s"
            ]
        );
    }

    #[test]
    fn names_never_share_a_row_and_stay_in_the_plot() {
        for rows in 4..12 {
            for heights in [[1.0, 1.0, 1.0, 1.0], [0.0; 4], [0.9, 0.5, 0.48, 0.02]] {
                let taken = apart(&heights, rows);
                assert!(taken.windows(2).all(|pair| pair[0] < pair[1]), "{taken:?}");
                assert!(taken.iter().all(|row| *row < rows), "{taken:?}");
            }
        }
        assert_eq!(apart(&[0.9, 0.1], 10), [0, 8]);
    }
}
