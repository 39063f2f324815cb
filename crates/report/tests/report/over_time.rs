//! Trials over their measurements: what the page says and shows of them.

use deadheat_model::{
    Cell, SessionRecord, TrialRecord,
    trial::{Measured, Phase, TrialOutcome},
    usage::{UsageSample, UsageSeries},
};
use deadheat_report::{View, html::html_with, view::SeriesTrial};
use deadheat_stats::analyse;
use serde_json::Value;

use crate::{
    cases,
    fixture::{Found, Session, failed, good, measured, scatter},
};

/// Samples as they are taken, four a second: of a server that keeps as many cores busy as its figures say, more or less,
/// and whose memory grows by so many MiB over the measurement.
pub fn sampled(name: &str, mut trial: Measured, growth_mib: f64) -> Measured {
    let used = &mut trial.resources;
    let count = (used.span_seconds / 0.251) as u32;
    let mean = used.cpu_seconds / used.span_seconds;
    let mut cpu_seconds = 0.0;
    let sample = |index: u32| {
        let seconds = 0.251 * f64::from(index + 1);
        cpu_seconds += 0.251 * mean * (1.0 + 0.02 * scatter(name, index));
        let grown = growth_mib * seconds / used.span_seconds * f64::from(1 << 20);
        UsageSample {
            seconds: (seconds * 1e3).round() / 1e3,
            cpu_seconds: (cpu_seconds * 1e6).round() / 1e6,
            pss_bytes: used.pss_mean_bytes.map(|mean| mean + grown as u64),
        }
    };
    let samples: Vec<UsageSample> = (0..count).map(sample).collect();
    used.series = Some(UsageSeries { samples });
    trial
}

/// Four blocks of a stack that is steady, but for its memory, of one that slows down in the third block and whose record
/// of the second has no samples, of one that fails in the first, and of one that is void at first in the fourth.
pub fn session() -> SessionRecord {
    let mut session = Session::new(4).workload("json", &[50]);
    for name in ["leaky", "tired", "broken", "<lucky>"] {
        session = session.stack(name);
    }
    let session = session.noise_bound();
    let session = session.measured(4, |cell, block| match (cell.target.stack.as_str(), block) {
        ("broken", 0) => failed(Phase::Start, "no correct answer within 30 s", &[]),
        ("tired", 1) => good(Found::at(2_000.0)),
        _ => outcome(cell, block),
    });
    session
        .with(|record| {
            let last = record.trials.last_mut().unwrap();
            assert_eq!(last.cell.target.stack, "<lucky>");
            let mut again = last.clone();
            again.attempt = 1;
            let TrialOutcome::Measured(first) = &mut last.outcome else {
                unreachable!("it was measured")
            };
            first.noise.steal_share = 0.2;
            record.trials.push(again);
        })
        .build()
}

fn outcome(cell: &Cell, block: u32) -> TrialOutcome {
    let name = format!("{cell} {block}");
    let rate = 2_000.0 + 10.0 * scatter(&cell.target.stack, block);
    let growth = if cell.target.stack == "leaky" {
        80.0
    } else {
        0.4
    };
    let mut trial = sampled(&name, measured(Found::at(rate)), growth);
    let slower = match (cell.target.stack.as_str(), block) {
        ("tired", 2) => 8,
        _ => 0,
    };
    for (index, bin) in trial.load.bins.iter_mut().enumerate() {
        let noise = (15.0 * scatter(&name, index as u32)) as i64;
        let now = bin.succeeded as i64 + noise - slower * index as i64;
        bin.succeeded = now.try_into().unwrap();
    }
    TrialOutcome::Measured(Box::new(trial))
}

fn page(record: &SessionRecord) -> String {
    html_with(&View::new(record, &analyse(record)), "").unwrap()
}

/// What a script element holds, as JSON.
fn data(page: &str, id: &str) -> Value {
    let (_, after) = page.split_once(&format!("id=\"{id}\">")).unwrap();
    let (json, _) = after.split_once("</script>").unwrap();
    serde_json::from_str(json).unwrap()
}

fn whole_numbers(value: &Value) -> Vec<i64> {
    let values = value.as_array().unwrap().iter();
    values.map(|value| value.as_i64().unwrap()).collect()
}

#[test]
fn each_trial_says_whether_it_was_steady_by_which_figure_and_bound() {
    let record = session();
    let view = View::new(&record, &analyse(&record)).series.unwrap();
    assert_eq!(
        view.outcome,
        "Of 15 measured trials that count, 14 were steady, 1 was not."
    );
    assert!(
        view.rule
            .contains("by 10 % of its mean, or by 2 standard errors")
    );
    let rows = view.points[0].stacks.iter().flat_map(|stack| {
        let row = |trial: &SeriesTrial| {
            let aside = trial.aside.as_ref().map(|aside| format!(" | {aside}"));
            let aside = aside.unwrap_or_default();
            let cells = [
                &stack.target,
                &trial.block,
                &trial.change,
                &trial.standard_error,
            ];
            let cells = cells.map(String::as_str).join(" | ");
            format!("{cells} | {} | {}{aside}", trial.bound, trial.steadiness)
        };
        stack.trials.iter().map(row)
    });
    insta::assert_snapshot!("series-rows", rows.collect::<Vec<_>>().join("\n"));
}

#[test]
fn the_lines_are_those_of_the_records() {
    let record = session();
    let page = page(&record);
    let data = data(&page, "series-data-0");
    let stacks = data["stacks"].as_array().unwrap();
    let mut lines = 0;
    for stack in stacks {
        for line in stack["trials"].as_array().unwrap() {
            lines += 1;
            let of_line = |trial: &&TrialRecord| {
                let block = match trial.attempt {
                    0 => format!("{}", trial.block + 1),
                    again => format!("{}, repetition {again}", trial.block + 1),
                };
                trial.cell.target.to_string() == stack["target"] && block == line["block"]
            };
            let trial = record.trials.iter().find(of_line).unwrap();
            let TrialOutcome::Measured(measured) = &trial.outcome else {
                panic!("a line of a trial that was not measured: {line}");
            };
            let rates = line["rate"].as_array().unwrap();
            assert_eq!(rates.len(), measured.load.bins.len());
            for (rate, bin) in rates.iter().zip(&measured.load.bins) {
                let exact = bin.succeeded as f64 * 2.0;
                assert!((rate.as_f64().unwrap() - exact).abs() <= 0.005 * exact);
            }
            let [after, cores, memory] =
                ["after", "cores", "memory"].map(|key| whole_numbers(&line[key]));
            let Some(series) = &measured.resources.series else {
                assert!(after.is_empty() && cores.is_empty() && memory.is_empty());
                continue;
            };
            // Two samples are one point: 19 for 39.
            let last = series.samples.last().unwrap();
            assert_eq!(after.len(), series.samples.len().div_ceil(2));
            assert!((after.iter().sum::<i64>() as f64 / 100.0 - last.seconds).abs() <= 0.005);
            let spent = after.iter().zip(&cores).map(|(after, cores)| after * cores);
            assert!((spent.sum::<i64>() as f64 / 1e4 - last.cpu_seconds).abs() <= 0.1);
            let mib = last.pss_bytes.unwrap() as f64 / f64::from(1 << 20);
            assert!((memory.iter().sum::<i64>() as f64 / 10.0 - mib).abs() <= 0.05);
        }
    }
    assert_eq!(
        lines, 16,
        "one failed before its measurement, one was repeated"
    );
}

#[test]
fn names_cannot_break_out_of_the_data() {
    let page = page(&session());
    let data = data(&page, "series-data-0");
    let names: Vec<&Value> = data["stacks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|stack| &stack["target"])
        .collect();
    assert!(names.iter().any(|name| **name == "<lucky>"), "{names:?}");
    assert!(!page.contains("<lucky>"));
}

#[test]
fn a_session_without_trials_has_no_such_section_and_one_without_lines_has_tables_alone() {
    assert!(!page(&cases::nothing()).contains("id=\"series\""));
    let mut record = session();
    for trial in &mut record.trials {
        trial.outcome = failed(Phase::Start, "no correct answer within 30 s", &[]);
    }
    let page = page(&record);
    assert!(page.contains("id=\"series\"") && page.contains("not measured"));
    assert!(!page.contains("id=\"series-plot\""));
}
