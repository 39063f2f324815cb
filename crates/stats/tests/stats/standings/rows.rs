//! What is said of each stack beside its rank.

use deadheat_model::{
    HeatRecord, TargetId,
    heat::SliceFlag,
    heats::SessionRecord,
    observation::OpenLoop,
    session::TargetState,
    stack::StackRole,
    workload::{OfferedRate, OpenLoad},
};
use deadheat_stats::{
    heats::{Rank, recorded},
    standings::{AbsentBecause, Row, standings},
};

use super::{died, member, quiet, steered};

#[test]
fn a_row_has_what_the_heats_found() {
    let mut plan = quiet(&[1.0, 2.0]);
    plan.times = 400;
    let record = steered(&plan, 1);
    let found = standings(&record);
    let load = &found.loads[0];
    let row = &load.first_table().unwrap().rows[0];
    assert_eq!(row.target, TargetId::new("stack-1", None));
    // 10,000 requests/s at speed 1, with 97 % of one CPU, over 50 connections.
    let throughput = row.throughput_per_second.value;
    assert!((throughput / 20_000.0 - 1.0).abs() < 0.05, "{throughput}");
    let cost = row.cpu_us_per_request.unwrap().value;
    assert!((cost - 0.97e6 / throughput).abs() < 0.5, "{cost}");
    // Of an exponential distribution of 50 ÷ 20,000 s.
    let (p50, p99) = (row.p50_seconds.unwrap(), row.p99_seconds.unwrap());
    assert!(
        (p50.value / (0.0025 * 2.0_f64.ln()) - 1.0).abs() < 0.1,
        "{p50:?}"
    );
    assert!(
        (p99.value / (0.0025 * 100.0_f64.ln()) - 1.0).abs() < 0.1,
        "{p99:?}"
    );
    assert_eq!(row.memory.peak_bytes, Some(f64::from(16 << 20)));
    assert_eq!((row.heats, row.memory.heats), (8, 8));
    assert_eq!((row.slices, row.discarded_slices), (240, 0));
    assert!(row.spread.is_some_and(|spread| spread < 0.05), "{row:?}");
    assert!(row.behind.is_none());
    let ceiling = load.ceiling_per_second.unwrap();
    assert!((ceiling / 30_000.0 - 1.0).abs() < 0.05, "{ceiling}");
    // Four of the eight heats had a twin.
    let twin = load.twin.as_ref().unwrap();
    assert_eq!(twin.heats, 4);
    assert!((twin.ratio - 1.0).abs() < 0.05 && !twin.differs());
}

#[test]
fn the_time_of_a_session_is_told_apart() {
    let found = standings(&steered(&quiet(&[1.0, 2.0]), 1));
    let time = found.time;
    // 8 heats of 30 rounds of two stacks and a control.
    assert!((time.counted_seconds - 72.0).abs() < 1e-6, "{time:?}");
    assert!((time.warm_up_seconds - 38.4).abs() < 1e-6);
    let parts =
        time.counted_seconds + time.between_seconds + time.warm_up_seconds + time.starting_seconds;
    assert!((parts - time.heats_seconds).abs() < 1e-6);
}

/// A heat in which a stack failed counts for nothing of it, and for all of the others.
#[test]
fn a_stack_that_failed_once_is_marked_and_keeps_its_other_heats() {
    let mut record = steered(&quiet(&[1.0, 2.0]), 1);
    member(&mut record.heats[2], "stack-0").failure = died("ended by SIGSEGV", 7);
    let found = standings(&record);
    let rows = &found.loads[0].first_table().unwrap().rows;
    assert_eq!((rows[0].heats, rows[1].heats), (8, 7));
    assert_eq!(rows[1].discarded_slices, 30);
    assert_eq!(rows[1].failures.len(), 1);
    assert!(rows[1].failures[0].contains("ended by SIGSEGV"), "{rows:?}");
}

/// What is left of a stack that failed again and again are the heats in which it had luck.
#[test]
fn a_stack_that_failed_twice_has_no_rank() {
    let mut record = steered(&quiet(&[1.0, 2.0]), 1);
    for heat in [1, 3] {
        member(&mut record.heats[heat], "stack-1").failure = died("ended by SIGSEGV", 0);
    }
    let found = standings(&record);
    let load = &found.loads[0];
    let rows = &load.first_table().unwrap().rows;
    assert_eq!(rows.len(), 1);
    assert_eq!(rows[0].target, TargetId::new("stack-0", None));
    assert_eq!(load.lacking[0].is, AbsentBecause::Failed);
}

/// Equal work of three stacks, of which the last is not loaded in some heats: its capacity is lower than the rate.
fn at_a_rate(unloaded: impl Fn(usize) -> bool) -> SessionRecord {
    let mut record = steered(&quiet(&[1.0, 2.0, 4.0]), 1);
    record.header.plan.loads[0].point.open = Some(OpenLoad {
        capacity_of: "c50".to_owned(),
        rate: OfferedRate::PerSecond(500),
    });
    for (number, one) in record.heats.iter_mut().enumerate() {
        let members = one.heat.members.iter_mut().enumerate();
        let mut last = None;
        for (place, member) in members {
            member.offered_per_second = Some(500.0);
            let times = 1 + member.target.stack.ends_with('1') as u64;
            last = if member.target.stack == "stack-2" {
                Some(place as u32)
            } else {
                last
            };
            for slice in one.heat.rounds.iter_mut().flatten() {
                if slice.member as usize == place {
                    let mut open = OpenLoop::default();
                    (0..400)
                        .for_each(|time| open.response_time.record_ns(1_000_000 * times + time));
                    slice.open = Some(open);
                }
            }
        }
        if unloaded(number) {
            for round in &mut one.heat.rounds {
                round.retain(|slice| Some(slice.member) != last);
            }
        }
    }
    record
}

/// In the first round of each heat the hypervisor takes 10 % of two CPUs from one member, whose CPU time doubles with it.
#[test]
fn what_the_hypervisor_steals_is_in_no_cost_of_equal_work() {
    let before = at_a_rate(|_| false);
    let mut after = before.clone();
    for one in &mut after.heats {
        let stolen = &mut one.heat.rounds[0][0];
        let (noise, cpu) = (stolen.noise.as_mut().unwrap(), stolen.cpu.as_mut().unwrap());
        noise.steal_seconds = 0.1 * f64::from(noise.cpus) * stolen.window.as_secs_f64();
        cpu.seconds *= 2.0;
    }
    let found = |record: &SessionRecord| {
        let table = standings(record).loads[0].first_table().unwrap().clone();
        let rows = table.rows.iter();
        let cells = rows.map(|row| (row.slices, row.cpu_us_per_request.unwrap().value));
        cells.collect::<Vec<_>>()
    };
    for ((all, clean), (counted, cost)) in found(&before).into_iter().zip(found(&after)) {
        assert!(counted < all, "{counted} of {all} slices");
        assert!((cost / clean - 1.0).abs() < 0.02, "{cost} {clean}");
    }
}

#[test]
fn near_its_capacity_a_stack_has_a_cost_and_no_response_times() {
    let closed = steered(&quiet(&[1.0, 2.0, 4.0]), 1);
    let capacity = |target: &TargetId| {
        let found = standings(&closed);
        let rows = &found.loads[0].first_table().unwrap().rows;
        let row = rows.iter().find(|row| row.target == *target).unwrap();
        row.throughput_per_second.value
    };
    let slowest = TargetId::new("stack-0", None);
    let near = |share: f64| {
        let mut record = at_a_rate(|_| false);
        for one in &mut record.heats {
            one.load = 1;
            for member in &mut one.heat.members {
                member.offered_per_second = Some(share * capacity(&slowest));
            }
        }
        let load = closed.header.plan.loads[0].clone();
        record.header.plan.loads.insert(0, load);
        record.heats = closed.heats.iter().chain(&record.heats).cloned().collect();
        let found = standings(&record);
        let warned = found.warnings.iter().any(|one| one.id == "near-capacity");
        let rows = &found.loads[1].first_table().unwrap().rows;
        assert_eq!(rows.len(), 3);
        assert!(rows.iter().all(|row| row.cpu_us_per_request.is_some()));
        let near = rows.iter().filter(|row| row.near_capacity);
        let near: Vec<TargetId> = near.map(|row| row.target.clone()).collect();
        let without = rows.iter().filter(|row| row.p99_seconds.is_none());
        assert!(without.map(|row| &row.target).eq(&near));
        assert_eq!(warned, !near.is_empty());
        near
    };
    assert_eq!(near(0.7), []);
    assert_eq!(near(0.9), std::slice::from_ref(&slowest));
}

#[test]
fn equal_work_is_ranked_by_response_time_and_cost_at_one_rate() {
    let found = standings(&at_a_rate(|_| false));
    let load = &found.loads[0];
    assert_eq!(
        (load.offered_per_second, load.leads()),
        (Some(500.0), false)
    );
    let rows = &load.first_table().unwrap().rows;
    assert_eq!(
        rows.last().unwrap().target,
        TargetId::new("stack-1", None),
        "twice as long"
    );
    let p99 = |row: &Row| row.p99_seconds.unwrap();
    assert!(
        (p99(&rows[2]).value - 2e-3).abs() < 1e-4,
        "{:?}",
        p99(&rows[2])
    );
    assert_eq!(p99(&rows[2]).rank, Some(Rank { best: 3, worst: 3 }));
    assert!(rows.iter().all(|row| {
        row.cpu_us_per_request
            .is_some_and(|cost| cost.rank.is_some())
    }));
    assert!(load.lacking.is_empty());
}

/// The null server is no company there.
#[test]
fn who_alone_takes_the_rate_has_its_figures() {
    let mut record = at_a_rate(|_| false);
    for heat in &mut record.heats {
        let members = heat.heat.members.iter();
        let only = members
            .clone()
            .position(|one| one.target.stack == "stack-0");
        for round in &mut heat.heat.rounds {
            round.retain(|slice| Some(slice.member as usize) == only);
        }
    }
    let found = standings(&record);
    let rows = &found.loads[0].first_table().unwrap().rows;
    assert_eq!(rows.len(), 1);
    let p99 = rows[0].p99_seconds.unwrap().value;
    assert!((p99 - 1e-3).abs() < 1e-4, "{p99}");
    assert!(
        rows[0]
            .cpu_us_per_request
            .is_some_and(|cost| cost.value > 0.0)
    );
    let lacking = found.loads[0].lacking.iter();
    assert!(lacking.map(|one| one.is).eq([AbsentBecause::Overloaded; 2]));
}

/// A request without an answer is in no histogram, and p99 would be of the others.
#[test]
fn requests_that_an_open_loop_waits_for_in_vain_are_a_failure_of_the_heat() {
    let mut record = at_a_rate(|_| false);
    let last = record.heats.len() - 1;
    for heat in [0, last] {
        let members = record.heats[heat].heat.members.iter();
        let place = members
            .clone()
            .position(|one| one.target.stack == "stack-1");
        let slices = record.heats[heat].heat.rounds.iter_mut().flatten();
        let mut own = slices.filter(|slice| Some(slice.member as usize) == place);
        own.next().unwrap().flags.push(SliceFlag::Undrained);
    }
    let found = standings(&record);
    let lacking = &found.loads[0].lacking[0];
    assert_eq!(
        (lacking.is, lacking.target.stack.as_str()),
        (AbsentBecause::Failed, "stack-1")
    );
    assert!(
        lacking.reason.contains("requests had no answer"),
        "{}",
        lacking.reason
    );
}

/// At a low rate there are too few answers for a p99.
#[test]
fn what_a_request_costs_is_known_where_no_percentile_is() {
    let mut record = at_a_rate(|_| false);
    for heat in &mut record.heats {
        for slice in heat.heat.rounds.iter_mut().flatten() {
            slice.open.as_mut().unwrap().response_time = Default::default();
        }
    }
    let found = standings(&record);
    let rows = &found.loads[0].first_table().unwrap().rows;
    assert_eq!(rows.len(), 3);
    assert!(rows.iter().all(|row| row.p99_seconds.is_none()));
    assert!(rows.iter().all(|row| row.cpu_us_per_request.is_some()));
    assert!(found.loads[0].lacking.is_empty());
}

#[test]
fn a_stack_that_cannot_take_the_rate_in_most_heats_has_that_as_its_result() {
    let lacking = |unloaded: fn(usize) -> bool| {
        let found = standings(&at_a_rate(unloaded)).loads.remove(0);
        let rows = found.first_table().unwrap().rows.len();
        let lacking = found
            .lacking
            .first()
            .map(|one| (one.is, one.reason.clone()));
        (rows, lacking)
    };
    let (rows, cannot) = lacking(|heat| heat != 0);
    let (is, reason) = cannot.unwrap();
    assert_eq!((rows, is), (2, AbsentBecause::Overloaded));
    assert!(
        reason.starts_with("its capacity was below the rate in "),
        "{reason}"
    );
    assert_eq!(
        lacking(|heat| heat == 0),
        (3, None),
        "once is the machine's doing"
    );
}

#[test]
fn a_backlog_that_grows_shows_that_a_stack_cannot_take_the_rate() {
    let record = at_a_rate(|_| false);
    let mut heat = record.heats[0].heat.clone();
    heat.rounds.truncate(3);
    assert_eq!(heat.rounds.len(), 3);
    let overloaded = |heat: &HeatRecord| recorded::is_overloaded(heat, 0);
    assert!(!overloaded(&heat));
    let mut waits = |shares: [f64; 3]| {
        for (round, share) in heat.rounds.iter_mut().zip(shares) {
            for slice in round {
                let time = slice.guard + slice.window;
                slice.open.as_mut().unwrap().oldest_unsent = time.mul_f64(share);
            }
        }
        overloaded(&heat)
    };
    assert!(!waits([0.04; 3]));
    assert!(waits([0.06; 3]));
    assert!(waits([0.06, 0.06, 0.0]), "after most of its turns");
    assert!(!waits([0.0, 0.0, 0.9]), "a pause");
    heat.members[0].offered_per_second = None;
    assert!(!overloaded(&heat), "a closed loop");
}

#[test]
fn a_stack_without_a_sound_heat_is_lacking_with_its_reason() {
    let mut record = steered(&quiet(&[1.0, 2.0, 3.0]), 1);
    for heat in &mut record.heats {
        member(heat, "stack-1").failure = died("answered wrongly", 0);
    }
    let found = standings(&record);
    let load = &found.loads[0];
    assert_eq!(load.first_table().unwrap().rows.len(), 2);
    let lacking = &load.lacking[0];
    assert_eq!(lacking.target, TargetId::new("stack-1", None));
    assert_eq!(lacking.is, AbsentBecause::Failed);
    assert!(lacking.reason.contains("answered wrongly"));
}

#[test]
fn a_stack_that_is_not_here_is_absent_with_its_remedy() {
    let mut record = steered(&quiet(&[1.0, 2.0]), 1);
    record.header.targets[0].state = TargetState::Unavailable {
        reason: "no toolchain".to_owned(),
        remedy: "deadheat setup".to_owned(),
    };
    let absent = standings(&record).absent;
    assert_eq!(absent[0].is, AbsentBecause::Unavailable);
    assert_eq!(absent[0].remedy.as_deref(), Some("deadheat setup"));
}

/// Only stacks with the same CPUs are ranked together.
#[test]
fn every_cpu_budget_has_a_table_of_its_own() {
    let mut record = steered(&quiet(&[1.0, 2.0, 3.0]), 1);
    record.header.plan.pinning = deadheat_model::plan::Pinning::Apart {
        server: vec![0, 1],
        generator: vec![2],
    };
    record.header.targets[1].cpus = Some(1);
    let found = standings(&record);
    let tables = &found.loads[0].tables;
    let shape: Vec<(u32, usize)> = tables
        .iter()
        .map(|table| (table.group.cpus, table.rows.len()))
        .collect();
    assert_eq!(shape, [(2, 2), (1, 1)]);
}

/// A yardstick is measured in the same heats, and nobody is ranked against it.
#[test]
fn yardsticks_have_a_table_without_ranks_after_all_others() {
    let mut record = steered(&quiet(&[1.0, 2.0, 3.0]), 1);
    record.header.targets[2].role = StackRole::Yardstick;
    let found = standings(&record);
    let [stacks, yardsticks] = &found.loads[0].tables[..] else {
        panic!("two tables: {:?}", found.loads[0].tables);
    };
    assert!(!stacks.group.yardsticks && yardsticks.group.yardsticks);
    let best = stacks.rows[0].throughput_per_second;
    assert_eq!(best.rank.map(|rank| rank.best), Some(1));
    let yardstick = &yardsticks.rows[0];
    assert_eq!(yardstick.throughput_per_second.rank, None);
    assert!(yardstick.throughput_per_second.value > best.value);
    assert_eq!(yardstick.cpu_us_per_request.unwrap().rank, None);
}

#[test]
fn slices_in_which_the_machine_slept_are_discarded() {
    let mut record = steered(&quiet(&[1.0, 2.0]), 1);
    for slice in record.heats[0].heat.rounds[0].iter_mut() {
        slice.flags.push(SliceFlag::Suspended);
    }
    let found = standings(&record);
    let rows = &found.loads[0].first_table().unwrap().rows;
    assert_eq!((rows[0].discarded_slices, rows[0].slices), (1, 239));
}
