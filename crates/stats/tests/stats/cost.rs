//! CPU time per request, stacks beside the one that needs least.

use deadheat_model::SessionRecord;
use deadheat_stats::{analyse, cost::CpuComparison};

use crate::fixture::{Found, Session, good, scatter};

/// Stacks at a rate of 1,000 that use so many cores, with `noise` of scatter.
fn session(stacks: &[(&str, f64)], noise: f64, blocks: u32) -> SessionRecord {
    let mut session = Session::new(blocks).workload("json", &[50]);
    for (name, _) in stacks {
        session = session.stack(name);
    }
    let trials = session.measured(blocks, |cell, block| {
        let name = cell.target.to_string();
        let (_, cores) = stacks.iter().find(|(other, _)| *other == name).unwrap();
        let mut found = Found::at(1_000.0);
        found.cores = cores * (1.0 + noise * scatter(&name, block));
        good(found)
    });
    trials.build()
}

fn cpu(record: &SessionRecord) -> Option<CpuComparison> {
    analyse(record).groups[0].cpu.clone()
}

#[test]
fn every_stack_stands_beside_the_one_that_needs_least() {
    let record = session(&[("dear", 0.93), ("cheap", 0.3), ("middle", 0.45)], 0.01, 7);
    let cpu = cpu(&record).unwrap();
    assert_eq!(cpu.least.to_string(), "cheap");
    assert!((cpu.least_us_per_request - 300.0).abs() < 3.0);
    let names: Vec<String> = cpu
        .others
        .iter()
        .map(|one| one.target.to_string())
        .collect();
    assert_eq!(names, ["middle", "dear"]);
    for (one, expected) in cpu.others.iter().zip([1.5, 3.1]) {
        assert!((one.ratio / expected - 1.0).abs() < 0.01, "{one:?}");
        assert!(
            one.interval.low < expected && expected < one.interval.high,
            "{one:?}"
        );
        assert!(one.different && one.blocks == 7);
        // Three pairs.
        assert!((one.p_adjusted - (3.0 * one.p).min(1.0)).abs() < 1e-12);
    }
}

#[test]
fn what_scatter_alone_would_do_is_no_difference() {
    let same: Vec<String> = (0..8).map(|n| format!("s{n}")).collect();
    let same: Vec<(&str, f64)> = same.iter().map(|name| (name.as_str(), 0.5)).collect();
    let cpu = cpu(&session(&same, 0.05, 7)).unwrap();
    assert_eq!(cpu.others.len(), 7);
    assert!(cpu.others.iter().all(|one| !one.different), "{cpu:?}");
}

#[test]
fn a_difference_that_nobody_would_choose_by_is_none() {
    let cpu = cpu(&session(&[("a", 0.5), ("b", 0.502)], 0.0001, 10)).unwrap();
    assert!(
        cpu.others[0].p_adjusted < 0.01 && !cpu.others[0].different,
        "{cpu:?}"
    );
}

#[test]
fn one_block_or_one_stack_compares_nothing() {
    assert_eq!(cpu(&session(&[("a", 0.5), ("b", 0.9)], 0.01, 1)), None);
    assert_eq!(cpu(&session(&[("a", 0.5)], 0.01, 7)), None);
}
