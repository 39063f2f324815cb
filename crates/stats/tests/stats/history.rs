//! Several sessions: what is told to have changed, and a stack's figures over them.

use deadheat_model::{
    SessionRecord, TrialOutcome,
    change::Aspect,
    session::TargetState,
    trial::{Phase, TrialFailure},
};
use deadheat_stats::{history::History, verdict::CellVerdict};

use crate::fixture::{Found, Session, good};

fn session(rate: f64, change: impl FnOnce(&mut SessionRecord)) -> SessionRecord {
    Session::new(3)
        .workload("json", &[50])
        .stack("go-a")
        .stack("node-b")
        .measured(3, |_, block| good(Found::at(rate + f64::from(block))))
        .with(change)
        .build()
}

fn over(sessions: &[SessionRecord]) -> History {
    let mut history = History::default();
    for session in sessions {
        history.add(session, |cell| cell.target.stack == "go-a");
    }
    history
}

/// What changed at each session, as words.
fn told(history: &History) -> Vec<Vec<String>> {
    let told = |session: &deadheat_stats::history::PastSession| {
        let changes = session.changes.iter();
        changes.map(|change| change.what.clone()).collect()
    };
    history.sessions.iter().map(told).collect()
}

#[test]
fn what_changed_is_told_where_it_changed() {
    let history = over(&[
        session(1_000.0, |_| {}),
        session(1_000.0, |_| {}),
        session(1_000.0, |record| {
            record.header.machine.kernel = "7.0".to_owned();
            record.header.targets[1].versions[0].version = "9".to_owned();
        }),
    ]);
    assert_eq!(
        told(&history),
        [
            vec![],
            vec![],
            vec!["kernel".to_owned(), "node-b: node".to_owned()]
        ]
    );
    // Another stack's version is no reason for this one's figures.
    let own: Vec<Aspect> = history.series[0].points[2]
        .changes
        .iter()
        .map(|change| change.aspect)
        .collect();
    assert_eq!(own, [Aspect::Machine]);
}

#[test]
fn a_stack_that_was_away_is_compared_with_when_it_was_last_there() {
    let without = |record: &mut SessionRecord| {
        record.header.targets.remove(0);
    };
    let history = over(&[
        session(1_000.0, |_| {}),
        session(1_000.0, without),
        session(1_000.0, |record| {
            record.header.targets[0].versions[0].version = "1.27".to_owned();
        }),
    ]);
    assert_eq!(told(&history)[1], Vec::<String>::new());
    assert_eq!(told(&history)[2], ["go-a: go"]);
    // What changed while it was away is told at its next point as well.
    let away = |record: &mut SessionRecord| {
        record
            .header
            .plan
            .cells
            .retain(|cell| cell.target.stack != "go-a");
        record.header.machine.kernel = "7.0".to_owned();
    };
    let still = |record: &mut SessionRecord| record.header.machine.kernel = "7.0".to_owned();
    let gap = over(&[
        session(1.0, |_| {}),
        session(1.0, away),
        session(1.0, still),
    ]);
    let points = &gap.series[0].points;
    assert_eq!((points.len(), points[0].changes.len()), (2, 0));
    assert_eq!(points[1].changes[0].what, "kernel");
    let change = &history.sessions[2].changes[0];
    assert_eq!(
        (change.before.as_deref(), change.after.as_deref()),
        (Some("1.2.3"), Some("1.27"))
    );
}

#[test]
fn a_stack_that_is_unavailable_has_not_changed_its_versions() {
    let unavailable = |record: &mut SessionRecord| {
        record.header.targets[0].versions.clear();
        record.header.targets[0].state = TargetState::Unavailable {
            reason: "no go".to_owned(),
            remedy: "install it".to_owned(),
        };
    };
    let history = over(&[session(1_000.0, |_| {}), session(1_000.0, unavailable)]);
    assert_eq!(told(&history)[1], Vec::<String>::new());
    assert_eq!(history.sessions[1].stacks, 1);
}

#[test]
fn figures_come_with_their_intervals_and_a_failure_has_none() {
    let broken = session(1_000.0, |record| {
        record.trials[0].outcome = TrialOutcome::Failed(TrialFailure {
            phase: Phase::Load,
            reason: "it ended".to_owned(),
            log_tail: Vec::new(),
            load: None,
        });
    });
    let history = over(&[session(1_000.0, |_| {}), broken, session(2_000.0, |_| {})]);
    let [series] = &history.series[..] else {
        panic!(
            "one series, of the stack that was asked for: {:?}",
            history.series
        )
    };
    let medians: Vec<Option<f64>> = series
        .points
        .iter()
        .map(|point| Some(point.throughput_per_second?.median))
        .collect();
    assert_eq!(medians, [Some(1_001.0), None, Some(2_001.0)]);
    let interval = series.points[0]
        .throughput_per_second
        .unwrap()
        .interval
        .unwrap();
    assert_eq!((interval.low, interval.high), (1_000.0, 1_002.0));
    assert!(matches!(
        series.points[1].verdict,
        CellVerdict::Failed { .. }
    ));
    assert_eq!(
        series
            .points
            .iter()
            .map(|point| point.session)
            .collect::<Vec<_>>(),
        [0, 1, 2]
    );
}
