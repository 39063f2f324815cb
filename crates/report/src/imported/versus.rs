//! Runs of two servers against each other, the verdict first.

use anstyle::Style;
use deadheat_stats::versus::{Verdict, tool_runs::RunsVersus};
use serde::Serialize;

use crate::{
    ReportError,
    figure::{NONE, counted, figure, seconds},
    text::{BOLD, Page, Screen, WARN},
    view::clean,
};

/// The files of both sides.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Sides<'a> {
    /// A's.
    pub a: &'a str,
    /// B's.
    pub b: &'a str,
}

/// The comparison for a terminal. `warnings` hold for both sides.
pub fn versus(
    sides: Sides<'_>,
    versus: &RunsVersus,
    warnings: &[String],
    screen: Screen,
) -> String {
    let mut page = Page::new(screen);
    let throughput = &versus.throughput;
    page.wrapped(BOLD, "", &headline(versus));
    let side = |name: &str, runs: usize| format!("{} ({})", clean(name), counted(runs, "run"));
    page.wrapped(Style::new(), "A  ", &side(sides.a, throughput.heats_a));
    page.wrapped(Style::new(), "B  ", &side(sides.b, throughput.heats_b));
    for warning in versus.warnings.iter().chain(warnings) {
        page.wrapped(WARN, "! ", &clean(warning));
    }
    page.line(Style::new(), "");
    let interval = throughput.interval.map_or_else(
        || NONE.to_owned(),
        |interval| format!("{}–{}", figure(interval.low), figure(interval.high)),
    );
    let mut rows = vec![vec![
        "requests/s".to_owned(),
        figure(throughput.a),
        figure(throughput.b),
        figure(throughput.ratio),
        interval,
    ]];
    rows.extend(versus.times.iter().map(|time| {
        vec![
            time.name.to_owned(),
            seconds(time.a_ms / 1e3),
            seconds(time.b_ms / 1e3),
            figure(time.b_ms / time.a_ms),
            NONE.to_owned(),
        ]
    }));
    page.table("", &["", "A", "B", "B / A", "interval"], &rows);
    page.text
}

fn headline(versus: &RunsVersus) -> String {
    let throughput = &versus.throughput;
    let times = format!("{} times A's throughput", figure(throughput.ratio));
    match throughput.verdict {
        Verdict::Better => format!("B is faster: {times}."),
        Verdict::Worse => format!("B is slower: {times}."),
        Verdict::DeadHeat => format!("A dead heat: B has {times}."),
        Verdict::NotEnoughData if throughput.interval.is_some() => {
            format!("Undecided: B has {times}, which may be chance.")
        }
        Verdict::NotEnoughData if throughput.heats_a.min(throughput.heats_b) == 1 => {
            format!(
                "No verdict, with one run on a side: B has {times}. Measure each at least three times."
            )
        }
        Verdict::NotEnoughData => {
            format!(
                "No verdict, with fewer than three runs on a side: B has {times}. Measure each at least three times."
            )
        }
    }
}

/// The comparison as JSON over several lines that end with a newline.
///
/// # Errors
/// When a figure cannot be written.
pub fn versus_json(sides: Sides<'_>, versus: &RunsVersus) -> Result<String, ReportError> {
    #[derive(Serialize)]
    struct Document<'a> {
        format: &'static str,
        sides: Sides<'a>,
        #[serde(flatten)]
        versus: &'a RunsVersus,
    }
    let mut text = serde_json::to_string_pretty(&Document {
        format: "deadheat-compare-imported",
        sides,
        versus,
    })?;
    text.push('\n');
    Ok(text)
}
