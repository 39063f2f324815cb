//! Which heat is next, and when there is enough.

use std::{collections::BTreeSet, time::Duration};

use deadheat_model::{
    heat::{HeatEnd, Role},
    heats::{Control, EndReason, Plan, SessionRecord, Step},
    workload::{OfferedRate, OpenLoad},
};
use deadheat_simulation::Recorded;
use deadheat_stats::{heats::PairVerdict, standings::standings, steering};

use super::{died, member, quiet, steered, two_loads};

fn members(record: &SessionRecord) -> Vec<Vec<String>> {
    let stacks = |heat: &deadheat_model::heats::MeasuredHeat| {
        let load = &record.header.plan.loads[0];
        let members = heat.heat.members.iter();
        let stacks = members.filter(|one| load.number(one).is_some_and(|n| n < load.targets.len()));
        stacks.map(|one| one.target.to_string()).collect()
    };
    record.heats.iter().map(stacks).collect()
}

#[test]
fn controls_take_turns_and_every_stack_has_its_twin() {
    let mut plan = quiet(&[1.0, 1.0, 1.0]);
    plan.until_decided = false;
    plan.looks = vec![10];
    let mut controls = Vec::new();
    let record = plan.run(1, &mut |record, spent| {
        let step = steering::next(record, spent);
        if let Step::Heat(next) = &step {
            controls.push(next.control);
        }
        step
    });
    assert_eq!(record.end, Some(EndReason::Finished));
    assert_eq!(controls.len(), 10);
    let ceilings = controls.iter().step_by(2);
    assert!(ceilings.clone().all(|one| *one == Some(Control::Ceiling)));
    let twins: BTreeSet<_> = controls
        .iter()
        .skip(1)
        .step_by(2)
        .filter_map(|one| match one {
            Some(Control::Twin { of }) => Some(*of),
            _ => None,
        })
        .collect();
    assert_eq!(twins, BTreeSet::from([0, 1, 2]));
}

#[test]
fn loads_take_turns_until_the_budget_ends() {
    // A heat: two stacks and a control, 30 rounds of 130 ms each, and 2 s of each for its start.
    let heat = Duration::from_millis(3 * 2_000 + 90 * 130);
    let plan = two_loads(&[1.0, 1.02], heat * 7 + Duration::from_secs(1));
    let record = steered(&plan, 1);
    assert_eq!(record.end, Some(EndReason::Budget));
    let loads: Vec<u32> = record.heats.iter().map(|one| one.load).collect();
    // Each of them is the first of a turn by turns.
    assert_eq!(loads, [0, 1, 0, 1, 1, 0, 1]);
    // The budget knows no result: its end is a look.
    let found = standings(&record);
    assert_eq!(found.loads[0].look.unwrap().heats, 3);
    assert_eq!(found.loads[1].look.unwrap().heats, 4);
}

/// What the heats of a session say of the next one.
fn thens(plan: &Recorded) -> Vec<(usize, Option<usize>)> {
    let mut thens = Vec::new();
    plan.run(1, &mut |record, spent| {
        let step = steering::next(record, spent);
        if let Step::Heat(next) = &step {
            thens.push((next.load, next.then));
        }
        step
    });
    thens
}

#[test]
fn the_processes_of_a_turn_serve_all_its_loads_unless_they_are_to_be_separate() {
    let mut plan = two_loads(&[1.0, 1.02, 1.04], Duration::from_secs(3_600));
    plan.until_decided = false;
    plan.looks = vec![5];
    // Each of them is the first with both kinds of control.
    let [forth, back] = [[(0, Some(1)), (1, None)], [(1, Some(0)), (0, None)]];
    assert_eq!(thens(&plan), [forth, forth, back, back, forth].concat());
    plan.separate_loads = true;
    assert!(thens(&plan).iter().all(|(_, then)| then.is_none()));
}

#[test]
fn where_not_everybody_has_a_seat_a_turn_has_the_same_stacks_at_each_load() {
    let mut plan = two_loads(&[1.0; 7], Duration::from_secs(36_000));
    plan.capacity = 4;
    plan.until_decided = false;
    plan.looks = vec![12];
    let record = steered(&plan, 1);
    let sets = record.heats.iter().map(|one| {
        let stacks = one.heat.members.iter();
        let stacks = stacks.filter(|one| one.role == Role::Member);
        stacks.map(|one| &one.target).collect::<BTreeSet<_>>()
    });
    let sets: Vec<_> = sets.collect();
    assert!(sets.chunks(2).all(|turn| turn[0] == turn[1]), "{sets:?}");
    let all: BTreeSet<_> = sets.into_iter().flatten().collect();
    assert_eq!(all.len(), 7);
}

#[test]
fn a_load_that_is_decided_leaves_its_time_to_the_others() {
    let mut plan = two_loads(&[1.0, 1.2], Duration::from_secs(3_600));
    plan.looks = vec![8, 16];
    let record = steered(&plan, 1);
    assert_eq!(record.end, Some(EndReason::Decided));
    let heats = |load| record.complete_heats(load).count();
    assert!((8..16).contains(&heats(0)) && (8..16).contains(&heats(1)));
}

/// A load whose stacks do not all fit a heat goes on until each of them has had enough starts.
#[test]
fn nothing_ends_before_each_stack_has_had_eight_heats() {
    let mut plan = quiet(&[1.0, 1.5, 2.2, 3.3, 5.0]);
    plan.capacity = 4;
    plan.looks = vec![8, 11, 16, 22];
    let record = steered(&plan, 1);
    assert_eq!(record.end, Some(EndReason::Decided));
    let rows = &standings(&record).loads[0].tables[0].rows;
    assert!(rows.iter().all(|row| row.heats >= 8), "{rows:?}");
    assert!(record.heats.len() > 8);
}

#[test]
fn with_few_seats_everybody_meets_and_the_anchor_is_always_there() {
    let mut plan = Recorded::measured(&[1.0, 1.01, 1.02, 1.03, 1.04, 1.05, 1.06]);
    plan.capacity = 4;
    plan.looks = vec![30];
    let record = steered(&plan, 1);
    let heats = members(&record);
    assert!(heats.iter().all(|heat| heat.len() == 3));
    assert!(
        heats
            .iter()
            .all(|heat| heat.contains(&"stack-0".to_owned()))
    );
    let met: BTreeSet<(&String, &String)> = heats
        .iter()
        .flat_map(|heat| {
            heat.iter()
                .flat_map(move |a| heat.iter().map(move |b| (a, b)))
        })
        .collect();
    assert_eq!(met.len(), 49, "all pairs, both ways, and each with itself");
    let found = standings(&record);
    assert_eq!(found.loads[0].first_table().unwrap().rows.len(), 7);
}

/// A stack that fails twice is given up, and the others go on.
#[test]
fn a_stack_that_failed_twice_gets_no_more_heats() {
    let mut plan = quiet(&[1.0, 1.0, 1.0]);
    plan.until_decided = false;
    let mut record = SessionRecord {
        heats: Vec::new(),
        ..steered(&plan, 1)
    };
    let mut whole = steered(&plan, 1).heats.into_iter();
    for expected in [vec![0, 1, 2], vec![0, 1, 2], vec![0, 2]] {
        match steering::next(&record, Duration::ZERO) {
            Step::Heat(mut next) => {
                next.members.sort_unstable();
                assert_eq!(next.members, expected);
            }
            other => panic!("{other:?}"),
        }
        let mut heat = whole.next().unwrap();
        member(&mut heat, "stack-1").failure = died("died", 3);
        record.heats.push(heat);
    }
}

#[test]
fn an_interrupted_heat_is_dealt_again_and_a_session_is_steered_by_its_record_alone() {
    let record = steered(&quiet(&[1.0, 1.3, 1.6]), 5);
    for heats in 0..record.heats.len() {
        let mut before = record.clone();
        before.heats.truncate(heats);
        let next = steering::next(&before, Duration::ZERO);
        let mut interrupted = before.clone();
        interrupted.heats.push(record.heats[heats].clone());
        interrupted.heats[heats].heat.end = HeatEnd::Interrupted;
        assert_eq!(
            steering::next(&interrupted, Duration::ZERO),
            next,
            "{heats}"
        );
    }
}

#[test]
fn one_stack_alone_is_measured_beside_the_null_server() {
    let record = steered(&quiet(&[1.0]), 1);
    assert_eq!(record.heats.len(), 8);
    let found = standings(&record);
    let rows = &found.loads[0].first_table().unwrap().rows;
    assert!((rows[0].throughput_per_second.value / 10_000.0 - 1.0).abs() < 0.1);
}

#[test]
fn without_stacks_there_is_nothing_to_measure() {
    let record = steered(&quiet(&[]), 1);
    assert_eq!(record.end, Some(EndReason::Nothing));
}

/// Stacks of these speeds with the usual noise, whose ratios are to be known this well.
fn precise(speeds: &[f64], precision: f64) -> Recorded {
    Recorded {
        until_decided: false,
        precision: Some(precision),
        looks: vec![8, 11, 15, 22],
        ..Recorded::measured(speeds)
    }
}

#[test]
fn a_precision_ends_a_session_at_the_first_checkpoint_that_reaches_it_and_not_before_eight_heats() {
    let width = |record: &SessionRecord| standings(record).loads[0].tables[0].half_width.unwrap();
    for (precision, expected) in [(0.5, 8), (0.043, 15), (0.0001, 22)] {
        let record = steered(&precise(&[1.0, 1.1, 1.2], precision), 2);
        assert_eq!(record.heats.len(), expected, "{precision}");
        let reached = width(&record).exp_m1();
        let (end, warned) = match expected {
            22 => (EndReason::Finished, true),
            _ => (EndReason::Precise, false),
        };
        assert_eq!((record.end, reached > precision), (Some(end), warned));
        let warnings = standings(&record).warnings;
        let warning = warnings.iter().find(|one| one.id == "imprecise");
        assert_eq!(warning.is_some(), warned, "{warnings:?}");
        // Until the end nobody is called faster.
        let mut running = record.clone();
        running.end = None;
        assert_eq!(standings(&running).loads[0].look, None);
        let look = standings(&record).loads[0].look.unwrap();
        assert_eq!(look.heats as usize, expected);
        for heats in 1..expected {
            running.heats.truncate(expected - heats);
            let next = steering::next(&running, Duration::ZERO);
            assert!(matches!(next, Step::Heat(_)), "{precision}: {next:?}");
        }
    }
}

#[test]
fn a_precision_is_reached_whoever_is_faster() {
    let heats = |speeds: &[f64], seed| steered(&precise(speeds, 0.04), seed).heats.len();
    let ends: Vec<usize> = (0..6).map(|seed| heats(&[1.0, 1.0], seed)).collect();
    for (seed, end) in ends.iter().enumerate() {
        assert_eq!(heats(&[1.0, 3.0], seed as u64), *end);
    }
    assert!(ends.iter().collect::<BTreeSet<_>>().len() > 1, "{ends:?}");
}

/// What [`deadheat_stats::sequential::SPENT_IF_NARROW`] was chosen by: 4.4, 5.1, 4.6, 4.3 and 2.7 %.
#[test]
#[ignore = "takes six minutes"]
fn a_precision_finds_differences_between_equal_stacks_as_rarely_as_other_sessions_do() {
    for (stacks, precision, sessions) in [
        (2, 0.035, 1_000),
        (2, 0.03, 1_000),
        (2, 0.025, 1_000),
        (6, 0.055, 300),
        (6, 0.045, 300),
    ] {
        let plan = Recorded {
            looks: vec![8, 13, 18, 26],
            ..precise(&vec![1.0; stacks], precision)
        };
        let finds_one = |seed: &u64| {
            let found = standings(&steered(&plan, *seed));
            let mut pairs = found.loads[0].tables[0].ranking.pairs.iter();
            pairs.any(|pair| pair.verdict == PairVerdict::Faster)
        };
        let wrong = (0..sessions).filter(finds_one).count();
        // 5 %, and three standard errors of a thousand sessions.
        let is_rare = wrong as f64 <= 0.07 * sessions as f64;
        assert!(
            is_rare,
            "{stacks} stacks, ±{precision}: {wrong} of {sessions}"
        );
    }
}

#[test]
fn a_load_that_is_precise_leaves_its_time_to_the_others() {
    let mut plan = precise(&[1.0, 1.1, 1.2], 0.05);
    plan.workloads.push("users".to_owned());
    let mut record = steered(&plan, 1);
    assert_eq!(record.end, Some(EndReason::Precise));
    let done = record.complete_heats(0).count();
    record
        .heats
        .retain(|one| one.load == 0 || one.heat.heat < 4);
    let Step::Heat(next) = steering::next(&record, Duration::ZERO) else {
        panic!(
            "the other load has {} of {done} heats",
            record.heats.len() - done
        );
    };
    assert_eq!(next.load, 1);
    // A budget that ends first is no precision.
    record.header.plan.budget_seconds = Some(1.0);
    let end = steering::next(&record, Duration::from_secs(1));
    assert_eq!(end, Step::End(EndReason::Budget));
}

#[test]
fn a_precision_is_planned_with_as_many_heats_as_reach_it() {
    let foretold = |stacks: usize, precision| {
        let plan = precise(&vec![1.0; stacks], precision);
        let mut record = steered(&plan, 1);
        let load = &mut record.header.plan.loads[0];
        load.looks = steering::looks_for(load, precision, 0.05);
        let width = |plan: &Plan| {
            steering::foretold(plan)[0]
                .half_width
                .map_or(0.0, f64::exp_m1)
        };
        let (reached, looks) = (
            width(&record.header.plan),
            record.header.plan.loads[0].looks.clone(),
        );
        let planned = record
            .header
            .plan
            .planned_heats(&record.header.plan.loads[0]);
        record.header.plan.loads[0].looks = vec![2 * (planned - 1)];
        (planned, looks, reached, width(&record.header.plan))
    };
    let mut before = 0;
    for (stacks, precision) in [(2, 0.05), (6, 0.05), (6, 0.03), (18, 0.03)] {
        let (planned, looks, reached, with_one_less) = foretold(stacks, precision);
        assert!(planned > before, "{stacks} {precision}: {planned}");
        before = planned;
        assert!(
            looks.contains(&planned) && looks.last() == Some(&(2 * planned)),
            "{looks:?}"
        );
        assert!(
            looks.windows(2).all(|two| two[0] < two[1]) && looks[0] >= 8,
            "{looks:?}"
        );
        assert!(reached <= precision && (planned == 8 || with_one_less > precision));
    }
    assert_eq!(foretold(6, 0.5).0, 8, "no fewer than a dead heat needs");
    assert_eq!(foretold(1, 0.05).1, [8, 11, 16], "one stack has no ratio");
}

/// What is expected after the first heats is about what comes of it.
#[test]
fn the_expected_half_width_is_about_what_is_reached() {
    let mut plan = Recorded::measured(&[1.0, 1.0, 1.0, 1.0]);
    plan.until_decided = false;
    plan.looks = vec![10];
    let mut ratios: Vec<f64> = (0..20)
        .map(|seed| {
            let record = steered(&plan, seed);
            let mut begun = record.clone();
            begun.heats.truncate(2);
            let expected = &steering::expectation(&begun, Duration::ZERO)[0];
            assert_eq!(expected.heats, 10);
            let reached = standings(&record).loads[0]
                .first_table()
                .unwrap()
                .half_width;
            expected.half_width.unwrap() / reached.unwrap()
        })
        .collect();
    ratios.sort_by(f64::total_cmp);
    assert!((0.6..1.8).contains(&ratios[10]), "{ratios:?}");
}

#[test]
fn every_stack_starts_early_and_late() {
    let mut plan = quiet(&[1.0, 1.0, 1.0, 1.0]);
    plan.until_decided = false;
    plan.looks = vec![20];
    let record = steered(&plan, 1);
    let first: BTreeSet<String> = members(&record)
        .iter()
        .map(|heat| heat[0].clone())
        .collect();
    let last: BTreeSet<String> = members(&record)
        .iter()
        .map(|heat| heat[3].clone())
        .collect();
    assert_eq!((first.len(), last.len()), (4, 4));
}

#[test]
fn equal_work_has_no_heats_of_its_own_and_its_time_is_a_part_of_those_that_it_is_measured_in() {
    let mut record = steered(&quiet(&[1.0, 1.02, 1.0]), 1);
    let mut work = record.header.plan.loads[0].clone();
    work.point.open = Some(OpenLoad {
        capacity_of: work.point.id.clone(),
        rate: OfferedRate::Common,
    });
    work.point.id = "c50-rate".to_owned();
    record.header.plan.loads.push(work);
    record.header.plan.until_decided = false;
    record.heats.truncate(2);
    let next = |record: &SessionRecord, spent: f64| match steering::next(
        record,
        Duration::from_secs_f64(spent),
    ) {
        Step::Heat(next) => Ok(next.load),
        Step::End(reason) => Err(reason),
    };
    assert_eq!(next(&record, 0.0), Ok(0));
    let wall = record.heats[0].heat.wall.as_secs_f64();
    record.header.plan.budget_seconds = Some(10.0 * wall);
    assert_eq!(next(&record, 8.5 * wall), Ok(0));
    let mut at_rate = record.heats[0].clone();
    at_rate.load = 1;
    record.heats.push(at_rate);
    assert_eq!(
        next(&record, 8.5 * wall),
        Err(EndReason::Budget),
        "twice as long with it"
    );
    assert_eq!(next(&record, 7.9 * wall), Ok(0));
}

/// A session in which the processes of every second heat had served another load, with which those of one stack became slower.
fn with_used_processes(slower: f64) -> SessionRecord {
    let mut plan = two_loads(&[1.0, 1.3, 1.6], Duration::from_secs(36_000));
    plan.until_decided = false;
    plan.looks = vec![8];
    let mut record = steered(&plan, 1);
    for (nth, heat) in record
        .heats
        .iter_mut()
        .filter(|one| one.load == 0)
        .enumerate()
    {
        if nth % 2 == 0 {
            continue;
        }
        let place = heat
            .heat
            .members
            .iter()
            .position(|one| one.target.stack == "stack-1");
        for one in &mut heat.heat.members {
            one.loads_before = 1;
        }
        let slices = heat.heat.rounds.iter_mut().flatten();
        for slice in slices.filter(|slice| Some(slice.member as usize) == place) {
            slice.window = slice.window.mul_f64(slower);
        }
    }
    record
}

#[test]
fn a_stack_that_an_earlier_load_of_its_process_makes_slower_is_named() {
    let used = standings(&with_used_processes(1.5));
    let rows = &used.loads[0].tables[0].rows;
    assert!(
        rows.iter()
            .all(|row| (row.heats, row.memory.heats) == (8, 4))
    );
    let warning = |record: &SessionRecord| {
        let warnings = standings(record).warnings;
        let mut found = warnings
            .into_iter()
            .filter(|one| one.id == "changed-by-a-load");
        found.next()
    };
    let found = warning(&with_used_processes(1.5)).unwrap();
    assert!(
        found.sentence.contains("stack-1 by -"),
        "{}",
        found.sentence
    );
    for other in ["stack-0", "stack-2"] {
        assert!(!found.sentence.contains(other), "{}", found.sentence);
    }
    assert!(
        found.advice.contains("--separate-loads"),
        "{}",
        found.advice
    );
    assert_eq!(warning(&with_used_processes(1.0)), None);
}
