//! The plots of open loops: all percentiles at a common rate, one of them at shares of the stacks' own capacity, and
//! two against the offered rate.

use super::plots::{Drawing, at_rates, percentiles};
use crate::view::{Dot, GroupView, LatencyView};

/// The plots of a workload's open loops.
pub(super) fn of_latency(view: &LatencyView) -> Vec<Drawing> {
    let (common, own): (Vec<&GroupView>, Vec<&GroupView>) =
        view.points.iter().partition(|point| point.is_common_rate);
    let mut plots = super::rates::of_latency(view);
    for point in common {
        if point.plot.iter().any(|cell| !cell.times.is_empty()) {
            let title = "Response time at the common rate (logarithmic scale)";
            let mut drawing = percentiles(title.to_owned(), &point.plot);
            drawing.heats(point);
            plots.push(drawing);
        }
        plots.extend(super::nines::of_group(point));
    }
    plots.extend(shares(view, &own));
    plots
}

/// The highest usual percentile that every stack has at every share; p50 where none is.
fn shares(view: &LatencyView, own: &[&GroupView]) -> Option<Drawing> {
    let mut names: Vec<String> = Vec::new();
    let rows = view.tables.iter().filter(|table| !table.is_ranked);
    for row in rows.flat_map(|table| &table.rows) {
        if !names.contains(&row.target) {
            names.push(row.target.clone());
        }
    }
    if names.is_empty() {
        return None;
    }
    let dots = |percent: f64| -> Vec<(String, Vec<Option<Dot>>)> {
        let at = |point: &&GroupView| {
            let dots = names.iter().map(|name| dot(point, name, percent));
            (point.rate.clone(), dots.collect())
        };
        own.iter().map(at).collect()
    };
    let is_known = |rates: &[(String, Vec<Option<Dot>>)]| {
        let mut all = rates.iter().flat_map(|(_, dots)| dots);
        all.all(Option::is_some)
    };
    let p99 = dots(99.0);
    let (percent, rates) = match is_known(&p99) {
        true => (99, p99),
        false => (50, dots(50.0)),
    };
    let title = format!("p{percent} of the response time at shares of own capacity (logarithmic)");
    Some(at_rates(title, names, &rates))
}

fn dot(point: &GroupView, name: &str, percent: f64) -> Option<Dot> {
    let cell = point.plot.iter().find(|cell| cell.target == name)?;
    let mut times = cell.times.iter();
    times
        .find(|(other, _)| *other == percent)
        .map(|(_, dot)| *dot)
}
