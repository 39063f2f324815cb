//! Several sessions: what is told to have changed, and a stack's figures over them.

use deadheat_compare::history::analysis::{History, PastSession};
use deadheat_model::{
    change::Aspect,
    heats::SessionRecord,
    session::{FoundVersion, TargetState},
};
use deadheat_stats::standings::AbsentBecause;

use crate::sessions::{died, member, quiet, steered};

/// Two stacks, stack-0 at `speed`.
fn session(speed: f64, change: impl FnOnce(&mut SessionRecord)) -> SessionRecord {
    let mut record = steered(&quiet(&[speed, 1.0]), 1);
    for target in &mut record.header.targets {
        target.versions = vec![FoundVersion {
            name: "go".to_owned(),
            version: "1.25".to_owned(),
        }];
    }
    change(&mut record);
    record
}

/// The history of these sessions, with the figures of stack-0.
fn over(sessions: &[SessionRecord]) -> History {
    let mut history = History::default();
    for session in sessions {
        history.add(session, |target, _| target.stack == "stack-0");
    }
    history
}

/// What changed at each session, as words.
fn told(history: &History) -> Vec<Vec<String>> {
    let told = |session: &PastSession| {
        let changes = session.changes.iter();
        changes.map(|change| change.name()).collect()
    };
    history.sessions.iter().map(told).collect()
}

fn newer_kernel(record: &mut SessionRecord) {
    record.header.machine.kernel = "7.0".to_owned();
}

/// Neither planned nor measured.
fn without_the_first(record: &mut SessionRecord) {
    record.header.targets.remove(0);
    record.header.plan.loads[0].targets.remove(0);
    record.heats.clear();
}

#[test]
fn what_changed_is_told_where_it_changed() {
    let history = over(&[
        session(1.0, |_| {}),
        session(1.0, |_| {}),
        session(1.0, |record| {
            newer_kernel(record);
            record.header.targets[1].versions[0].version = "9".to_owned();
        }),
    ]);
    assert_eq!(told(&history)[..2], [[""; 0]; 2]);
    assert_eq!(told(&history)[2], ["kernel", "stack-1: go"]);
    // Another stack's version is no reason for this one's figures.
    let changes = history.series[0].points[2].changes.iter();
    let own: Vec<Aspect> = changes.map(|change| change.aspect).collect();
    assert_eq!(own, [Aspect::System]);
}

#[test]
fn a_stack_that_was_away_is_compared_with_when_it_was_last_there() {
    let history = over(&[
        session(1.0, |_| {}),
        session(1.0, |record| {
            newer_kernel(record);
            without_the_first(record);
        }),
        session(1.0, |record| {
            newer_kernel(record);
            record.header.targets[0].versions[0].version = "1.27".to_owned();
        }),
    ]);
    assert_eq!(told(&history)[1], ["kernel"]);
    assert_eq!(told(&history)[2], ["stack-0: go"]);
    let change = &history.sessions[2].changes[0];
    assert_eq!(
        (change.before.as_deref(), change.after.as_deref()),
        (Some("1.25"), Some("1.27"))
    );
    // What changed while it was away is told at its next point as well.
    let points = &history.series[0].points;
    assert_eq!((points.len(), points[0].changes.len()), (2, 0));
    assert_eq!(points[1].changes.len(), 2);
    assert_eq!(points[1].changes[0].what, "kernel");
}

#[test]
fn a_stack_that_is_unavailable_has_not_changed_its_versions() {
    let unavailable = |record: &mut SessionRecord| {
        let (reason, remedy) = ("no go".to_owned(), "install it".to_owned());
        record.header.targets[0].versions.clear();
        record.header.targets[0].state = TargetState::Unavailable { reason, remedy };
        record.header.plan.loads[0].targets.remove(0);
        record.heats.clear();
    };
    let history = over(&[session(1.0, |_| {}), session(1.0, unavailable)]);
    assert!(told(&history)[1].is_empty());
    assert_eq!(history.sessions[1].stacks, 1);
    let point = &history.series[0].points[1];
    let absent = point.absent.as_ref().map(|absent| absent.is);
    assert_eq!(absent, Some(AbsentBecause::Unavailable));
}

#[test]
fn figures_are_those_of_the_standings_and_a_failure_has_none() {
    let broken = session(1.0, |record| {
        for heat in &mut record.heats {
            member(heat, "stack-0").failure = died("it ended", 0);
        }
    });
    let history = over(&[session(1.0, |_| {}), broken, session(2.0, |_| {})]);
    let [series] = &history.series[..] else {
        panic!("one series, of the stack that was asked for: {history:?}")
    };
    let rates: Vec<Option<f64>> = series
        .points
        .iter()
        .map(|point| Some(point.row.as_ref()?.throughput_per_second.value))
        .collect();
    let [Some(first), None, Some(last)] = rates[..] else {
        panic!("{rates:?}")
    };
    assert!((last / first - 2.0).abs() < 0.1, "{rates:?}");
    let failed = series.points[1].absent.as_ref().unwrap();
    assert_eq!(failed.is, AbsentBecause::Failed);
    assert!(failed.reason.contains("it ended"), "{failed:?}");
    let rank = series.points[2].row.as_ref().unwrap();
    let rank = rank.throughput_per_second.rank.unwrap();
    assert_eq!((rank.best, rank.worst, series.points[2].ranked), (1, 1, 2));
}
