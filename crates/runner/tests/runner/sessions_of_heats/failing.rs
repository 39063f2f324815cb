//! Stacks that fail in the middle of a session.

use std::time::Duration;

use deadheat_model::heat::{HeatEnd, SliceFlag};
use deadheat_runner::session::SessionOptions;

use super::{Bench, run, script};

#[test]
fn one_that_dies_under_load_leaves_its_heats_and_the_others_go_on() {
    let bench = Bench::new();
    let mut options = bench.options(&[("a", "none"), ("b", "dies-under-load"), ("c", "none")]);
    options.warm_up = Some(Duration::from_millis(500));
    let (record, _) = run(&options, script(2));
    for one in &record.heats {
        let [a, b, c] = &one.heat.members[..] else {
            panic!("{:?}", one.heat.members);
        };
        assert!(a.failure.is_none() && c.failure.is_none());
        let failure = b.failure.as_ref().unwrap();
        let reason = &failure.failure.reason;
        assert!(reason.contains("exited with status 9"), "{reason}");
        assert!(
            failure.failure.log_tail.join("\n").contains("out of paper"),
            "{failure:?}"
        );
        assert_eq!(one.heat.end, HeatEnd::Finished);
        assert!(one.is_complete());
    }
    bench.nobody_is_left();
}

#[test]
fn a_heat_whose_only_rival_fails_ends_and_counts_as_run() {
    let bench = Bench::new();
    let mut options = bench.options(&[("a", "none"), ("b", "right-then-wrong")]);
    // The failure ends the heat, however late it comes. The time only ends a broken test.
    options.heats.time = Some(Duration::from_secs(60));
    let (record, _) = run(&options, script(1));
    let heat = &record.heats[0].heat;
    assert_eq!(heat.end, HeatEnd::Deserted);
    let failure = heat.members[1].failure.as_ref().unwrap();
    assert!(failure.failure.reason.contains("were wrong"), "{failure:?}");
    assert_eq!(failure.void_from, Some(0));
    assert!(record.heats[0].is_complete());
}

/// A session of three stacks, of which the second one has a fault, whose pauses are long enough for it to notice.
fn with_pauses(bench: &Bench, fault: &str) -> SessionOptions {
    let mut options = bench.options(&[("a", "none"), ("b", fault), ("c", "none")]);
    options.warm_up = Some(Duration::from_secs(1));
    // A member waits for two slices, and the server notices 50 ms.
    options.heats.slice = Duration::from_millis(80);
    options.heats.time = Some(Duration::from_millis(800));
    options
}

#[test]
fn one_that_closes_its_connections_while_it_is_frozen_has_them_made_again() {
    let bench = Bench::new();
    let (record, _) = run(&with_pauses(&bench, "closes-idle"), script(1));
    let heat = &record.heats[0].heat;
    for member in &heat.members {
        assert!(member.failure.is_none(), "{:?}", member.failure);
    }
    let of = |place: u32| {
        let slices = heat.rounds.iter().flatten();
        let own = slices.filter(move |slice| slice.member == place);
        own.map(|slice| slice.reconnected).sum::<u64>()
    };
    assert!(of(1) > 0);
    assert_eq!((of(0), of(2)), (0, 0));
    let slices = heat.rounds.iter().flatten();
    for slice in slices.filter(|slice| slice.reconnected > 0) {
        assert!(slice.flags.contains(&SliceFlag::Reconnected), "{slice:?}");
        assert!(slice.tally.is_conserved());
    }
}

#[test]
fn one_that_answers_wrongly_after_a_thaw_counts_for_nothing_in_its_heat() {
    let bench = Bench::new();
    let (record, _) = run(&with_pauses(&bench, "wrong-after-a-pause"), script(1));
    let heat = &record.heats[0].heat;
    let failure = heat.members[1].failure.as_ref().unwrap();
    assert!(failure.failure.reason.contains("were wrong"), "{failure:?}");
    assert_eq!(failure.void_from, Some(0));
    assert_eq!(heat.end, HeatEnd::Finished);
    for place in [0, 2] {
        let member = &heat.members[place];
        assert!(member.failure.is_none() && member.verified_after.is_some());
    }
}
