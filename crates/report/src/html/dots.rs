//! What all dots have in common: their intervals as arms and in words, and how stacks are told apart by lines.

use plotly::common::{DashType, ErrorData, ErrorType};

use super::{
    plots::{Series, Symbol, series},
    plotting::{BLUE, GREY, ORANGE, PURPLE, RED},
};
use crate::view::Dot;

/// Stacks that have a line of their own and a place in the legend. More cannot be told apart; theirs are thin lines with
/// their names at the pointer, and their figures are in the tables.
pub(super) const LOOKS: [(&str, DashType); 8] = [
    (BLUE, DashType::Solid),
    (ORANGE, DashType::Solid),
    (PURPLE, DashType::Solid),
    (RED, DashType::Solid),
    (BLUE, DashType::Dash),
    (ORANGE, DashType::Dash),
    (PURPLE, DashType::Dash),
    (RED, DashType::Dash),
];
/// All further stacks, for the legend.
pub(super) const OTHERS: Series = series("others", Symbol::Line, GREY);

/// A stack that has a line of its own, for the legend.
pub(super) fn of_line(name: &str, colour: &'static str, dash: &DashType) -> Series {
    Series {
        name: name.to_owned().into(),
        glyph: match dash {
            DashType::Solid => '━',
            _ => '┅',
        },
        colour,
        symbol: Symbol::Line,
    }
}

/// A figure with its interval, in words.
pub(super) fn between(dot: Dot, text: impl Fn(f64) -> String) -> String {
    let ends = dot
        .ends
        .map(|(low, high)| format!(" ({} to {})", text(low), text(high)));
    text(dot.value) + &ends.unwrap_or_default()
}

/// Between which values dots and their intervals lie, for an axis.
pub(super) fn reaches<'a>(dots: impl Iterator<Item = &'a Dot>) -> Vec<f64> {
    dots.flat_map(|dot| {
        let (low, high) = dot.reach();
        [low, high]
    })
    .collect()
}

/// The intervals as arms; `None` where no dot has one.
pub(super) fn arms(colour: &'static str, thickness: f64, dots: &[Dot]) -> Option<ErrorData> {
    let arms = dots.iter().map(|dot| {
        let (low, high) = dot.reach();
        (high - dot.value, dot.value - low)
    });
    let (above, below): (Vec<f64>, Vec<f64>) = arms.unzip();
    above.iter().chain(&below).any(|arm| *arm > 0.0).then(|| {
        ErrorData::new(ErrorType::Data)
            .array(above)
            .array_minus(below)
            .symmetric(false)
            .color(colour)
            .thickness(thickness)
            .width((4.0 * thickness) as usize)
    })
}
