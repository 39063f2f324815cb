//! A published row beside what was measured.

use deadheat_stats::{
    order_statistic::Interval,
    standings::{Agreement, Bound, MeasuredRatio},
};

use super::{absent, placed};
use crate::{
    figure::{NONE, Quantity, count, figure},
    standings::view::SidesView,
};

/// What stands above [`sides`], after the row's name and its stack.
pub const SIDES: [&str; 6] = [
    "published",
    "ratio",
    "measured",
    "ratio",
    "interval",
    "agreement",
];

/// What a table of published rows shows, in a line.
pub const SIDES_LEGEND: &str = "Requests/s, and their ratio to the baseline's.";

/// The cells of a row.
pub fn sides(row: &SidesView) -> [String; 6] {
    let ratio = row.measured_ratio;
    let baseline = || row.is_baseline.then(|| "1".to_owned());
    let or_none = |cell: Option<String>| cell.unwrap_or_else(|| NONE.to_owned());
    let own = baseline().filter(|_| row.measured_per_second.is_some());
    [
        or_none(row.published_per_second.map(printed)),
        or_none(
            row.published_ratio
                .map(|ratio| baseline().unwrap_or_else(|| figure(ratio))),
        ),
        match (&row.measured_per_second, row.absent) {
            (None, Some(because)) => absent(because).to_owned(),
            (None, None) => "left out".to_owned(),
            (measured, _) => placed(measured.as_ref(), figure),
        },
        or_none(ratio.map(|ratio| bounded(&ratio)).or(own)),
        or_none(ratio.and_then(|ratio| Some(ends(&ratio.interval?)))),
        match row.agreement {
            _ if row.is_baseline => "baseline",
            Some(Agreement::Within) => "agrees",
            Some(Agreement::Higher) => "higher",
            Some(Agreement::Lower) => "lower",
            Some(Agreement::Reversed) => "reversed",
            None => NONE,
        }
        .to_owned(),
    ]
}

fn ends(interval: &Interval) -> String {
    let [low, high] = [interval.low, interval.high].map(Quantity::plain);
    low.to("–", &high)
}

/// A published figure with the digits by which a reader finds it again.
fn printed(rate: f64) -> String {
    if rate < 100.0 {
        figure(rate)
    } else {
        count(rate.round() as u64)
    }
}

fn bounded(ratio: &MeasuredRatio) -> String {
    let sign = match ratio.bound {
        Bound::Exact => "",
        Bound::AtLeast => "≥ ",
        Bound::AtMost => "≤ ",
    };
    format!("{sign}{}", figure(ratio.ratio))
}
