//! The table of all trials: what it looks like, what it promises, and whether docs/report-csv.md says the same.

use std::{
    collections::{BTreeMap, BTreeSet},
    iter,
    sync::OnceLock,
};

use deadheat_model::{
    Failure, SessionRecord,
    trial::{Phase, TrialOutcome},
    workload::OfferedRate,
};
use deadheat_report::csv::{COLUMNS, csv};
use deadheat_stats::{Group, analyse, order_statistic::median_interval, verdict::TrialVerdict};

use crate::{
    cases,
    documentation::{quoted, rows},
    fixture::{Found, Session, failure, good, measured, open},
};

/// A row by the names of its columns.
type Row = BTreeMap<&'static str, String>;

/// A stack's name that wants to break out of its field.
const UGLY: &str = "comma, \"quote\"\r\nGröße 大小\u{202e}:a;b";

/// Names that have to be quoted, an open loop, a load in which everything failed, and trials that came to nothing.
fn ugly_session() -> SessionRecord {
    let session = Session::new(2)
        .workload("json", &[50])
        .open(&[OfferedRate::OfOwnCapacity(50)])
        .stack(UGLY)
        .stack("late");
    let session = session.measured(2, |cell, block| {
        let is_open = cell.point.contains("open");
        let mut failure = failure(Phase::Load, &cases::HOSTILE.join("\n"), &cases::HOSTILE);
        match (cell.target.stack.as_str(), block) {
            ("late", _) if is_open => good_open(500.0),
            ("late", _) => good(Found::at(900.25)),
            (_, 0) if is_open => good_open(700.0),
            (_, 0) => {
                let mut load = measured(Found::at(1_234.5)).load;
                for kind in Failure::ALL {
                    load.total.failed[*kind] = 3;
                    load.measured.failed[*kind] = 2;
                }
                failure.load = Some(Box::new(load));
                TrialOutcome::Failed(failure)
            }
            _ => TrialOutcome::Failed(failure),
        }
    });
    session.build()
}

fn good_open(rate: f64) -> TrialOutcome {
    TrialOutcome::Measured(Box::new(open(Found::at(rate), 0.004)))
}

/// A session with its table.
struct Case {
    of: &'static cases::Case,
    text: String,
    rows: Vec<Row>,
}

impl Case {
    fn new(of: &'static cases::Case) -> Self {
        let text = csv(&of.record, &of.analysis);
        Self {
            rows: read(&text),
            text,
            of,
        }
    }

    fn named(name: &str) -> Self {
        Self::new(cases::named(name))
    }

    /// The lines of the table, the head first.
    fn lines(&self) -> Vec<&str> {
        let lines = self.text.split_inclusive('\n');
        lines
            .map(|line| {
                line.strip_suffix("\r\n")
                    .expect("every line ends with CR LF")
            })
            .collect()
    }
}

/// The case that this file adds to those of all formats.
fn ugly() -> Case {
    static UGLY: OnceLock<cases::Case> = OnceLock::new();
    Case::new(UGLY.get_or_init(|| cases::Case::new("ugly", ugly_session())))
}

/// Every case.
fn all() -> impl Iterator<Item = Case> {
    cases::all().map(Case::new).chain(iter::once_with(ugly))
}

/// Reads a table back. A row with more or fewer fields than the head is an error of the reader.
fn read(text: &str) -> Vec<Row> {
    let mut reader = ::csv::Reader::from_reader(text.as_bytes());
    assert_eq!(reader.headers().unwrap(), &COLUMNS[..]);
    let rows = reader.records().map(|row| {
        let row = row.expect("as many fields as the head");
        let fields = row.iter().map(str::to_owned);
        COLUMNS.into_iter().zip(fields).collect()
    });
    rows.collect()
}

#[test]
fn a_whole_table() {
    insta::assert_snapshot!("csv", Case::named("one-trial").lines().join("\n"));
}

#[test]
fn every_trial_s_outcome_and_flags_are_those_of_the_analysis() {
    for case in all() {
        let name = case.of.name;
        let mut places = BTreeMap::new();
        for cell in case.of.analysis.groups.iter().flat_map(Group::all_cells) {
            let kinds = [
                ("", &cell.trials),
                ("void", &cell.void),
                ("left-out", &cell.left_out),
            ];
            for (kind, trials) in kinds {
                places.extend(trials.iter().map(|trial| (trial.record, (kind, trial))));
            }
        }
        let trials = case.rows.iter().filter(|row| !row["block"].is_empty());
        let trials: Vec<&Row> = trials.collect();
        let trials = trials.chunk_by(|one, next| trial_of(one) == trial_of(next));
        for (record, rows) in trials.enumerate() {
            let (kind, trial) = places[&record];
            let expected = match (kind, &trial.verdict) {
                (_, TrialVerdict::Failed { .. }) => "failed",
                ("", TrialVerdict::GeneratorLimited { .. }) => "generator-limited",
                ("", _) => "counts",
                (kind, _) => kind,
            };
            let planned = &case.of.record.trials[record];
            for row in rows {
                assert_eq!(row["outcome"], expected, "{name}: {row:?}");
                assert_eq!(row["block"], planned.block.to_string(), "{name}");
                assert_eq!(row["attempt"], planned.attempt.to_string(), "{name}");
                assert_eq!(row["workload"], planned.cell.workload, "{name}");
                assert_eq!(row["point"], planned.cell.point, "{name}");
            }
        }
    }
}

#[test]
fn every_row_is_a_line_with_as_many_fields_as_the_head() {
    for case in all() {
        let (name, lines) = (case.of.name, case.lines());
        assert_eq!(lines.len(), case.rows.len() + 1, "{name}");
        for line in lines {
            let is_text = |c: char| !c.is_control() && c != '\u{202e}';
            assert!(line.chars().all(is_text), "{name}: {line:?}");
        }
    }
    let rows = &ugly().rows;
    let names: BTreeSet<&str> = rows.iter().map(|row| row["target"].as_str()).collect();
    let shown = "comma, \"quote\"\\r\\nGröße 大小\\u{202e}:a;b";
    assert_eq!(names, BTreeSet::from([shown, "late"]));
    assert!(rows.iter().any(|row| row["variant"] == "a;b"));
}

#[test]
fn no_trial_and_no_stack_is_missing() {
    for Case { of, rows, .. } in all() {
        let (name, record) = (of.name, &of.record);
        let trials = rows.iter().filter(|row| !row["block"].is_empty());
        let told: BTreeSet<_> = trials.map(trial_of).collect();
        assert_eq!(told.len(), record.trials.len(), "{name}");
        let targets: BTreeSet<&str> = rows.iter().map(|row| row["target"].as_str()).collect();
        for asked in &record.header.targets {
            let asked = asked.target.to_string();
            let is_there = targets.contains(asked.as_str()) || asked == UGLY;
            assert!(is_there, "{name}: {asked}");
        }
    }
    let rows = &Case::named("failures-only").rows;
    let lost = |target: &str| {
        let row = rows.iter().find(|row| row["target"] == target).unwrap();
        (row["outcome"].as_str(), row["reason"].clone())
    };
    let unavailable = lost("elixir-bandit");
    assert_eq!(unavailable.0, "unavailable");
    assert!(unavailable.1.contains("apt-get install elixir"));
    assert_eq!(lost("bad-build").0, "failed");
    assert_eq!(lost("bad-json").0, "failed");
    let rows = &Case::named("nothing").rows;
    assert_eq!(rows.len(), 1);
    assert_eq!(rows[0]["outcome"], "not-measured");
}

/// What tells a row's trial from the one before it.
fn trial_of(row: &Row) -> [&str; 4] {
    ["block", "position", "attempt", "target"].map(|at| row[at].as_str())
}

/// A row's figure, whether it counts or not.
fn figure(row: &Row) -> f64 {
    number(&format!("{}{}", row["value"], row["uncounted_value"]))
}

fn number(text: &str) -> f64 {
    text.parse().unwrap_or_else(|_| panic!("{text:?}"))
}

/// What counts of each cell and metric: target, workload, load point and metric.
fn counted(rows: &[Row]) -> BTreeMap<[&str; 4], Vec<f64>> {
    let mut counted = BTreeMap::<_, Vec<f64>>::new();
    for row in rows.iter().filter(|row| !row["value"].is_empty()) {
        let at = ["target", "workload", "point", "metric"].map(|column| row[column].as_str());
        counted.entry(at).or_default().push(number(&row["value"]));
    }
    counted
}

#[test]
fn what_stands_in_value_is_what_the_estimates_are_made_from() {
    let mut void = 0;
    for Case { of, rows, .. } in all() {
        let (name, analysis, rows) = (of.name, &of.analysis, &rows);
        let counted = counted(rows);
        let groups = analysis.groups.iter();
        for (group, cell) in groups.flat_map(|g| g.all_cells().map(move |cell| (g, cell))) {
            let target = cell.target.to_string();
            let median = |metric: &str| {
                let at = [&*target, &group.workload, &group.point.id, metric];
                let values = counted.get(&at).map_or(&[][..], Vec::as_slice);
                median_interval(values, analysis.settings.level).map(|found| found.median)
            };
            let found = cell.estimates.as_ref();
            let pairs = [
                ("throughput", found.map(|e| e.throughput_per_second.median)),
                (
                    "pss_peak",
                    found.and_then(|e| Some(e.pss_peak_bytes?.median)),
                ),
                ("ready", found.map(|e| e.ready_seconds.median)),
                (
                    "voluntary_switches_per_request",
                    found.and_then(|e| Some(e.voluntary_switches_per_request?.median)),
                ),
                (
                    "cpu_per_request",
                    found.and_then(|e| Some(e.cpu_us_per_request?.median / 1e6)),
                ),
            ];
            for (metric, estimate) in pairs {
                let target = &cell.target;
                match (median(metric), estimate) {
                    (Some(own), Some(other)) => {
                        let close = (own - other).abs() <= 1e-12 * other.abs();
                        assert!(close, "{name} {target} {metric}: {own}, not {other}");
                    }
                    (own, other) => assert_eq!(own, other, "{name} {target} {metric}"),
                }
            }
        }
        for row in rows {
            let both = !row["value"].is_empty() && !row["uncounted_value"].is_empty();
            assert!(!both, "{name}: {row:?}");
            if ["void", "failed", "left-out"].contains(&row["outcome"].as_str()) {
                assert!(row["value"].is_empty(), "{name}: {row:?}");
                assert!(!row["reason"].is_empty(), "{name}: {row:?}");
            }
            void += usize::from(row["outcome"] == "void" && row["metric"] == "throughput");
        }
    }
    assert!(void > 10, "{void} void trials are in the tables");
}

#[test]
fn a_metric_counts_in_all_counted_trials_of_a_cell_or_in_none() {
    // One trial of two has no switches, and too few answers for the p99 of the other.
    let session = Session::new(2).workload("json", &[50]).stack("a");
    let session = session.measured(2, |_, block| match block {
        0 => good(Found::at(2_000.0)),
        _ => {
            let mut trial = measured(Found::at(900.0));
            trial.resources.voluntary_switches = None;
            TrialOutcome::Measured(Box::new(trial))
        }
    });
    let record = session.build();
    let rows = read(&csv(&record, &analyse(&record)));
    let of = |metric: &str| {
        let rows = rows.iter().filter(|row| row["metric"] == metric);
        let shown = rows.map(|row| (row["value"].is_empty(), row["reason"].as_str()));
        shown.collect::<Vec<_>>()
    };
    let other = "another trial of its cell has it not, or on too few requests";
    assert_eq!(of("throughput"), [(false, ""); 2]);
    assert_eq!(of("voluntary_switches_per_request"), [(true, other)]);
    let few = "on 9,000 requests, and p99 takes 10,000";
    assert_eq!(of("service_time_p99"), [(true, other), (true, few)]);
}

#[test]
fn figures_are_those_of_the_analysis_to_the_last_digit() {
    for case in all() {
        // By the row's trial, which its place in the session identifies, and its metric.
        let mut written = BTreeMap::new();
        let trials = case
            .rows
            .chunk_by(|one, next| trial_of(one) == trial_of(next));
        for (record, rows) in trials.enumerate() {
            let figures = rows.iter().filter(|row| !row["metric"].is_empty());
            written.extend(figures.map(|row| ((record, row["metric"].as_str()), figure(row))));
        }
        let cells = case.of.analysis.groups.iter().flat_map(Group::all_cells);
        let trials =
            cells.flat_map(|cell| cell.trials.iter().chain(&cell.void).chain(&cell.left_out));
        for trial in trials {
            let Some(figures) = &trial.figures else {
                continue;
            };
            let times = figures.service_time.as_ref();
            let open = figures.open.as_ref();
            let response = open.and_then(|open| open.response_time.as_ref());
            let expected = [
                ("throughput", Some(figures.throughput_per_second)),
                ("cores_used", figures.cores_used),
                ("pss_mean", figures.pss_mean_bytes),
                ("service_time_mean", times.map(|times| times.mean_seconds)),
                ("service_time_p99", times.and_then(|times| times.at(99.0))),
                (
                    "response_time_max",
                    response.and_then(|times| times.at(100.0)),
                ),
                ("offered_rate", open.map(|open| open.offered_per_second)),
                ("trend_change", figures.trend.map(|trend| trend.change)),
            ];
            for (metric, value) in expected {
                let written = written.get(&(trial.record, metric)).copied();
                assert_eq!(written, value, "{} {} {metric}", case.of.name, trial.record);
            }
        }
    }
}

#[test]
fn requests_add_up_in_every_trial() {
    let mut trials = 0;
    for Case { of, rows, .. } in all() {
        let name = of.name;
        for rows in rows.chunk_by(|one, next| trial_of(one) == trial_of(next)) {
            if rows[0]["metric"].is_empty() {
                continue;
            }
            let of = |metric: &str| {
                let row = rows.iter().find(|row| row["metric"] == metric);
                figure(row.unwrap_or_else(|| panic!("{name}: no {metric}")))
            };
            let kinds = |prefix: &str| {
                let kinds = rows.iter().filter(|row| row["metric"].starts_with(prefix));
                kinds.map(figure).sum::<f64>()
            };
            assert_eq!(kinds("failed_"), of("failed"), "{name}");
            assert_eq!(kinds("load_failed_"), of("load_failed"), "{name}");
            // The load that this file breaks by hand does not add up, and its trial has failed.
            if rows[0]["outcome"] != "failed" {
                let ended = of("succeeded") + of("failed");
                let carried = of("carried_succeeded") + of("carried_failed");
                let known = ended + carried + of("in_flight");
                assert_eq!(of("carried_in") + of("issued"), known, "{name}");
            }
            trials += 1;
        }
    }
    assert!(trials > 100, "{trials} trials");
}

/// The tables under a heading of docs/report-csv.md, row by row, as cells.
fn documented(heading: &str) -> Vec<Vec<String>> {
    rows("report-csv.md", heading)
}

#[test]
fn every_column_is_described_in_order() {
    let described: Vec<String> = documented("## Columns")
        .iter()
        .flat_map(|cells| quoted(&cells[0]))
        .collect();
    assert_eq!(described, COLUMNS);
}

#[test]
fn every_metric_is_described_with_its_unit_and_every_description_has_its_metric() {
    let rows = documented("## Metrics");
    let described: BTreeSet<(String, String)> = rows
        .iter()
        .flat_map(|cells| quoted(&cells[0]).map(|name| (name, cells[1].clone())))
        .collect();
    let mut written = BTreeSet::new();
    for Case { rows, .. } in all() {
        let metrics = rows.iter().filter(|row| !row["metric"].is_empty());
        written.extend(metrics.map(|row| (row["metric"].clone(), row["unit"].clone())));
    }
    let missing: Vec<_> = written.difference(&described).collect();
    assert!(missing.is_empty(), "written and not described: {missing:?}");
    let idle: Vec<_> = described.difference(&written).collect();
    assert!(idle.is_empty(), "described and never written: {idle:?}");
}

#[test]
fn every_word_of_a_column_is_described() {
    let described: BTreeMap<String, BTreeSet<String>> = documented("## Columns")
        .iter()
        .map(|cells| {
            (
                cells[0].trim_matches('`').to_owned(),
                quoted(&cells[1]).collect(),
            )
        })
        .collect();
    for Case { of, rows, .. } in all() {
        let name = of.name;
        for row in rows {
            for column in ["control", "loop", "cell", "outcome", "flags"] {
                for word in row[column].split_whitespace() {
                    let is_there = described[column].contains(word);
                    assert!(is_there, "{name}: {word} of {column}");
                }
            }
        }
    }
}
