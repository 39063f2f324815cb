//! A plot as a figure of a page: title, legend, drawing, and the values for the script.

use std::fmt::{Display, Write as _};

use minijinja::HtmlEscape;
use serde::Serialize;

use super::{
    Colour, Guide, GuidePosition, Mark, Plot, Series, Shape, Stroke,
    axis::{Axis, Unit},
    svg::{Percent, Svg, tenths},
};
use crate::html::in_script;

/// The height of a drawing in pixels, and where the axes begin and end in it.
const HEIGHT: usize = 280;
const TOP: f64 = 8.0;
const BOTTOM: f64 = 252.0;
/// The width of the box of lines, in its own units: they are stretched to the window's width.
const WIDTH: f64 = 1_000.0;
/// The points of lines with more than this are not drawn one by one.
const FEW: usize = 60;
/// The width of a character at an axis, in pixels, at most.
const CHARACTER: usize = 7;

/// The plot as markup.
pub(super) fn figure(plot: &Plot) -> String {
    let (title, subject) = (HtmlEscape(&plot.title), HtmlEscape(&plot.subject));
    let labels = plot.y.ticks.iter();
    let longest = labels.map(|tick| tick.label.chars().count()).max();
    let left = longest.unwrap_or(0) * CHARACTER + 14;
    format!(
        "<figure data-of=\"{subject}\">\n<figcaption>{title}\n<span class=\"legend\">\n{}</span>\n</figcaption>\n\
         <div class=\"plot\" style=\"--left:{left}px\">\n{}\n</div>\n\
         <script type=\"application/json\">{}</script>\n</figure>",
        legend(plot),
        drawing(plot),
        in_script(&readings(plot)),
    )
}

fn legend(plot: &Plot) -> String {
    let series = plot.series.iter().map(|series| {
        let mut svg = swatch(series.colour);
        match series.shape {
            Shape::Line(stroke) | Shape::Steps(stroke) => draw_swatch_line(&mut svg, stroke),
            Shape::Marks(form) => draw_mark(&mut svg, form, 12, 7.0),
        }
        (series.name.as_str(), svg)
    });
    let guides = plot.guides.iter().map(|guide| {
        let mut svg = swatch(guide.colour);
        match guide.at {
            GuidePosition::Between(..) => svg.element(
                "rect",
                &[
                    ("class", &"shade"),
                    ("x", &5),
                    ("width", &14),
                    ("height", &14),
                ],
            ),
            GuidePosition::At(_) => draw_swatch_line(&mut svg, Stroke::Dashed),
        }
        (guide.name, svg)
    });
    let entry = |(name, swatch): (&str, Svg)| {
        format!("<span>{}{}</span>\n", swatch.finish(), HtmlEscape(name))
    };
    series.chain(guides).map(entry).collect()
}

/// The sign before a name in the legend, still empty.
fn swatch(colour: Colour) -> Svg {
    Svg::beside_text(14, &[("class", &colour.class()), ("width", &24)])
}

fn draw_swatch_line(svg: &mut Svg, stroke: Stroke) {
    svg.element("path", &[("class", &stroke.class()), ("d", &"M1,7h22")]);
}

/// A mark. It is a drawing of its own, because a path has no places that are shares of a width.
fn draw_mark(svg: &mut Svg, form: Mark, x: impl Display, y: f64) {
    let path = match form {
        Mark::Disc => "M-4.5,0a4.5,4.5 0 1 1 9,0a4.5,4.5 0 1 1 -9,0Z",
        Mark::Cross => "M-4,-4L4,4M-4,4L4,-4",
        Mark::Diamond => "M0,-5.5L5.5,0L0,5.5L-5.5,0Z",
    };
    let class = match form {
        Mark::Disc => "mark filled",
        Mark::Cross | Mark::Diamond => "mark",
    };
    svg.begin(
        "svg",
        &[("x", &x), ("y", &y), ("width", &1), ("height", &1)],
    );
    svg.element("path", &[("class", &class), ("d", &path)]);
    svg.end("svg");
}

fn drawing(plot: &Plot) -> String {
    let kind = match plot.series.first().map(|series| series.shape) {
        Some(Shape::Line(_) | Shape::Steps(_)) => "a line plot",
        Some(Shape::Marks(_)) => "a plot of points",
        None => "an empty plot",
    };
    let label = format!("{}: {kind}. {}", plot.title, plot.figures);
    let mut svg = Svg::new(HEIGHT, &label);
    for tick in &plot.y.ticks {
        let y = height(&plot.y, tick.value);
        svg.begin("g", &[("class", &"tick")]);
        svg.element("line", &[("x2", &Percent(1.0)), ("y1", &y), ("y2", &y)]);
        svg.text(
            "text",
            &[("class", &"y"), ("x", &-8), ("y", &(y + 4.0))],
            &tick.label,
        );
        svg.end("g");
    }
    for tick in &plot.x.ticks {
        let x = Percent(plot.x.scale.at(tick.value));
        let class = if tick.is_coarse { "tick" } else { "tick fine" };
        svg.begin("g", &[("class", &class)]);
        svg.element(
            "line",
            &[
                ("x1", &x),
                ("x2", &x),
                ("y1", &TOP),
                ("y2", &(BOTTOM + 5.0)),
            ],
        );
        svg.text("text", &[("x", &x), ("y", &(BOTTOM + 19.0))], &tick.label);
        svg.end("g");
    }
    for guide in &plot.guides {
        draw_guide(&mut svg, plot, guide);
    }
    // Stretched, with lines that keep their width.
    svg.begin(
        "svg",
        &[
            ("height", &HEIGHT),
            ("viewBox", &format!("0 0 {WIDTH} {HEIGHT}")),
            ("preserveAspectRatio", &"none"),
        ],
    );
    for series in &plot.series {
        draw_line(&mut svg, plot, series);
    }
    svg.end("svg");
    for series in &plot.series {
        draw_marks(&mut svg, plot, series);
    }
    svg.finish()
}

/// Where a value lies, in pixels from the top.
fn height(axis: &Axis, value: f64) -> f64 {
    tenths(BOTTOM - axis.scale.at(value) * (BOTTOM - TOP))
}

fn draw_guide(svg: &mut Svg, plot: &Plot, guide: &Guide) {
    let class = guide.colour.class();
    match guide.at {
        GuidePosition::Between(from, until) => {
            let [from, until] = [from, until].map(|value| plot.x.scale.at(value));
            svg.element(
                "rect",
                &[
                    ("class", &format!("shade {class}")),
                    ("x", &Percent(from)),
                    ("width", &Percent(until - from)),
                    ("y", &TOP),
                    ("height", &(BOTTOM - TOP)),
                ],
            );
        }
        GuidePosition::At(value) => {
            let y = height(&plot.y, value);
            svg.element(
                "line",
                &[
                    ("class", &format!("{} {class}", Stroke::Dashed.class())),
                    ("x2", &Percent(1.0)),
                    ("y1", &y),
                    ("y2", &y),
                ],
            );
        }
    }
}

fn draw_line(svg: &mut Svg, plot: &Plot, series: &Series) {
    let (stroke, is_stepped) = match series.shape {
        Shape::Line(stroke) => (stroke, false),
        Shape::Steps(stroke) => (stroke, true),
        Shape::Marks(_) => return,
    };
    let (mut lines, mut dots) = (String::new(), String::new());
    let mut before: Option<f64> = None;
    for (x, value) in &series.points {
        let at = value.map(|value| {
            let x = tenths(WIDTH * plot.x.scale.at(*x));
            (x, height(&plot.y, value))
        });
        if let Some((x, y)) = at {
            // A string takes everything. A value between two missing ones is a point.
            let _ = match before {
                None => write!(lines, "M{x},{y}h0"),
                Some(_) if is_stepped => write!(lines, "H{x}V{y}"),
                Some(_) => write!(lines, "L{x},{y}"),
            };
            let _ = write!(dots, "M{x},{y}h0");
        }
        before = at.map(|(_, y)| y);
    }
    let colour = series.colour.class();
    let class = format!("{} {colour}", stroke.class());
    svg.element("path", &[("class", &class), ("d", &lines)]);
    // A line through few points hides where they are.
    if !is_stepped && series.points.len() <= FEW {
        let class = format!("line dots {colour}");
        svg.element("path", &[("class", &class), ("d", &dots)]);
    }
}

fn draw_marks(svg: &mut Svg, plot: &Plot, series: &Series) {
    let Shape::Marks(form) = series.shape else {
        return;
    };
    svg.begin("g", &[("class", &series.colour.class())]);
    for (x, value) in &series.points {
        if let Some(value) = value {
            let (x, y) = (Percent(plot.x.scale.at(*x)), height(&plot.y, *value));
            draw_mark(svg, form, x, y);
        }
    }
    svg.end("g");
}

/// The values of all series at each place of the horizontal axis that has one.
#[derive(Serialize)]
struct Readings<'a> {
    names: Vec<&'a str>,
    /// The place in thousandths of the width, its name, and a value for each series; empty without one.
    at: Vec<(f64, String, Vec<String>)>,
}

fn readings(plot: &Plot) -> String {
    let series = plot.series.iter().enumerate();
    let all = series.flat_map(|(index, series)| {
        let points = series.points.iter().enumerate();
        points.filter_map(move |(nth, (x, value))| {
            let end = match series.shape {
                // The last point is the end of the last step.
                Shape::Steps(_) => Some(series.points.get(nth + 1)?.0),
                Shape::Line(_) | Shape::Marks(_) => None,
            };
            Some((*x, end, index, plot.y.unit.write((*value)?)))
        })
    });
    let mut all: Vec<(f64, Option<f64>, usize, String)> = all.collect();
    all.sort_by(|one, other| one.0.total_cmp(&other.0));
    let rows = all.chunk_by(|one, other| one.0 == other.0).map(|same| {
        let mut values = vec![String::new(); plot.series.len()];
        for (_, _, index, value) in same {
            let separator = if values[*index].is_empty() { "" } else { ", " };
            values[*index] += &format!("{separator}{value}");
        }
        let (x, end, ..) = same[0];
        let (x_axis, end) = (&plot.x, end.unwrap_or(x));
        let middle = x_axis.scale.at(x).midpoint(x_axis.scale.at(end));
        (tenths(WIDTH * middle), place(x_axis.unit, x, end), values)
    });
    let readings = Readings {
        names: plot
            .series
            .iter()
            .map(|series| series.name.as_str())
            .collect(),
        at: rows.collect(),
    };
    serde_json::to_string(&readings).expect("strings and finite numbers")
}

/// "3 s", "3 s to 4 s".
fn place(unit: Unit, from: f64, until: f64) -> String {
    if from == until {
        unit.write(from)
    } else {
        format!("{} to {}", unit.write(from), unit.write(until))
    }
}

impl Stroke {
    const fn class(self) -> &'static str {
        match self {
            Self::Solid => "line",
            Self::Dashed => "line dashed",
            Self::Dotted => "line dotted",
        }
    }
}

impl Colour {
    const fn class(self) -> &'static str {
        match self {
            Self::Blue => "blue",
            Self::Orange => "orange",
            Self::Purple => "purple",
            Self::Red => "red",
            Self::Grey => "grey",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plot(shape: Shape, points: &[(f64, Option<f64>)]) -> Plot {
        Plot {
            title: "a <title>".to_owned(),
            subject: "\"outside\"".to_owned(),
            figures: "The table has the figures.",
            x: Axis::elapsed(4.0),
            y: Axis::amount(Unit::Count, [10.0].into_iter()),
            guides: vec![Guide {
                name: "warm-up",
                colour: Colour::Grey,
                at: GuidePosition::Between(0.0, 1.0),
            }],
            series: vec![Series {
                name: "</script>".to_owned(),
                colour: Colour::Blue,
                shape,
                points: points.to_vec(),
            }],
        }
    }

    #[test]
    fn a_line_is_interrupted_where_a_value_is_missing_and_a_lone_value_is_a_point() {
        let points = [
            (0.0, Some(0.0)),
            (1.0, Some(10.5)),
            (2.0, None),
            (4.0, Some(0.0)),
        ];
        let drawn = figure(&plot(Shape::Line(Stroke::Dashed), &points));
        let line = "<path class=\"line dashed blue\" d=\"M0,252h0L250,8M1000,252h0\"/>";
        assert!(drawn.contains(line), "{drawn}");
        assert_eq!(
            drawn.matches("line dots").count(),
            1,
            "few points are dots, too"
        );
        assert!(
            drawn.contains("<rect class=\"shade grey\" x=\"0%\" width=\"25%\""),
            "{drawn}"
        );
    }

    #[test]
    fn a_step_keeps_its_value_and_is_read_in_its_middle() {
        let points = [(0.0, Some(5.0)), (2.0, Some(3.0)), (4.0, Some(3.0))];
        let plot = plot(Shape::Steps(Stroke::Solid), &points);
        assert!(
            figure(&plot).contains("M0,135.8h0H500V182.3H1000V182.3\"/>"),
            "{}",
            figure(&plot)
        );
        assert_eq!(
            readings(&plot),
            r#"{"names":["</script>"],"at":[[250.0,"0 s to 2 s",["5"]],[750.0,"2 s to 4 s",["3"]]]}"#
        );
    }

    #[test]
    fn marks_have_places_that_are_shares_and_those_at_one_place_are_read_together() {
        let points = [
            (1.0, Some(5.0)),
            (2.0, Some(4.0)),
            (1.0, Some(7.0)),
            (3.0, None),
        ];
        let plot = plot(Shape::Marks(Mark::Cross), &points);
        assert_eq!(figure(&plot).matches("<svg x=\"25%\"").count(), 2);
        assert!(readings(&plot).contains(r#"[250.0,"1 s",["5, 7"]],[500.0,"2 s",["4"]]]"#));
    }

    #[test]
    fn nothing_from_outside_is_markup() {
        let drawn = figure(&plot(Shape::Marks(Mark::Disc), &[(1.0, Some(5.0))]));
        assert!(drawn.contains("<figcaption>a &lt;title&gt;"), "{drawn}");
        assert!(drawn.contains("data-of=\"&quot;outside&quot;\""), "{drawn}");
        assert!(drawn.contains(
            "aria-label=\"a &lt;title&gt;: a plot of points. The table has the figures.\""
        ));
        assert_eq!(drawn.matches("</script>").count(), 1, "{drawn}");
    }
}
