//! Members that fail, and the others.

use super::*;

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
fn a_check_that_the_user_interrupted_is_no_failure() {
    let shared = Shared::default();
    let stop = Arc::new(AtomicBool::new(false));
    let fake = Fake {
        right: 0,
        // After its start and the reading of its memory.
        stop: Some((Arc::clone(&stop), 2)),
        ..Fake::new(0, &shared)
    };
    let parts = run(heat(vec![fake]), "now".to_owned(), &shared, &stop).unwrap();
    assert_eq!(parts[0].end, HeatEnd::Interrupted);
    assert_eq!(parts[0].members[0].failure, None);
    assert_eq!(parts[0].members[0].verified_before, None);
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
