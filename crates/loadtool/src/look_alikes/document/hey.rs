//! As hey prints it (its `requester/print.go`).

use std::fmt::Write as _;

use deadheat_model::{LatencyHistogram, LoadRecord};

use super::{ToolFigures, bar, seconds, steps};

/// The percentages that hey has.
const PERCENTS: [u32; 7] = [10, 25, 50, 75, 90, 95, 99];
/// The squares of its longest bar.
const LONGEST: u64 = 40;

/// The report.
pub fn hey(record: &LoadRecord) -> String {
    let found = ToolFigures::new(record);
    let answers = found.answers();
    let mut text = "\nSummary:\n".to_owned();
    let mut line = |label: &str, value: String| {
        // Writing to a string does not fail.
        let _ = writeln!(text, "  {label}:\t{value}");
    };
    let times = found.times;
    let in_seconds = |value: f64| format!("{value:.4} secs");
    line("Total", in_seconds(found.seconds()));
    line("Slowest", in_seconds(seconds(times.max())));
    line("Fastest", in_seconds(seconds(times.least())));
    line("Average", in_seconds(seconds(times.mean())));
    line(
        "Requests/sec",
        format!("{:.4}", found.per_second(found.ended() as f64)),
    );
    let bytes = found.observation.body_bytes;
    if bytes > 0 && answers > 0 {
        text += "  \n";
        let _ = writeln!(text, "  Total data:\t{bytes} bytes");
        let _ = writeln!(text, "  Size/request:\t{} bytes", bytes / answers);
    }
    text += "\nResponse time histogram:\n";
    let steps = steps(times, 11);
    let highest = steps.iter().map(|step| step.1).max().unwrap_or(0);
    for (bound, count) in steps {
        let _ = writeln!(
            text,
            "  {bound:4.3} [{count}]\t|{}",
            bar(count, highest, LONGEST)
        );
    }
    text += "\n\nLatency distribution:\n";
    for percent in PERCENTS {
        if let Some(time) = times.quantile(f64::from(percent) / 100.0) {
            let _ = writeln!(text, "  {percent}% in {:.4} secs", time.as_secs_f64());
        }
    }
    text += "\nDetails (average, fastest, slowest):\n";
    let observation = found.observation;
    // Of all requests: there is no connecting for one on a connection that was kept.
    let share = observation.connect_time.count() as f64 / times.count().max(1) as f64;
    let connecting = seconds(observation.connect_time.mean()) * share.min(1.0);
    let extremes = [times.least(), times.max()].map(seconds);
    let mut detail = |name: &str, [average, fastest, slowest]: [f64; 3]| {
        let _ = writeln!(
            text,
            "  {name}:\t{average:.4} secs, {fastest:.4} secs, {slowest:.4} secs"
        );
    };
    // hey prints the extremes of whole requests here, too.
    detail("DNS+dialup", [connecting, extremes[0], extremes[1]]);
    // The name is resolved once, before.
    detail("DNS-lookup", [0.0; 3]);
    let three = |times: &LatencyHistogram| [times.mean(), times.least(), times.max()].map(seconds);
    if let Some(first) = &observation.first_byte {
        // Writing is part of it: a request is in the socket's buffer at once.
        detail("resp wait", three(first));
    }
    text += "\nStatus code distribution:\n";
    for (status, count) in &observation.statuses {
        let _ = writeln!(text, "  [{status}]\t{count} responses");
    }
    let errors = found.errors();
    if !errors.is_empty() {
        text += "\nError distribution:\n";
        for (what, count) in errors {
            let _ = writeln!(text, "  [{count}]\t{what}");
        }
    }
    text + "\n\n\n"
}
