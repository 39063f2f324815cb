//! The report of a load for people.

use deadheat_document::{
    Document, Frame, Section, Table, Tone,
    error::ReportError,
    html::{DataFile, Shell},
};
use deadheat_model::{LoadRecord, Warning, figure::counted, warning::Level};

use super::{
    csv,
    facts::{self, Facts},
    headline::headline,
    json,
    plan::plan,
    plots::plots,
    tables,
};
use crate::analysis::{LoadAnalysis, LoadVerdict, Validity};

/// The most requests on one screen.
const BRIEFLY: usize = 10;

/// The whole report.
pub fn document(record: &LoadRecord, analysis: &LoadAnalysis) -> Document {
    let figures = &analysis.figures;
    let lead = lead(record, Some(plan(record)), &analysis.verdict);
    let notes = of_level(analysis, |level| level > Level::Doubt);
    let latency = tables::latency_notes(record, figures).into_iter();
    let latency = latency.fold(latencies(record, analysis), |section, note| {
        section.aside(Some(note))
    });
    begin(record, analysis)
        .section(lead)
        .section(Section::new("Answers").facts(facts::answers(record, figures)))
        .section(Section::new("Status codes").table(tables::statuses(record)))
        .section(Section::new("Over time, and by percentile").plots(plots(record)))
        .section(latency)
        .section(Section::new("Events").facts(facts::events(record, figures)))
        .section(requests(tables::requests(figures, usize::MAX)))
        .section(failures(record, true))
        .section(Section::new("Connections").facts(facts::connections(record, figures)))
        .sections(places(record))
        .section(Section::new("The generator itself").facts(facts::generator(record, analysis)))
        .section(Section::new("Notes").bullets(notes))
        .section(Section::new("Where it comes from").facts(facts::provenance(record)))
}

/// What answers the question, on one screen: the verdict, what makes it doubtful, latencies, and what failed.
pub fn brief(record: &LoadRecord, analysis: &LoadAnalysis) -> Document {
    let figures = &analysis.figures;
    let others = of_level(analysis, |level| level == Level::Note);
    let routine = of_level(analysis, |level| level == Level::Routine);
    let mut statuses = record.observation.statuses.keys();
    let is_as_expected = match (statuses.next(), statuses.next()) {
        (Some(status), None) => tables::is_expected(record, *status),
        (first, _) => first.is_none(),
    };
    let statuses = Section::new("Status codes");
    let statuses = if is_as_expected {
        statuses
    } else {
        statuses.table(tables::statuses(record))
    };
    let more = match routine.count() {
        0 => String::new(),
        some => format!(" and {}", counted(some, "note")),
    };
    let more = format!("--details: more figures{more}; -o load.html: a page with plots.");
    begin(record, analysis)
        .section(lead(record, None, &analysis.verdict))
        .section(statuses)
        .section(latencies(record, analysis))
        .section(Section::new("Events").facts(facts::events(record, figures)))
        .section(requests(tables::requests(figures, BRIEFLY)))
        .section(failures(record, false))
        .sections(places(record))
        .section(Section::new("").bullets(others))
        .section(Section::new("").aside(Some(more)))
}

/// The whole report as one HTML file that needs no network, with its data.
///
/// # Errors
/// When the template does not fit the document, or a figure has no place in JSON.
pub fn html(record: &LoadRecord, analysis: &LoadAnalysis) -> Result<String, ReportError> {
    let (json, csv) = (json(record, analysis)?, csv(&record.intervals));
    let command = |name| format!("deadheat load -o {name} …");
    let data = vec![
        DataFile::new(
            "load.json",
            "all figures (docs/formats.md)",
            command("load.json"),
            &json,
        ),
        DataFile::new(
            "load.csv",
            "the load over time, a row for each interval (docs/formats.md)",
            command("load.csv"),
            &csv,
        ),
    ];
    let (url, started) = (&record.url, &record.started);
    document(record, analysis).html_in(&Frame {
        origin: &format!("deadheat load {url}, started {started}"),
        ..Frame::new("deadheat-load", Shell::new(data))
    })
}

fn begin(record: &LoadRecord, analysis: &LoadAnalysis) -> Document {
    let tone = match analysis.verdict.validity {
        Validity::Sound => Tone::Good,
        Validity::Doubtful => Tone::Doubtful,
        Validity::GeneratorLimited | Validity::MostlyFailed | Validity::Failed => Tone::Bad,
    };
    Document::new(tone, headline(record, analysis))
}

/// What was loaded, how, and what speaks against the figures.
fn lead(record: &LoadRecord, plan: Option<String>, verdict: &LoadVerdict) -> Section {
    let warnings = verdict.warnings.iter();
    let doubts = warnings.filter(|one| one.level <= Level::Doubt && !verdict.is_in_headline(one));
    Section::lead()
        .paragraph(&record.url)
        .aside(plan)
        .warnings(doubts.map(Warning::in_full))
}

fn of_level(analysis: &LoadAnalysis, is: fn(Level) -> bool) -> impl Iterator<Item = String> {
    let warnings = analysis.verdict.warnings.iter();
    warnings
        .filter(move |one| is(one.level))
        .map(Warning::in_full)
}

fn latencies(record: &LoadRecord, analysis: &LoadAnalysis) -> Section {
    Section::new("Latency").table(tables::latencies(record, &analysis.figures))
}

fn requests(table: Table) -> Section {
    Section::new("Requests").table(table)
}

fn failures(record: &LoadRecord, details: bool) -> Section {
    let examples = facts::examples(record);
    let about = (!examples.is_empty()).then_some("The first few of each kind, as they were seen:");
    Section::new("Failures")
        .table(tables::failures(record, details))
        .aside(about)
        .facts(examples)
}

/// The addresses that were loaded, and the hosts that did it.
fn places(record: &LoadRecord) -> [Section; 2] {
    let section = |name, facts: Facts| Section::new(name).facts(facts);
    [
        section("Addresses", facts::addresses(record)),
        section("Hosts", facts::hosts(record)),
    ]
}
