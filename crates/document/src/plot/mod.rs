//! Plots: what is drawn between which axes, as a value, and its drawing as SVG in a page.
//!
//! A drawing needs no script: its horizontal positions are shares of its width, so that it fits any window and paper, its
//! text keeps its size, and its colours are the style sheet's. [`SCRIPT`] shows the values at the pointer, and saves a plot
//! as a picture.

pub mod axis;
mod draw;
pub mod svg;

use serde::{Serialize, Serializer};

use self::axis::Axis;

/// The style of plots. The page's style sheet must define its colour variables.
pub(crate) const STYLE: &str = include_str!("plot.css");
/// Shows values at the pointer and saves a plot as a picture. Needs `html/saving.js` in the page.
pub(crate) const SCRIPT: &str = include_str!("plot.js");

/// A plot.
#[derive(Clone, Debug, PartialEq)]
pub struct Plot {
    /// What it shows.
    pub title: String,
    /// What it is about, for a picture that is saved.
    pub subject: String,
    /// Where its figures are, for readers who cannot see it.
    pub figures: &'static str,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// What is drawn behind the series.
    pub guides: Vec<Guide>,
    /// What is drawn, the last one on top.
    pub series: Vec<Series>,
}

/// A band or a line behind the series.
#[derive(Clone, Debug, PartialEq)]
pub struct Guide {
    /// Its name in the legend.
    pub name: &'static str,
    /// Its colour.
    pub colour: Colour,
    /// Where it is.
    pub at: GuidePosition,
}

/// Where a guide is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum GuidePosition {
    /// From one value of the horizontal axis to another.
    Between(f64, f64),
    /// At a value of the vertical axis.
    At(f64),
}

/// Values that belong together.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// Its name in the legend.
    pub name: String,
    /// Its colour.
    pub colour: Colour,
    /// How it is drawn.
    pub shape: Shape,
    /// Values of the horizontal and of the vertical axis, in the order of the former. A line is interrupted at a missing
    /// one.
    pub points: Vec<(f64, Option<f64>)>,
}

/// How a series is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A line from point to point.
    Line(Stroke),
    /// A line that keeps each value until the next point.
    Steps(Stroke),
    /// A mark at each point.
    Marks(Mark),
}

/// How a line is drawn, so that lines do not differ in colour alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stroke {
    /// Without gaps.
    Solid,
    /// In dashes.
    Dashed,
    /// In dots.
    Dotted,
}

/// The form of a mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// A filled circle.
    Disc,
    /// Two crossed lines.
    Cross,
    /// A diamond that is not filled.
    Diamond,
}

/// The colours of series, which the style sheet defines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colour {
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
