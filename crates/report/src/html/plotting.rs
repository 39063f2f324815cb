//! What all plots have in common: colours, the axis of latencies, how a plot stands in its page.

use std::ops::Range;

use plotly::{
    Configuration,
    common::Font,
    configuration::DisplayModeBar,
    layout::{Axis, AxisRange, AxisType},
};

// Told apart by shape or dash and by lightness, and with 3:1 contrast on the page's light and dark ground. Hues after
// Okabe & Ito, "Color universal design" (2008).
pub(crate) const BLUE: &str = "#2f86c8";
pub(crate) const ORANGE: &str = "#c9741a";
pub(crate) const PURPLE: &str = "#a765a3";
pub(crate) const GREY: &str = "#84888c";
pub(crate) const RED: &str = "#d0503a";
/// Lines behind the plot.
pub(crate) const GRID: &str = "rgba(128,128,128,0.25)";
/// The ground is the page's.
pub(crate) const CLEAR: &str = "rgba(0,0,0,0)";

/// JSON that cannot end the script element it stands in.
pub(crate) fn in_script(json: &str) -> String {
    json.replace('<', "\\u003c")
        .replace('>', "\\u003e")
        .replace('&', "\\u0026")
}

/// The page's font, whose colour the page's style sets.
pub(crate) fn font() -> Font {
    Font::new()
        .size(12)
        .family("ui-sans-serif, system-ui, sans-serif")
}

/// As wide as the page, and without buttons.
pub(crate) fn configuration() -> Configuration {
    Configuration::new()
        .responsive(true)
        .display_mode_bar(DisplayModeBar::False)
        .display_logo(false)
        .show_send_to_cloud(false)
}

/// A logarithmic axis for times in seconds, with `most` ticks or a few more. (plotly's own leave the unit out between the
/// decades.)
pub(crate) fn latency_axis(values: impl Iterator<Item = f64> + Clone, most: usize) -> Axis {
    // From 1 µs to 5,000 s.
    logarithmic(values, most, 3..13, 1e9, whole_time)
}

fn logarithmic(
    values: impl Iterator<Item = f64> + Clone,
    most: usize,
    decades: Range<u32>,
    per_unit: f64,
    name: fn(u64) -> String,
) -> Axis {
    let reach = reach(values.clone());
    let ticks = ticks(values, most, decades, per_unit, name);
    let (ticks, names) = ticks.into_iter().unzip();
    let axis = Axis::new()
        .type_(AxisType::Log)
        .tick_values(ticks)
        .tick_text(names);
    match reach {
        // plotly shows two decades around values that are one, and presses their ticks together.
        (least, most) if least > 0.0 && most < BEYOND * least => axis.range(AxisRange::new(
            (least / NEAR).log10(),
            (most * NEAR).log10(),
        )),
        _ => axis,
    }
}

/// The least and the most of some values.
fn reach(values: impl Iterator<Item = f64>) -> (f64, f64) {
    values.fold((f64::MAX, 0.0), |(least, most), value| {
        (value.min(least), value.max(most))
    })
}

/// Steps within a decade, in tenths: the first that are no more than an axis takes are its ticks.
const STEPS: [&[u64]; 4] = [
    &[10, 12, 15, 20, 25, 30, 40, 50, 60, 80],
    &[10, 15, 20, 30, 50, 70],
    &[10, 20, 50],
    &[10],
];
/// An axis reaches about so far beyond its values, as a factor.
const BEYOND: f64 = 1.25;
/// How far from all values a tick may be, as a factor.
const NEAR: f64 = 2.0;

/// Round values around all `values`, with their names, which are made from whole numbers of 1/`per_unit`.
fn ticks(
    values: impl Iterator<Item = f64>,
    most_ticks: usize,
    decades: Range<u32>,
    per_unit: f64,
    name: fn(u64) -> String,
) -> Vec<(f64, String)> {
    let (least, most) = reach(values);
    let of = |steps: &[u64]| -> Vec<(f64, String)> {
        let decades = decades.clone().map(|decade| 10_u64.pow(decade));
        let tenths = decades.flat_map(|decade| steps.iter().map(move |step| step * decade));
        let whole = tenths.filter(|tenths| tenths % 10 == 0);
        let ticks = whole.map(|tenths| (tenths as f64 / 10.0 / per_unit, name(tenths / 10)));
        let near = least / NEAR..=most * NEAR;
        ticks.filter(|(tick, _)| near.contains(tick)).collect()
    };
    let shown = least / BEYOND..=most * BEYOND;
    let fits = |ticks: &Vec<(f64, String)>| {
        let shown = ticks.iter().filter(|(tick, _)| shown.contains(tick));
        shown.count() <= most_ticks
    };
    let mut finest_first = STEPS.iter().map(|steps| of(steps));
    finest_first.find(fits).unwrap_or_else(|| of(&[10]))
}

fn whole_time(ns: u64) -> String {
    let in_units = |unit: u64| ns as f64 / unit as f64;
    match ns {
        0..1_000_000 => format!("{} µs", in_units(1_000)),
        1_000_000..1_000_000_000 => format!("{} ms", in_units(1_000_000)),
        _ => format!("{} s", in_units(1_000_000_000)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(values: &[f64]) -> Vec<String> {
        let ticks = ticks(values.iter().copied(), 7, 3..13, 1e9, whole_time);
        ticks.into_iter().map(|(_, name)| name).collect()
    }

    #[test]
    fn ticks_are_round_times_around_all_values() {
        assert_eq!(
            names(&[0.0012, 0.0014]),
            [
                "600 µs", "800 µs", "1 ms", "1.2 ms", "1.5 ms", "2 ms", "2.5 ms"
            ]
        );
        assert_eq!(
            names(&[90e-6, 2.1e-3]),
            ["50 µs", "100 µs", "200 µs", "500 µs", "1 ms", "2 ms"]
        );
        assert_eq!(
            names(&[20e-6, 9.0]),
            ["10 µs", "100 µs", "1 ms", "10 ms", "100 ms", "1 s", "10 s"]
        );
        assert_eq!(names(&[]), [""; 0]);
    }

    #[test]
    fn json_cannot_end_its_script() {
        assert_eq!(
            in_script(r#"{"a":"</script>&"}"#),
            r#"{"a":"\u003c/script\u003e\u0026"}"#
        );
    }
}
