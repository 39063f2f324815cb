//! The rows of text and their colours: each row is a line that fits the width that it is given.

use std::time::Duration;

use deadheat_model::{Interval, LatencyHistogram, LoadPhase, StopRule, figure};
use ratatui::{
    style::{Color, Modifier, Style},
    text::{Line, Span},
};

use super::model::{Model, per_second};

/// Columns of the label in front of a row; where there are fewer than this many in all, it is as short as it can be.
const LABEL: usize = 13;
const ROOMY: u16 = 50;

/// Columns of a figure in the table.
const COLUMN: usize = 9;

/// What is loaded, and how.
pub(super) fn target(model: &Model, width: u16) -> Line<'static> {
    let what = if model.open {
        "open loop"
    } else {
        "closed loop"
    };
    let room = usize::from(width).saturating_sub(what.len() + 2);
    let url = shortened(&model.target, room);
    let gap = usize::from(width).saturating_sub(url.chars().count() + what.len());
    Line::from(vec![
        Span::styled(url, Style::new().add_modifier(Modifier::BOLD)),
        Span::raw(" ".repeat(gap)),
        Span::raw(what),
    ])
}

/// A text of at most this many characters.
fn shortened(text: &str, most: usize) -> String {
    // A URL or a file's name from a user: nothing in it may move the cursor.
    let safe = |c: char| if c.is_control() { '?' } else { c };
    if text.chars().count() <= most {
        return text.chars().map(safe).collect();
    }
    let start = text.chars().take(most.saturating_sub(1)).map(safe);
    start.chain(['…']).take(most).collect()
}

/// The phase, and how far it is.
pub(super) fn progress(model: &Model, palette: Palette, width: u16) -> Line<'static> {
    let phase = match model.phase {
        None => "starting",
        Some(LoadPhase::WarmUp) => "warm-up",
        Some(LoadPhase::Measurement) => "measurement",
        Some(LoadPhase::Drain) => "drain",
    };
    let text = format!("  {}", how_far(model));
    let mut spans = vec![Span::styled(
        format!("{phase:<LABEL$}"),
        Style::new().add_modifier(Modifier::BOLD),
    )];
    let room = usize::from(width).saturating_sub(LABEL + text.chars().count());
    match model.done() {
        Some(done) if room >= 8 => {
            let (full, empty) = bar(done, room);
            let style = Style::new().fg(palette.pick(Color::Cyan));
            spans.push(Span::styled(full, style));
            spans.push(Span::styled(
                empty,
                Style::new().add_modifier(Modifier::DIM),
            ));
            spans.push(Span::raw(text));
        }
        _ => spans.push(Span::raw(text.trim_start().to_owned())),
    }
    Line::from(spans)
}

fn how_far(model: &Model) -> String {
    let measured = clock(match model.so_far.phase {
        LoadPhase::Measurement => model.so_far.length,
        _ => Duration::ZERO,
    });
    match (model.phase, model.stop) {
        (None, _) => match model.connections {
            1 => "making 1 connection".to_owned(),
            many => format!("making {} connections", figure::count(many.into())),
        },
        (Some(LoadPhase::WarmUp), _) => {
            format!("{} of {}", clock(model.elapsed), clock(model.warm_up))
        }
        (Some(LoadPhase::Drain), _) => format!(
            "waits for requests in flight, {} at most",
            clock(model.drain)
        ),
        (_, StopRule::Duration { length }) => format!("{measured} of {}", clock(length)),
        (_, StopRule::Count { requests }) => format!(
            "{} of {} requests",
            figure::count(model.so_far.ended()),
            figure::count(requests)
        ),
        (_, StopRule::Interrupt) => format!("{measured}, until Ctrl-C"),
    }
}

/// A bar of this many columns: its full part and its empty one.
fn bar(done: f64, columns: usize) -> (String, String) {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let eighths = (done * columns as f64 * 8.0) as usize;
    let (whole, rest) = (eighths / 8, EIGHTHS[eighths % 8]);
    let full = "█".repeat(whole) + rest;
    let empty = columns - whole - usize::from(!rest.is_empty());
    (full, "·".repeat(empty))
}

/// What is answered, and what is offered.
pub(super) fn rates(model: &Model, palette: Palette, width: u16) -> Line<'static> {
    let mut pieces = Vec::new();
    if let Some(latest) = &model.latest {
        let so_far = &model.so_far;
        let (now, all) = (latest.throughput(), so_far.throughput());
        let mut told = |answered: f64, offered: u64, length: Duration, when: &str| {
            let text = if model.open {
                let offered = per_second(offered, length);
                format!(
                    "{} of {} offered {when}",
                    figure::figure(answered),
                    figure::figure(offered)
                )
            } else {
                format!("{} {when}", figure::figure(answered))
            };
            pieces.push(Span::raw(text));
        };
        told(now, latest.offered, latest.length(), "now");
        told(all, so_far.offered, so_far.length, "so far");
        if model.is_behind() {
            pieces.insert(0, Span::styled("BEHIND", palette.bad()));
        }
    }
    row("answers/s", pieces, width)
}

/// A label and as many of the pieces as there is room for.
fn row(label: &'static str, pieces: Vec<Span<'static>>, width: u16) -> Line<'static> {
    let label = match width {
        ..ROOMY => format!("{label}  "),
        _ => format!("{label:<LABEL$}"),
    };
    let (mut used, last) = (label.len(), pieces.len().saturating_sub(1));
    let mut spans = vec![Span::raw(label)];
    for (index, piece) in pieces.into_iter().enumerate() {
        let separator = if index > 0 { " · " } else { "" };
        used += separator.chars().count() + piece.width();
        // The first one is shown as far as it goes; the others only if one can see that there are more.
        let more = if index < last { " …" } else { "" };
        if index > 0 && used + more.chars().count() > usize::from(width) {
            spans.push(Span::raw(" …"));
            break;
        }
        spans.push(Span::raw(separator));
        spans.push(piece);
    }
    Line::from(spans)
}

/// The percentiles: of an open loop's response time first, which is what its users wait.
pub(super) fn table(model: &Model, width: u16) -> Vec<Line<'static>> {
    const ALL: [(&str, Option<f64>); 4] = [
        ("p50", Some(0.5)),
        ("p90", Some(0.9)),
        ("p99", Some(0.99)),
        ("max", None),
    ];
    let label = "response time so far".len();
    // The slow ones are why one looks.
    let room = usize::from(width).saturating_sub(label) / COLUMN;
    let columns: Vec<_> = match room {
        4.. => ALL.to_vec(),
        3 => vec![ALL[0], ALL[2], ALL[3]],
        _ => ALL[2..].to_vec(),
    };
    let dim = Style::new().add_modifier(Modifier::DIM);
    let heads = columns.iter().map(|(name, _)| format!("{name:>COLUMN$}"));
    let head = format!("{:label$}{}", "", heads.collect::<String>());
    let mut lines = vec![Line::styled(head, dim)];
    let latest = model.latest.as_ref();
    let mut add = |what: &str, histogram: Option<&LatencyHistogram>| {
        let cell = |(_, quantile): &(_, _)| format!("{:>COLUMN$}", latency(histogram, *quantile));
        let figures: String = columns.iter().map(cell).collect();
        lines.push(Line::raw(format!("{what:<label$}{figures}")));
    };
    if model.open {
        let now = latest.and_then(|one| one.response_time.as_ref());
        add("response time now", now);
        add("response time so far", Some(&model.so_far.response_time));
    }
    add("service time now", latest.map(|one| &one.service_time));
    add("service time so far", Some(&model.so_far.service_time));
    lines
}

/// The latency at a quantile, or the largest one.
pub(super) fn latency(histogram: Option<&LatencyHistogram>, quantile: Option<f64>) -> String {
    let found = histogram.and_then(|one| match quantile {
        Some(quantile) => one.quantile(quantile),
        None => one.max(),
    });
    found.map_or(figure::NONE.to_owned(), |latency| {
        figure::seconds(latency.as_secs_f64())
    })
}

/// Connections and bytes.
pub(super) fn traffic(model: &Model, width: u16) -> Line<'static> {
    let Some(latest) = &model.latest else {
        return row("connections", Vec::new(), width);
    };
    let rate = |bytes: u64| figure::bytes(per_second(bytes, latest.length()));
    let mut pieces = vec![
        format!("{} open", figure::count(latest.connections)),
        format!("{} in flight", figure::count(latest.in_flight)),
        format!("{}/s in", rate(latest.received_bytes)),
        format!("{}/s out", rate(latest.sent_bytes)),
    ];
    if model.open {
        pieces.insert(2, format!("{} waiting", figure::count(latest.waiting)));
    }
    row(
        "connections",
        pieces.into_iter().map(Span::raw).collect(),
        width,
    )
}

/// Failed requests, the most common kinds first.
pub(super) fn failed(model: &Model, palette: Palette, width: u16) -> Line<'static> {
    let failed = &model.so_far.failed;
    let total = failed.total();
    if total == 0 {
        return row("failed", vec![Span::raw("0")], width);
    }
    let mut kinds: Vec<_> = failed.iter().collect();
    // Stable: kinds with as many stay in their usual order.
    kinds.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let share = figure::percent(model.so_far.failed_share());
    let head = format!("{} ({share})", figure::count(total));
    let mut pieces = vec![Span::styled(head, palette.bad())];
    for (kind, count) in kinds {
        pieces.push(Span::raw(format!("{kind} {}", figure::count(count))));
    }
    row("failed", pieces, width)
}

/// A span of time, in at most eight characters: "0.4 s", "75 s", "12m05s", "2h03m".
pub(super) fn clock(span: Duration) -> String {
    let seconds = span.as_secs_f64();
    // Rounded first, so that 9.96 s is not "10.0 s" next to "10 s".
    if (seconds * 10.0).round() < 1000.0 {
        return format!("{seconds:.1} s");
    }
    let whole = seconds.round() as u64;
    match whole {
        ..600 => format!("{whole} s"),
        600..7_200 => format!("{}m{:02}s", whole / 60, whole % 60),
        _ => format!("{}h{:02}m", whole / 3_600, whole % 3_600 / 60),
    }
}

/// Failed requests of an interval, for a person.
pub(super) fn failed_in(interval: &Interval) -> String {
    figure::count(interval.failed.total())
}

/// Colours, or none of them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Palette {
    pub(super) colour: bool,
}

impl Palette {
    /// A colour, if there are any.
    pub(super) fn pick(self, colour: Color) -> Color {
        if self.colour { colour } else { Color::Reset }
    }

    /// What must be seen, without colours too.
    pub(super) fn bad(self) -> Style {
        Style::new()
            .fg(self.pick(Color::Red))
            .add_modifier(Modifier::BOLD)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_of_time_are_short_and_read_well() {
        let cases = [
            (0.0, "0.0 s"),
            (0.449, "0.4 s"),
            (99.94, "99.9 s"),
            (99.96, "100 s"),
            (599.4, "599 s"),
            (599.6, "10m00s"),
            (7_199.0, "119m59s"),
            (7_200.0, "2h00m"),
            (360_000.0, "100h00m"),
        ];
        for (seconds, text) in cases {
            assert_eq!(clock(Duration::from_secs_f64(seconds)), text, "{seconds}");
        }
    }

    #[test]
    fn a_bar_is_as_wide_as_asked_and_full_in_the_end() {
        for eighth in 0..=80 {
            let (full, empty) = bar(f64::from(eighth) / 80.0, 10);
            assert_eq!(full.chars().count() + empty.chars().count(), 10, "{eighth}");
        }
        assert_eq!(bar(1.0, 3), ("███".to_owned(), String::new()));
        assert_eq!(bar(0.5, 3), ("█▌".to_owned(), "·".to_owned()));
    }

    #[test]
    fn a_row_says_that_there_is_more_than_it_has_room_for() {
        let pieces = || ["one", "two", "three"].map(Span::raw).to_vec();
        let text = |width| row("x", pieces(), width).to_string();
        assert_eq!(text(60), format!("{:13}one · two · three", "x"));
        // 3 + 3 + 3 + 3 + 8 characters.
        assert_eq!(text(20), "x  one · two · three");
        assert_eq!(text(19), "x  one · two …");
        assert_eq!(text(14), "x  one · two …");
        assert_eq!(text(13), "x  one …");
    }
}
