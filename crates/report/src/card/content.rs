//! What a card shows.

use crate::figure::counted;

/// Everything on a card.
pub(crate) struct Content {
    /// In the upper right corner: when, and which of how many loads.
    pub(crate) place: String,
    /// What was measured.
    pub(crate) title: String,
    /// What came of it.
    pub(crate) verdict: String,
    /// The plot, or who failed.
    pub(crate) body: Body,
    /// The machine, in one line.
    pub(crate) machine: String,
    /// What the card does not show, in one line.
    pub(crate) caveat: String,
}

/// What stands below the verdict.
pub(crate) enum Body {
    /// Figures.
    Plot(Plot),
    /// There are none.
    Failures(Vec<Failure>),
}

/// Rows of dots on one axis from zero.
pub(crate) struct Plot {
    /// The stacks in their order.
    pub(crate) rows: Vec<PlotRow>,
    /// Groups of rows that are as good as equal, by their places.
    pub(crate) ties: Vec<Vec<usize>>,
    /// What such a group is called.
    pub(crate) tie_name: &'static str,
    /// What the axis and the intervals are, in a sentence or two.
    pub(crate) axis: String,
    /// What is not shown because it was not measured.
    pub(crate) not_measured: Option<String>,
}

/// A figure with its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Dot {
    /// The figure.
    pub(crate) value: f64,
    /// Its interval's ends.
    pub(crate) ends: Option<(f64, f64)>,
}

/// A stack in a plot.
pub(crate) struct PlotRow {
    /// Its rank, as it is shown.
    pub(crate) rank: String,
    /// The stack.
    pub(crate) name: String,
    /// Its figure and the ends of its interval.
    pub(crate) dot: Dot,
    /// Whether the figure is only a lower bound.
    pub(crate) is_bound: bool,
    /// The figure as it is shown.
    pub(crate) value: String,
    /// Its half width as it is shown.
    pub(crate) spread: Option<String>,
}

/// A stack that failed.
pub(crate) struct Failure {
    /// Who, and what became of it.
    pub(crate) what: String,
    /// Why.
    pub(crate) why: String,
}

/// When, and that there is more.
pub(crate) fn one_of(date: &str, loads: usize) -> String {
    format!("{date}, one of {}", counted(loads, "load point"))
}
