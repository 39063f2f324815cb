//! Equal work after the rounds, and servers that go on.

use super::*;

#[test]
fn one_that_goes_on_is_no_fresh_process_and_is_left_to_the_next_heat() {
    let shared = Shared::default();
    let mut fakes: Vec<Fake> = (0..3).map(|place| Fake::new(place, &shared)).collect();
    fakes[1].loads_before = 2;
    // It fails, so that nothing is left of it.
    fakes[2].right = 1;
    let mut heat = heat(fakes);
    heat.entries[1].is_kept = true;
    heat.entries[2].is_kept = true;
    let record = run(heat, "now".to_owned(), &shared, &AtomicBool::new(false)).unwrap();
    let [fresh, gone_on, failed] = &record[0].members[..] else {
        panic!("three members");
    };
    assert_eq!((fresh.loads_before, gone_on.loads_before), (0, 2));
    assert!(fresh.ready.is_some() && gone_on.ready.is_none());
    assert!(fresh.memory.idle.is_some() && gone_on.memory.idle.is_none());
    assert!(fresh.memory_here().is_some() && gone_on.memory_here().is_none());
    assert!(gone_on.memory.peak.is_some() && gone_on.warm_up.is_some());
    assert!(failed.failure.is_some());
    let stage = shared.stage();
    assert_eq!(stage.there, BTreeSet::from([1]));
    assert_eq!(stage.awake, BTreeSet::new(), "it is frozen");
    assert_eq!(stage.asked.last().unwrap(), "keep 1");
}

#[test]
fn one_that_leaves_processes_behind_at_its_end_is_said_to_have_served_other_loads() {
    let reason = |loads_before: u32| {
        let shared = Shared::default();
        let mut fakes: Vec<Fake> = (0..2).map(|place| Fake::new(place, &shared)).collect();
        fakes[1].leaves_children = true;
        fakes[1].loads_before = loads_before;
        let record = run_heat(heat(fakes), &shared);
        let failure = record.members[1].failure.as_ref().unwrap();
        assert_eq!(failure.void_from, None);
        failure.failure.reason.clone()
    };
    let [fresh, used] = [0, 1].map(reason);
    assert!(
        used.starts_with(&fresh) && used.contains("had served another load before"),
        "{used}"
    );
}

#[test]
fn of_several_rounds_at_a_rate_every_second_one_is_in_reverse() {
    let shared = Shared::default();
    let mut heat = at_rates(
        heat((0..2).map(|place| Fake::new(place, &shared)).collect()),
        &[500.0],
    );
    heat.equal_work[0].plan.rounds = Rounds::Count { rounds: 2 };
    let parts = run_parts(heat, &shared);
    assert_eq!(order(&parts[1]), [[0, 1], [1, 0]]);
}

/// One that the hypervisor disturbed is measured again in its own direction, and there are twice as many at most. What is
/// always taken disturbs nothing.
#[test]
fn a_round_at_a_rate_of_which_the_hypervisor_took_too_much_is_measured_again() {
    let rounds = |stolen: fn(u32) -> bool| {
        let shared = Shared::default();
        shared.stage().work.cpus = 2;
        let second = Fake::new(1, &shared).doing(move |slice, shared, _| {
            if slice >= WARM + 4 && stolen(slice - WARM - 4) {
                shared.stage().work.steal += 500 * MS;
            }
        });
        let mut heat = at_rates(heat(vec![Fake::new(0, &shared), second]), &[500.0]);
        heat.equal_work[0].plan.rounds = Rounds::Count { rounds: 2 };
        order(&run_parts(heat, &shared)[1])
    };
    let (forward, back) = ([0, 1], [1, 0]);
    assert_eq!(rounds(|_| false), [forward, back]);
    assert_eq!(rounds(|_| true), [forward, back]);
    assert_eq!(rounds(|round| round == 0), [forward, back, forward]);
    assert_eq!(rounds(|round| round == 1), [forward, back, back]);
    assert_eq!(rounds(|round| round > 0), [forward, back, back, back]);
}

/// Requests that come one by one let it compile again.
#[test]
fn what_compiles_while_it_runs_is_warmed_up_at_a_rate_and_others_are_not() {
    let shared = Shared::default();
    let mut heat = at_rates(
        heat((0..2).map(|place| Fake::new(place, &shared)).collect()),
        &[500.0],
    );
    let rule = WarmUpRule {
        pause: 10 * MS,
        ..RULE
    };
    heat.entries[1].warm_ups.at_a_rate = Some(rule);
    let parts = run_parts(heat, &shared);
    let warm_up = |place: usize| parts[1].members[place].warm_up;
    assert_eq!(warm_up(0), None);
    let found = warm_up(1).unwrap();
    assert_eq!(found.rule, rule);
    assert!(found.steady && found.took >= found.rule.least, "{found:?}");
    let asked = shared.stage().asked.join(", ");
    let slices = "slice 1, ".repeat(rule.look as usize);
    let turns = format!("open at 500 1, {slices}freeze 1, thaw 0, open at 500 0");
    assert!(asked.contains(&turns), "{asked}");
    assert_eq!(order(&parts[1]), [[0, 1]]);
}

#[test]
fn each_rate_follows_the_rounds_with_one_long_slice_of_each_member_and_a_record_of_its_own() {
    let shared = Shared::default();
    let heat = heat((0..2).map(|place| Fake::new(place, &shared)).collect());
    let parts = run_parts(at_rates(heat, &[500.0, 900.0]), &shared);
    let [rounds, slow, fast] = &parts[..] else {
        panic!("{} parts", parts.len());
    };
    assert_eq!(
        parts.iter().map(|part| part.heat).collect::<Vec<_>>(),
        [3; 3]
    );
    for (part, rate) in [(slow, 500.0), (fast, 900.0)] {
        assert_eq!(
            (order(part), part.plan, part.end),
            (vec![vec![0, 1]], WORK, HeatEnd::Finished)
        );
        for (member, before) in part.members.iter().zip(&rounds.members) {
            assert_eq!(member.offered_per_second, Some(rate));
            assert_eq!(
                (member.ready, member.verified_after),
                (before.ready, Some(7))
            );
            assert_eq!((member.warm_up, member.memory.samples), (None, 1));
        }
        assert!(
            part.rounds[0]
                .iter()
                .all(|slice| slice.window == WORK.slice)
        );
        // In which it comes to, and three seconds of load, of each.
        assert!(part.wall >= Duration::from_millis(6_400) && part.wall < Duration::from_secs(7));
    }
    assert_eq!(rounds.members[0].offered_per_second, None);
    let asked = shared.stage().asked.join(", ");
    let turn = "memory 1, thaw 0, open at 500 0, thaw 0, slice 0, freeze 0, memory 0, thaw 1, open at 500 1";
    assert!(asked.contains(turn), "{asked}");
    assert_eq!(
        asked.matches("start").count() + asked.matches("verify").count(),
        6
    );
}

#[test]
fn who_fails_at_a_rate_keeps_its_rounds_and_who_failed_before_has_no_equal_work() {
    let at_rate = |change: fn(Fake) -> Fake| {
        let shared = Shared::default();
        let fakes = vec![Fake::new(0, &shared), change(Fake::new(1, &shared))];
        run_parts(at_rates(heat(fakes), &[500.0]), &shared)
    };
    // After its warm-up, four rounds, and the slice at the rate.
    let parts = at_rate(|fake| Fake {
        dies_after: WARM + 4 + 1,
        ..fake
    });
    assert!(parts[0].members[1].failure.is_none());
    let (reason, void_from) = second_failure(&parts[1]);
    assert_eq!(
        (reason, void_from),
        ("stack1 was ended by SIGSEGV under load", Some(0))
    );
    let parts = at_rate(|fake| Fake {
        dies_after: WARM + 2,
        ..fake
    });
    assert_eq!(second_failure(&parts[0]).1, Some(1));
    assert_eq!(second_failure(&parts[1]).1, Some(0));
    assert_eq!(order(&parts[1]), [[0]]);
    assert_eq!(parts[1].members[1].offered_per_second, None);
    // An answer that is wrong at the end makes all of it worthless.
    let parts = at_rate(|fake| Fake { right: 1, ..fake });
    for part in &parts {
        assert_eq!(second_failure(part), ("an old answer", Some(0)));
    }
}

#[test]
fn who_fails_and_has_lost_writes_keeps_no_round() {
    let losing = |fake| Fake {
        loses_writes: true,
        ..fake
    };
    let shared = Shared::default();
    let second = Fake {
        dies_after: WARM + 4 + 1,
        ..losing(Fake::new(1, &shared))
    };
    let heat = heat(vec![Fake::new(0, &shared), second]);
    for part in run_parts(at_rates(heat, &[500.0]), &shared) {
        let reason = "stack1 was ended by SIGSEGV under load; 2 writes are missing";
        assert_eq!(second_failure(&part), (reason, Some(0)));
    }
    let (record, _) = with_second(2, |fake| Fake {
        freezings: 3,
        ..losing(fake)
    });
    let reason = "not all of it was frozen; 2 writes are missing";
    assert_eq!(second_failure(&record), (reason, Some(0)));
}
