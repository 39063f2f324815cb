//! Reports of other load generators, as they are shown: runs that were read, and a comparison of two files.

use std::collections::BTreeMap;

use deadheat_document::{
    Column, Document, Section, Table, Tone,
    json::{self, Body, ReportError},
};
use deadheat_import::has_many_errors;
use deadheat_model::{
    Warning,
    figure::{NONE, count, counted, figure, seconds},
    imported::{ENOUGH_RUNS, ImportedReports, Run, RunFigures},
};
use deadheat_stats::comparison::{RatioVerdict, tool_runs::RunsComparison};
use serde::Serialize;

/// What was read as JSON over several lines that end with a newline; `deadheat import` reads it back.
///
/// # Errors
/// When a figure cannot be written.
pub fn json(imported: &ImportedReports) -> Result<String, ReportError> {
    Ok(serde_json::to_string_pretty(imported)? + "\n")
}

/// Whether the runs can rank the servers, and what there is.
fn headline(runs: &[Run], tables: &[&[Run]]) -> String {
    let mut tools: Vec<&str> = runs.iter().map(|run| run.tool.name()).collect();
    tools.sort_unstable();
    tools.dedup();
    let what = format!("{} of {}", counted(runs.len(), "run"), tools.join(", "));
    if let [run] = runs {
        return match (run.valid_rate(), run.invalid()) {
            (Some(rate), _) => format!("{what}: {} requests/s.", figure(rate)),
            (None, why) => {
                let why = why.unwrap_or("the report has none");
                format!("{what}: its rate cannot be used, because {why}.")
            }
        };
    }
    let rankings: Vec<Result<String, &str>> = tables.iter().map(|table| fastest(table)).collect();
    let found: Vec<&String> = rankings
        .iter()
        .filter_map(|one| one.as_ref().ok())
        .collect();
    if !found.is_empty() {
        let found: Vec<&str> = found.iter().map(|one| one.as_str()).collect();
        let within = if tables.len() == 1 {
            ""
        } else {
            "; the tables are different loads, so compare within one"
        };
        return format!(
            "{what}{within}. The highest mean rate is {}.",
            found.join("; ")
        );
    }
    let mut names: Vec<String> = runs.iter().map(Run::name).collect();
    names.sort_unstable();
    names.dedup();
    let is_one_server = names.len() == 1;
    let has_rate = runs.iter().any(|run| run.valid_rate().is_some());
    if is_one_server && has_rate {
        return format!("{what}, all of one server: {}.", range(runs));
    }
    let mut reasons: Vec<&str> = Vec::new();
    if !has_rate {
        reasons.push("no rate can be used");
    } else {
        if tables.len() > 1 {
            reasons.push("the tables are different loads");
        }
        for reason in rankings.iter().filter_map(|one| one.as_ref().err()) {
            if !reasons.contains(reason) {
                reasons.push(reason);
            }
        }
    }
    format!(
        "None of these runs can rank the servers: {}. There are {what}.",
        reasons.join("; ")
    )
}

/// The fastest server of a table, or why nobody can tell.
fn fastest(table: &[Run]) -> Result<String, &'static str> {
    let valid: Vec<(&Run, f64)> = table
        .iter()
        .filter(|run| !has_many_errors(run))
        .filter_map(|run| Some((run, run.valid_rate()?)))
        .collect();
    let mut servers: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for (run, rate) in &valid {
        servers.entry(run.name()).or_default().push(*rate);
    }
    let Some((first, _)) = valid.first() else {
        return Err("no rate of a table can be used, or all have 1 % errors or more");
    };
    if servers.len() < 2 {
        return Err(if table.iter().any(has_many_errors) {
            "a table has one server alone with fewer than 1 % errors"
        } else {
            "a table has one server alone"
        });
    }
    let is_same = |run: &Run| {
        let (load, other) = (&run.load, &first.load);
        (load.connections, load.rate, load.is_open)
            == (other.connections, other.rate, other.is_open)
    };
    if !valid.iter().all(|(run, _)| is_same(run)) {
        return Err("the servers did not have the same load");
    }
    if servers.values().any(|rates| rates.len() < ENOUGH_RUNS) {
        return Err("fewer than three runs of a server cannot tell a difference from chance");
    }
    let mean = |rates: &[f64]| rates.iter().sum::<f64>() / rates.len() as f64;
    let means = servers.iter().map(|(name, rates)| (name, mean(rates)));
    let best = means.max_by(|one, other| one.1.total_cmp(&other.1));
    let (name, rate) = best.ok_or("a table has no server")?;
    let section = first.section.as_deref();
    let section = section.map_or_else(String::new, |section| format!(" ({section})"));
    Ok(format!("{} requests/s, of {name}{section}", figure(rate)))
}

/// The lowest and the highest rate.
fn range(runs: &[Run]) -> String {
    let rates = runs.iter().filter_map(Run::valid_rate);
    let (low, high) = rates.fold((f64::INFINITY, 0.0_f64), |(low, high), rate| {
        (low.min(rate), high.max(rate))
    });
    format!("{} to {} requests/s", figure(low), figure(high))
}

/// The head of a column, and its cell for a run that has the figure.
type FigureColumn = (&'static str, fn(&RunFigures) -> Option<String>);

const COLUMNS: [FigureColumn; 7] = [
    ("requests/s", |figures| {
        figures.requests_per_second.map(figure)
    }),
    ("mean", |figures| figures.mean_ms.map(time)),
    ("p50", |figures| figures.p50_ms.map(time)),
    ("p99", |figures| figures.p99_ms.map(time)),
    ("max", |figures| figures.max_ms.map(time)),
    ("errors", |figures| figures.non_2xx.map(count)),
    ("failed", |figures| figures.failed.map(count)),
];

/// The most runs that a warning names.
const MAX_NAMED: usize = 6;

/// What was read.
pub fn document(imported: &ImportedReports) -> Document {
    let tables: Vec<&[Run]> = imported.runs.chunk_by(is_of_one_table).collect();
    let warnings = imported.warnings.iter().map(Warning::in_full);
    let not_read = imported.left_out.iter().map(|left| {
        let place = &left.place;
        format!("{}:{}: {}", place.file, place.line, left.reason)
    });
    Document::new(Tone::Plain, headline(&imported.runs, &tables))
        .sections(tables.into_iter().map(section))
        .section(Section::new("Faults of single runs").warnings(faults(&imported.runs)))
        .section(Section::new("Before you decide").warnings(warnings))
        .section(Section::new("Not read").bullets(not_read))
}

fn is_of_one_table(run: &Run, next: &Run) -> bool {
    run.section == next.section && run.tool == next.tool && run.place.file == next.place.file
}

/// Runs of one table, of which there is at least one.
fn section(runs: &[Run]) -> Section {
    let first = &runs[0];
    let title = first.section.as_deref().unwrap_or(&first.place.file);
    let same = |of: fn(&Run) -> Option<&String>| {
        of(first).filter(|one| runs.iter().all(|run| of(run) == Some(*one)))
    };
    let loaded = same(|run| run.command.as_ref()).or_else(|| same(|run| run.target.as_ref()));
    let columns = COLUMNS.iter();
    let columns: Vec<&FigureColumn> = columns
        .filter(|(_, cell)| runs.iter().any(|run| cell(&run.figures).is_some()))
        .collect();
    let heads = columns.iter().map(|(head, _)| Column::right(head));
    let mut table = Table::new([Column::left(first.tool.name())].into_iter().chain(heads));
    for run in runs {
        let cells = columns.iter().map(|(_, cell)| cell(&run.figures));
        let cells = cells.map(|cell| cell.unwrap_or_else(|| NONE.to_owned()));
        table.row([run.name()].into_iter().chain(cells));
        if let Some(why) = run.invalid() {
            table.note("! ", why);
        }
    }
    let has_rate = runs.iter().any(|run| run.valid_rate().is_some());
    let unusable = (!has_rate).then_some("No rate of this table can be used.");
    Section::new(title)
        .aside(loaded)
        .table(table)
        .paragraphs(unusable)
}

/// Warnings about runs: each once, in the words of the first run that it holds for, with all of these runs.
fn faults(runs: &[Run]) -> Vec<String> {
    let mut warnings: Vec<(&Warning, Vec<&Run>)> = Vec::new();
    for run in runs {
        for warning in &run.warnings {
            match warnings.iter_mut().find(|(one, _)| one.id == warning.id) {
                Some((_, of)) => of.push(run),
                None => warnings.push((warning, vec![run])),
            }
        }
    }
    let sentence = |(warning, of): &(&Warning, Vec<&Run>)| {
        let named: Vec<String> = of.iter().take(MAX_NAMED).map(|run| place(run)).collect();
        let more = match of.len() - named.len() {
            0 => String::new(),
            more => format!(" and {} more", count(more as u64)),
        };
        let is_of_all = of.len() == runs.len() && runs.len() > 1;
        let which = if is_of_all {
            "all runs".to_owned()
        } else {
            named.join(", ") + &more
        };
        let is_one_text = of.iter().all(|run| run.warnings.contains(warning));
        let similar = if is_one_text {
            ""
        } else {
            " (The figures are those of the first.)"
        };
        format!("{which}: {}{similar}", warning.sentence)
    };
    warnings.iter().map(sentence).collect()
}

/// A run's name, and its line.
fn place(run: &Run) -> String {
    match run.label {
        Some(_) => format!("{} (line {})", run.name(), run.place.line),
        None => run.name(),
    }
}

/// Milliseconds in the unit that suits them.
fn time(milliseconds: f64) -> String {
    seconds(milliseconds / 1e3)
}

/// The files of both sides.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct SideNames<'a> {
    /// A's.
    pub a: &'a str,
    /// B's.
    pub b: &'a str,
}

/// The comparison as it is shown, the verdict first, with what speaks against the figures of each side.
pub fn comparison(
    sides: SideNames<'_>,
    comparison: &RunsComparison,
    [a, b]: [&ImportedReports; 2],
) -> Document {
    let throughput = &comparison.throughput;
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
    for time in &comparison.times {
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
    let own = comparison.warnings.iter().map(Warning::in_full);
    let lead = Section::lead()
        .facts([
            ("A", side(sides.a, throughput.heats_a)),
            ("B", side(sides.b, throughput.heats_b)),
        ])
        .warnings(own.chain(of_runs).chain(of_both));
    Document::new(Tone::Plain, comparison_headline(comparison))
        .section(lead)
        .section(Section::new("B against A").table(table))
}

fn comparison_headline(comparison: &RunsComparison) -> String {
    let throughput = &comparison.throughput;
    let times = format!("{} times A's throughput", figure(throughput.ratio));
    if let Some(reason) = &comparison.no_verdict {
        return format!("No verdict: B has {times}, but {reason}.");
    }
    match throughput.verdict {
        RatioVerdict::Better => format!("B is faster: {times}."),
        RatioVerdict::Worse => format!("B is slower: {times}."),
        RatioVerdict::DeadHeat => format!("A dead heat: B has {times}."),
        RatioVerdict::NotEnoughData if throughput.interval.is_some() => {
            format!("Undecided: B has {times}, which may be chance.")
        }
        RatioVerdict::NotEnoughData if throughput.heats_a.min(throughput.heats_b) == 1 => {
            format!(
                "No verdict, with one run on a side: B has {times}. Measure each at least three times."
            )
        }
        RatioVerdict::NotEnoughData => {
            format!(
                "No verdict, with fewer than three runs on a side: B has {times}. Measure each at least three times."
            )
        }
    }
}

/// What `deadheat compare FILE FILE --json` prints for reports of other tools.
#[derive(Serialize)]
struct RunsReport<'a> {
    sides: SideNames<'a>,
    #[serde(flatten)]
    comparison: &'a RunsComparison,
}

impl Body for RunsReport<'_> {
    const FORMAT: &'static str = "deadheat-compare-imported";
    const SCHEMA: u32 = 1;
}

/// The comparison as JSON over several lines that end with a newline.
///
/// # Errors
/// When a figure cannot be written.
pub fn comparison_json(
    sides: SideNames<'_>,
    comparison: &RunsComparison,
) -> Result<String, ReportError> {
    json::json(&RunsReport { sides, comparison })
}
