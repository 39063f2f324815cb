//! What `deadheat load` leaves for a person or a program, from the record of one load and its analysis.
//!
//! [`document`], [`brief`] and [`html`] are for people. What programs read ([`json()`], [`csv()`], [`hdr_log()`], [`hgrm()`])
//! is unrounded. What monitoring systems read ([`open_metrics`], [`otlp`]) is made from [`Reading`]s; docs/metrics.md
//! describes it.

mod csv;
mod facts;
mod hdr;
mod headline;
mod metrics;
mod plots;
mod tables;

use deadheat_document::{
    Document, Frame, Section, Table, Tone,
    error::ReportError,
    html::{DataFile, Shell},
    json::{self, Body},
};
use deadheat_model::{
    Interval, LoadRecord, LoadSpec, Observation, Warning,
    figure::counted,
    load_record::{GeneratorHost, SCHEMA},
    machine::Machine,
    warning::Level,
};
use schemars::JsonSchema;
use serde::Serialize;

pub use self::{
    csv::{Row, csv, csv_head, csv_row, failed_column},
    hdr::{RESPONSE_TIME_TAG, SERVICE_TIME_TAG, hdr_log, hgrm, hgrm_of},
    headline::{most_frequent, most_frequent_failure},
    metrics::{Meter, Reading, Source, open_metrics, otlp, otlp_rejected, otlp_request, readings},
};
use self::{
    facts::Facts,
    headline::{headline, plan},
    plots::plots,
};
use crate::analysis::{LoadAnalysis, LoadFigures, LoadVerdict, Validity};

/// Everything that is known of a load. Figures are unrounded, and shares are 0 to 1. Unless they say otherwise, they cover
/// the measurement alone, without the warm-up.
#[derive(Serialize, JsonSchema)]
pub struct Report<'a> {
    /// Deadheat's version.
    deadheat: &'a str,
    /// When the load started, to the millisecond (RFC 3339, UTC).
    started: &'a str,
    /// What was loaded, as it was typed: a URL, or the file of URLs. Without a password.
    url: &'a str,
    /// Whether it was stopped before its end; the figures are of what was done until then.
    interrupted: bool,
    /// The generator's verdict on itself.
    verdict: Verdict<'a>,
    /// What was found, computed.
    figures: &'a LoadFigures,
    /// Where the generator ran.
    machine: &'a Machine,
    /// What was asked for. Values that may be secret are replaced by `…`: those of all headers but some that never hold
    /// one (such as Accept, Content-Type, Host and User-Agent), those in a URL's query and those after `;NAME=` in its path.
    /// Bodies and the lines of lists are left out, and `hidden` has their sizes. A URL's fragment, a password and a private
    /// key are never written.
    spec: &'a LoadSpec,
    /// What was counted and recorded.
    observation: &'a Observation,
    /// The same over time, the warm-up included; empty if no intervals were asked for. If there are more than 1,200, two
    /// neighbours become one, and again, so that a load of hours has 600 to 1,200 of them. CSV has every one as it was.
    intervals: &'a [Interval],
    /// The hosts that loaded (`--on`), each with its share; absent if this machine did alone.
    #[serde(skip_serializing_if = "<[GeneratorHost]>::is_empty")]
    hosts: &'a [GeneratorHost],
}

impl Body for Report<'_> {
    const FORMAT: &'static str = "deadheat-load";
    const SCHEMA: u32 = SCHEMA;
}

/// The generator's verdict on itself.
#[derive(Serialize, JsonSchema)]
struct Verdict<'a> {
    /// What the figures are worth.
    validity: Validity,
    /// The first line of the report.
    headline: String,
    /// What speaks against the figures or helps to read them, the gravest first.
    warnings: &'a [Warning],
}

/// The whole load as JSON over several lines that end with a newline.
pub fn json(record: &LoadRecord, analysis: &LoadAnalysis) -> Result<String, ReportError> {
    json::json(&Report {
        deadheat: &record.deadheat,
        started: &record.started,
        url: &record.url,
        interrupted: record.interrupted,
        verdict: Verdict {
            validity: analysis.verdict.validity,
            headline: headline(record, analysis),
            warnings: &analysis.verdict.warnings,
        },
        figures: &analysis.figures,
        machine: &record.machine,
        spec: &record.spec,
        observation: &record.observation,
        intervals: &record.intervals,
        hosts: &record.hosts,
    })
}

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
