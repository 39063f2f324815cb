//! What a person reads: a case's table in Markdown, which the terminal shows as well, and every trial as CSV.

use std::fmt::Write as _;

use deadheat_stats::interval::{Interval, LogMean, MedianInterval};

use super::{
    case::{Case, Figure, Target},
    figures::{Judged, Summary, Verdict, judge, summarise},
    tool::Tool,
    trial::Trial,
};

/// A trial is disturbed when others had more than this share of the two CPUs' time.
const DISTURBED: f64 = 0.05;
/// Digits of a figure.
const DIGITS: i32 = 3;

/// All about a case that its trials do not hold.
pub(crate) struct Facts<'a> {
    /// The case.
    pub(crate) case: Case,
    /// The tools that took part, in the order of the table.
    pub(crate) tools: &'a [Tool],
    /// Tools that did not, each with the reason, as a sentence.
    pub(crate) left_out: &'a [String],
    /// Sentences on where, when and how it was measured.
    pub(crate) circumstances: &'a [String],
}

/// A case in Markdown.
pub(crate) fn markdown(facts: &Facts<'_>, trials: &[Trial]) -> String {
    let summaries = summarise(facts.tools, trials);
    let judged = judge(facts.case, &summaries, trials);
    let mut text = grid(&summaries);
    text.push('\n');
    for one in &judged {
        // Writing into a string does not fail, here and below.
        let _ = writeln!(text, "- {}", target(one));
    }
    for sentence in faults(&summaries).iter().chain(facts.left_out) {
        let _ = writeln!(text, "- {sentence}");
    }
    text.push('\n');
    for sentence in facts.circumstances {
        let _ = writeln!(text, "{sentence}");
    }
    let _ = writeln!(text, "{}", disturbance(trials));
    text
}

fn grid(summaries: &[Summary]) -> String {
    let head = [
        "tool",
        "answers/s",
        "CPU per answer, µs",
        "Deadheat's ÷ its",
        "peak memory, MiB",
        "Deadheat's ÷ its",
    ];
    let mut rows = vec![head.map(str::to_owned)];
    for summary in summaries {
        let mebibytes = |bytes: f64| bytes / f64::from(1 << 20);
        rows.push([
            summary.tool.name().to_owned(),
            summary
                .throughput
                .map_or_else(dash, |found| grouped(found.median)),
            summary
                .cpu_us
                .map_or_else(dash, |found| with_interval(found, |us| us)),
            summary.cpu_ratio.map_or_else(dash, |found| ratio(&found)),
            summary
                .peak_bytes
                .map_or_else(dash, |found| significant(mebibytes(found.median))),
            summary
                .memory_ratio
                .map_or_else(dash, |found| ratio(&found)),
        ]);
    }
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max();
    let widths: Vec<usize> = (0..head.len())
        .map(|column| width(column).unwrap_or(0))
        .collect();
    let mut text = String::new();
    for (index, row) in rows.iter().enumerate() {
        for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
            let _ = match column {
                0 => write!(text, "| {cell:<width$} "),
                _ => write!(text, "| {cell:>width$} "),
            };
        }
        text.push_str("|\n");
        if index == 0 {
            for (column, width) in widths.iter().enumerate() {
                let rule = "-".repeat(width - usize::from(column > 0));
                let _ = write!(text, "| {rule}{} ", if column > 0 { ":" } else { "" });
            }
            text.push_str("|\n");
        }
    }
    text
}

fn dash() -> String {
    "–".to_owned()
}

/// Rounded to three digits that count.
fn significant(value: f64) -> String {
    let magnitude = value.abs().log10().floor();
    let places = if magnitude.is_finite() {
        (DIGITS - 1 - magnitude as i32).max(0)
    } else {
        DIGITS - 1
    };
    format!("{value:.*}", places as usize)
}

/// A whole number in groups of three digits.
fn grouped(value: f64) -> String {
    let digits = format!("{value:.0}");
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

fn with_interval(found: MedianInterval, unit: impl Fn(f64) -> f64) -> String {
    let median = significant(unit(found.median));
    found.interval.map_or(median.clone(), |interval| {
        let (low, high) = (unit(interval.low), unit(interval.high));
        format!("{median} [{}, {}]", significant(low), significant(high))
    })
}

fn ratio(found: &LogMean) -> String {
    bounded(found.mean, found.interval, |value| format!("{value:.3}"))
}

fn bounded(value: f64, interval: Option<Interval>, show: impl Fn(f64) -> String) -> String {
    match interval {
        Some(Interval { low, high, .. }) => {
            format!("{} [{}, {}]", show(value), show(low), show(high))
        }
        None => show(value),
    }
}

/// A target and how Deadheat stands to it.
fn target(judged: &Judged) -> String {
    let (what, show): (String, fn(f64) -> String) = match judged.target {
        Target::Ratio { figure, peer, most } => {
            let figure = match figure {
                Figure::Cpu => "CPU per answer",
                Figure::Memory => "peak memory",
            };
            let what = format!("{figure} ≤ {most:.2} × {}", peer.name());
            (what, |value| format!("{value:.3}"))
        }
        Target::SendLag { most_us } => {
            let what = format!("send lag of Deadheat, 99th percentile, ≤ {most_us:.0} µs");
            (what, |value| format!("{} µs", significant(value)))
        }
    };
    let Some(value) = judged.value else {
        return format!("Target: {what}: not measured.");
    };
    let verdict = match judged.verdict {
        Verdict::Met => "met",
        Verdict::Missed => "**missed**",
        Verdict::NotDecided if judged.interval.is_none() => "not decided by one block",
        Verdict::NotDecided => "not decided",
    };
    format!(
        "Target: {what}: {verdict}, {}.",
        bounded(value, judged.interval, show)
    )
}

/// A sentence for each tool that has trials which do not count.
fn faults(summaries: &[Summary]) -> Vec<String> {
    let sentence = |summary: &Summary| {
        let fault = summary.fault.as_ref()?;
        let lost = summary.trials - summary.counted;
        let (name, trials) = (summary.tool.name(), summary.trials);
        Some(format!(
            "{name}: {lost} of {trials} trials were discarded; the first: {}.",
            fault.trim_end_matches('.')
        ))
    };
    summaries.iter().filter_map(sentence).collect()
}

/// What others did on the two CPUs meanwhile.
fn disturbance(trials: &[Trial]) -> String {
    let shares: Vec<f64> = trials
        .iter()
        .filter_map(|trial| Some(trial.outcome.as_ref().ok()?.disturbance()))
        .collect();
    let disturbed = shares.iter().filter(|share| **share > DISTURBED).count();
    let most = shares.iter().fold(0.0, |most: f64, share| most.max(*share));
    format!(
        "Other programs and the hypervisor had more than {:.0} % of the two CPUs' time in {disturbed} of {} trials \
         that count, {:.1} % at most.",
        DISTURBED * 100.0,
        shares.len(),
        most * 100.0
    )
}

/// The head of [`csv`].
pub(crate) const CSV_HEAD: &str = "case,block,place,tool,answered,wall_seconds,user_seconds,system_seconds,peak_bytes,\
     send_lag_p99_us,server_cpu_seconds,others_cpu_seconds,stolen_seconds,fault\n";

/// Trials as CSV, a line each.
pub(crate) fn csv(trials: &[Trial]) -> String {
    let mut text = String::new();
    for trial in trials {
        let (case, tool) = (trial.case.name(), trial.tool.name());
        let _ = write!(text, "{case},{},{},{tool},", trial.block, trial.place);
        let _ = match &trial.outcome {
            Ok(found) => writeln!(
                text,
                "{},{:.6},{:.6},{:.6},{},{},{:.2},{:.2},{:.2},",
                found.answered,
                found.wall.as_secs_f64(),
                found.user.as_secs_f64(),
                found.system.as_secs_f64(),
                found.peak_bytes,
                found
                    .send_lag_p99_us
                    .map(|lag| format!("{lag:.3}"))
                    .unwrap_or_default(),
                found.server.as_secs_f64(),
                found.others.as_secs_f64(),
                found.stolen.as_secs_f64(),
            ),
            Err(fault) => writeln!(text, ",,,,,,,,,\"{}\"", fault.replace('"', "\"\"")),
        };
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::peers::figures::tests::trial;

    #[test]
    fn figures_have_three_digits_that_count() {
        for (value, shown) in [
            (5.236, "5.24"),
            (45.51, "45.5"),
            (467.4, "467"),
            (1234.0, "1234"),
            (0.8716, "0.872"),
            (0.0, "0.00"),
        ] {
            assert_eq!(significant(value), shown);
        }
        assert_eq!(grouped(175_415.4), "175,415");
        assert_eq!(grouped(1_000_000.0), "1,000,000");
        assert_eq!(grouped(999.0), "999");
    }

    #[test]
    fn a_table_says_what_was_found_and_what_was_not() {
        let mut trials = Vec::new();
        for block in 1..=11 {
            trials.push(trial(Tool::Deadheat, block, 5, 8 << 20));
            trials.push(trial(Tool::Wrk, block, 10, 4 << 20));
        }
        let mut lost = trial(Tool::Oha, 1, 1, 1);
        lost.outcome = Err("connection refused: 3".to_owned());
        trials.push(lost);
        let facts = Facts {
            case: Case::Small,
            tools: &[Tool::Deadheat, Tool::Wrk, Tool::Oha],
            left_out: &["shb: it is not installed here.".to_owned()],
            circumstances: &["Measured on a Tuesday.".to_owned()],
        };
        let text = markdown(&facts, &trials);
        let lines: Vec<&str> = text.lines().collect();
        let width = |line: &str| line.chars().count();
        assert!(
            lines[..5].iter().all(|line| width(line) == width(lines[0])),
            "{text}"
        );
        for expected in [
            "| wrk ",
            "10.0 [10.0, 10.0] | 0.500 [0.500, 0.500] |",
            "| 2.000 [2.000, 2.000] |",
            "- Target: CPU per answer ≤ 0.88 × wrk: met, 0.500 [0.500, 0.500].",
            "- Target: CPU per answer ≤ 0.93 × shb: not measured.",
            "- oha: 1 of 1 trials were discarded; the first: connection refused: 3.",
            "- shb: it is not installed here.",
            "Measured on a Tuesday.",
            "in 0 of 22 trials",
        ] {
            assert!(text.contains(expected), "{expected}: {text}");
        }
    }

    #[test]
    fn every_trial_is_a_line_with_as_many_fields_as_the_head() {
        let mut lost = trial(Tool::Oha, 1, 1, 1);
        lost.outcome = Err("a \"quoted\" fault".to_owned());
        let text = csv(&[trial(Tool::Deadheat, 1, 5, 9), lost]);
        let fields = CSV_HEAD.matches(',').count();
        assert!(
            text.lines().all(|line| line.matches(',').count() == fields),
            "{text}"
        );
        assert!(text.ends_with("\"a \"\"quoted\"\" fault\"\n"), "{text}");
    }
}
