//! A [`Document`](crate::Document) as text, as Markdown and as a page; and the plot of ratios, which only a page has: ratios with
//! their intervals on one logarithmic axis with 1 in its middle.

pub mod html;
mod markdown;
mod text;

use serde::Serialize;

use crate::{Tone, view::clean};

/// The axis reaches at least this far to both sides: 5 % must be visible, and 0.5 % must look small.
const MIN_REACH: f64 = 1.1;
/// The axis reaches at most this many times the largest ratio; longer intervals are cut there.
const BEYOND: f64 = 2.0;

/// A plot of ratios.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RatioPlot {
    /// What a ratio below 1 means.
    below: &'static str,
    /// What a ratio above 1 means.
    above: &'static str,
    rows: Vec<Row>,
}

/// A ratio.
pub struct RatioMark {
    /// What is compared.
    pub name: String,
    /// The ratio.
    pub ratio: f64,
    /// 0 and ∞ where an end is open.
    pub interval: Option<(f64, f64)>,
    /// The verdict, in words.
    pub verdict: String,
    /// Whether the verdict is good or bad.
    pub tone: Tone,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    name: String,
    verdict: String,
    tone: Tone,
    /// Where the ratio is, in percent of the axis.
    point: f64,
    /// Where the interval begins, and how long it is.
    range: Option<(f64, f64)>,
}

impl RatioPlot {
    /// A plot whose axis has room for all ratios.
    pub fn new(below: &'static str, above: &'static str, marks: &[RatioMark]) -> Self {
        let distance = |ratio: f64| ratio.max(1.0 / ratio);
        let ratios = marks.iter().map(|mark| distance(mark.ratio));
        let largest = ratios
            .filter(|one| one.is_finite())
            .fold(MIN_REACH, f64::max);
        let ends = marks.iter().filter_map(|mark| mark.interval);
        let ends = ends.flat_map(|(low, high)| [distance(low), distance(high)]);
        let farthest = ends.filter(|end| end.is_finite()).fold(largest, f64::max);
        let reach = farthest.min(largest * BEYOND);
        let place = |ratio: f64| {
            let share = ratio.max(f64::MIN_POSITIVE).ln() / reach.ln();
            (5e3 * (1.0 + share.clamp(-1.0, 1.0))).round() / 100.0
        };
        let rows = marks.iter().map(|mark| Row {
            name: clean(&mark.name),
            verdict: mark.verdict.clone(),
            tone: mark.tone,
            point: place(mark.ratio),
            range: mark.interval.map(|(low, high)| {
                let (low, high) = (place(low), place(high));
                (low, ((high - low) * 100.0).round() / 100.0)
            }),
        });
        Self {
            below,
            above,
            rows: rows.collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_axis_has_room_for_all_ratios_and_for_most_of_the_intervals() {
        let mark = |ratio, interval| RatioMark {
            name: String::new(),
            ratio,
            interval,
            verdict: String::new(),
            tone: Tone::Plain,
        };
        let places = |marks: &[RatioMark]| -> Vec<(f64, Option<(f64, f64)>)> {
            let plot = RatioPlot::new("", "", marks);
            plot.rows.iter().map(|row| (row.point, row.range)).collect()
        };
        let near = mark(1.0, Some((1.0 / MIN_REACH, MIN_REACH)));
        assert_eq!(places(&[near]), [(50.0, Some((0.0, 100.0)))]);
        let far = [mark(2.0, Some((0.0, f64::INFINITY))), mark(0.5, None)];
        assert_eq!(places(&far), [(100.0, Some((0.0, 100.0))), (0.0, None)]);
        let wide = mark(2.0, Some((1.0, 1e6)));
        assert_eq!(places(&[wide]), [(75.0, Some((50.0, 50.0)))]);
    }
}
