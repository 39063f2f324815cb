//! A heat's rules, with members and clocks that are values: nothing here waits.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, atomic::AtomicBool},
    time::Duration,
};

use deadheat_model::{
    Failure, TargetId, Wait,
    heat::{
        CpuUsed, Freezing, HeatEnd, HeatPlan, HeatRecord, MemberRecord, Role, Rounds, SLICE_SPREAD,
        SliceFlag, WarmUpRule,
    },
    observation::WorkerHealth,
};

use super::{
    Entry, EqualWork, Heat, HeatError, MeasuredSlice, Offer, WarmUps,
    fakes::{Fake, MS, Shared, answers},
    run,
};

const PLAN: HeatPlan = HeatPlan {
    slice: Duration::from_millis(100),
    guard: Duration::from_millis(20),
    rounds: Rounds::Count { rounds: 4 },
    freeze: true,
    wait: Wait::Sleep,
    memory_every: Duration::ZERO,
};

/// Steady after four slices at the earliest and eight at the latest.
const RULE: WarmUpRule = WarmUpRule {
    least: Duration::from_millis(400),
    most: Duration::from_millis(808),
    slice: Duration::from_millis(100),
    pause: Duration::ZERO,
    look: 4,
    bound: 0.05,
};

fn entry(fake: Fake) -> Entry<'static> {
    Entry {
        is_kept: false,
        target: TargetId::new(format!("stack{}", fake.place), None),
        role: Role::Member,
        warm_ups: WarmUps {
            started: RULE,
            at_a_rate: None,
        },
        member: Box::new(fake),
    }
}

/// Whether a slice is as long as it was planned, give or take what is random.
fn is_about(window: Duration, planned: Duration) -> bool {
    let ratio = window.as_secs_f64() / planned.as_secs_f64();
    (1.0 - SLICE_SPREAD..1.0 + SLICE_SPREAD).contains(&ratio)
}

/// A heat of these members, one after another in every round.
fn heat(fakes: Vec<Fake>) -> Heat<'static> {
    Heat {
        number: 3,
        plan: PLAN,
        orders: vec![(0..fakes.len()).collect()],
        seed: 1,
        entries: fakes.into_iter().map(entry).collect(),
        equal_work: Vec::new(),
        least: 1,
    }
}

fn run_heat(heat: Heat<'_>, shared: &Shared) -> HeatRecord {
    run_parts(heat, shared).remove(0)
}

/// The records of the rounds and of each rate.
fn run_parts(heat: Heat<'_>, shared: &Shared) -> Vec<HeatRecord> {
    let parts = run(heat, "now".to_owned(), shared, &AtomicBool::new(false)).unwrap();
    assert_eq!(shared.stage().there, BTreeSet::new(), "all were stopped");
    parts
}

/// Of so many members, of which the second is made by `change`.
fn with_second(count: usize, change: impl FnOnce(Fake) -> Fake) -> (HeatRecord, Shared) {
    let shared = Shared::default();
    let mut fakes: Vec<Fake> = (0..count).map(|place| Fake::new(place, &shared)).collect();
    let second = fakes.remove(1);
    fakes.insert(1, change(second));
    let record = run_heat(heat(fakes), &shared);
    (record, shared)
}

/// The members of each round's slices.
fn order(record: &HeatRecord) -> Vec<Vec<u32>> {
    let rounds = record.rounds.iter();
    rounds
        .map(|round| round.iter().map(|slice| slice.member).collect())
        .collect()
}

/// The second member's failure: its reason, and from where on its slices mean nothing.
fn second_failure(record: &HeatRecord) -> (&str, Option<u32>) {
    let failure = record.members[1].failure.as_ref().unwrap();
    assert!(record.members[0].failure.is_none());
    (&failure.failure.reason, failure.void_from)
}

/// A member's slices before its rounds: four of its warm-up, and one that leads in.
const WARM: u32 = 5;

#[test]
fn members_are_started_one_after_another_in_the_first_order_and_loaded_in_turn() {
    let shared = Shared::default();
    let fakes = (0..2).map(|place| Fake::new(place, &shared)).collect();
    let mut heat = heat(fakes);
    heat.orders = vec![vec![1, 0], vec![0, 1]];
    heat.plan.rounds = Rounds::Count { rounds: 3 };
    let record = run_heat(heat, &shared);
    assert_eq!(order(&record), [[1, 0], [0, 1], [1, 0]]);
    assert_eq!(record.end, HeatEnd::Finished);
    let up = |place| {
        let before = ["start", "memory", "verify", "open"];
        let all = before
            .into_iter()
            .chain(["slice"; 4])
            .chain(["settle", "freeze"]);
        all.map(move |what| format!("{what} {place}"))
            .collect::<Vec<_>>()
    };
    let turn = |place| ["thaw", "slice", "freeze", "memory"].map(|what| format!("{what} {place}"));
    let again = |place| ["thaw", "verify", "freeze"].map(|what| format!("{what} {place}"));
    let expected: Vec<String> = [up(1), up(0)]
        .into_iter()
        .flatten()
        .chain([1, 0, 1, 0, 0, 1, 1, 0].into_iter().flat_map(turn))
        .chain([0, 1].into_iter().flat_map(again))
        .collect();
    assert_eq!(shared.stage().asked, expected);
    for member in &record.members {
        assert_eq!(
            (member.verified_before, member.verified_after),
            (Some(7), Some(7))
        );
        assert_eq!(member.freezing, Some(Freezing::CgroupV2));
        assert_eq!(member.memory.idle, Some(1_000));
        // After its sixth, seventh and eighth slice.
        assert_eq!(member.memory.mean, Some(1_007));
        assert_eq!(
            (member.memory.peak, member.memory.samples),
            (Some(1_008), 3)
        );
    }
    let slice = &record.rounds[0][1];
    assert!(is_about(slice.window, PLAN.slice));
    let busy = slice.cpu.unwrap().seconds / slice.window.as_secs_f64();
    assert!((busy - 0.5).abs() < 1e-6, "{busy}");
    let busy = slice.noise.unwrap().busy_seconds / slice.window.as_secs_f64();
    assert!((busy - 1.0).abs() < 1e-6, "{busy}");
    // The slice that led in ended a slice of the other's ago.
    assert_eq!(slice.gap, Some(slice.window + 21 * MS));
    assert_eq!(record.rounds[1][0].gap, Some(Duration::ZERO));
}

#[test]
fn nobody_is_frozen_where_the_plan_says_so() {
    let shared = Shared::default();
    let mut heat = heat(vec![Fake::new(0, &shared)]);
    heat.plan.freeze = false;
    let record = run_heat(heat, &shared);
    assert_eq!(record.members[0].freezing, Some(Freezing::Off));
    let asked = &shared.stage().asked;
    assert!(
        !asked
            .iter()
            .any(|what| what.starts_with("freeze") || what.starts_with("thaw"))
    );
}

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
    assert_eq!((took(0), took(1)), (604 * MS, 404 * MS));
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
    *shared.stage() = super::fakes::Stage::default();
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
fn one_that_does_not_start_or_answers_wrongly_at_first_is_left_out() {
    let (record, _) = with_second(3, |fake| Fake {
        starts: false,
        ..fake
    });
    assert_eq!(second_failure(&record), ("no such file", Some(0)));
    assert_eq!(order(&record), [[0, 2]; 4]);
    assert_eq!(record.members[1].command, Vec::<String>::new());
    let (record, shared) = with_second(3, |fake| Fake { right: 0, ..fake });
    assert_eq!(second_failure(&record), ("an old answer", Some(0)));
    assert!(!shared.stage().asked.contains(&"open 1".to_owned()));
}

#[test]
fn one_whose_services_were_not_asked_for_its_answers_is_left_out() {
    let (record, _) = with_second(2, |fake| Fake {
        services_agree: false,
        ..fake
    });
    assert_eq!(
        second_failure(&record),
        ("the database was not asked", Some(0))
    );
    assert_eq!(order(&record), [[0]; 4]);
}

#[test]
fn what_happened_before_the_rounds_flags_none_of_their_slices() {
    let (record, _) = with_second(2, |fake| {
        fake.doing(|slice, shared, seen| {
            if slice == WARM - 1 {
                seen.result.reconnected = 16;
                shared.stage().now.all += Duration::from_secs(60);
            }
        })
    });
    assert_eq!(flagged(&record), 0);
    assert_eq!(order(&record), [[0, 1]; 4]);
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

#[test]
fn one_that_dies_in_a_round_is_void_from_there_and_the_others_go_on() {
    let (record, _) = with_second(3, |fake| Fake {
        dies_after: WARM + 2,
        ..fake
    });
    let expected = ("stack1 was ended by SIGSEGV under load", Some(1));
    assert_eq!(second_failure(&record), expected);
    assert_eq!(
        order(&record),
        [vec![0, 1, 2], vec![0, 1, 2], vec![0, 2], vec![0, 2]]
    );
    assert_eq!(record.members[1].verified_after, None);
    assert_eq!(record.members[2].verified_after, Some(7));
}

#[test]
fn one_whose_answers_are_wrong_after_a_thaw_is_void_altogether() {
    let (record, _) = with_second(2, |fake| {
        fake.doing(|slice, _, seen| {
            if slice == WARM + 2 {
                for tally in [
                    &mut seen.result.observation.measured,
                    &mut seen.result.observation.total,
                ] {
                    tally.failed[Failure::WrongContent] = 1;
                    tally.issued += 1;
                }
            }
        })
    });
    let (reason, void_from) = second_failure(&record);
    assert_eq!(void_from, Some(0));
    assert_eq!(reason, "1 answers under load were wrong");
    assert_eq!(
        order(&record),
        [vec![0, 1], vec![0, 1], vec![0, 1], vec![0]]
    );
    let last = &record.rounds[2][1].tally;
    assert_eq!(
        last.failed[Failure::WrongContent],
        1,
        "what was seen is kept"
    );
}

#[test]
fn one_whose_load_lost_a_request_is_void_from_there_and_the_others_go_on() {
    let losing = |at: u32| {
        move |slice: u32, _: &Shared, seen: &mut MeasuredSlice| {
            if slice == at {
                seen.result.observation.total.issued += 1;
            }
        }
    };
    let reason = "the load generator's own figures do not add up";
    let (record, _) = with_second(3, |fake| fake.doing(losing(WARM + 2)));
    assert_eq!(second_failure(&record), (reason, Some(2)));
    let rounds = [vec![0, 1, 2], vec![0, 1, 2], vec![0, 1, 2], vec![0, 2]];
    assert_eq!(order(&record), rounds);
    let (record, _) = with_second(2, |fake| fake.doing(losing(0)));
    assert_eq!(second_failure(&record), (reason, Some(0)));
    assert_eq!(order(&record), [[0]; 4], "nothing after its warm-up");
}

#[test]
fn one_whose_answers_are_wrong_at_the_last_check_is_void_altogether() {
    let (record, _) = with_second(3, |fake| Fake { right: 1, ..fake });
    assert_eq!(second_failure(&record), ("an old answer", Some(0)));
    assert_eq!(order(&record), [[0, 1, 2]; 4]);
    let verified = record.members.iter().map(|member| member.verified_after);
    assert_eq!(verified.collect::<Vec<_>>(), [Some(7), None, Some(7)]);
}

#[test]
fn one_that_leaves_children_has_counted_and_is_told_of() {
    let (record, _) = with_second(2, |fake| Fake {
        leaves_children: true,
        ..fake
    });
    let expected = ("it left 2 of its processes behind", None);
    assert_eq!(second_failure(&record), expected);
    assert_eq!(record.members[1].verified_after, Some(7));
}

#[test]
fn connections_that_were_closed_while_it_was_frozen_are_flagged_and_it_goes_on() {
    let (record, _) = with_second(2, |fake| {
        fake.doing(|slice, _, seen| {
            if slice == WARM + 1 {
                seen.result.reconnected = 16;
            }
        })
    });
    let slice = &record.rounds[1][1];
    assert_eq!(
        (slice.reconnected, &slice.flags[..]),
        (16, &[SliceFlag::Reconnected][..])
    );
    assert_eq!(flagged(&record), 1);
    assert_eq!(record.end, HeatEnd::Finished);
}

/// How many slices have a flag.
fn flagged(record: &HeatRecord) -> usize {
    let slices = record.rounds.iter().flatten();
    slices.filter(|slice| !slice.flags.is_empty()).count()
}

#[test]
fn one_that_cannot_be_frozen_any_more_disturbs_nobody_and_what_it_measured_counts() {
    let (record, _) = with_second(2, |fake| Fake {
        // After its warm-up, the slice that leads in, and its first round.
        freezings: 3,
        ..fake
    });
    assert_eq!(second_failure(&record), ("not all of it was frozen", None));
    assert_eq!(order(&record), [vec![0, 1], vec![0, 1], vec![0], vec![0]]);
    assert_eq!(record.rounds[1][1].flags, [SliceFlag::Unfrozen]);
}

#[test]
fn how_a_member_is_frozen_is_recorded_with_the_reason() {
    let freezing = Freezing::Signals {
        reason: "no control group could be made that freezes".to_owned(),
    };
    let (record, _) = with_second(2, |fake| Fake {
        freezing: freezing.clone(),
        ..fake
    });
    assert_eq!(record.members[1].freezing, Some(freezing));
}

#[test]
fn a_machine_that_slept_flags_the_slice_and_nothing_waits_for_it() {
    let (record, _) = with_second(2, |fake| {
        fake.doing(|slice, shared, _| {
            if slice == WARM {
                shared.stage().now.all += Duration::from_secs(3_600);
            }
        })
    });
    assert_eq!(record.rounds[0][1].flags, [SliceFlag::Suspended]);
    assert_eq!(flagged(&record), 1);
    assert!(record.wall < Duration::from_secs(10));
}

#[test]
fn a_hypervisor_that_takes_half_of_the_cpu_is_recorded_slice_by_slice() {
    let (record, _) = with_second(2, |fake| {
        fake.doing(|slice, shared, seen| {
            if slice >= WARM {
                shared.stage().work.steal += 50 * MS;
                shared.pass(100 * MS);
                seen.result.drained = 200 * MS;
            }
        })
    });
    for round in &record.rounds {
        let steal = round.iter().map(|slice| slice.noise.unwrap().steal_seconds);
        assert_eq!(steal.collect::<Vec<_>>(), [0.0, 0.05]);
    }
    assert_eq!(record.end, HeatEnd::Finished);
}

#[test]
fn a_gap_in_which_servers_may_close_connections_is_flagged() {
    let (record, _) = with_second(2, |fake| {
        fake.doing(|slice, shared, _| {
            if slice == WARM {
                shared.pass(Duration::from_secs(2));
            }
        })
    });
    assert_eq!(record.rounds[1][0].flags, [SliceFlag::LongGap]);
    assert_eq!(flagged(&record), 1);
}

#[test]
fn one_that_stops_answering_is_given_up_after_two_slices() {
    let (record, _) = with_second(2, |fake| {
        fake.doing(|slice, _, seen| {
            if slice > WARM {
                seen.result.observation = answers(0, seen.result.observation.window);
                let total = &mut seen.result.observation.total;
                (total.issued, total.in_flight) = (16, 16);
            }
        })
    });
    let expected = ("2 slices in a row had no right answer", Some(2));
    assert_eq!(second_failure(&record), expected);
    assert_eq!(record.rounds[1][1].flags, [SliceFlag::Undrained]);
    // A slow one, whose answers come in the drain, is none of these.
    let (record, _) = with_second(2, |fake| {
        fake.doing(|_, _, seen| {
            let total = answers(16, seen.result.observation.window).total;
            seen.result.observation = answers(0, seen.result.observation.window);
            seen.result.observation.total = total;
        })
    });
    assert_eq!(order(&record), [[0, 1]; 4]);
}

#[test]
fn one_whose_connections_are_being_made_is_given_up_after_its_warm_up() {
    let until = |last: u32| {
        with_second(2, |fake| {
            fake.doing(move |slice, _, seen| {
                if slice <= last {
                    seen.result.observation = answers(0, seen.result.observation.window);
                    seen.result.observation.unmade.tls = 50;
                }
            })
        })
        .0
    };
    assert_eq!(order(&until(WARM - 1)), [[0, 1]; 4]);
    let why = "50 connections still waited for the server's part of the TLS handshake after the warm-up. If the server \
               makes them in the end, choose a longer --warm-up";
    assert_eq!(second_failure(&until(u32::MAX)), (why, Some(0)));
}

#[test]
fn one_that_is_loaded_on_some_of_its_connections_has_failed() {
    let of = |unmade: u64, reconnected: u64| {
        with_second(2, |fake| {
            fake.doing(move |slice, _, seen| {
                if slice > WARM {
                    let found = &mut seen.result.observation;
                    found.unmade.tls = unmade;
                    (0..50).for_each(|_| found.answers_per_connection.record(1));
                    seen.result.reconnected = reconnected;
                }
            })
        })
        .0
    };
    assert_eq!(order(&of(5, 0)), [[0, 1]; 4]);
    assert!(second_failure(&of(6, 0)).0.contains("6 connections"));
    let closes = of(6, 6);
    assert_eq!(
        order(&closes),
        [[0, 1]; 4],
        "a server that closes connections"
    );
}

#[test]
fn slices_through_which_the_generator_slept_are_no_failure_of_a_member() {
    // A worker that woke in the slice, and sent nothing because it had no connection, makes it one.
    for (awake, is_failed) in [(Duration::ZERO, false), (MS, true)] {
        let shared = Shared::default();
        let second = Fake::new(1, &shared).doing(move |slice, _, seen| {
            if slice > WARM {
                seen.result.observation = answers(0, seen.result.observation.window);
                seen.result.observation.workers = vec![WorkerHealth {
                    cpu: None,
                    cpu_time: Duration::ZERO,
                    polled: Duration::ZERO,
                    run_delay: None,
                    wall: awake,
                }];
            }
        });
        let record = run_heat(heat(vec![Fake::new(0, &shared), second]), &shared);
        assert_eq!(record.members[1].failure.is_some(), is_failed, "{awake:?}");
    }
}

#[test]
fn slices_and_guards_of_a_slow_member_are_as_long_as_its_answers_ask() {
    // The second one's answers all come in the drain of such slices, which takes 300 ms.
    let with_slow = |is_slow: fn(u32) -> bool| {
        let shared = Shared::default();
        let slow = Fake::new(1, &shared).doing(move |slice, _, seen| {
            if is_slow(slice) {
                let window = seen.result.observation.window;
                let total = answers(16, window).total;
                seen.result.observation = answers(0, window);
                seen.result.observation.total = total;
                seen.result.drained = 300 * MS;
            }
        });
        let heat = heat(vec![Fake::new(0, &shared), slow]);
        let (plan, warm) = (heat.plan, heat.entries[1].warm_ups.started.slice);
        let record = run_heat(heat, &shared);
        let times = |member: usize| {
            let mut slices = record.rounds.iter().flatten();
            let slice = slices
                .find(|slice| slice.member as usize == member)
                .unwrap();
            (slice.guard, slice.window)
        };
        (plan, [times(0), times(1)], warm + 300 * MS)
    };
    let (plan, times, answer) = with_slow(|_| true);
    let [short, long] = times;
    assert!(
        short.0 == plan.guard && is_about(short.1, plan.slice),
        "{short:?}"
    );
    assert!(
        long.0 == answer && is_about(long.1, 20 * answer),
        "{long:?}"
    );
    // All members of a round have the same share more or less.
    let share = |window: Duration, planned: Duration| window.as_secs_f64() / planned.as_secs_f64();
    let apart = share(short.1, plan.slice) - share(long.1, 20 * answer);
    assert!(apart.abs() < 1e-6, "{times:?}");
    // A single slice that the machine spoiled makes no slow server.
    let (_, times, _) = with_slow(|slice| slice == WARM - 1);
    assert_eq!(times, [short, short]);
}

#[test]
fn the_round_that_leads_in_is_no_longer_than_planned_where_answers_are_slow() {
    let shared = Shared::default();
    let lengths = Arc::<Mutex<Vec<Duration>>>::default();
    let noted = Arc::clone(&lengths);
    let slow = Fake::new(0, &shared).doing(move |_, _, seen| {
        noted.lock().unwrap().push(seen.result.observation.window);
        let total = answers(16, seen.result.observation.window).total;
        seen.result.observation = answers(0, seen.result.observation.window);
        seen.result.observation.total = total;
        seen.result.drained = 300 * MS;
    });
    let record = run_heat(heat(vec![slow]), &shared);
    let lengths = lengths.lock().unwrap();
    let (before, rounds) = lengths.split_at(lengths.len() - 4);
    assert_eq!(before.last(), Some(&PLAN.slice));
    let counted: Vec<Duration> = record.rounds.iter().map(|round| round[0].window).collect();
    assert_eq!(rounds, counted);
    assert!(counted.iter().all(|window| *window > 10 * PLAN.slice));
    assert!(
        counted.iter().any(|window| *window != counted[0]),
        "{counted:?}"
    );
}

#[test]
fn one_whose_load_breaks_is_left_out() {
    let (record, _) = with_second(2, |fake| Fake {
        is_loadable: false,
        ..fake
    });
    assert_eq!(second_failure(&record), ("a worker has gone", Some(0)));
    assert_eq!(order(&record), [[0]; 4]);
}

#[test]
fn a_heat_without_anybody_to_compare_ends() {
    let shared = Shared::default();
    let mut heat = heat((0..2).map(|place| Fake::new(place, &shared)).collect());
    heat.entries[0].role = Role::Ceiling;
    heat.entries[1].member = Box::new(Fake {
        dies_after: WARM + 1,
        ..Fake::new(1, &shared)
    });
    let record = run_heat(heat, &shared);
    assert_eq!(
        (record.end, order(&record)),
        (HeatEnd::Deserted, vec![vec![0, 1]])
    );
}

#[test]
fn a_heat_ends_when_too_few_are_left_to_be_compared() {
    let shared = Shared::default();
    let dies = Fake {
        dies_after: WARM + 1,
        ..Fake::new(1, &shared)
    };
    let mut heat = heat(vec![Fake::new(0, &shared), dies]);
    heat.least = 2;
    let record = run_heat(heat, &shared);
    assert_eq!(record.end, HeatEnd::Deserted);
    assert!(record.rounds.len() < 4, "{}", record.rounds.len());
}

#[test]
fn a_heat_by_time_finishes_the_round_that_it_began() {
    let shared = Shared::default();
    let mut heat = heat((0..2).map(|place| Fake::new(place, &shared)).collect());
    // A round takes 242 ms.
    let time = 500 * MS;
    heat.plan.rounds = Rounds::Time { time };
    let record = run_heat(heat, &shared);
    assert_eq!(order(&record), [[0, 1]; 3]);
}

#[test]
fn memory_is_read_as_often_as_the_plan_says() {
    let shared = Shared::default();
    let mut heat = heat((0..2).map(|place| Fake::new(place, &shared)).collect());
    // Every other round.
    heat.plan.memory_every = 300 * MS;
    let record = run_heat(heat, &shared);
    let samples = record.members.iter().map(|member| member.memory.samples);
    assert_eq!(samples.collect::<Vec<_>>(), [2, 2]);
}

const WORK: HeatPlan = HeatPlan {
    slice: Duration::from_secs(2),
    guard: Duration::from_secs(1),
    rounds: Rounds::Count { rounds: 1 },
    ..PLAN
};

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

/// The heat with these rates for all after its rounds.
fn at_rates(mut heat: Heat<'static>, rates: &[f64]) -> Heat<'static> {
    heat.equal_work = rates
        .iter()
        .map(|rate| {
            let per_second = *rate;
            EqualWork {
                plan: WORK,
                offer: Box::new(move |rounds| {
                    let loaded = |one: &MemberRecord| (one.failure.is_none()).then_some(true);
                    Some(Offer {
                        per_second,
                        is_loaded: rounds.members.iter().map(loaded).collect(),
                    })
                }),
            }
        })
        .collect();
    heat
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
fn orders_that_leave_somebody_out_are_refused_before_anything_starts() {
    let shared = Shared::default();
    let refused = |orders: Vec<Vec<usize>>| {
        let mut heat = heat((0..2).map(|place| Fake::new(place, &shared)).collect());
        heat.orders = orders;
        run(heat, String::new(), &shared, &AtomicBool::new(false)).unwrap_err()
    };
    let order = |round| HeatError::Order { round, members: 2 };
    assert_eq!(refused(Vec::new()), HeatError::NoOrder);
    assert_eq!(refused(vec![vec![0]]), order(0));
    assert_eq!(refused(vec![vec![0, 1], vec![1, 1]]), order(1));
    assert_eq!(refused(vec![vec![0, 1, 2]]), order(0));
    assert!(shared.stage().asked.is_empty());
}

/// Whatever a member is just asked for when the user wants to stop: it ends, nobody is loaded again, all are stopped,
/// and nobody is checked, which takes time.
#[test]
fn the_wish_to_stop_ends_a_heat_at_any_moment() {
    let questions = {
        let shared = Shared::default();
        let heat = heat(vec![Fake::new(0, &shared), Fake::new(1, &shared)]);
        run_heat(at_rates(heat, &[500.0]), &shared);
        shared.stage().asked.len()
    };
    for at in 0..questions {
        let shared = Shared::default();
        let stop = Arc::new(AtomicBool::new(false));
        let fakes = (0..2).map(|place| Fake {
            stop: Some((Arc::clone(&stop), at)),
            ..Fake::new(place, &shared)
        });
        let heat = at_rates(heat(fakes.collect()), &[500.0]);
        let parts = run(heat, String::new(), &shared, &stop).unwrap();
        let record = &parts[0];
        let stage = shared.stage();
        assert_eq!(stage.there, BTreeSet::new(), "stopped at {at}");
        let later = &stage.asked[at + 1..];
        let loads = later.iter().filter(|what| what.starts_with("slice"));
        // The one that has just been thawed has its slice, which the load generator ends at once.
        let was_thawed = stage.asked[at].starts_with("thaw") || stage.asked[at].starts_with("open");
        assert!(loads.count() <= usize::from(was_thawed), "{at}: {later:?}");
        let is_late = stage.asked[..at]
            .iter()
            .filter(|what| what.starts_with("verify"))
            .count()
            > 2;
        if record.rounds.len() < 4 {
            assert_eq!(record.end, HeatEnd::Interrupted, "stopped at {at}");
            assert!(!is_late);
        }
        // A heat counts with its equal work, or not at all.
        let is_interrupted = |part: &HeatRecord| part.end == HeatEnd::Interrupted;
        assert!(
            parts.iter().all(is_interrupted) || !parts.iter().any(is_interrupted),
            "stopped at {at}"
        );
    }
}
