//! A published row beside what was measured.

use deadheat_model::figure::{NONE, Quantity, count, figure};
use deadheat_stats::{
    interval::Interval,
    standings::{Agreement, Bound, MeasuredRatio, MeasuredSide, RowSides},
};

use super::{absent, placed};
use crate::document::view::Placed;

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

/// The cells of a row of a table with a baseline of this name.
pub fn sides(row: &RowSides, baseline: &str) -> [String; 6] {
    let is_baseline = row.name == baseline;
    let ratio = row.measured_ratio;
    let baseline = || is_baseline.then(|| "1".to_owned());
    let or_none = |cell: Option<String>| cell.unwrap_or_else(|| NONE.to_owned());
    let is_measured = matches!(row.measured, MeasuredSide::Measured { .. });
    let own = baseline().filter(|_| is_measured);
    [
        or_none(row.published_per_second.map(printed)),
        or_none(
            row.published_ratio
                .map(|ratio| baseline().unwrap_or_else(|| figure(ratio))),
        ),
        match row.measured {
            MeasuredSide::LeftOut { .. } => "left out".to_owned(),
            MeasuredSide::Absent { because, .. } => absent(because).to_owned(),
            MeasuredSide::Measured {
                per_second,
                is_bound,
            } => {
                let measured = Placed {
                    is_bound,
                    ..Placed::alone(per_second)
                };
                placed(Some(&measured), figure)
            }
        },
        or_none(ratio.map(|ratio| bounded(&ratio)).or(own)),
        or_none(ratio.and_then(|ratio| Some(ends(&ratio.interval?)))),
        match row.agreement {
            _ if is_baseline => "baseline",
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
