//! Small plots beside the forest: a bar from 0 where more is better, dots on a logarithmic axis where less is.

use std::fmt::Display;

use super::forest::Line;
use crate::{
    figure::NONE,
    plot::{
        axis::{Scale, share_of_most},
        svg::{HEAD, Percent, Svg},
    },
};

/// The share of the drawing that is the plot; the rest is text.
const PLOT: f64 = 0.56;
/// The least distance of values that are written at an axis, as a share of it: the drawing is narrow.
const APART: f64 = 0.6;

/// An amount of a stack.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Amount {
    /// How long its bar is, in any unit that all of them have.
    pub(super) value: Option<f64>,
    /// The value, as it is written.
    pub(super) text: String,
}

/// One figure of a stack, or two that belong together.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Dots {
    /// The figure, or the smaller one.
    pub(super) first: Option<f64>,
    /// The larger one.
    pub(super) second: Option<f64>,
    /// What is written.
    pub(super) text: String,
}

/// Bars from 0.
pub(super) fn amounts(lines: &[Line], amounts: &[Amount], label: &str) -> String {
    let mut svg = Svg::of_rows(lines.len(), label);
    svg.rule("rule", 0.0, lines.len());
    let values = || amounts.iter().filter_map(|amount| amount.value);
    for (row, (line, amount)) in lines.iter().zip(amounts).enumerate() {
        begin_row(&mut svg, line, &amount.text);
        if let Some(value) = amount.value {
            let width = Percent(share_of_most(value, values()) * PLOT);
            let y = Svg::middle(row) - 5;
            svg.element(
                "rect",
                &[("width", &width), ("y", &y), ("height", &10), ("rx", &1)],
            );
        }
        end_row(&mut svg, row, &amount.text);
    }
    svg.finish()
}

/// Dots on a logarithmic axis, a line between two of them. The axis has two values, which `write` writes.
pub(super) fn dots(
    lines: &[Line],
    dots: &[Dots],
    write: impl Fn(f64) -> String,
    label: &str,
) -> String {
    let mut svg = Svg::of_rows(lines.len(), label);
    let values = dots.iter().flat_map(|one| [one.first, one.second]);
    let axis = Scale::logarithmic(values.flatten());
    let place = |value: f64| Percent(axis.map_or(0.0, |axis| axis.at(value)) * PLOT);
    let ticks = axis.map(|axis| axis.ticks(APART, None));
    for tick in ticks.unwrap_or_default() {
        svg.begin("g", &[("class", &"tick")]);
        svg.rule("rule", place(tick).0, lines.len());
        let baseline = HEAD - 6;
        svg.text(
            "text",
            &[("x", &place(tick)), ("y", &baseline)],
            &write(tick),
        );
        svg.end("g");
    }
    for (row, (line, one)) in lines.iter().zip(dots).enumerate() {
        begin_row(&mut svg, line, &one.text);
        let y = Svg::middle(row);
        if let (Some(first), Some(second)) = (one.first, one.second) {
            let (from, to) = (place(first), place(second));
            svg.element(
                "line",
                &[("x1", &from), ("x2", &to), ("y1", &y), ("y2", &y)],
            );
        }
        for (value, class, radius) in [(one.first, "first", 4.5), (one.second, "second", 3.0)] {
            if let Some(value) = value {
                let x = place(value);
                let dot: [(&str, &dyn Display); 4] =
                    [("class", &class), ("cx", &x), ("cy", &y), ("r", &radius)];
                svg.element("circle", &dot);
            }
        }
        end_row(&mut svg, row, &one.text);
    }
    svg.finish()
}

fn begin_row(svg: &mut Svg, line: &Line, text: &str) {
    let class = format!("row {}", line.colour);
    svg.begin("g", &[("class", &class)]);
    svg.text("title", &[], &format!("{}: {text}", line.name));
}

fn end_row(svg: &mut Svg, row: usize, text: &str) {
    let class = if text == NONE { "value none" } else { "value" };
    let (x, y) = (Percent(1.0), Svg::middle(row) + 4);
    svg.text("text", &[("class", &class), ("x", &x), ("y", &y)], text);
    svg.end("g");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(name: &str) -> Line {
        Line {
            colour: "k0".to_owned(),
            name: name.to_owned(),
        }
    }

    #[test]
    fn the_longest_bar_is_as_long_as_the_plot_and_the_others_in_proportion() {
        let lines = [line("a"), line("b"), line("c")];
        let amount = |value: Option<f64>, text: &str| Amount {
            value,
            text: text.to_owned(),
        };
        let all = [
            amount(Some(10.0), "10"),
            amount(Some(5.0), "5"),
            amount(None, NONE),
        ];
        let drawn = amounts(&lines, &all, "amounts");
        assert!(drawn.contains("<rect width=\"56%\""), "{drawn}");
        assert!(drawn.contains("<rect width=\"28%\""), "{drawn}");
        assert_eq!(drawn.matches("<rect").count(), 2);
        assert!(drawn.contains("class=\"value none\""));
    }

    #[test]
    fn what_is_known_has_a_dot_and_two_dots_have_a_line() {
        let lines = [line("a"), line("b")];
        let dot = |first, second, text: &str| Dots {
            first: Some(first),
            second,
            text: text.to_owned(),
        };
        let all = [dot(0.001, Some(0.01), "10 ms"), dot(0.002, None, NONE)];
        let drawn = dots(&lines, &all, |value| format!("{value} s"), "times");
        assert_eq!(drawn.matches("class=\"first\"").count(), 2);
        assert_eq!(drawn.matches("class=\"second\"").count(), 1);
        assert_eq!(drawn.matches("<line x1").count(), 1);
        assert!(drawn.contains(">0.001 s</text>"), "{drawn}");
    }
}
