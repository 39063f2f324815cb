//! What may change a decision is said, and nothing else is.

use std::time::Duration;

use deadheat_model::{
    LatencyHistogram, Wait,
    heat::{Freezing, LONGEST_GAP, PerConnection, SliceFlag, SliceRecord},
    heats::{Resumption, SessionRecord},
    machine::Hosts,
    plan::Pinning,
    warning::{Level, Warning},
};
use deadheat_stats::{standings::standings, uneven::Uneven};
use serde_json::json;

use super::{died, member, quiet, steered};

/// The ids of a session's warnings.
fn ids(record: &SessionRecord) -> Vec<String> {
    let warnings = standings(record).warnings.into_iter();
    warnings.map(|one| one.id).collect()
}

/// A session's only warning.
fn only(record: &SessionRecord) -> Warning {
    let mut warnings = standings(record).warnings;
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    warnings.remove(0)
}

#[test]
fn a_quiet_session_has_no_warnings() {
    assert_eq!(ids(&steered(&quiet(&[1.0, 2.0]), 1)), [""; 0]);
}

#[test]
fn what_others_took_of_the_machine_is_said_once() {
    let mut record = steered(&quiet(&[1.0, 2.0]), 1);
    for slice in record
        .heats
        .iter_mut()
        .flat_map(|one| one.heat.rounds.iter_mut().flatten())
    {
        let noise = slice.noise.as_mut().unwrap();
        noise.steal_seconds = 0.02;
        noise.busy_seconds += 0.04;
    }
    assert_eq!(ids(&record), ["steal", "others"]);
    let warnings = standings(&record).warnings;
    let shares = warnings
        .iter()
        .map(|one| one.evidence["share"].as_f64().unwrap());
    let shares: Vec<f64> = shares.collect();
    // Of two CPUs for 100 ms.
    assert!(
        (shares[0] - 0.1).abs() < 1e-9 && (shares[1] - 0.2).abs() < 0.01,
        "{warnings:?}"
    );
}

#[test]
fn a_bound_is_named_with_its_load() {
    let mut record = steered(&quiet(&[1.0, 2.0]), 1);
    for slice in slices(&mut record) {
        if slice.member == 1 {
            slice.cpu.as_mut().unwrap().seconds = 0.05;
            slice.noise.as_mut().unwrap().busy_seconds = 0.15;
            slice.generator.busiest = 0.99;
        }
    }
    let limited = only(&record);
    assert_eq!(limited.id, "generator-limited");
    assert_eq!(
        limited.evidence["targets"],
        json!(["plaintext:c50: stack-1", "plaintext:c50: stack-0"])
    );
    assert_eq!(
        limited.sentence,
        "Lower bounds, because the load generator was the limit: stack-1 and stack-0 (plaintext)."
    );
    record.header.plan.hosts = Some(Hosts {
        generators: vec!["h2".to_owned(), "h3".to_owned()],
        database: None,
        launcher: "ssh {host}".to_owned(),
        agent: None,
        generator_cpus: Vec::new(),
        address: [10, 0, 0, 1].into(),
    });
    // Both by turns: none of them is the limit.
    for (nth, slice) in slices(&mut record).enumerate() {
        slice.generator.host = Some(nth as u32 % 2);
    }
    assert_eq!(only(&record).evidence["hosts"], json!([]));
    for slice in slices(&mut record) {
        slice.generator.host = Some(1);
    }
    let limited = only(&record);
    assert_eq!(limited.evidence["hosts"], json!(["h3"]));
    assert!(
        limited.sentence.contains("the load generator on h3 was"),
        "{limited:?}"
    );
}

fn slices(record: &mut SessionRecord) -> impl Iterator<Item = &mut SliceRecord> {
    let heats = record.heats.iter_mut();
    heats.flat_map(|one| one.heat.rounds.iter_mut().flatten())
}

#[test]
fn how_it_was_measured_is_said_where_it_is_not_as_usual() {
    let mut record = steered(&quiet(&[1.0, 2.0]), 1);
    record.heats[0].heat.members[0].freezing = Some(Freezing::Signals {
        reason: "no permission".to_owned(),
    });
    record.header.plan.loads[0].heat.wait = Wait::Sleep;
    record.resumed.push(Resumption {
        at: String::new(),
        rebooted: true,
        heats_before: 2,
        findings: Vec::new(),
        live: false,
    });
    let warnings = standings(&record).warnings;
    assert_eq!(
        ids(&record),
        ["frozen-by-signals", "generator-slept", "resumed"]
    );
    assert!(warnings.iter().all(|one| one.level == Level::Note));
    assert_eq!(
        warnings[2].sentence,
        "The session was resumed once, after a reboot."
    );
    record.header.plan.pinning = Pinning::Off { cpus: vec![0, 1] };
    assert!(ids(&record).contains(&"not-pinned".to_owned()));
}

#[test]
fn a_generator_on_the_cpus_of_the_larger_budget_is_a_doubt() {
    let mut record = steered(&super::scaling::budgets(&[[1.0, 1.8], [1.0, 1.0]]), 1);
    let has = |record: &SessionRecord| ids(record).contains(&"shared-cpus".to_owned());
    assert!(!has(&record));
    record.header.plan.pinning = Pinning::Off { cpus: vec![0, 1] };
    assert!(has(&record) && !ids(&record).contains(&"not-pinned".to_owned()));
    let warnings = standings(&record).warnings;
    let shared = warnings.iter().find(|one| one.id == "shared-cpus").unwrap();
    assert_eq!(shared.level, Level::Doubt);
    assert!(
        shared.advice.contains("a machine with 4 CPUs"),
        "{shared:?}"
    );
    // With one budget nothing is said of a gain.
    for target in &mut record.header.plan.loads[0].targets {
        target.cpus = Some(2);
    }
    assert!(!has(&record));
}

#[test]
fn stacks_that_were_rarely_steady_or_lost_requests_are_named() {
    let mut record = steered(&quiet(&[1.0, 2.0]), 1);
    for heat in &mut record.heats {
        member(heat, "stack-0").warm_up.as_mut().unwrap().steady = false;
        for slice in heat.heat.rounds.iter_mut().flatten() {
            // One in 2,000 is few enough for a heat to count.
            slice.tally.failed[deadheat_model::Failure::Reset] = slice.tally.succeeded / 2_000;
        }
    }
    assert_eq!(ids(&record), ["failed-requests", "unsteady"]);
    let warnings = standings(&record).warnings;
    let [failed, unsteady] = &warnings[..] else {
        panic!("{warnings:?}")
    };
    // A slice of stack-0 has 1,000 answers, of which one in 2,000 rounds down to none.
    assert_eq!(
        failed.sentence,
        "Requests failed: 0.03 % stack-1 (plaintext)."
    );
    assert_eq!(
        unsteady.evidence["targets"],
        json!(["plaintext:c50: stack-0"])
    );
}

#[test]
fn a_stack_that_failed_once_is_named_before_those_that_are_limited() {
    let mut record = steered(&quiet(&[1.0, 2.0]), 1);
    member(&mut record.heats[0], "stack-1").failure = died("ended by SIGSEGV", 0);
    let failed = only(&record);
    assert_eq!(failed.id, "failed-heats");
    assert_eq!(
        failed.evidence["targets"],
        json!(["plaintext:c50: stack-1"])
    );
}

/// A server that stands still for a tenth of a second after each tenth slice loses a tenth of its time, which no slice
/// shows.
#[test]
fn pauses_beyond_the_end_of_slices_count() {
    let mut record = steered(&quiet(&[1.0, 2.0]), 1);
    let figure = |record: &SessionRecord| {
        let found = standings(record);
        let row = found.loads[0].first_table().unwrap().rows[0].clone();
        assert_eq!(row.target.stack, "stack-1");
        row.throughput_per_second.value
    };
    let before = figure(&record);
    for heat in &mut record.heats {
        let mut members = heat.heat.members.iter();
        let place = members.position(|one| one.target.stack == "stack-1");
        let slices = heat.heat.rounds.iter_mut().flatten();
        let own = slices.filter(|slice| Some(slice.member as usize) == place);
        for slice in own.step_by(10) {
            let each = std::time::Duration::from_millis(100);
            slice.draining += each * slice.tally.in_flight as u32;
        }
    }
    let ratio = before / figure(&record);
    assert!((ratio - 1.1).abs() < 1e-3, "{ratio}");
}

/// A session with service times as Little's law has them.
fn waiting() -> SessionRecord {
    let mut record = steered(&quiet(&[1.0, 2.0]), 1);
    for slice in slices(&mut record) {
        let mean = 50e9 / slice.throughput();
        slice.service_time = LatencyHistogram::new();
        for _ in 0..200 {
            slice.service_time.record_ns(mean as u64);
        }
        slice.per_connection = Some(PerConnection {
            least: 190,
            median: 200,
            most: 210,
        });
    }
    record
}

#[test]
fn connections_that_are_served_unevenly_are_a_doubt() {
    let uneven = |record: &SessionRecord| {
        let found = only(record);
        assert_eq!(found.evidence["targets"], json!(["plaintext:c50: stack-1"]));
        found.id
    };
    // Nine of ten answers come at once, and all connections wait as long as before.
    let mut in_a_row = waiting();
    for slice in slices(&mut in_a_row).filter(|slice| slice.member == 1) {
        for _ in 0..9 * slice.service_time.count() {
            slice.service_time.record_ns(20_000);
        }
    }
    assert_eq!(uneven(&in_a_row), "uneven");
    let found = standings(&in_a_row);
    let row = &found.loads[0].tables[0].rows[0];
    assert!(
        matches!(row.uneven, Some(Uneven::InARow { .. })),
        "{row:#?}"
    );
    let (mean, rate) = (row.mean_seconds.unwrap(), row.throughput_per_second.value);
    assert!((mean * rate / 50.0 - 1.0).abs() < 1e-9, "Little's law");
    // Some connections starve in most slices.
    let mut starved = waiting();
    let starve = |record: &mut SessionRecord, every: usize| {
        for (nth, slice) in slices(record).filter(|slice| slice.member == 1).enumerate() {
            slice.per_connection = Some(PerConnection {
                least: if nth % 5 < every { 3 } else { 180 },
                median: 200,
                most: 210,
            });
        }
    };
    starve(&mut starved, 2);
    assert_eq!(ids(&starved), [""; 0]);
    starve(&mut starved, 3);
    assert_eq!(uneven(&starved), "uneven");
}

#[test]
fn percentiles_of_a_closed_loop_rank_nobody() {
    let found = standings(&waiting());
    let table = &found.loads[0].tables[0];
    assert_eq!(table.p50, None);
    for row in &table.rows {
        let times = [row.p50_seconds, row.p99_seconds];
        assert!(
            times.iter().flatten().all(|time| time.rank.is_none()),
            "{row:#?}"
        );
        assert!(row.p50_seconds.is_some() && row.uneven.is_none());
    }
}

#[test]
fn slices_and_gaps_are_those_that_were_measured_and_long_gaps_are_a_doubt() {
    let mut record = steered(&quiet(&[1.0, 2.0]), 1);
    let of_one = |record: &mut SessionRecord, every: usize, gap: Duration| {
        for (nth, slice) in slices(record).filter(|slice| slice.member == 1).enumerate() {
            slice.window = Duration::from_millis(400);
            slice.gap = Some(gap);
            slice.flags.clear();
            if nth % every == 0 && gap >= LONGEST_GAP {
                slice.flags.push(SliceFlag::LongGap);
            }
        }
    };
    let found = |record: &SessionRecord| {
        let found = standings(record);
        let has_long_gaps = found.warnings.iter().any(|one| one.id == "long-gaps");
        (found.loads[0].slices.unwrap(), has_long_gaps)
    };
    of_one(&mut record, 1, Duration::from_secs(1));
    let (lengths, has_long_gaps) = found(&record);
    assert_eq!(lengths.counted_seconds, [0.1, 0.4], "{lengths:?}");
    assert_eq!(lengths.longest_gap_seconds, 1.0);
    assert!(!has_long_gaps);
    of_one(&mut record, 30, Duration::from_secs(3));
    assert!(!found(&record).1, "one slice in thirty");
    of_one(&mut record, 10, Duration::from_secs(3));
    let (lengths, has_long_gaps) = found(&record);
    assert_eq!(lengths.longest_gap_seconds, 3.0);
    assert!(has_long_gaps);
}
