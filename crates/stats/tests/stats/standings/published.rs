//! Published tables beside a session whose truth is known.

use deadheat_model::{
    Cell, RepeatedTable, TargetId,
    heats::SessionRecord,
    published::RepeatedRow,
    session::{Phase, StackFailure, TargetRecord, TargetState, WorkloadFailure},
};
use deadheat_stats::standings::{
    AbsentBecause, Agreement, Bound, MeasuredSide, RowSides, standings,
};
use serde_json::json;

use super::{quiet, steered};

/// The speeds of the stacks, …
const SPEEDS: [f64; 5] = [1.0, 2.0, 0.5, 1.5, 1.0];
/// … and what was published of each: A is the baseline, and stack 3 answered nothing but errors.
const NAMES: [&str; 5] = ["A", "B", "C", "D", "E"];

fn table() -> RepeatedTable {
    let row = |name: &str, rate: f64| json!({"name": name, "target": "stack-0", "requests-per-second": rate});
    let mut errors = row("D", 9000.0);
    errors["complete"] = 5000.into();
    errors["non-2xx"] = 5000.into();
    let rows = [
        row("A", 1000.0),
        row("B", 2000.0),
        row("C", 4000.0),
        errors,
        json!({"name": "E", "target": "stack-0", "no-figures": "it hung"}),
        row("F", 700.0),
    ];
    let table = json!({
        "id": "text", "title": "A text", "workload": "plaintext", "baseline": "A",
        "load": {
            "command": "ab -n 5000 -c 50 http://localhost/",
            "requests": 5000, "connections": 50, "http": "1.0", "reuse": "per-request",
        },
        "row": rows,
    });
    let asked = |place: usize| RepeatedRow::Asked {
        cell: Cell {
            target: format!("stack-{place}").parse().unwrap(),
            workload: "plaintext".to_owned(),
            point: "c50".to_owned(),
        },
    };
    let left_out = RepeatedRow::LeftOut {
        reason: "the stack nim-f does not exist here".to_owned(),
    };
    RepeatedTable {
        document: "blog".to_owned(),
        title: "Some servers".to_owned(),
        source: "a page".to_owned(),
        machine: None,
        tool: "ab".to_owned(),
        remarks: Vec::new(),
        table: serde_json::from_value(table).unwrap(),
        rows: (0..NAMES.len()).map(asked).chain([left_out]).collect(),
    }
}

fn session() -> SessionRecord {
    let mut record = steered(&quiet(&SPEEDS), 1);
    record.header.published.push(table());
    record
}

fn row(record: &SessionRecord, name: &str) -> RowSides {
    let mut rows = standings(record).published.remove(0).rows.into_iter();
    rows.find(|row| row.name == name).unwrap()
}

#[test]
fn ratios_are_against_the_same_row_on_both_sides() {
    let record = session();
    let ratio = |name: &str| row(&record, name).measured_ratio.unwrap();
    let (b, c) = (ratio("B"), ratio("C"));
    assert!((b.ratio / 2.0 - 1.0).abs() < 0.05, "{b:?}");
    assert!((c.ratio / 0.5 - 1.0).abs() < 0.05, "{c:?}");
    for found in [b, c] {
        let interval = found.interval.unwrap();
        assert!(interval.low < found.ratio && found.ratio < interval.high);
        assert!(interval.high / interval.low < 1.2, "{interval:?}");
    }
    assert_eq!(row(&record, "B").agreement, Some(Agreement::Within));
    assert_eq!(row(&record, "C").agreement, Some(Agreement::Reversed));
    let baseline = row(&record, "A");
    assert_eq!(baseline.published_ratio, Some(1.0));
    assert_eq!((baseline.measured_ratio, baseline.agreement), (None, None));
}

#[test]
fn what_was_not_valid_has_no_published_ratio() {
    let record = session();
    let errors = row(&record, "D");
    assert_eq!(errors.published_per_second, Some(9000.0));
    assert_eq!(
        (errors.published_valid, errors.published_ratio),
        (false, None)
    );
    assert!(errors.measured_ratio.is_some() && errors.agreement.is_none());
    assert_eq!(row(&record, "E").published_per_second, None);
}

/// Its stack answers the workload wrongly.
fn wrong(target: &mut TargetRecord, reason: &str) {
    target.failed_workloads.push(WorkloadFailure {
        workload: "plaintext".to_owned(),
        failure: StackFailure {
            phase: Phase::VerifyBefore,
            reason: reason.to_owned(),
            log_tail: Vec::new(),
            load: None,
        },
    });
}

fn cell(record: &mut SessionRecord, place: usize) -> &mut Cell {
    match &mut record.header.published[0].rows[place] {
        RepeatedRow::Asked { cell } => cell,
        RepeatedRow::LeftOut { .. } => panic!("it is asked for"),
    }
}

#[test]
fn a_row_that_was_not_measured_says_why() {
    let mut record = session();
    // The plan has only what is ready.
    for (place, name) in [(1, "gone"), (2, "bad")] {
        let target = TargetId::new(name, None);
        cell(&mut record, place).target = target.clone();
        let known = record.header.targets[0].clone();
        record.header.targets.push(TargetRecord { target, ..known });
    }
    record.header.targets[5].state = TargetState::Unavailable {
        reason: "no toolchain".to_owned(),
        remedy: "deadheat setup".to_owned(),
    };
    wrong(&mut record.header.targets[6], "got 9 users");
    let because = |name: &str| match row(&record, name).measured {
        MeasuredSide::Absent {
            because, reason, ..
        } => (because, reason),
        other => panic!("{other:?}"),
    };
    assert_eq!(because("B").0, AbsentBecause::Unavailable);
    assert!(because("C").1.contains("got 9 users"), "{:?}", because("C"));
    let left_out = row(&record, "F");
    assert!(
        matches!(left_out.measured, MeasuredSide::LeftOut { .. }),
        "{left_out:?}"
    );
    assert_eq!(left_out.measured_ratio, None);
}

#[test]
fn a_lower_bound_makes_its_ratio_one() {
    let mut record = session();
    let limited = |record: &mut SessionRecord, stack: &str| {
        for heat in record.heats.iter_mut().map(|one| &mut one.heat) {
            let place = heat
                .members
                .iter()
                .position(|one| one.target.stack == stack)
                .unwrap();
            let slices = heat.rounds.iter_mut().flatten();
            for slice in slices.filter(|slice| slice.member as usize == place) {
                slice.generator.busiest = 0.99;
                slice.cpu.as_mut().unwrap().seconds /= 3.0;
            }
        }
    };
    limited(&mut record, "stack-1");
    let ratio = |record: &SessionRecord, name: &str| row(record, name).measured_ratio;
    let b = ratio(&record, "B").unwrap();
    assert_eq!((b.bound, b.interval), (Bound::AtLeast, None));
    limited(&mut record, "stack-0");
    assert_eq!(ratio(&record, "B"), None);
    assert_eq!(ratio(&record, "C").unwrap().bound, Bound::AtMost);
}

/// Loads of their own, other CPUs: there are estimates of both, and no heats with both.
#[test]
fn rows_that_no_ranking_compares_have_a_ratio_without_an_interval() {
    let mut record = session();
    record.header.plan.pinning = deadheat_model::plan::Pinning::Apart {
        server: vec![0, 1],
        generator: vec![2],
    };
    record.header.targets[0].cpus = Some(1);
    let b = row(&record, "B").measured_ratio.unwrap();
    assert!((b.ratio / 2.0 - 1.0).abs() < 0.05, "{b:?}");
    assert_eq!(b.interval, None);
}

#[test]
fn without_a_look_there_is_no_interval() {
    let mut record = session();
    record.heats.truncate(3);
    record.end = None;
    let b = row(&record, "B").measured_ratio.unwrap();
    assert_eq!(b.interval, None);
}

#[test]
fn a_stack_that_is_not_asked_for_at_a_load_does_not_lack_there() {
    let mut record = session();
    wrong(&mut record.header.targets[4], "wrong");
    let lacking = |record: &SessionRecord| standings(record).loads[0].lacking.len();
    let before = lacking(&record);
    cell(&mut record, 4).point = "c200".to_owned();
    assert_eq!(lacking(&record), before - 1);
}
