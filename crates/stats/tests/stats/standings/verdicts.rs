//! Verdicts of sessions whose truth is known, steered until they are decided.

use deadheat_model::{
    TargetId,
    heat::SliceRecord,
    heats::{EndReason, SessionRecord},
};
use deadheat_simulation::Recorded;
use deadheat_stats::{
    heats::PairVerdict,
    standings::{Standings, standings},
};

use super::{quiet, steered};

/// Sessions of a property. Each takes some 20 ms.
const SESSIONS: u64 = 60;

/// All looks together err in at most 5 % of sessions, with noise as it was measured. Of 60 sessions 8 or more would be
/// that by chance in one of a hundred.
#[test]
fn equal_stacks_are_rarely_called_different_however_often_they_are_looked_at() {
    let plan = Recorded::measured(&[1.0, 1.0, 1.0]);
    let wrong = (0..SESSIONS).filter(|seed| {
        let found = standings(&steered(&plan, *seed));
        let table = found.loads[0].first_table().unwrap();
        let mut pairs = table.ranking.pairs.iter();
        pairs.any(|pair| pair.verdict == PairVerdict::Faster)
    });
    let wrong = wrong.count();
    assert!(wrong < 8, "{wrong} of {SESSIONS}");
}

#[test]
fn a_tenth_is_found() {
    let plan = Recorded::measured(&[1.0, 1.1]);
    let found = (0..SESSIONS).filter(|seed| {
        let found = standings(&steered(&plan, *seed));
        let table = found.loads[0].first_table().unwrap();
        table.ranking.verdict(1, 0) == Some(PairVerdict::Faster)
    });
    let found = found.count();
    assert!(found > 45, "{found} of {SESSIONS}");
}

#[test]
fn a_quiet_session_is_decided_at_its_first_look_and_ends() {
    let record = steered(&quiet(&[1.0, 1.2, 1.2]), 1);
    assert_eq!(record.end, Some(EndReason::Decided));
    assert_eq!(record.heats.len(), 8);
    let found = standings(&record);
    let load = &found.loads[0];
    assert!(load.settled);
    assert_eq!(load.look.unwrap().heats, 8);
    let table = load.first_table().unwrap();
    assert_eq!(table.ranking.verdict(2, 1), Some(PairVerdict::DeadHeat));
    assert_eq!(table.ranking.verdict(1, 0), Some(PairVerdict::Faster));
    let ranks: Vec<_> = table
        .rows
        .iter()
        .map(|row| {
            let rank = row.throughput_per_second.rank.unwrap();
            (row.target.clone(), rank.best, rank.worst)
        })
        .collect();
    let last = ranks.last().unwrap();
    assert_eq!(*last, (TargetId::new("stack-0", None), 3, 3));
    assert_eq!((ranks[0].1, ranks[0].2), (1, 2));
    assert_eq!((ranks[1].1, ranks[1].2), (1, 2));
}

/// Before the first look there are estimates, and no verdict on anything.
#[test]
fn before_the_first_look_nothing_is_decided() {
    let mut record = steered(&quiet(&[1.0, 2.0]), 1);
    record.heats.truncate(4);
    record.end = None;
    let found = standings(&record);
    let load = &found.loads[0];
    assert_eq!((load.heats, load.look, load.settled), (4, None, false));
    let table = load.first_table().unwrap();
    assert!(
        table
            .ranking
            .pairs
            .iter()
            .all(|pair| !pair.verdict.is_decided())
    );
    assert_eq!(table.rows[0].target.stack, "stack-1");
    let ratio = table.rows[1].behind.unwrap().ratio;
    assert!((ratio - 2.0).abs() < 0.05, "{ratio}");
}

/// What came after the last look counts only where the budget ended it.
#[test]
fn heats_beyond_a_look_count_only_when_the_budget_ended_the_session() {
    let mut plan = quiet(&[1.0, 1.0]);
    plan.until_decided = false;
    let mut record = steered(&plan, 3);
    record.heats.truncate(9);
    for (end, heats) in [
        (None, 8),
        (Some(EndReason::Interrupted), 8),
        (Some(EndReason::Budget), 9),
    ] {
        record.end = end;
        let found = standings(&record);
        assert_eq!(found.loads[0].look.unwrap().heats, heats, "{end:?}");
    }
}

/// The rounds in which it begins and ends have it for some members alone. They count for nobody, as all that it disturbs.
#[test]
fn a_minute_in_which_the_hypervisor_takes_half_of_the_cpus_changes_no_verdict() {
    let mut record = steered(&quiet(&[1.0, 1.1, 1.1]), 1);
    let before = standings(&record);
    let heats = record.heats[1..3].iter_mut();
    let rounds = heats.flat_map(|one| &mut one.heat.rounds);
    let slices: Vec<&mut SliceRecord> = rounds.flatten().collect();
    let count = slices.len();
    // It begins and ends in the middle of a round.
    for slice in slices.into_iter().skip(count / 8 + 1).take(3 * count / 4) {
        slice.tally.issued /= 2;
        slice.tally.succeeded /= 2;
        slice.noise.as_mut().unwrap().steal_seconds = 0.1;
    }
    let after = standings(&record);
    let has_steal = |found: &Standings| found.warnings.iter().any(|one| one.id == "steal");
    assert!(has_steal(&after), "{:?}", after.warnings);
    assert!(!has_steal(&before));
    let table = |found: &Standings| found.loads[0].first_table().unwrap().clone();
    let (before, after) = (table(&before), table(&after));
    for (a, b, verdict) in [(1, 0, PairVerdict::Faster), (2, 1, PairVerdict::DeadHeat)] {
        assert_eq!(before.ranking.verdict(a, b), Some(verdict));
        assert_eq!(after.ranking.verdict(a, b), Some(verdict));
    }
    for (before, after) in before.ranking.pairs.iter().zip(&after.ranking.pairs) {
        let moved = (before.ratio.unwrap() / after.ratio.unwrap()).ln();
        assert!(moved.abs() < 0.01, "{before:?} {after:?}");
    }
}

/// The CPU time of a server that Deadheat did not start is that of another program. Whether it takes more or less of the
/// CPUs in a slice must not decide whether the slice counts.
#[test]
fn what_is_always_taken_leaves_no_round_out() {
    let before = steered(&quiet(&[1.0, 1.1]), 1);
    let mut after = before.clone();
    let rounds = after.heats.iter_mut().flat_map(|one| &mut one.heat.rounds);
    for (nth, round) in rounds.enumerate() {
        for slice in round {
            // 20 % of two CPUs, and 40 % in every third round.
            let busy = if nth % 3 == 0 { 0.08 } else { 0.04 };
            slice.noise.as_mut().unwrap().busy_seconds += busy;
        }
    }
    let counted = |record: &SessionRecord| {
        let found = standings(record);
        let table = found.loads[0].first_table().unwrap().clone();
        table.rows.iter().map(|row| row.slices).collect::<Vec<_>>()
    };
    assert_eq!(counted(&before), counted(&after));
}
