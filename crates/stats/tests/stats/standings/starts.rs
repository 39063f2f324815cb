//! What is said of how stacks start.

use std::time::Duration;

use deadheat_model::{
    TargetId,
    heat::{HeatEnd, MemberRecord},
    heats::{MeasuredHeat, SessionRecord},
    session::Phase,
    workload::{OfferedRate, OpenLoad},
};
use deadheat_stats::{
    heats::Rank,
    standings::{StartRow, standings},
};

use super::{died, member, quiet, steered, two_loads};

/// By how much a start differs from the usual one: each heat's own, and each stack's.
const NOISE: [f64; 5] = [1.0, 1.02, 0.99, 1.01, 0.98];

/// A session of two loads in which stack-1 takes three times as long and has three times as much memory as stack-0.
fn session() -> SessionRecord {
    let budget = Duration::from_secs(1_000);
    let mut record = steered(&two_loads(&[1.0, 2.0], budget), 1);
    for (number, heat) in record.heats.iter_mut().enumerate() {
        let load = heat.load;
        for one in &mut heat.heat.members {
            let last = one.target.stack.chars().last();
            let Some(place) = last.and_then(|digit| digit.to_digit(10)) else {
                continue;
            };
            // Which minute it is matters to both.
            let minute = 1.0 + number as f64 % 3.0;
            let noise = minute * NOISE[(number * 7 + place as usize * 3) % NOISE.len()];
            let times = 1.0 + 2.0 * f64::from(place);
            one.ready = Some(Duration::from_secs_f64(0.01 * times * noise));
            one.memory.idle = Some((1e6 * times * noise) as u64);
            let warm_up = one.warm_up.as_mut().unwrap();
            let slower = f64::from(1 + load);
            warm_up.settled = Some(Duration::from_secs_f64(0.1 * times * noise * slower));
            warm_up.settled_cpu = warm_up.settled;
            warm_up.first_answers = 1_000 + number as u64;
            warm_up.first_p99 = Some(Duration::from_secs_f64(0.002 * times * noise * slower));
        }
    }
    record
}

fn rows(record: &SessionRecord) -> Vec<StartRow> {
    let tables = standings(record).starts;
    assert_eq!(tables.len(), 1);
    tables[0].rows.clone()
}

fn ranks(best: usize, worst: usize) -> Option<Rank> {
    Some(Rank { best, worst })
}

fn complete(record: &SessionRecord) -> impl Iterator<Item = &MeasuredHeat> {
    record.heats.iter().filter(|heat| heat.is_complete())
}

/// All starts of a stack, whose names follow its number.
fn stack_1(record: &mut SessionRecord) -> impl Iterator<Item = &mut MemberRecord> {
    let heats = record.heats.iter_mut();
    heats.map(|heat| member(heat, "stack-1"))
}

#[test]
fn starts_of_all_loads_count_together_and_what_follows_is_of_each_load() {
    let record = session();
    let rows = rows(&record);
    assert_eq!(rows[0].target, TargetId::new("stack-0", None));
    let all = complete(&record).count() as u32;
    for (place, row) in rows.iter().enumerate() {
        assert_eq!((row.starts, row.failed_starts), (all, 0));
        let figure = row.first_answer_seconds;
        assert_eq!(figure.rank, ranks(place + 1, place + 1));
        assert_eq!(row.loads.len(), 2);
        let own: u32 = row.loads.iter().map(|load| load.starts).sum();
        assert_eq!(own, all);
    }
    let behind = rows[1].first_answer_seconds.behind.unwrap();
    assert!((behind.ratio / 3.0 - 1.0).abs() < 0.02, "{behind:?}");
    let interval = behind.interval.unwrap();
    assert!(interval.low > 2.9 && interval.high < 3.1, "{behind:?}");
    let memory = rows
        .iter()
        .map(|row| row.memory_at_rest_bytes.unwrap().value);
    let memory: Vec<f64> = memory.collect();
    assert!((memory[1] / memory[0] / 3.0 - 1.0).abs() < 0.02);
    // The second load is twice as much work.
    let figures = rows[0].loads.iter().map(|load| {
        let p99 = load.first_p99_seconds.unwrap().mean;
        (load.cpu_to_steady_seconds.unwrap().value, p99)
    });
    let figures: Vec<(f64, f64)> = figures.collect();
    let within = |ratio: f64| (ratio / 2.0 - 1.0).abs() < 0.3;
    assert!(within(figures[1].0 / figures[0].0), "{figures:?}");
    assert!(within(figures[1].1 / figures[0].1), "{figures:?}");
    let time = rows[0].loads[0].time_to_steady_seconds.unwrap();
    // Start and load together.
    assert!(
        (time.value / figures[0].0 / 1.1 - 1.0).abs() < 0.02,
        "{time:?}"
    );
    let [least, most] = rows[0].loads[0].first_answers.unwrap();
    assert!(least >= 1_000 && most < 1_000 + record.heats.len() as u64 && least < most);
}

#[test]
fn the_records_of_equal_work_are_no_further_starts() {
    let record = session();
    let mut with = record.clone();
    let mut load = with.header.plan.loads[0].clone();
    load.point.open = Some(OpenLoad {
        capacity_of: load.point.id.clone(),
        rate: OfferedRate::Common,
    });
    load.point.id.push_str("-open");
    with.header.plan.loads.push(load);
    // They repeat the members' records, but for the warm-up.
    let parts = with.heats.iter().filter(|heat| heat.load == 0).cloned();
    let parts: Vec<MeasuredHeat> = parts
        .map(|mut part| {
            part.load = 2;
            part.heat
                .members
                .iter_mut()
                .for_each(|one| one.warm_up = None);
            part
        })
        .collect();
    with.heats.extend(parts);
    assert_eq!(rows(&with), rows(&record));
}

#[test]
fn a_heat_that_was_started_for_another_load_is_no_further_start() {
    let mut record = session();
    let without = record.heats.iter_mut().filter(|heat| heat.load == 1);
    for one in without.flat_map(|heat| &mut heat.heat.members) {
        (one.ready, one.warm_up) = (None, None);
    }
    let first = complete(&record).filter(|heat| heat.load == 0).count() as u32;
    for row in rows(&record) {
        assert_eq!((row.starts, row.failed_starts), (first, 0));
        assert_eq!(row.loads.len(), 1);
    }
}

#[test]
fn a_start_that_failed_is_counted_once_and_has_no_figure() {
    let mut record = session();
    let usual = rows(&record);
    let one = member(&mut record.heats[0], "stack-1");
    (one.ready, one.warm_up) = (None, None);
    one.failure = died("no such file", 0);
    one.failure.as_mut().unwrap().failure.phase = Phase::Start;
    // A later load of the same heat says it again.
    let mut again = record.heats[0].clone();
    again.load = 1 - again.load;
    record.heats.insert(1, again);
    let found = rows(&record);
    assert_eq!(
        (found[1].starts, found[1].failed_starts),
        (usual[1].starts - 1, 1)
    );
    assert!(found[1].first_answer_seconds.behind.unwrap().ratio > 2.9);
}

#[test]
fn one_that_answered_wrongly_has_no_start_and_one_that_died_later_has() {
    let mut record = session();
    let all = rows(&record)[1].starts;
    member(&mut record.heats[0], "stack-1").failure = died("ended by SIGSEGV", 7);
    assert_eq!(rows(&record)[1].starts, all);
    member(&mut record.heats[1], "stack-1").failure = died("wrong answers", 0);
    let row = &rows(&record)[1];
    assert_eq!((row.starts, row.failed_starts), (all - 1, 0));
    // A heat that was interrupted counts for nothing.
    record.heats[2].heat.end = HeatEnd::Interrupted;
    assert_eq!(rows(&record)[1].starts, all - 2);
}

#[test]
fn a_stack_that_is_rarely_steady_has_no_time_to_it_and_that_is_said() {
    let mut record = session();
    let starts = rows(&record)[1].loads[0].starts;
    for one in stack_1(&mut record) {
        let warm_up = one.warm_up.as_mut().unwrap();
        (warm_up.steady, warm_up.took) = (false, Duration::from_secs(60));
        one.ready = Some(Duration::from_millis(250));
    }
    let found = rows(&record);
    let load = &found[1].loads[0];
    assert_eq!(load.unsteady_starts, starts);
    assert_eq!(load.not_steady_after_seconds, Some(60.25));
    assert_eq!(
        (load.time_to_steady_seconds, load.cpu_to_steady_seconds),
        (None, None)
    );
    // What it did at first is known all the same, and the other one has nobody to be compared with.
    assert_eq!(load.first_p99_seconds.unwrap().trials as u32, starts);
    let other = &found[0].loads[0];
    assert_eq!(other.time_to_steady_seconds.unwrap().rank, ranks(1, 1));
    // Steady in most starts: the other ones took at least so long.
    for (number, one) in stack_1(&mut record).enumerate() {
        one.warm_up.as_mut().unwrap().steady = number % 4 != 0;
    }
    let load = rows(&record)[1].loads[0].clone();
    assert!(load.unsteady_starts > 0 && load.time_to_steady_seconds.is_some());
    assert_eq!(load.not_steady_after_seconds, None);
}

#[test]
fn a_time_that_was_too_short_to_tell_is_an_upper_bound_that_proves_nobody_slower() {
    let mut record = session();
    for one in stack_1(&mut record) {
        one.warm_up.as_mut().unwrap().settled_is_bound = true;
    }
    let found = rows(&record);
    let time = |row: usize| found[row].loads[0].time_to_steady_seconds.unwrap();
    assert_eq!(
        (time(0).is_upper_bound, time(1).is_upper_bound),
        (false, true)
    );
    assert_eq!((time(0).rank, time(1).rank), (ranks(1, 2), ranks(1, 2)));
    assert_eq!(found[1].first_answer_seconds.rank, ranks(2, 2));
}

#[test]
fn too_few_answers_have_no_percentile() {
    let mut record = session();
    for one in stack_1(&mut record) {
        one.warm_up.as_mut().unwrap().first_answers = 999;
    }
    let load = &rows(&record)[1].loads[0];
    assert_eq!((load.first_p99_seconds, load.first_answers), (None, None));
}

#[test]
fn servers_that_run_already_have_no_starts() {
    let mut record = steered(&quiet(&[1.0, 2.0]), 1);
    for one in record
        .heats
        .iter_mut()
        .flat_map(|heat| &mut heat.heat.members)
    {
        one.ready = None;
    }
    assert!(standings(&record).starts.is_empty());
}
