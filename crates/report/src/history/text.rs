//! The history for a terminal.

use std::collections::BTreeMap;

use deadheat_model::{
    change::{Aspect, Change},
    session::EndReason,
};
use deadheat_stats::{
    cell::{PercentileEstimate, PercentileValue},
    history::{History, PastSession, Series, SeriesPoint},
    order_statistic::MedianInterval,
    verdict::CellVerdict,
};
use textwrap::core::display_width;

use crate::{
    figure::{NONE, bytes, counted, ends, figure, list, seconds},
    view::{clean, load},
};

/// Letters of a commit that are shown.
const COMMIT: usize = 12;
/// Letters of a value of a change that are shown: a list of mitigations would fill the screen.
const VALUE: usize = 60;

/// The sessions, oldest first, with what changed; then each series. Wrapped at `width` columns.
pub fn text(history: &History, width: usize) -> String {
    let mut page = Page {
        text: String::new(),
        width,
    };
    for session in &history.sessions {
        page.session(session);
    }
    for series in &history.series {
        page.series(series, &history.sessions);
    }
    if !history.series.is_empty() {
        page.line("");
        page.wrapped(
            "",
            "Medians over trials with their order-statistic intervals; p99 is of the service time. Sessions lie at \
             different times: what the machine did in between is in their difference, too (`deadheat compare`).",
        );
    }
    page.text
}

struct Page {
    text: String,
    width: usize,
}

impl Page {
    fn line(&mut self, line: &str) {
        self.text.push_str(line.trim_end());
        self.text.push('\n');
    }

    /// `text` after `mark`, wrapped, and as deep as `mark` is wide.
    fn wrapped(&mut self, mark: &str, text: &str) {
        let rest = " ".repeat(display_width(mark));
        let options = textwrap::Options::new(self.width)
            .word_splitter(textwrap::WordSplitter::NoHyphenation)
            .initial_indent(mark)
            .subsequent_indent(&rest);
        for line in textwrap::wrap(text, options) {
            self.line(&line);
        }
    }

    fn session(&mut self, session: &PastSession) {
        let what = format!(
            "{} of {}{}, {}, {}; {}",
            session.blocks_complete,
            counted(session.blocks_planned as usize, "block"),
            if session.indicative {
                " (indicative)"
            } else {
                ""
            },
            counted(session.trials, "trial"),
            counted(session.stacks, "stack"),
            session.workloads.join(", "),
        );
        let ended = match session.end {
            Some(EndReason::Finished) => "",
            Some(EndReason::Budget) => "; ended by its budget",
            Some(EndReason::Enough) => "; ended when it had seen enough",
            Some(EndReason::Interrupted) => "; interrupted",
            None => "; killed",
        };
        self.wrapped(
            &format!("{}  ", clean(&session.id)),
            &clean(&format!("{what}{ended}")),
        );
        self.changes("    ~ ", &session.changes);
    }

    fn changes(&mut self, mark: &str, changes: &[Change]) {
        for sentence in sentences(changes) {
            self.wrapped(mark, &sentence);
        }
    }

    fn series(&mut self, series: &Series, sessions: &[PastSession]) {
        const HEAD: [&str; 5] = ["requests/s", "interval", "CPU/req", "mean PSS", "p99"];
        let cell = &series.cell;
        self.line("");
        let title = format!(
            "{} at {}: {}",
            cell.target,
            cell.workload,
            load(&series.load)
        );
        self.wrapped("", &clean(&title));
        let rows: Vec<[String; 5]> = series.points.iter().map(row).collect();
        let name = |point: &SeriesPoint| clean(&sessions[point.session].id);
        let names = series
            .points
            .iter()
            .map(|point| display_width(&name(point)));
        let name_width = names.max().unwrap_or(0);
        let widths: [usize; 5] = std::array::from_fn(|column| {
            let cells = rows.iter().map(|row| display_width(&row[column]));
            cells.chain([HEAD[column].len()]).max().unwrap_or(0)
        });
        let line = |name: &str, row: &[String; 5]| {
            let mut line = format!("  {name}{}", " ".repeat(name_width - display_width(name)));
            for (cell, width) in row.iter().zip(widths) {
                line += &format!("  {}{cell}", " ".repeat(width - display_width(cell)));
            }
            line
        };
        self.line(&line("", &HEAD.map(str::to_owned)));
        for (point, row) in series.points.iter().zip(&rows) {
            self.changes("    ~ ", &point.changes);
            self.line(&line(&name(point), row));
        }
    }
}

fn row(point: &SeriesPoint) -> [String; 5] {
    let bound = match point.verdict {
        CellVerdict::LowerBound { .. } => "≥",
        _ => "",
    };
    let rate = match (&point.throughput_per_second, &point.verdict) {
        (Some(rate), _) => format!("{bound}{}", figure(rate.median)),
        (None, CellVerdict::Failed { .. }) => "failed".to_owned(),
        (None, CellVerdict::Void { .. }) => "void".to_owned(),
        (None, _) => NONE.to_owned(),
    };
    let interval = point.throughput_per_second.and_then(|rate| rate.interval);
    let median = |estimate: &Option<MedianInterval>, shown: fn(f64) -> String| {
        let shown = estimate.as_ref().map(|found| shown(found.median));
        shown.unwrap_or_else(|| NONE.to_owned())
    };
    [
        rate,
        interval.map_or_else(|| NONE.to_owned(), |interval| ends(&interval, figure)),
        median(&point.cpu_us_per_request, |micros| seconds(micros / 1e6)),
        median(&point.pss_mean_bytes, bytes),
        p99(&point.service_time),
    ]
}

fn p99(values: &[PercentileEstimate]) -> String {
    let mut values = values.iter();
    let found = values.find(|value| value.percent == 99.0);
    match found.map(|found| found.value) {
        Some(PercentileValue::Seconds(mean)) => seconds(mean.mean),
        Some(PercentileValue::TooFewRequests { .. }) | None => NONE.to_owned(),
    }
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
        match (change.aspect, change.what.split_once(": ")) {
            (Aspect::Version, Some((target, name))) => shared
                .entry((name.to_owned(), values))
                .or_default()
                .push(target.to_owned()),
            _ => sentences.push(clean(&format!("{}: {values}", change.what))),
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
