//! The data and the looks from which `series.js` draws each trial over its measurement.
//!
//! A session may have thousands of trials, so the data are whole numbers, rounded as they are shown, and only the
//! differences of what hardly changes.

use plotly::{
    Configuration, Layout,
    common::{DashType, Title},
    layout::{Axis, Margin, RangeMode},
};
use serde::Serialize;

use super::plotting::{BLUE, GREY, GRID, ORANGE, PURPLE, configuration, in_script, layout};
use crate::{
    ReportError,
    view::{Lines, SeriesPoint, SeriesTrial, SeriesView},
};

const HEIGHT_PX: usize = 620;
/// The parts of the plot from top to bottom, each a share of its height, with room between them. All begin at zero; the
/// first has the most room, so that a change by the tenth that matters is seen.
const PARTS: [[f64; 2]; 3] = [[0.54, 1.0], [0.27, 0.49], [0.0, 0.22]];
/// The lines of the trials, by turns. Two hues of one lightness each, five dashes.
const LOOKS: [(&str, DashType); 10] = [
    (BLUE, DashType::Solid),
    (PURPLE, DashType::Solid),
    (BLUE, DashType::Dash),
    (PURPLE, DashType::Dash),
    (BLUE, DashType::Dot),
    (PURPLE, DashType::Dot),
    (BLUE, DashType::DashDot),
    (PURPLE, DashType::DashDot),
    (BLUE, DashType::LongDash),
    (PURPLE, DashType::LongDash),
];

/// What the template needs besides the view.
#[derive(Debug, Serialize)]
pub struct SeriesPage {
    /// How high the plot is.
    height: usize,
    /// The looks, as JSON.
    frame: String,
    /// The load points that have lines, in the order of the plan.
    points: Vec<PointPage>,
}

/// A load point that has lines.
#[derive(Debug, Serialize)]
struct PointPage {
    title: String,
    /// Its stacks with the lines of their trials, as JSON.
    json: String,
}

/// What all drawings share.
#[derive(Serialize)]
struct Frame {
    layout: Layout,
    config: Configuration,
    looks: Vec<Look>,
    unsteady: &'static str,
    aside: &'static str,
}

#[derive(Serialize)]
struct Look {
    colour: &'static str,
    dash: DashType,
}

/// A load point's stacks that have lines.
#[derive(Serialize)]
struct Point<'a> {
    stacks: Vec<Stack<'a>>,
}

#[derive(Serialize)]
struct Stack<'a> {
    target: &'a str,
    trials: Vec<Trial<'a>>,
}

#[derive(Serialize)]
struct Trial<'a> {
    block: &'a str,
    steadiness: &'a str,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    unsteady: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    aside: Option<&'a str>,
    /// Seconds of each interval of `rate`.
    interval: f64,
    /// Requests per second, three digits.
    rate: Vec<Rounded>,
    /// How long after the one before each sample was taken, in hundredths of a second.
    after: Vec<i64>,
    /// Cores used since then, in hundredths.
    cores: Vec<i64>,
    /// By how many tenths of a MiB PSS differs from that of the last sample that could read it; the first from nothing.
    memory: Vec<Option<i64>>,
}

/// Three digits; whole where it is, so that no ".0" follows.
#[derive(Serialize)]
#[serde(untagged)]
enum Rounded {
    Whole(i64),
    Broken(f64),
}

/// The data; `None` where no trial has a line.
pub(super) fn page(view: &SeriesView) -> Result<Option<SeriesPage>, ReportError> {
    let points = view.points.iter().filter_map(|point| {
        let data = data(point);
        (!data.stacks.is_empty()).then(|| {
            Ok(PointPage {
                title: point.title.clone(),
                json: in_script(&serde_json::to_string(&data)?),
            })
        })
    });
    let points = points.collect::<Result<Vec<_>, ReportError>>()?;
    if points.is_empty() {
        return Ok(None);
    }
    let looks = LOOKS.map(|(colour, dash)| Look { colour, dash });
    let frame = Frame {
        layout: three_parts(),
        config: configuration(),
        looks: looks.into(),
        unsteady: ORANGE,
        aside: GREY,
    };
    Ok(Some(SeriesPage {
        height: HEIGHT_PX,
        frame: in_script(&serde_json::to_string(&frame)?),
        points,
    }))
}

fn data(point: &SeriesPoint) -> Point<'_> {
    let stacks = point.stacks.iter().map(|stack| Stack {
        target: &stack.target,
        trials: stack.trials.iter().filter_map(trial).collect(),
    });
    Point {
        stacks: stacks.filter(|stack| !stack.trials.is_empty()).collect(),
    }
}

fn trial(trial: &SeriesTrial) -> Option<Trial<'_>> {
    let lines = trial.lines.as_ref()?;
    if lines.rates.is_empty() && lines.usage.is_empty() {
        return None;
    }
    let Lines {
        interval_seconds,
        rates,
        usage,
    } = lines;
    let times = usage.iter().map(|usage| whole(usage.to_seconds * 100.0));
    let tenths = |bytes: u64| whole(bytes as f64 / f64::from(1 << 20) * 10.0);
    let mut grown = difference();
    let sizes = usage.iter().map(|usage| usage.pss_bytes.map(tenths));
    let memory = sizes.map(|size| size.map(&mut grown)).collect();
    Some(Trial {
        block: &trial.block,
        steadiness: &trial.steadiness,
        unsteady: trial.is_unsteady,
        aside: trial.aside.as_deref(),
        interval: *interval_seconds,
        rate: rates.iter().map(|rate| three_digits(*rate)).collect(),
        after: times.map(difference()).collect(),
        cores: usage
            .iter()
            .map(|usage| whole(usage.cores * 100.0))
            .collect(),
        memory,
    })
}

fn whole(value: f64) -> i64 {
    value.round() as i64
}

/// A value less the one before it; the first as it is. Sums of rounded values are as exact as these.
fn difference() -> impl FnMut(i64) -> i64 {
    let mut before = 0;
    move |value| value - std::mem::replace(&mut before, value)
}

fn three_digits(value: f64) -> Rounded {
    let rounded: f64 = format!("{value:.2e}").parse().unwrap_or(value);
    match rounded.fract() == 0.0 {
        true => Rounded::Whole(whole(rounded)),
        false => Rounded::Broken(rounded),
    }
}

/// Three parts over one axis of time.
fn three_parts() -> Layout {
    let axis = |title: &str| {
        Axis::new()
            .title(Title::with_text(title))
            .fixed_range(true)
            .show_grid(true)
            .grid_color(GRID)
            .zero_line(false)
    };
    let from_nothing =
        |part: [f64; 2], title: &str| axis(title).range_mode(RangeMode::ToZero).domain(&part);
    let [rate, cores, memory] = PARTS;
    layout()
        .height(HEIGHT_PX)
        .margin(Margin::new().left(64).right(16).top(8).bottom(44))
        .x_axis(
            axis("seconds of the measurement")
                .range_mode(RangeMode::ToZero)
                .anchor("y3"),
        )
        .y_axis(from_nothing(rate, "requests/s").tick_format(","))
        .y_axis2(from_nothing(cores, "CPU cores used"))
        .y_axis3(from_nothing(memory, "memory (PSS), MiB"))
}

#[cfg(test)]
mod tests {
    use deadheat_stats::series::Usage;

    use super::*;

    #[test]
    fn data_are_whole_numbers_of_which_those_that_hardly_change_are_differences() {
        let usage = |from_seconds, to_seconds, cores, mib: f64| Usage {
            from_seconds,
            to_seconds,
            cores,
            pss_bytes: Some((mib * f64::from(1 << 20)) as u64),
        };
        let lines = Lines {
            interval_seconds: 0.5,
            rates: vec![52_345.6, 40.126, 0.0],
            usage: vec![
                usage(0.0, 0.502, 0.984, 24.06),
                usage(0.502, 1.004, 1.499, 24.24),
                usage(1.004, 1.508, 0.0, 23.9),
            ],
        };
        let view = SeriesTrial {
            block: "3".to_owned(),
            change: String::new(),
            standard_error: String::new(),
            bound: String::new(),
            steadiness: "steady".to_owned(),
            is_unsteady: false,
            aside: None,
            lines: Some(lines),
        };
        assert_eq!(
            serde_json::to_string(&trial(&view)).unwrap(),
            r#"{"block":"3","steadiness":"steady","interval":0.5,"rate":[52300,40.1,0],"after":[50,50,51],"cores":[98,150,0],"memory":[241,1,-3]}"#
        );
    }

    #[test]
    fn a_trial_without_a_point_is_no_line() {
        let view = SeriesTrial {
            block: "1".to_owned(),
            change: String::new(),
            standard_error: String::new(),
            bound: String::new(),
            steadiness: "not measured".to_owned(),
            is_unsteady: false,
            aside: None,
            lines: Some(Lines {
                interval_seconds: 0.5,
                rates: Vec::new(),
                usage: Vec::new(),
            }),
        };
        assert!(trial(&view).is_none());
    }
}
