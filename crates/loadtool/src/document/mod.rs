//! What `deadheat load` leaves for a person or a program, from the record of one load and its analysis.
//!
//! [`document`], [`brief`] and [`html`] are for people. What programs read ([`json()`], [`csv()`], [`hdr_log()`], [`hgrm()`])
//! is unrounded. What monitoring systems read ([`open_metrics`], [`otlp`]) is made from [`Reading`]s; docs/metrics.md
//! describes it.

mod csv;
mod facts;
mod metrics;
mod plots;
mod tables;

use deadheat_document::{
    Document, Frame, Section, Table, Tone,
    html::{DataFile, Shell},
    json::{self, Body, ReportError},
    view::clean,
};
use deadheat_model::{
    Failure, Interval, LoadRecord, LoadSpec, Observation, StopRule, Warning,
    figure::{capital, count, counted, per_second, seconds, share, time},
    load::{Endpoint, Stream, words},
    machine::Machine,
    observation::FailureGroup,
    record::{FORMAT, GeneratorHost, SCHEMA},
    warning::Level,
};
use schemars::JsonSchema;
use serde::Serialize;

use self::{facts::Facts, plots::plots};
use crate::analysis::{LoadAnalysis, LoadFigures, LoadVerdict, Validity};

pub use self::{
    csv::{
        CsvRow, RESPONSE_TIME_TAG, SERVICE_TIME_TAG, csv, csv_head, csv_row, failed_column,
        hdr_log, hgrm, hgrm_of,
    },
    metrics::{Meter, Reading, Source, open_metrics, otlp, otlp_rejected, otlp_request, readings},
};

/// Everything that is known of a load. Figures are unrounded, and shares are 0 to 1. Unless they say otherwise, they cover
/// the measurement alone, without the warm-up.
#[derive(Serialize, JsonSchema)]
pub struct LoadReport<'a> {
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

impl Body for LoadReport<'_> {
    const FORMAT: &'static str = FORMAT;
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
    json::json(&LoadReport {
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

/// "66.7 % of 6,300 requests failed (mostly: …). ", or nothing if none failed.
fn failed(record: &LoadRecord, analysis: &LoadAnalysis) -> String {
    let measured = &record.observation.measured;
    let Some(part) = analysis.figures.failed_share.filter(|share| *share > 0.0) else {
        return String::new();
    };
    let why = most_frequent_failure(&record.observation);
    let why = why.map_or(String::new(), |why| format!(" (mostly: {why})"));
    format!(
        "{} of {} failed{why}. ",
        share(part),
        counted(measured.ended(), "request")
    )
}

/// The verdict in a line. It says first of all whether the load was interrupted, and how many requests failed.
pub(crate) fn headline(record: &LoadRecord, analysis: &LoadAnalysis) -> String {
    let verdict = &analysis.verdict;
    let measured = &record.observation.measured;
    let main = verdict.main_warning().map(Warning::in_full);
    let found = format!(
        "{} in {} ({})",
        counted(analysis.figures.answers, "valid answer"),
        seconds(analysis.figures.answer_seconds),
        per_second(analysis.figures.throughput_per_second),
    );
    let text = match verdict.validity {
        Validity::GeneratorLimited => {
            let failed = failed(record, analysis);
            let why = main.unwrap_or_default();
            format!("{failed}The generator was the limit. {why}")
        }
        Validity::Failed => {
            let requests = measured.ended();
            let all = match requests {
                0 => record.observation.none_ended().unwrap_or_default(),
                1 => "the only request was not answered validly".to_owned(),
                _ => format!(
                    "none of {} was answered validly",
                    counted(requests, "request")
                ),
            };
            let why = most_frequent_failure(&record.observation);
            let why = why.map_or(String::new(), |why| match requests {
                1 => format!(": {why}"),
                _ => format!("; most often {why}"),
            });
            format!("nothing was measured: {all}{why}.")
        }
        Validity::Doubtful | Validity::MostlyFailed => {
            let failed = failed(record, analysis);
            match main {
                Some(why) => format!("{failed}{found}. Warning: {why}"),
                None => format!("{failed}{found}."),
            }
        }
        Validity::Sound => match failed(record, analysis).as_str() {
            "" => format!("{found}. No problems found."),
            failed => format!("{failed}{found}."),
        },
    };
    match interrupted(record) {
        Some(when) => format!("Interrupted {when}: {text}"),
        None => capital(&text),
    }
}

/// The kind of failure that came most often, and the largest group of it: in the measurement, or in the whole load if
/// nothing failed there.
pub fn most_frequent(observation: &Observation) -> Option<(Failure, Option<&FailureGroup>)> {
    let in_measurement = observation.measured.failed.total() > 0;
    let failed = if in_measurement {
        &observation.measured.failed
    } else {
        &observation.total.failed
    };
    let (kind, _) = failed.iter().max_by_key(|(_, count)| *count)?;
    let of_kind = observation.failures.iter().filter(|one| one.kind == kind);
    let many = |group: &&FailureGroup| {
        if in_measurement {
            group.measured
        } else {
            group.total
        }
    };
    Some((kind, of_kind.max_by_key(many)))
}

/// The most frequent failure in words ("the connection was refused"), with the cause if the kind alone is too vague.
/// `None`: nothing failed.
pub fn most_frequent_failure(observation: &Observation) -> Option<String> {
    let (kind, cause) = most_frequent(observation)?;
    let telling = matches!(
        kind,
        Failure::WrongStatus
            | Failure::Tls
            | Failure::ConnectOther
            | Failure::BadHead
            | Failure::BadFraming
            | Failure::TruncatedBody
            | Failure::Http2
            | Failure::Grpc
    );
    let ended = matches!(kind, Failure::Reset | Failure::ClosedEarly);
    let says_why = |group: &&FailureGroup| {
        ended
            && ["had been idle", "TLS alert"]
                .iter()
                .any(|why| group.cause.contains(why))
    };
    Some(match cause.filter(|group| telling || says_why(group)) {
        Some(group) => format!("{} ({})", kind.describe(), clean(&group.cause)),
        None => kind.describe().to_owned(),
    })
}

/// "Closed loop: 50 connections for 10 s after a warm-up of 1 s; …".
fn plan(record: &LoadRecord) -> String {
    let spec = &record.spec;
    format!(
        "{}; {}{}; {} over {}.",
        capital(&words::schedule(spec)) + &thinking(spec) + &ending(record),
        requests_in_words(spec),
        browsing(spec),
        words::protocol(spec),
        transport(spec),
    )
}

/// " that think for 1 s to 2 s at random after each answer,".
fn thinking(spec: &LoadSpec) -> String {
    let long = spec.think.as_ref().map(words::think);
    long.map_or(String::new(), |long| {
        format!(" that think for {long} after each answer,")
    })
}

/// How far the measurement came, of a load that was interrupted: "after 2.60 s of 20 s".
fn interrupted(record: &LoadRecord) -> Option<String> {
    let when = match done(record) {
        Some(done) if !record.observation.window.is_zero() => format!("after {done}"),
        _ => "in the warm-up".to_owned(),
    };
    record.interrupted.then_some(when)
}

/// How much was done, and of how much if that was interrupted: "20 s", "37 of 1,000 requests".
fn done(record: &LoadRecord) -> Option<String> {
    let found = &record.observation;
    let part = match record.spec.stop {
        StopRule::Duration { .. } => seconds(found.window.as_secs_f64()),
        StopRule::Count { .. } => count(found.measured.ended()),
        StopRule::Interrupt => return None,
    };
    let whole = words::stop(&record.spec.stop);
    Some(if record.interrupted {
        format!("{part} of {whole}")
    } else {
        whole
    })
}

fn ending(record: &LoadRecord) -> String {
    let spec = &record.spec;
    let end = match done(record) {
        Some(done) => format!(" for {done}"),
        None => " until stopped".to_owned(),
    };
    if spec.warm_up.is_zero() {
        end
    } else {
        format!("{end} after a warm-up of {}", time(spec.warm_up))
    }
}

/// "GET /plaintext, valid with status 2xx".
fn requests_in_words(spec: &LoadSpec) -> String {
    let Some(first) = spec.exchanges.first() else {
        return "no request".to_owned();
    };
    let more = match spec.exchanges.len() - 1 {
        0 => String::new(),
        more => format!(" and {}", counted(more, "other request")),
    };
    let length = first
        .expect
        .length
        .map_or(String::new(), |length| format!(", {} B", count(length)));
    let content = if first.expect.content.is_none() {
        ""
    } else {
        " and the right content"
    };
    let stream = spec.stream.as_ref().map_or(String::new(), events);
    format!(
        "{} {}{more}{stream}, valid with {}{length}{content}",
        first.request.method,
        first.request.path,
        words::valid_status(first),
    )
}

/// What an answer is taken apart into, for the sentence that says what was done.
fn events(stream: &Stream) -> String {
    let what = words::event(stream.event);
    match stream.enough {
        Some(enough) => format!(", each up to {}", counted(enough, what)),
        None => format!(", in {what}s"),
    }
}

/// What is done beyond requests.
fn browsing(spec: &LoadSpec) -> &'static str {
    match (spec.redirects, spec.cookies) {
        (0, false) => "",
        (0, true) => ", cookies kept",
        (_, false) => ", redirects followed",
        (_, true) => ", redirects followed, cookies kept",
    }
}

fn transport(spec: &LoadSpec) -> String {
    let target = &spec.target;
    let tls = target.tls.as_ref().map_or("", |_| "TLS, ");
    let socket = match target.endpoint {
        Endpoint::Tcp { .. } => "TCP to ",
        Endpoint::Unix { .. } => "",
    };
    let socket = match target.proxy {
        Some(_) => "TCP to the proxy ",
        None => socket,
    };
    let mut endpoints = spec.routes().map(|(_, endpoint)| endpoint.to_string());
    let endpoint = endpoints.next().unwrap_or_default();
    match endpoints.count() {
        0 => format!("{tls}{socket}{endpoint}"),
        more => format!(
            "{tls}{socket}{endpoint} and {}",
            counted(more, "other address")
        ),
    }
}
