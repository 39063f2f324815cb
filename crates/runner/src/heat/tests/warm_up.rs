//! Warm-ups.

use super::*;

#[test]
fn a_warm_up_goes_on_until_the_trend_is_within_bounds() {
    let growing = |until: u32| {
        move |slice: u32, _: &Shared, seen: &mut MeasuredSlice| {
            let count = 100 * u64::from(slice.min(until) + 1);
            seen.result.observation = answers(count, seen.result.observation.window);
        }
    };
    // The last four slices are alike once the sixth has ended.
    let (record, _) = with_second(2, |fake| fake.doing(growing(2)));
    let warm_up = record.members[1].warm_up.unwrap();
    assert_eq!((warm_up.steady, warm_up.took), (true, 606 * MS));
    assert_eq!(warm_up.trend, Some(0.0));
    let first = record.members[0].warm_up.unwrap();
    assert_eq!((first.steady, first.took), (true, 404 * MS));
    let (record, _) = with_second(2, |fake| fake.doing(growing(u32::MAX)));
    let warm_up = record.members[1].warm_up.unwrap();
    assert_eq!((warm_up.steady, warm_up.took), (false, RULE.most));
    assert!(warm_up.trend.unwrap() > RULE.bound);
    // It took all of the load, and more.
    assert_eq!(warm_up.settled, Some(RULE.most));
    assert!(!warm_up.settled_is_bound);
    // It is measured all the same: whether it counts is for the statistics to say.
    assert_eq!(order(&record)[3], [0, 1]);
}

#[test]
fn a_warm_up_records_when_the_member_had_settled_with_its_cpu_time_and_the_first_answers() {
    let (record, _) = with_second(2, |fake| {
        fake.doing(|slice, _, seen| {
            let count = 200 * u64::from(slice.min(2) + 1);
            let found = &mut seen.result.observation;
            *found = answers(count, found.window);
            let time = 9_000_000 / u64::from(slice + 1);
            (0..count).for_each(|_| found.service_time.record_ns(time));
        })
    });
    let warm_up = record.members[1].warm_up.unwrap();
    // 200, 400, then 600 answers in a slice. The CPU time before the load is in it.
    assert_eq!(
        (warm_up.settled, warm_up.settled_cpu),
        (Some(303 * MS), Some(330 * MS))
    );
    assert!(warm_up.steady && !warm_up.settled_is_bound);
    // The third slice brings the thousandth answer; the slowest are those of the first.
    assert_eq!(warm_up.first_answers, 1_200);
    let p99 = warm_up.first_p99.unwrap().as_secs_f64();
    assert!((p99 / 0.009 - 1.0).abs() < 0.01, "{p99}");
    // One that was as fast from the beginning had settled when it was first looked at.
    let first = record.members[0].warm_up.unwrap();
    assert_eq!(first.settled, Some(101 * MS));
    assert!(first.settled_is_bound);
    assert_eq!((first.first_answers, first.first_p99), (0, None));
}

#[test]
fn a_server_whose_answers_become_cheaper_is_not_steady_though_it_answers_as_many() {
    let (record, _) = with_second(2, |fake| {
        fake.doing(|slice, _, seen| {
            let seconds = 0.05 / f64::from(slice.min(2) + 1);
            seen.cpu = seen.cpu.map(|cpu| CpuUsed { seconds, ..cpu });
        })
    });
    let warm_up = record.members[1].warm_up.unwrap();
    assert_eq!((warm_up.steady, warm_up.took), (true, 606 * MS));
    assert_eq!((warm_up.trend, warm_up.cost_trend), (Some(0.0), Some(0.0)));
}

#[test]
fn a_server_that_was_frozen_for_long_is_left_alone_before_it_is_asked_again() {
    let wall = |warm_up: Duration| {
        let shared = Shared::default();
        let mut heat = heat(vec![Fake::new(0, &shared), Fake::new(1, &shared)]);
        let rule = &mut heat.entries[1].warm_ups.started;
        (rule.least, rule.most) = (warm_up, 2 * warm_up);
        let record = run_heat(heat, &shared);
        record.wall - record.members[1].warm_up.unwrap().took
    };
    // The first one waits for the second one's warm-up.
    assert_eq!(wall(3_000 * MS) - wall(1_000 * MS), 1_000 * MS);
}

#[test]
fn a_server_is_left_alone_between_the_slices_of_its_warm_up() {
    let shared = Shared::default();
    let mut heat = heat(vec![Fake::new(0, &shared), Fake::new(1, &shared)]);
    heat.entries[0].warm_ups.started.pause = 50 * MS;
    let record = run_heat(heat, &shared);
    let took = |place: usize| record.members[place].warm_up.unwrap().took;
    // Four slices each, all that is needed.
    assert_eq!((took(0), took(1)), (554 * MS, 404 * MS));
}

#[test]
fn more_rounds_lead_in_what_compiles_while_it_runs_and_all_have_the_last_one() {
    let shared = Shared::default();
    let mut heat = heat(vec![Fake::new(0, &shared), Fake::new(1, &shared)]);
    heat.entries[1].warm_ups.at_a_rate = Some(heat.entries[1].warm_ups.started);
    let order = heat.orders[0].clone();
    run_heat(heat, &shared);
    let asked = &shared.stage().asked;
    let slices = asked.iter().filter_map(|what| what.strip_prefix("slice "));
    let slices: Vec<usize> = slices.map(|place| place.parse().unwrap()).collect();
    // After four slices of each warm-up.
    let (lead_in, rounds) = slices[8..].split_at(6 + 2);
    assert_eq!(lead_in[..6], [1; 6]);
    assert_eq!(lead_in[6..], order);
    assert_eq!(rounds.len(), 2 * 4);
}

#[test]
fn a_server_has_its_rests_while_there_is_time() {
    let rested = |most: Duration| {
        let shared = Shared::default();
        let mut heat = heat(vec![Fake::new(0, &shared), Fake::new(1, &shared)]);
        let rule = &mut heat.entries[0].warm_ups.started;
        (rule.least, rule.most) = (1_100 * MS, most);
        rule.rest = 300 * MS;
        run_heat(heat, &shared).members[0].warm_up.unwrap().took
    };
    // Ten slices of 101 ms, a rest and one slice more.
    assert_eq!(rested(2_000 * MS), 1_411 * MS);
    // It is not left alone for longer than all may take.
    assert_eq!(rested(1_150 * MS), 1_150 * MS);
}

#[test]
fn where_cpu_time_is_not_known_throughput_alone_says_whether_a_member_is_steady() {
    let (record, _) = with_second(2, |fake| fake.doing(|_, _, seen| seen.cpu = None));
    let warm_up = record.members[1].warm_up.unwrap();
    assert_eq!((warm_up.steady, warm_up.took), (true, 404 * MS));
    assert_eq!(warm_up.cost_trend, None);
}

#[test]
fn where_all_are_needed_all_are_started_before_any_is_warmed_up() {
    let shared = Shared::default();
    let both = |starts| {
        let fakes = (0..2).map(|place| Fake {
            starts: starts || place == 0,
            ..Fake::new(place, &shared)
        });
        Heat {
            least: 2,
            ..heat(fakes.collect())
        }
    };
    let record = run_heat(both(false), &shared);
    assert_eq!(record.end, HeatEnd::Deserted);
    assert!(
        second_failure(&record).0.contains("no such file"),
        "{record:?}"
    );
    let loads = |shared: &Shared| {
        let stage = shared.stage();
        let first = stage
            .asked
            .iter()
            .position(|what| what.starts_with("slice"));
        let starts = stage.asked.iter().position(|what| what == "start 1");
        (first, starts)
    };
    assert_eq!(loads(&shared).0, None, "nobody is loaded for nothing");
    assert!(record.rounds.is_empty());
    *shared.stage() = super::super::fakes::Stage::default();
    let record = run_heat(both(true), &shared);
    assert_eq!(record.end, HeatEnd::Finished);
    let (first, start) = loads(&shared);
    assert!(
        start.is_some() && start < first,
        "{:?}",
        shared.stage().asked
    );
}

#[test]
fn a_warm_up_lasts_until_nearly_all_connections_are_made() {
    let warm_up = |unmade: u64| {
        let (record, _) = with_second(2, |fake| {
            fake.doing(move |slice, _, seen| {
                if slice < WARM + 1 {
                    seen.result.observation.unmade.tls = unmade;
                }
            })
        });
        record.members[1].warm_up.unwrap()
    };
    let (usual, longer) = (warm_up(0), warm_up(76));
    assert!(usual.steady && longer.steady);
    assert!(longer.took > usual.took, "{longer:?}");
}
