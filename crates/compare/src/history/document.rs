//! Several sessions for a person or a program: what changed between them, and a stack's figures over them.

use std::collections::BTreeMap;

use deadheat_bench::document::words;
use deadheat_document::{
    Column, Document, Section, Table, Tone,
    json::{self, Body, ReportError},
    view::load,
};
use deadheat_model::{
    change::{Aspect, Change},
    figure::{NONE, bytes, counted, figure, list, seconds},
    heats::EndReason,
};
use deadheat_stats::standings::{AbsentBecause, Figure};

use super::analysis::{History, PastSession, SeriesPoint, StackHistory};

impl Body for History {
    const FORMAT: &'static str = "deadheat-history";
    const SCHEMA: u32 = 3;
}

/// The history as JSON over several lines that end with a newline.
///
/// # Errors
/// When a figure cannot be written.
pub fn json(history: &History) -> Result<String, ReportError> {
    json::json(history)
}

/// Letters of a time (RFC 3339) up to its minute.
const MINUTE: usize = 16;
/// Letters of a commit that are shown.
const COMMIT: usize = 12;
/// Letters of a value of a change that are shown: a list of mitigations would fill the screen.
const VALUE: usize = 60;
/// The figures of a stack in a session.
const FIGURES: [&str; 7] = ["req/s", "CPU/req", "p50", "p99", "memory", "rank", "heats"];
/// What the figures mean.
const NOTES: [&str; 4] = [
    "p50 and p99 are response times in an open loop; a closed loop has none here, because its times are mostly queueing.",
    "Memory is the peak.",
    "≥ is a lower bound, because the generator was the limit.",
    "Sessions were measured at different times, so their difference includes any change of the machine in between \
     (`deadheat compare SESSION SESSION` judges it).",
];

/// The sessions, oldest first, with what changed since the one before; then each series.
pub fn document(history: &History) -> Document {
    let sessions = &history.sessions;
    let minutes = [sessions.first(), sessions.last()].map(|one| one.map_or(String::new(), minute));
    let headline = match sessions.len() {
        0 | 1 => format!("{}, {}.", counted(sessions.len(), "session"), minutes[0]),
        many => format!("{}, {}.", counted(many, "session"), minutes.join(" to ")),
    };
    let series = history.series.iter().map(|series| {
        let load = load(&series.point);
        let title = format!("{} at {}: {load}", series.target, series.workload);
        Section::new(title).table(series_table(series, sessions))
    });
    let has_figures = !history.series.is_empty();
    Document::new(Tone::Plain, headline)
        .section(Section::new("Sessions").table(sessions_table(sessions)))
        .sections(series)
        .section(Section::new("Notes").bullets(NOTES.into_iter().filter(|_| has_figures)))
}

fn sessions_table(sessions: &[PastSession]) -> Table {
    let mut table = Table::new([
        Column::left("session"),
        Column::right("heats"),
        Column::right("stacks"),
        Column::left("end"),
    ]);
    for session in sessions {
        table.row([
            session.id.as_str(),
            &session.heats.to_string(),
            &session.stacks.to_string(),
            match session.end {
                Some(EndReason::Decided | EndReason::Precise | EndReason::Finished) => "",
                Some(EndReason::Budget) => "ended by its budget",
                Some(EndReason::Interrupted) => "interrupted",
                Some(EndReason::Lost) => "ended when a host or a service was lost",
                Some(EndReason::Nothing) => "nothing was left to measure",
                None => "killed, or not over",
            },
        ]);
        table.note("", session.loads.join(", "));
        changes(&mut table, &session.changes);
    }
    table
}

fn series_table(series: &StackHistory, sessions: &[PastSession]) -> Table {
    let figures = FIGURES.map(Column::right);
    let mut table = Table::new([Column::left("session of")].into_iter().chain(figures));
    for point in &series.points {
        changes(&mut table, &point.changes);
        // An id is long; its time tells it from the others.
        let name = minute(&sessions[point.session]);
        table.row([name].into_iter().chain(self::figures(point)));
        if let Some(absent) = &point.absent {
            let state = match absent.is {
                AbsentBecause::Failed => "failed",
                AbsentBecause::Unavailable => "unavailable",
                AbsentBecause::NotOffered => "not offered",
                AbsentBecause::NotMeasured => "not measured",
                AbsentBecause::Overloaded => "cannot take the rate",
            };
            table.note("! ", format!("{state}: {}", absent.reason));
        }
    }
    table
}

/// Adds a note for each of these changes.
fn changes(table: &mut Table, changes: &[Change]) {
    for sentence in sentences(changes) {
        table.note("~ ", sentence);
    }
}

/// "2026-03-01 10:00".
fn minute(session: &PastSession) -> String {
    short(&session.started, MINUTE).replace('T', " ")
}

/// What a session says of a stack, in the order of [`FIGURES`].
fn figures(point: &SeriesPoint) -> [String; FIGURES.len()] {
    let none = || NONE.to_owned();
    let Some(row) = &point.row else {
        return std::array::from_fn(|_| none());
    };
    let rate = &row.throughput_per_second;
    let bound = if rate.is_bound { "≥" } else { "" };
    // The percentiles of a closed loop are queueing, and tell no session from another.
    let time = |figure: Option<Figure>| match figure.filter(|_| row.mean_seconds.is_none()) {
        Some(found) => seconds(found.value),
        None => none(),
    };
    let rank = rate.rank.or(row.p99_seconds.and_then(|p99| p99.rank));
    [
        format!("{bound}{}", figure(rate.value)),
        row.cpu_us_per_request
            .map_or_else(none, |cost| seconds(cost.value / 1e6)),
        time(row.p50_seconds),
        time(row.p99_seconds),
        row.memory.peak_bytes.map_or_else(none, bytes),
        match rank {
            Some(_) => format!("{}/{}", words::rank(rank), point.ranked),
            None => none(),
        },
        row.heats.to_string(),
    ]
}

/// Changes in words: that of a version which several stacks share once, with their names.
fn sentences(changes: &[Change]) -> Vec<String> {
    let mut shared: BTreeMap<(String, String), Vec<String>> = BTreeMap::new();
    let mut sentences = Vec::new();
    for change in changes {
        let values = format!(
            "{} → {}",
            value(change, &change.before),
            value(change, &change.after)
        );
        match (change.aspect, &change.target) {
            (Aspect::Version, Some(target)) => shared
                .entry((change.what.clone(), values))
                .or_default()
                .push(target.to_string()),
            _ => sentences.push(format!("{}: {values}", change.name())),
        }
    }
    let shared = shared.into_iter();
    sentences.extend(
        shared.map(|((name, values), targets)| format!("{name}: {values} ({})", list(&targets))),
    );
    sentences
}

fn value(change: &Change, value: &Option<String>) -> String {
    let Some(value) = value.as_ref().filter(|value| !value.is_empty()) else {
        return NONE.to_owned();
    };
    match change.aspect {
        Aspect::Commit => match value.strip_suffix("-dirty") {
            Some(commit) => format!("{}-dirty", short(commit, COMMIT)),
            None => short(value, COMMIT),
        },
        _ if value.chars().count() > VALUE => format!("{}…", short(value, VALUE)),
        _ => value.clone(),
    }
}

fn short(text: &str, letters: usize) -> String {
    text.chars().take(letters).collect()
}
