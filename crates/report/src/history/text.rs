//! The history for a terminal.

use std::collections::BTreeMap;

use anstyle::Style;
use deadheat_model::{
    change::{Aspect, Change},
    heats::EndReason,
};
use deadheat_stats::{
    history::{History, PastSession, Series, SeriesPoint},
    standings::{AbsentBecause, Figure},
};
use textwrap::core::display_width;

use crate::{
    figure::{NONE, bytes, counted, figure, list, seconds},
    standings::words,
    text::{Page, Screen, pad_left, pad_right},
    view::{clean, load},
};

/// Letters of a time (RFC 3339) up to its minute.
const MINUTE: usize = 16;
/// Letters of a commit that are shown.
const COMMIT: usize = 12;
/// Letters of a value of a change that are shown: a list of mitigations would fill the screen.
const VALUE: usize = 60;

/// The sessions, oldest first, with what changed; then each series. Wrapped at `width` columns.
pub fn text(history: &History, width: usize) -> String {
    let mut page = Page::new(Screen::new(width, false));
    for session in &history.sessions {
        page.session(session);
    }
    for series in &history.series {
        page.series(series, &history.sessions);
    }
    if !history.series.is_empty() {
        page.line(Style::new(), "");
        page.wrapped(
            Style::new(),
            "",
            "Times are service times, in an open loop response times; memory is the peak; ≥ is a lower bound, because \
             the generator was the limit. Sessions were measured at different times, so their difference includes any \
             change of the machine in between (`deadheat compare SESSION SESSION` judges it).",
        );
    }
    page.text
}

/// The figures of a line.
type Cells<T> = [T; 7];

impl Page {
    fn session(&mut self, session: &PastSession) {
        let what = format!(
            "{}, {}; {}",
            counted(session.heats, "heat"),
            counted(session.stacks, "stack"),
            session.loads.join(", "),
        );
        let ended = match session.end {
            Some(EndReason::Decided | EndReason::Finished) => "",
            Some(EndReason::Budget) => "; ended by its budget",
            Some(EndReason::Interrupted) => "; interrupted",
            Some(EndReason::Lost) => "; ended when a host was lost",
            Some(EndReason::Nothing) => "; nothing was left to measure",
            None => "; killed, or not over",
        };
        self.wrapped(
            Style::new(),
            &format!("{}  ", clean(&session.id)),
            &clean(&format!("{what}{ended}")),
        );
        self.changes("    ~ ", &session.changes);
    }

    fn changes(&mut self, mark: &str, changes: &[Change]) {
        for sentence in sentences(changes) {
            self.wrapped(Style::new(), mark, &sentence);
        }
    }

    fn series(&mut self, series: &Series, sessions: &[PastSession]) {
        const HEAD: Cells<&str> = ["req/s", "CPU/req", "p50", "p99", "memory", "rank", "heats"];
        self.line(Style::new(), "");
        let title = format!(
            "{} at {}: {}",
            series.target,
            series.workload,
            load(&series.point)
        );
        self.wrapped(Style::new(), "", &clean(&title));
        let rows: Vec<Cells<String>> = series.points.iter().map(row).collect();
        // An id is long; its time tells it from the others.
        let name = |point: &SeriesPoint| {
            let started = short(&sessions[point.session].started, MINUTE);
            clean(&started.replace('T', " "))
        };
        let names = series
            .points
            .iter()
            .map(|point| display_width(&name(point)));
        let name_width = names.max().unwrap_or(0);
        let widths: Cells<usize> = std::array::from_fn(|column| {
            let cells = rows.iter().map(|row| display_width(&row[column]));
            cells.chain([HEAD[column].len()]).max().unwrap_or(0)
        });
        let line = |name: &str, row: &Cells<String>| {
            let mut line = format!("  {}", pad_right(name, name_width));
            for (cell, width) in row.iter().zip(widths) {
                line += &format!("  {}", pad_left(cell, width));
            }
            line
        };
        self.line(Style::new(), &line("", &HEAD.map(str::to_owned)));
        for (point, row) in series.points.iter().zip(&rows) {
            self.changes("    ~ ", &point.changes);
            self.line(Style::new(), &line(&name(point), row));
            if let Some(absent) = &point.absent {
                let state = match absent.is {
                    AbsentBecause::Failed => "failed",
                    AbsentBecause::Unavailable => "unavailable",
                    AbsentBecause::NotMeasured => "not measured",
                };
                let reason = clean(&absent.reason);
                self.wrapped(Style::new(), "    ! ", &format!("{state}: {reason}"));
            }
        }
    }
}

fn row(point: &SeriesPoint) -> Cells<String> {
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
            _ => sentences.push(clean(&format!("{}: {values}", change.name()))),
        }
    }
    sentences.extend(
        shared.into_iter().map(|((name, values), targets)| {
            clean(&format!("{name}: {values} ({})", list(&targets)))
        }),
    );
    sentences
}

fn value(change: &Change, value: &Option<String>) -> String {
    let Some(value) = value else {
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
