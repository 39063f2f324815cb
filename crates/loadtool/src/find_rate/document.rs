//! What `deadheat load --find-rate` leaves, from its record and analysis: the answer, a warning, and every trial.
//!
//! [`document`] and [`html`] are for people. What programs read ([`json`], [`csv`]) is unrounded.

use deadheat_document::{
    Column, Document, Frame, Section, Table, Tone,
    csv::{Number, head, line},
    html::{DataFile, Shell},
    json::ReportError,
    plot::{
        Colour, Guide, GuidePosition, Mark, Plot, Series, Shape,
        axis::{self, Axis},
    },
    view::clean,
};
use deadheat_model::{
    Warning,
    capacity::{CapacityRecord, Condition, ProbeOutcome, ProbeRecord, Unit},
    figure::{
        NONE, count, counted, figure, list, long_time, per_second, percent, seconds, separated,
    },
    load::{Endpoint, words::streams},
};
use deadheat_stats::capacity::{CapacityAnalysis, Outcome, precision};
use schemars::JsonSchema;
use serde::Serialize;

/// What `deadheat load --find-rate` declared, every probe, and the answer. All figures follow from `burst` and the probes (`looks`).
#[derive(Serialize, JsonSchema)]
pub struct RateSearchReport<'a> {
    #[serde(flatten)]
    record: &'a CapacityRecord,
    /// The first line of the report.
    headline: String,
    /// What was found.
    answer: &'a CapacityAnalysis,
}

/// The search as JSON over several lines that end with a newline. It can be read again as a [`CapacityRecord`].
///
/// # Errors
/// When a figure has no place in JSON.
pub fn json(record: &CapacityRecord, analysis: &CapacityAnalysis) -> Result<String, ReportError> {
    let report = RateSearchReport {
        record,
        headline: headline(record, analysis),
        answer: analysis,
    };
    Ok(serde_json::to_string_pretty(&report)? + "\n")
}

/// The search as one HTML file that needs no network, with its data.
///
/// # Errors
/// When the template does not fit the document, or a figure has no place in JSON.
pub fn html(record: &CapacityRecord, analysis: &CapacityAnalysis) -> Result<String, ReportError> {
    let (json, csv) = (json(record, analysis)?, csv(record));
    let command = |name| format!("deadheat load --find-rate … -o {name} …");
    let data = vec![
        DataFile::new(
            "capacity.json",
            "everything that is known (docs/formats.md)",
            command("capacity.json"),
            &json,
        ),
        DataFile::new(
            "capacity.csv",
            "a row for each trial (docs/formats.md)",
            command("capacity.csv"),
            &csv,
        ),
    ];
    let (url, started) = (&record.url, &record.started);
    document(record, analysis).html_in(&Frame {
        origin: &format!("deadheat load --find-rate {url}, started {started}"),
        ..Frame::new("deadheat-capacity", Shell::new(data))
    })
}

/// A probe of a search. After these columns, each condition has one, such as `p99_seconds`: its figure, empty if it is not
/// known.
#[derive(Default, Serialize, JsonSchema)]
pub struct ProbeRow {
    /// Which probe, from 1.
    #[serde(rename = "look")]
    probe: usize,
    /// The rate in requests/s.
    per_second: Option<Number>,
    /// The measurement's length.
    seconds: Option<Number>,
    /// What became of it.
    outcome: Option<ProbeOutcome>,
    /// Requests whose intended start lay in the measurement.
    offered: u64,
    /// Valid answers, in the measurement, to its requests.
    succeeded: u64,
    /// Requests of the measurement that failed.
    failed: u64,
    /// Valid answers per second, also those to requests of the warm-up.
    answers_per_second: Option<Number>,
}

/// One row per probe, after the head.
pub fn csv(record: &CapacityRecord) -> String {
    let unit = |unit| match unit {
        Unit::Seconds => "seconds",
        Unit::Share => "share",
        Unit::Count => "count",
    };
    let figures = record.conditions.iter();
    let mut table = head::<ProbeRow>(
        figures.map(|one| format!("{}_{}", one.figure.replace('.', "_"), unit(one.unit))),
    );
    for (place, probe) in record.probes.iter().enumerate() {
        let found = &probe.observation;
        let row = ProbeRow {
            probe: place + 1,
            per_second: Number::finite(probe.per_second),
            seconds: Number::finite(probe.length.as_secs_f64()),
            outcome: Some(probe.outcome),
            offered: found.open.as_ref().map_or(0, |open| open.offered),
            succeeded: found.measured.succeeded,
            failed: found.measured.failed.total(),
            answers_per_second: Number::finite(found.throughput()),
        };
        let values = probe.values.iter();
        let values: Vec<_> = values.map(|value| value.and_then(Number::finite)).collect();
        table += &line(&(row, values));
    }
    table
}

/// The search.
pub fn document(record: &CapacityRecord, analysis: &CapacityAnalysis) -> Document {
    let warnings = analysis.warnings.iter().map(Warning::in_full);
    let tone = match analysis.outcome {
        Outcome::Found(_) if analysis.warnings.is_empty() => Tone::Good,
        Outcome::Found(_) => Tone::Doubtful,
        _ => Tone::Bad,
    };
    Document::new(tone, headline(record, analysis))
        .section(Section::lead().paragraph(&record.url).warnings(warnings))
        .section(Section::new("By rate").plots(plots(record, analysis)))
        .section(Section::new("Trials, by rate").table(trials(record)))
        .section(Section::new("The search").facts(facts(record, analysis)))
}

fn trials(record: &CapacityRecord) -> Table {
    let figures = record
        .conditions
        .iter()
        .map(|one| Column::right(&one.figure));
    let before = [Column::right("rate"), Column::left("holds")];
    let after = ["answers", "failed", "trial"].map(Column::right);
    let mut table = Table::new(before.into_iter().chain(figures).chain(after));
    let mut probes: Vec<(usize, &ProbeRecord)> = record.probes.iter().enumerate().collect();
    probes.sort_by(|(_, one), (_, other)| one.per_second.total_cmp(&other.per_second));
    for (nth, probe) in probes {
        let holds = match probe.outcome {
            ProbeOutcome::Held => "yes",
            ProbeOutcome::Failed => "no",
            ProbeOutcome::Discarded => "discarded",
        };
        let failed = probe.observation.measured.failed.total();
        // The rate has all of its digits: trials near each other differ in the last ones.
        let mut cells = vec![
            format!("{}/s", separated(&probe.per_second.to_string())),
            holds.to_owned(),
        ];
        let values = record.conditions.iter().zip(&probe.values);
        cells.extend(values.map(|(condition, value)| shown(condition, *value)));
        cells.extend([
            per_second(probe.observation.throughput()),
            count(failed),
            (nth + 1).to_string(),
        ]);
        table.row(cells);
        if let Some(why) = probe.why.as_deref().filter(|why| !is_a_figure(record, why)) {
            table.note("", why);
        }
    }
    table
}

/// Whether a reason is one of the figures in the table.
fn is_a_figure(record: &CapacityRecord, why: &str) -> bool {
    let mut figures = record.conditions.iter();
    figures.any(|one| why.starts_with(&format!("{} was", one.figure)))
}

fn facts(
    record: &CapacityRecord,
    analysis: &CapacityAnalysis,
) -> impl Iterator<Item = (&'static str, String)> {
    let (declared, burst) = (&record.declared, &record.burst);
    let is_found = matches!(analysis.outcome, Outcome::Found(_));
    let length = seconds(declared.probe_length.as_secs_f64());
    let connections = record.spec.schedule.most_connections();
    let probes = record.probes.iter();
    let peak = probes.map(|probe| probe.observation.connections_peak).max();
    let discarded = u64::from(analysis.discarded);
    let facts = [
        is_found.then(|| {
            let meaning = format!(
                "at the first rate, 95 % of the trials of {length} meet the conditions; at the second, half of them"
            );
            ("meaning", meaning)
        }),
        Some((
            "declared",
            format!(
                "at most {}, {}, {} of warm-up before each",
                counted(u64::from(declared.probes), "trial"),
                precision(record),
                seconds(record.spec.warm_up.as_secs_f64()),
            ),
        )),
        Some((
            "closed loop",
            format!(
                "{} on {}{}; trials from {} to {}",
                per_second(burst.per_second),
                counted(u64::from(connections), "connection"),
                streams(&record.spec),
                per_second(burst.least_per_second),
                per_second(burst.most_per_second)
            ),
        )),
        peak.map(|peak| ("connections", format!("at most {} in a trial", count(peak)))),
        (discarded > 0).then(|| {
            let trials = counted(discarded, "trial");
            ("discarded", format!("{trials}: the generator was the limit"))
        }),
        (!record.hosts.is_empty()).then(|| ("hosts", list(&record.hosts))),
        is_on_this_machine(record).then(|| {
            let advice = "generator and server take CPU time from each other: run each on its own CPUs (--cpus)";
            ("same machine", advice.to_owned())
        }),
        Some(("started", record.started.clone())),
    ];
    facts.into_iter().flatten()
}

/// Whether the server is known to be on this machine. It is not known if there is a proxy.
fn is_on_this_machine(record: &CapacityRecord) -> bool {
    let mut routes = record.spec.routes();
    routes.any(|(target, endpoint)| {
        target.proxy.is_none()
            && match endpoint {
                Endpoint::Tcp { address } => address.ip().is_loopback(),
                Endpoint::Unix { .. } => true,
            }
    })
}

/// A condition's figure with its unit.
fn shown(condition: &Condition, value: Option<f64>) -> String {
    match (condition.unit, value) {
        (_, None) => NONE.to_owned(),
        (Unit::Seconds, Some(value)) => seconds(value),
        (Unit::Share, Some(value)) => percent(value),
        (Unit::Count, Some(value)) => count(value as u64),
    }
}

/// "14 trials, 1 min 32 s".
fn effort(record: &CapacityRecord) -> String {
    format!(
        "{}, {}",
        counted(record.probes.len(), "trial"),
        long_time(record.elapsed.as_secs_f64())
    )
}

/// The answer.
fn headline(record: &CapacityRecord, analysis: &CapacityAnalysis) -> String {
    let conditions = record.conditions.iter();
    let conditions: Vec<String> = conditions.map(|one| clean(&one.condition)).collect();
    let conditions = list(&conditions);
    let effort = effort(record);
    let (holds, not) = match record.conditions.len() {
        1 => ("holds", "does not hold"),
        _ => ("hold", "do not hold"),
    };
    let sure = format!("{} %", (analysis.confidence * 100.0).round());
    match &analysis.outcome {
        Outcome::Found(found) => format!(
            "Highest rate with {conditions} in nearly all trials: {}. In half of them: {} ({} to {}, {sure} sure), {effort}.",
            per_second(found.reliable_per_second),
            per_second(found.per_second),
            figure(found.low),
            figure(found.high),
        ),
        Outcome::Below { least_per_second } => format!(
            "No rate found: {conditions} {not} even at {}, {effort}.",
            per_second(*least_per_second)
        ),
        Outcome::GeneratorLimited {
            held_per_second,
            limit_per_second,
        } => {
            let held = held_per_second.map_or(String::new(), |held| {
                format!("{conditions} {holds} up to {}, and ", per_second(held))
            });
            format!(
                "No rate found: {held}the generator was the limit from {} on, {effort}.",
                per_second(*limit_per_second)
            )
        }
        Outcome::Undecided {
            held_per_second,
            failed_per_second,
        } => {
            let known = match (held_per_second, failed_per_second) {
                (Some(held), _) => format!("{conditions} {holds} at {}", per_second(*held)),
                (None, Some(failed)) => format!("{conditions} {not} at {}", per_second(*failed)),
                (None, None) => "no trial counts".to_owned(),
            };
            format!("No rate found: {known}, and the trials show no more, {effort}.")
        }
    }
}

/// How probes of each outcome are drawn.
const MARKS: [(ProbeOutcome, &str, Colour, Mark); 3] = [
    (ProbeOutcome::Held, "holds", Colour::Blue, Mark::Disc),
    (
        ProbeOutcome::Failed,
        "does not hold",
        Colour::Red,
        Mark::Cross,
    ),
    (
        ProbeOutcome::Discarded,
        "discarded",
        Colour::Grey,
        Mark::Diamond,
    ),
];

/// A plot for each condition that has figures.
fn plots(record: &CapacityRecord, analysis: &CapacityAnalysis) -> Vec<Plot> {
    let conditions = record.conditions.iter().enumerate();
    conditions
        .filter_map(|(index, condition)| plot(record, analysis, index, condition))
        .collect()
}

fn plot(
    record: &CapacityRecord,
    analysis: &CapacityAnalysis,
    index: usize,
    condition: &Condition,
) -> Option<Plot> {
    let series = MARKS.map(|(outcome, name, colour, mark)| {
        let probes = record
            .probes
            .iter()
            .filter(|probe| probe.outcome == outcome);
        let point = |probe: &ProbeRecord| {
            let value = probe.values.get(index).copied().flatten();
            value.map(|value| (probe.per_second, Some(value)))
        };
        Series {
            name: name.to_owned(),
            colour,
            shape: Shape::Marks(mark),
            points: probes.filter_map(point).collect(),
        }
    });
    let mut series = Vec::from(series);
    series.retain(|series| !series.points.is_empty());
    if series.is_empty() {
        return None;
    }
    let points = series.iter().flat_map(|series| &series.points);
    let values = points.filter_map(|(_, value)| *value);
    let values = values.chain([condition.bound]);
    let y = match condition.unit {
        Unit::Seconds => Axis::logarithmic(axis::Unit::Seconds, values)?,
        Unit::Share => Axis::amount(axis::Unit::Share, values),
        Unit::Count => Axis::amount(axis::Unit::Count, values),
    };
    let rates = record.probes.iter().map(|probe| probe.per_second);
    let bound = Guide {
        name: "the bound",
        colour: Colour::Orange,
        at: GuidePosition::At(condition.bound),
    };
    let interval = match &analysis.outcome {
        Outcome::Found(found) => Some(Guide {
            name: "95 % interval of the highest rate",
            colour: Colour::Blue,
            at: GuidePosition::Between(found.low, found.high),
        }),
        _ => None,
    };
    Some(Plot {
        title: format!("{} at each rate", condition.figure),
        subject: record.url.clone(),
        figures: "The table below has the figures.",
        x: Axis::logarithmic(axis::Unit::PerSecond, rates)?,
        y,
        guides: interval.into_iter().chain([bound]).collect(),
        series,
    })
}
