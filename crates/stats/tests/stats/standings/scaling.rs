//! What stacks gain from more CPUs, in sessions whose truth is known.

use deadheat_model::{TargetId, heats::EndReason, plan::Pinning};
use deadheat_simulation::Recorded;
use deadheat_stats::{
    heats::PairVerdict,
    standings::{Gain, LoadStandings, standings},
};

use super::steered;

/// Sessions of a property. Each takes some 20 ms.
const SESSIONS: u64 = 60;

/// Stacks with these speeds on 1 and on 2 CPUs, on a quiet machine.
pub fn budgets(speeds: &[[f64; 2]]) -> Recorded {
    named(Recorded::quiet(speeds.as_flattened()))
}

/// Two members in turn are one stack, on 1 and on 2 CPUs.
fn named(mut plan: Recorded) -> Recorded {
    for (place, (name, _)) in plan.stacks.iter_mut().enumerate() {
        let stack = TargetId::new(format!("stack-{}", place / 2), None);
        *name = stack.on_cpus(Some(1 + place as u32 % 2));
    }
    plan
}

/// What a stack gains from the second CPU.
fn gain(load: &LoadStandings, stack: usize) -> Gain {
    let [least, most] = &load.scaling[stack].budgets[..] else {
        panic!("two budgets: {:?}", load.scaling);
    };
    assert_eq!((least.cpus, most.cpus, least.gain), (1, 2, None));
    most.gain.expect("they can be compared")
}

#[test]
fn a_gain_has_its_ratio_interval_and_efficiency_and_equal_throughput_is_none() {
    let record = steered(&budgets(&[[1.0, 1.83], [1.5, 1.5], [1.0, 0.8]]), 1);
    assert_eq!(record.end, Some(EndReason::Decided));
    let found = standings(&record);
    let load = &found.loads[0];
    let groups: Vec<u32> = load.tables.iter().map(|table| table.group.cpus).collect();
    assert_eq!(groups, [2, 1], "each budget has its ranking");
    let names: Vec<String> = load
        .scaling
        .iter()
        .map(|one| one.target.to_string())
        .collect();
    assert_eq!(names, ["stack-0", "stack-1", "stack-2"]);
    for (stack, truth, verdict) in [
        (0, 1.83, PairVerdict::Faster),
        (1, 1.0, PairVerdict::DeadHeat),
        (2, 0.8, PairVerdict::Slower),
    ] {
        let gain = gain(load, stack);
        assert_eq!(gain.verdict, verdict, "{gain:?}");
        assert!((gain.ratio / truth - 1.0).abs() < 0.02, "{gain:?}");
        assert_eq!(gain.efficiency, gain.ratio / 2.0);
        let interval = gain.interval.unwrap();
        assert!(interval.low < truth && truth < interval.high, "{gain:?}");
        // Three statements share the error.
        let level = 1.0 - (1.0 - interval.level) * 3.0;
        assert!((level - (1.0 - load.look.unwrap().spends)).abs() < 1e-9);
    }
    assert!(load.scaling[0].budgets[0].cpu_us_per_request.is_some());
}

/// In 5 % of sessions at most, anything that is said of gains is wrong: of 60 sessions, 8 or more would be that by chance in one
/// of a hundred.
#[test]
fn intervals_hold_the_truth_together() {
    let truth = [[1.0, 1.9], [1.2, 1.2], [1.0, 1.05]];
    let plan = named(Recorded::measured(truth.as_flattened()));
    let wrong = (0..SESSIONS).filter(|seed| {
        let found = standings(&steered(&plan, *seed));
        truth.iter().enumerate().any(|(stack, [one, two])| {
            let interval = gain(&found.loads[0], stack).interval.unwrap();
            let truth = two / one;
            interval.low > truth || interval.high < truth
        })
    });
    let wrong = wrong.count();
    assert!(wrong < 8, "{wrong} of {SESSIONS}");
}

/// Each ranking has one stack, and is settled. That the gain is not keeps the session going.
#[test]
fn a_session_goes_on_until_gains_are_decided() {
    let mut plan = named(Recorded::measured(&[1.0, 1.0]));
    plan.looks = vec![8, 16, 24];
    let records: Vec<_> = (0..8).map(|seed| steered(&plan, seed)).collect();
    assert!(records.iter().any(|record| record.heats.len() > 8));
    for record in &records {
        let found = standings(record);
        let is_decided = gain(&found.loads[0], 0).verdict.is_decided();
        let ended = record.end.unwrap();
        assert_eq!(is_decided, ended == EndReason::Decided, "{ended:?}");
    }
}

#[test]
fn a_gain_is_a_lower_bound_where_the_generator_limits_the_larger_budget() {
    let mut record = steered(&budgets(&[[1.0, 1.8]]), 1);
    for heat in &mut record.heats {
        let members = &heat.heat.members;
        let larger = members.iter().position(|one| one.target.cpus == Some(2));
        let slices = heat.heat.rounds.iter_mut().flatten();
        for slice in slices.filter(|slice| Some(slice.member as usize) == larger) {
            slice.cpu.as_mut().unwrap().seconds = 0.05;
            slice.noise.as_mut().unwrap().busy_seconds = 0.15;
            slice.generator.busiest = 0.99;
        }
    }
    let found = standings(&record);
    let gain = gain(&found.loads[0], 0);
    assert!(found.loads[0].scaling[0].budgets[1].is_bound);
    assert_eq!(gain.interval.unwrap().high, f64::INFINITY);
    assert_eq!(gain.verdict, PairVerdict::Faster);
}

#[test]
fn beside_a_generator_on_the_same_cpus_a_gain_is_at_least_what_it_seems() {
    let mut record = steered(&budgets(&[[1.0, 1.8], [1.0, 1.0], [1.0, 0.8]]), 1);
    record.header.plan.pinning = Pinning::Off { cpus: vec![0, 1] };
    let found = standings(&record);
    let gains = [0, 1, 2].map(|stack| gain(&found.loads[0], stack));
    for (gain, verdict) in gains.iter().zip([
        PairVerdict::Faster,
        PairVerdict::Undecided,
        PairVerdict::Undecided,
    ]) {
        assert!(gain.is_bound && gain.interval.unwrap().high.is_infinite());
        assert_eq!(gain.verdict, verdict, "{gain:?}");
    }
}

#[test]
fn before_the_first_look_a_gain_is_an_estimate() {
    let mut record = steered(&budgets(&[[1.0, 1.8], [1.0, 1.0]]), 1);
    record.heats.truncate(4);
    record.end = None;
    let gain = gain(&standings(&record).loads[0], 0);
    assert_eq!(
        (gain.interval, gain.verdict),
        (None, PairVerdict::Undecided)
    );
    assert!((gain.ratio - 1.8).abs() < 0.1, "{gain:?}");
}
