//! Runs of two servers against each other, the verdict first.

use deadheat_document::{
    Column, Document, Section, Table, Tone,
    error::ReportError,
    json::{self, Body},
};
use deadheat_model::{
    Warning,
    figure::{NONE, counted, figure, seconds},
    imported::Imported,
};
use deadheat_stats::versus::{Verdict, tool_runs::RunsVersus};
use serde::Serialize;

/// The files of both sides.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Sides<'a> {
    /// A's.
    pub a: &'a str,
    /// B's.
    pub b: &'a str,
}

/// The comparison as it is shown, the verdict first, with what speaks against the figures of each side.
pub fn versus(sides: Sides<'_>, versus: &RunsVersus, [a, b]: [&Imported; 2]) -> Document {
    let throughput = &versus.throughput;
    let side = |name: &str, runs: usize| format!("{name} ({})", counted(runs, "run"));
    let interval = throughput.interval.map_or_else(
        || NONE.to_owned(),
        |interval| format!("{}–{}", figure(interval.low), figure(interval.high)),
    );
    let mut table = Table::new([
        Column::left(""),
        Column::right("A"),
        Column::right("B"),
        Column::right("B / A"),
        Column::right("interval"),
    ]);
    table.row([
        "requests/s",
        &figure(throughput.a),
        &figure(throughput.b),
        &figure(throughput.ratio),
        &interval,
    ]);
    for time in &versus.times {
        table.row([
            time.name,
            &seconds(time.a_ms / 1e3),
            &seconds(time.b_ms / 1e3),
            &figure(time.b_ms / time.a_ms),
            NONE,
        ]);
    }
    let of_runs = [("A", a), ("B", b)].into_iter().flat_map(|(side, of)| {
        let warnings = of.runs.iter().flat_map(|run| &run.warnings);
        warnings.map(move |warning| format!("{side}: {}", warning.in_full()))
    });
    let of_both = a.warnings.iter().chain(&b.warnings).map(Warning::in_full);
    let own = versus.warnings.iter().map(Warning::in_full);
    let lead = Section::lead()
        .facts([
            ("A", side(sides.a, throughput.heats_a)),
            ("B", side(sides.b, throughput.heats_b)),
        ])
        .warnings(own.chain(of_runs).chain(of_both));
    Document::new(Tone::Plain, headline(versus))
        .section(lead)
        .section(Section::new("B against A").table(table))
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

#[derive(Serialize)]
pub struct Report<'a> {
    sides: Sides<'a>,
    #[serde(flatten)]
    versus: &'a RunsVersus,
}

impl Body for Report<'_> {
    const FORMAT: &'static str = "deadheat-compare-imported";
    const SCHEMA: u32 = 1;
}

/// The comparison as JSON over several lines that end with a newline.
///
/// # Errors
/// When a figure cannot be written.
pub fn versus_json(sides: Sides<'_>, versus: &RunsVersus) -> Result<String, ReportError> {
    json::json(&Report { sides, versus })
}
