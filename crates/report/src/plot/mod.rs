//! Plots: what is drawn between which axes, as a value, and its drawing as SVG in a page.
//!
//! A drawing needs no script: its horizontal positions are shares of its width, so that it fits any window and paper, its
//! text keeps its size, and its colours are the style sheet's. [`SCRIPT`] shows the values at the pointer, and saves a plot
//! as a picture.

pub(crate) mod axis;
mod draw;
pub(crate) mod svg;

use serde::{Serialize, Serializer};

use self::axis::Axis;

/// The style of plots. Their page has the variables of colours that it uses.
pub(crate) const STYLE: &str = include_str!("plot.css");
/// What a reader can do with a plot. It uses `html/saving.js`.
pub(crate) const SCRIPT: &str = include_str!("plot.js");

/// A plot.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Plot {
    /// What it shows.
    pub(crate) title: String,
    /// What it is about, for a picture that is saved.
    pub(crate) subject: String,
    /// Where its figures are, for readers who cannot see it.
    pub(crate) figures: &'static str,
    /// The horizontal axis.
    pub(crate) x: Axis,
    /// The vertical axis.
    pub(crate) y: Axis,
    /// What is drawn behind the series.
    pub(crate) guides: Vec<Guide>,
    /// What is drawn, the last one on top.
    pub(crate) series: Vec<Series>,
}

/// A place on an axis.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Guide {
    /// Its name in the legend.
    pub(crate) name: &'static str,
    /// Its colour.
    pub(crate) colour: Colour,
    /// Where it is.
    pub(crate) at: GuidePosition,
}

/// Where a guide is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum GuidePosition {
    /// From one value of the horizontal axis to another.
    Between(f64, f64),
    /// At a value of the vertical axis.
    At(f64),
}

/// Values that belong together.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Series {
    /// Its name in the legend.
    pub(crate) name: String,
    /// Its colour.
    pub(crate) colour: Colour,
    /// How it is drawn.
    pub(crate) shape: Shape,
    /// Values of the horizontal and of the vertical axis, in the order of the former. A line is interrupted at a missing
    /// one.
    pub(crate) points: Vec<(f64, Option<f64>)>,
}

/// How a series is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// A line from point to point.
    Line(Stroke),
    /// A line that keeps each value until the next point.
    Steps(Stroke),
    /// A mark at each point.
    Marks(Mark),
}

/// How a line is drawn, so that colour is not all that tells it apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stroke {
    /// Without gaps.
    Solid,
    /// In dashes.
    Dashed,
    /// In dots.
    Dotted,
}

/// The form of a mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mark {
    /// A filled circle.
    Disc,
    /// Two crossed lines.
    Cross,
    /// A diamond that is not filled.
    Diamond,
}

/// The colours of series, which the style sheet defines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Colour {
    /// For the main series.
    Blue,
    /// For the second one.
    Orange,
    /// For the third one.
    Purple,
    /// For failures.
    Red,
    /// For what is in the background.
    Grey,
}

impl Serialize for Plot {
    /// As the figure that a page shows.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&draw::figure(self))
    }
}
