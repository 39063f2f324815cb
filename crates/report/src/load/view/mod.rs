//! The view of one load: what text and page show.

mod events;
mod facts;
mod latency;
mod plan;
mod requests;
mod series;
mod signs;

use deadheat_model::{Failure, LoadRecord, Observation, observation::FailureGroup};
use deadheat_stats::load::{Judged, LoadAnalysis, LoadVerdict, Severity, Sign, Standing};
use serde::Serialize;

use crate::{
    figure::{capital, count, counted, figure, seconds},
    view::{Fact, clean},
};

pub use latency::{LatencyRow, LatencyTable, LatencyUnit};
pub use requests::{HEADS as REQUEST_HEADS, RequestRow};
pub use series::{Percentiles, Point, Series};

/// Everything that the report of a load shows.
#[derive(Clone, Debug, Serialize)]
pub struct LoadView {
    /// What was loaded, as the user typed it.
    pub url: String,
    /// When it started (RFC 3339, UTC).
    pub started: String,
    /// What the figures are worth.
    pub standing: Standing,
    /// The first line: the verdict, and the throughput unless nothing was measured.
    pub headline: String,
    /// What was done, in a sentence.
    pub plan: String,
    /// What speaks against the figures, the gravest first.
    pub doubts: Vec<SignView>,
    /// What to know when the figures are read.
    pub notes: Vec<SignView>,
    /// Throughput, attempts and bytes.
    pub answers: Vec<Fact>,
    /// Whole answers by status.
    pub statuses: Vec<StatusRow>,
    /// The distributions.
    pub latency: LatencyTable,
    /// The events of answers that are streams; empty: not recorded.
    pub events: Vec<Fact>,
    /// What became of each of several requests; empty: not recorded.
    pub requests: Vec<RequestRow>,
    /// Failures by kind, phase and cause, the most frequent first.
    pub failures: Vec<FailureRow>,
    /// Failures as they were seen.
    pub examples: Vec<Fact>,
    /// How connections were made and used.
    pub connections: Vec<Fact>,
    /// What became of each of several addresses; empty: there is one.
    pub addresses: Vec<Fact>,
    /// The hosts that loaded, each with its figures; empty: this machine alone.
    pub hosts: Vec<Fact>,
    /// How the generator itself fared.
    pub generator: Vec<Fact>,
    /// Where the figures come from.
    pub provenance: Vec<Fact>,
    /// Over time and over percentiles, as numbers for plots.
    #[serde(skip)]
    pub series: Series,
}

/// A sign in words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SignView {
    /// How much it weighs.
    pub severity: Severity,
    /// What was found, and what it means.
    pub sentence: String,
    /// Whether the headline says it already.
    pub in_headline: bool,
    /// Whether it holds for most loads and changes no decision, so that only a long report has it.
    pub is_routine: bool,
}

/// Answers of one status.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StatusRow {
    /// The status ("200").
    pub status: u16,
    /// How many.
    pub count: u64,
    /// Their share of all whole answers (0 to 1).
    pub share: f64,
    /// Whether a request expects it.
    pub is_expected: bool,
}

impl StatusRow {
    /// Its cells in words.
    pub fn shown(&self) -> [String; 4] {
        let expectation = if self.is_expected {
            "expected"
        } else {
            "not expected"
        };
        [
            self.status.to_string(),
            count(self.count),
            share(self.share),
            expectation.to_owned(),
        ]
    }
}

/// Failures that are alike.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FailureRow {
    /// The kind ("reset").
    pub kind: String,
    /// What happened, for a person.
    pub says: String,
    /// What was going on ("first-byte").
    pub phase: String,
    /// The operating system's error, the parser's reason or the status.
    pub cause: String,
    /// How many in the measurement.
    pub measured: u64,
    /// How many in the whole load.
    pub total: u64,
}

impl LoadView {
    /// The view of a load under its analysis.
    pub fn new(record: &LoadRecord, analysis: &LoadAnalysis) -> Self {
        let (notes, doubts) = signs(record, &analysis.verdict)
            .into_iter()
            .partition(|sign| sign.severity == Severity::Note);
        Self {
            url: clean(&record.url),
            started: clean(&record.started),
            standing: analysis.verdict.standing,
            headline: headline(record, analysis),
            plan: plan::plan(record),
            doubts,
            notes,
            answers: facts::answers(record, &analysis.figures),
            statuses: statuses(record),
            latency: latency::table(record, &analysis.figures),
            events: events::facts(record, &analysis.figures),
            requests: requests::rows(&analysis.figures),
            failures: failures(record),
            examples: examples(record),
            connections: facts::connections(record, &analysis.figures),
            addresses: facts::addresses(record),
            hosts: facts::hosts(record),
            generator: facts::generator(record, analysis),
            provenance: facts::provenance(record),
            series: series::of(record),
        }
    }
}

/// Each sign in words, the gravest first.
fn signs(record: &LoadRecord, verdict: &LoadVerdict) -> Vec<SignView> {
    let quoted = quoted(verdict);
    let view = |judged: &Judged| SignView {
        severity: judged.severity,
        sentence: capital(&signs::sentence(&judged.sign)),
        in_headline: matches!(judged.sign, Sign::Interrupted | Sign::Failures { .. })
            || quoted == Some(&judged.sign),
        is_routine: signs::is_routine(record, &judged.sign),
    };
    verdict.signs.iter().map(view).collect()
}

/// The sign that the headline names besides failed requests and an interruption, which it always names.
fn quoted(verdict: &LoadVerdict) -> Option<&Sign> {
    match verdict.standing {
        Standing::GeneratorLimited => verdict.of(Severity::Limit).next(),
        Standing::Doubtful | Standing::MostlyFailed => {
            let mut doubts = verdict.of(Severity::Doubt);
            // That connections could not be made is why requests failed.
            doubts.find(|sign| {
                !matches!(
                    sign,
                    Sign::Interrupted | Sign::Failures { .. } | Sign::NotConnected { .. }
                )
            })
        }
        Standing::Sound | Standing::Failed => None,
    }
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
        counted(measured.ended() as usize, "request")
    )
}

/// The verdict in a line. It says first of all whether the load was interrupted, and how many requests failed.
pub(crate) fn headline(record: &LoadRecord, analysis: &LoadAnalysis) -> String {
    let verdict = &analysis.verdict;
    let measured = &record.observation.measured;
    let found = format!(
        "{} in {} ({}/s)",
        counted(analysis.figures.answers as usize, "valid answer"),
        seconds(analysis.figures.answer_seconds),
        figure(analysis.figures.throughput_per_second),
    );
    let text = match verdict.standing {
        Standing::GeneratorLimited => {
            let sign = quoted(verdict);
            let why = sign.map(signs::sentence).unwrap_or_default();
            let meaning = sign
                .filter(|_| measured.succeeded > 0)
                .map_or("", signs::meaning);
            let failed = failed(record, analysis);
            let limit = format!("the generator was the limit: {why}{meaning}");
            match failed.as_str() {
                "" => limit,
                failed => format!("{failed}{}", capital(&limit)),
            }
        }
        Standing::Failed => {
            let requests = measured.ended();
            let all = match requests {
                0 => "no request ended in the measurement".to_owned(),
                1 => "the only request was not answered validly".to_owned(),
                _ => format!(
                    "none of {} was answered validly",
                    counted(requests as usize, "request")
                ),
            };
            let why = most_frequent_failure(&record.observation);
            let why = why.map_or(String::new(), |why| match requests {
                1 => format!(": {why}"),
                _ => format!("; most often {why}"),
            });
            format!("nothing was measured: {all}{why}.")
        }
        Standing::Doubtful | Standing::MostlyFailed => {
            let failed = failed(record, analysis);
            match quoted(verdict) {
                Some(why) => format!("{failed}{found}. Warning: {}", signs::sentence(why)),
                None => format!("{failed}{found}."),
            }
        }
        Standing::Sound => match failed(record, analysis).as_str() {
            "" => format!("{found}. No problems found."),
            failed => format!("{failed}{found}."),
        },
    };
    match plan::interrupted(record) {
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

/// What failed most often, in words ("the connection was refused"), with the cause where the kind alone says too little to go
/// on with.
pub fn most_frequent_failure(observation: &Observation) -> Option<String> {
    let (kind, cause) = most_frequent(observation)?;
    let telling = matches!(
        kind,
        Failure::WrongStatus
            | Failure::Tls
            | Failure::ConnectOther
            | Failure::BadHead
            | Failure::BadFraming
    );
    let ended = matches!(kind, Failure::Reset | Failure::ClosedEarly);
    let was_idle = |group: &&FailureGroup| ended && group.cause.contains("had been idle");
    Some(match cause.filter(|group| telling || was_idle(group)) {
        Some(group) => format!("{} ({})", kind.describe(), clean(&group.cause)),
        None => kind.describe().to_owned(),
    })
}

/// A share, of which a little is never nothing ("under 0.1 %").
pub(crate) fn share(part: f64) -> String {
    match part {
        _ if part > 0.0 && part < 0.0005 => "under 0.1 %".to_owned(),
        _ if part < 1.0 && part > 0.9995 => "over 99.9 %".to_owned(),
        _ => crate::figure::percent(part),
    }
}

/// A size that is counted, and exact below a KiB.
pub(crate) fn size(bytes: u64) -> String {
    match bytes {
        0..1024 => format!("{bytes} B"),
        _ => crate::figure::bytes(bytes as f64),
    }
}

/// A latency. Histograms tell nothing apart below a microsecond.
pub(crate) fn time(value: f64) -> String {
    if value < 1e-6 {
        "under 1 µs".to_owned()
    } else {
        seconds(value)
    }
}

pub(super) fn fact(name: &str, value: impl Into<String>) -> Fact {
    Fact {
        name: name.to_owned(),
        value: value.into(),
    }
}

fn statuses(record: &LoadRecord) -> Vec<StatusRow> {
    let statuses = &record.observation.statuses;
    let all: u64 = statuses.values().sum();
    let row = |(status, number): (&u16, &u64)| {
        let mut exchanges = record.spec.exchanges.iter();
        let expected = exchanges.any(|exchange| exchange.expect.status.contains(*status));
        StatusRow {
            status: *status,
            count: *number,
            share: *number as f64 / all.max(1) as f64,
            is_expected: expected,
        }
    };
    statuses.iter().map(row).collect()
}

fn failures(record: &LoadRecord) -> Vec<FailureRow> {
    let mut groups: Vec<_> = record.observation.failures.iter().collect();
    groups.sort_by_key(|group| std::cmp::Reverse((group.measured, group.total)));
    let rows = groups.into_iter().map(|group| FailureRow {
        kind: group.kind.name().to_owned(),
        says: group.kind.describe().to_owned(),
        phase: group.phase.name().to_owned(),
        cause: clean(&group.cause),
        measured: group.measured,
        total: group.total,
    });
    let mut rows: Vec<_> = rows.collect();
    // Kinds that no group tells of: what was counted is shown, whatever else is known.
    for (kind, total) in record.observation.total.failed.iter() {
        if rows.iter().all(|row| row.kind != kind.name()) {
            rows.push(FailureRow {
                kind: kind.name().to_owned(),
                says: kind.describe().to_owned(),
                phase: crate::figure::NONE.to_owned(),
                cause: crate::figure::NONE.to_owned(),
                measured: record.observation.measured.failed[kind],
                total,
            });
        }
    }
    rows
}

/// Each as it was seen; equal ones once, with how many there are.
fn examples(record: &LoadRecord) -> Vec<Fact> {
    let mut seen: Vec<(Fact, usize)> = Vec::new();
    for example in &record.observation.examples {
        let example = fact(example.kind.name(), clean(&example.detail));
        match seen.iter_mut().find(|(other, _)| *other == example) {
            Some((_, times)) => *times += 1,
            None => seen.push((example, 1)),
        }
    }
    let told = |(example, times): (Fact, usize)| match times {
        1 => example,
        times => fact(&example.name, format!("{} (×{times})", example.value)),
    };
    seen.into_iter().map(told).collect()
}
