//! Sessions built by hand: what counts, what fails, what is ranked.

use std::time::Duration;

use deadheat_model::{
    Cell, Failure, SessionRecord,
    trial::{Phase, TrialOutcome},
};
use deadheat_stats::{
    CellAnalysis, Group, analyse,
    analysis::GroupComparison,
    cell::PercentileValue,
    limit::Limit,
    trial::Flag,
    verdict::{CellVerdict, FailReason, TrialVerdict},
};

use crate::fixture::{Found, Session, failed, good, measured, scatter, with_failures};

/// Stacks at the given rates, with 0.3 % of scatter.
fn session(stacks: &[(&str, f64)], blocks: u32) -> SessionRecord {
    session_with(stacks, blocks, |_, _, found| good(found))
}

fn session_with(
    stacks: &[(&str, f64)],
    blocks: u32,
    outcome: impl Fn(&str, u32, Found) -> TrialOutcome,
) -> SessionRecord {
    let mut session = Session::new(blocks).workload("json", &[50]);
    for (name, _) in stacks {
        session = session.stack(name);
    }
    let trial = |cell: &Cell, block| {
        let name = cell.target.to_string();
        let rate = stacks.iter().find(|(other, _)| *other == name).unwrap().1;
        let found = Found::at(rate * (1.0 + 0.003 * scatter(&name, block)));
        outcome(&name, block, found)
    };
    session.measured(blocks, trial).build()
}

fn cell<'a>(group: &'a Group, name: &str) -> &'a CellAnalysis {
    let found = group
        .cells
        .iter()
        .find(|cell| cell.target.to_string() == name);
    found.unwrap_or_else(|| panic!("no cell {name}"))
}

#[test]
fn clear_differences_are_ranked_and_ties_share_a_rank() {
    let record = session(
        &[("slow", 1_000.0), ("tie-b", 2_000.0), ("tie-a", 2_002.0)],
        7,
    );
    let analysis = analyse(&record);
    let group = &analysis.groups[0];
    assert_eq!(cell(group, "tie-a").rank, Some(1));
    assert_eq!(cell(group, "tie-b").rank, Some(1));
    assert_eq!(cell(group, "slow").rank, Some(3));
    assert_eq!(group.dead_heats.len(), 1);
    assert_eq!(group.cells[2].target.to_string(), "slow");
    assert!(!analysis.blocks.indicative);
    let throughput = group.cells[2]
        .estimates
        .as_ref()
        .unwrap()
        .throughput_per_second;
    assert!((throughput.interval.unwrap().level - 0.984_375).abs() < 1e-12);
    assert!((throughput.median - 1_000.0).abs() < 3.0);
}

#[test]
fn a_significant_difference_below_the_practical_threshold_is_a_dead_heat() {
    let mut record = session(&[("a", 20_000.0), ("b", 20_000.0)], 7);
    for trial in &mut record.trials {
        let TrialOutcome::Measured(measured) = &mut trial.outcome else {
            unreachable!()
        };
        let rate = if trial.cell.target.stack == "a" {
            20_100.0
        } else {
            20_000.0
        };
        **measured = crate::fixture::measured(Found::at(rate + f64::from(trial.block)));
    }
    let analysis = analyse(&record);
    let group = &analysis.groups[0];
    let pair = &group.comparison.pairs()[0];
    assert!(pair.p_adjusted < 1e-6 && !pair.different, "{pair:?}");
    assert_eq!(group.dead_heats.len(), 1);
}

#[test]
fn one_wrong_answer_fails_the_cell_and_takes_it_out_of_the_ranking() {
    let record = session_with(
        &[("good", 1_500.0), ("bad", 3_000.0)],
        5,
        |name, block, found| {
            if name == "bad" && block == 3 {
                return with_failures(found, Failure::WrongStatus, 1, "HTTP/1.1 500");
            }
            good(found)
        },
    );
    let analysis = analyse(&record);
    let group = &analysis.groups[0];
    let bad = cell(group, "bad");
    assert_eq!((bad.rank, &bad.estimates), (None, &None));
    assert_eq!(bad.failures[Failure::WrongStatus], 1);
    let reasons = vec![FailReason::WrongAnswers { count: 1 }];
    let verdict = CellVerdict::Failed {
        failed: 1,
        of: 5,
        reasons,
    };
    assert_eq!(bad.verdict, verdict);
    assert_eq!(cell(group, "good").rank, Some(1));
    assert_eq!(
        group.comparison,
        GroupComparison::TooFewCells { comparable: 1 }
    );
    assert!(analysis.blocks.indicative);
}

#[test]
fn a_wrong_answer_in_the_warm_up_counts_too() {
    let mut trial = measured(Found::at(1_000.0));
    trial.load.total.failed[Failure::WrongContent] = 2;
    trial.load.total.issued += 2;
    let reason = verdict_of(TrialOutcome::Measured(Box::new(trial)));
    assert_eq!(
        reason,
        TrialVerdict::Failed {
            reason: FailReason::WrongAnswers { count: 2 }
        }
    );
}

fn verdict_of(outcome: TrialOutcome) -> TrialVerdict {
    let session = Session::new(1).workload("json", &[50]).stack("a");
    let record = session.measured(1, |_, _| outcome.clone()).build();
    analyse(&record).groups[0].cells[0].trials[0]
        .verdict
        .clone()
}

#[test]
fn transport_failures_fail_a_trial_above_one_in_a_thousand() {
    // 1,000/s for ten seconds are 10,000 verified answers.
    let few = with_failures(Found::at(1_000.0), Failure::Reset, 10, "");
    assert_eq!(verdict_of(few), TrialVerdict::Counts);
    let many = with_failures(Found::at(1_000.0), Failure::Reset, 11, "");
    let reason = FailReason::TransportFailures {
        count: 11,
        ended: 10_011,
    };
    assert_eq!(verdict_of(many), TrialVerdict::Failed { reason });
}

#[test]
fn lost_requests_and_silence_fail_a_trial() {
    let mut lost = measured(Found::at(1_000.0));
    lost.load.measured.issued += 1;
    let reason = FailReason::NotConserved;
    assert_eq!(
        verdict_of(TrialOutcome::Measured(Box::new(lost))),
        TrialVerdict::Failed { reason }
    );
    let silent = good(Found {
        connections: 0,
        ..Found::at(1e-6)
    });
    assert_eq!(
        verdict_of(silent),
        TrialVerdict::Failed {
            reason: FailReason::NoSuccess
        }
    );
    let crashed = failed(Phase::Start, "exited with status 1", &["oops"]);
    let reason = FailReason::Outcome {
        phase: Phase::Start,
        reason: "exited with status 1".into(),
    };
    assert_eq!(verdict_of(crashed), TrialVerdict::Failed { reason });
}

#[test]
fn a_busy_generator_makes_a_lower_bound() {
    let record = session_with(
        &[("fast", 9_000.0), ("slow", 1_000.0), ("mid", 2_000.0)],
        7,
        |name, block, found| {
            let busy = if name == "fast" && block == 6 {
                0.85
            } else {
                0.84
            };
            good(Found { busy, ..found })
        },
    );
    let group = &analyse(&record).groups[0];
    let fast = cell(group, "fast");
    let CellVerdict::LowerBound {
        limited: 1,
        of: 7,
        limits,
    } = &fast.verdict
    else {
        panic!("{:?}", fast.verdict)
    };
    assert!(matches!(limits[..], [Limit::Worker { busy }] if (busy - 0.85).abs() < 1e-9));
    assert_eq!(fast.rank, None);
    assert!(fast.throughput().unwrap() > 8_000.0);
    assert_eq!(
        cell(group, "mid").rank,
        Some(1),
        "a lower bound takes no rank from others"
    );
    assert_eq!(group.comparison.pairs().len(), 1);
}

#[test]
fn a_lower_bound_stands_before_the_stacks_that_it_already_beats_and_behind_the_others() {
    let names = |bound: f64| -> Vec<String> {
        let stacks = [
            ("bound", bound),
            ("fast", 9_000.0),
            ("mid", 2_000.0),
            ("slow", 1_000.0),
        ];
        let record = session_with(&stacks, 7, |name, _, found| {
            let busy = if name == "bound" { 0.9 } else { found.busy };
            good(Found { busy, ..found })
        });
        let group = &analyse(&record).groups[0];
        assert_eq!(cell(group, "bound").rank, None);
        let cells = group.cells.iter();
        cells.map(|cell| cell.target.to_string()).collect()
    };
    assert_eq!(names(9_900.0), ["bound", "fast", "mid", "slow"]);
    assert_eq!(names(4_000.0), ["fast", "bound", "mid", "slow"]);
    // As fast as one of them, as far as the intervals tell.
    assert_eq!(names(2_000.0), ["fast", "mid", "bound", "slow"]);
    assert_eq!(names(500.0), ["fast", "mid", "slow", "bound"]);
}

#[test]
fn noise_lifts_no_stack_over_one_with_better_figures() {
    let group = |noise: f64| {
        let stacks = [("fast", 2_000.0), ("mid", 1_500.0), ("noisy", 1_000.0)];
        let record = session_with(&stacks, 7, |name, block, found| {
            let rate = match name {
                "noisy" => 1_000.0 * (noise * scatter("noise", block)).exp(),
                _ => found.rate,
            };
            good(Found { rate, ..found })
        });
        analyse(&record).groups.remove(0)
    };
    let ranks = |group: &Group| -> Vec<(String, Option<u32>)> {
        let cells = group.cells.iter();
        cells
            .map(|cell| (cell.target.to_string(), cell.rank))
            .collect()
    };
    let expected = |noisy| {
        [("fast", 1), ("mid", 2), ("noisy", noisy)]
            .map(|(name, rank)| (name.to_owned(), Some(rank)))
    };
    assert_eq!(ranks(&group(0.0)), expected(3));
    let noisy = group(3.0);
    let found = ranks(&noisy);
    // That the others are better cannot be told, and the report says how large a difference is left open.
    assert_eq!(found, expected(2));
    let open = noisy.comparison.pairs().iter();
    let mut open = open.filter(|pair| pair.slower == cell(&noisy, "noisy").target);
    assert!(open.all(|pair| !pair.different && pair.interval.high > 2.0));
}

#[test]
fn a_busy_generators_side_beside_a_server_with_time_left_makes_a_lower_bound() {
    let verdict = |server, generator| {
        let mut trial = measured(Found::at(1_000.0));
        trial.noise.server_cpus_busy = server;
        trial.noise.generator_cpus_busy = generator;
        verdict_of(TrialOutcome::Measured(Box::new(trial)))
    };
    let limited = |verdict: TrialVerdict| matches!(verdict, TrialVerdict::GeneratorLimited { limits } if matches!(limits[..], [Limit::Cpus { .. }]));
    assert!(limited(verdict(Some(0.7), Some(0.9))));
    assert!(
        !limited(verdict(Some(0.9), Some(0.99))),
        "the server had hardly more to give"
    );
    assert!(!limited(verdict(Some(0.2), Some(0.8))), "neither is busy");
    assert!(
        !limited(verdict(None, None)),
        "nothing is known without pinning"
    );
}

#[test]
fn other_programs_disturb_a_trial_and_their_share_alone_decides() {
    let flags = |other: f64, steal: f64| {
        let mut record = session_with(&[("a", 1_000.0)], 1, |_, _, found| {
            let mut trial = measured(found);
            let cpus = 2.0;
            trial.noise.other_cpu_seconds = other * cpus * trial.resources.span_seconds;
            trial.noise.steal_share = steal;
            TrialOutcome::Measured(Box::new(trial))
        });
        record.header.machine.cpus = vec![0, 1];
        let analysis = analyse(&record);
        let flags = &analysis.groups[0].cells[0].trials[0].flags;
        flags
            .iter()
            .any(|flag| matches!(flag, Flag::Disturbed { .. }))
    };
    assert!(!flags(0.04, 0.04));
    assert!(flags(0.06, 0.0));
    assert!(flags(0.0, 0.06));
}

#[test]
fn a_delay_of_the_workload_bounds_the_load_point() {
    let mut record = session_with(&[("a", 1_000.0)], 1, |_, _, found| good(found));
    assert_eq!(analyse(&record).groups[0].delay_bound_per_second, None);
    record.header.plan.workloads[0].delay_seconds = Some(0.5);
    let group = &analyse(&record).groups[0];
    assert_eq!(
        group.delay_bound_per_second,
        Some(f64::from(group.point.connections) / 0.5)
    );
}

#[test]
fn only_complete_blocks_count() {
    let record = Session::new(3)
        .workload("json", &[50])
        .stack("a")
        .stack("b");
    let record = record.measured(3, |_, _| good(Found::at(1_000.0)));
    let record = record.with(|record| drop(record.trials.pop())).build();
    let analysis = analyse(&record);
    assert_eq!(analysis.blocks.complete, [0, 1]);
    assert_eq!(
        (
            analysis.blocks.trials_counted,
            analysis.blocks.trials_left_out
        ),
        (4, 1)
    );
    assert!(!analysis.blocks.incomplete);
    let a = cell(&analysis.groups[0], "a");
    assert_eq!(a.trials_left_out, 1);
    // It counts for nothing, and can be looked at.
    let left_out: Vec<usize> = a.left_out.iter().map(|trial| trial.record).collect();
    assert_eq!(left_out, [4]);
    assert!(a.left_out[0].figures.is_some());
    let b = cell(&analysis.groups[0], "b");
    assert!(b.trials_left_out == 0 && b.left_out.is_empty());
}

#[test]
fn without_a_complete_block_everything_is_shown_and_nothing_compared() {
    let record = Session::new(3)
        .workload("json", &[50])
        .stack("a")
        .stack("b");
    let record = record.measured(1, |_, _| good(Found::at(1_000.0)));
    let analysis = analyse(&record.with(|record| drop(record.trials.pop())).build());
    assert!(analysis.blocks.incomplete && analysis.blocks.indicative);
    let group = &analysis.groups[0];
    assert_eq!(group.comparison, GroupComparison::NoCompleteBlock);
    assert_eq!(cell(group, "b").verdict, CellVerdict::NotMeasured);
    assert_eq!(
        (cell(group, "a").trials.len(), cell(group, "a").rank),
        (1, None)
    );
}

#[test]
fn one_block_compares_nothing() {
    let analysis = analyse(&session(&[("a", 1_000.0), ("b", 2_000.0)], 1));
    let group = &analysis.groups[0];
    let expected = GroupComparison::TooFewBlocks {
        complete: 1,
        needed: 2,
    };
    assert_eq!(group.comparison, expected);
    assert!(group.cells.iter().all(|cell| cell.rank.is_none()));
    assert_eq!(
        group.cells[0].target.to_string(),
        "b",
        "the faster one first all the same"
    );
    let estimates = group.cells[0].estimates.as_ref().unwrap();
    assert_eq!(estimates.throughput_per_second.interval, None);
}

#[test]
fn of_a_repeated_trial_the_last_one_counts() {
    let record = session(&[("a", 1_000.0)], 2);
    let again = record.trials[0].clone();
    let mut record = record;
    record.trials.push(deadheat_model::TrialRecord {
        outcome: good(Found::at(3_000.0)),
        ..again
    });
    let analysis = analyse(&record);
    let trials = &analysis.groups[0].cells[0].trials;
    assert_eq!(
        trials.iter().map(|trial| trial.record).collect::<Vec<_>>(),
        [2, 1]
    );
    assert_eq!(analysis.blocks.trials_left_out, 1);
}

#[test]
fn percentiles_need_enough_requests_in_every_trial() {
    let at = |rate: f64| {
        let analysis = analyse(&session(&[("a", rate)], 3));
        analysis.groups[0].cells[0]
            .estimates
            .clone()
            .unwrap()
            .service_time
    };
    let few = at(990.0);
    assert!(matches!(few[0].value, PercentileValue::Seconds(_)));
    assert!(matches!(few[1].value, PercentileValue::Seconds(_)));
    let PercentileValue::TooFewRequests { fewest, needed } = few[2].value else {
        panic!()
    };
    assert!(needed == 10_000 && (9_800..10_000).contains(&fewest));
    let many = at(1_100.0);
    let PercentileValue::Seconds(p99) = many[2].value else {
        panic!("p99 is missing")
    };
    assert!(p99.interval.unwrap().low > 0.05 && p99.mean < 0.2);
    assert!(matches!(
        many[3].value,
        PercentileValue::TooFewRequests {
            needed: 100_000,
            ..
        }
    ));
}

#[test]
fn cpu_per_request_comes_from_rates() {
    let analysis = analyse(&session(&[("a", 1_000.0)], 3));
    let estimates = analysis.groups[0].cells[0].estimates.clone().unwrap();
    // 0.98 of a core for 1,000 answers a second.
    assert!((estimates.cpu_us_per_request.unwrap().median - 980.0).abs() < 3.0);
    assert!((estimates.cores_used.unwrap().median - 0.98).abs() < 1e-9);
    let mut record = session(&[("a", 1_000.0)], 1);
    let TrialOutcome::Measured(trial) = &mut record.trials[0].outcome else {
        unreachable!()
    };
    trial.resources.span_seconds = 0.0;
    let estimates = analyse(&record).groups[0].cells[0]
        .estimates
        .clone()
        .unwrap();
    assert_eq!(estimates.cpu_us_per_request, None);
}

#[test]
fn a_trend_is_flagged() {
    let flags = |change: fn(&mut deadheat_model::Observation)| {
        let mut trial = measured(Found::at(1_000.0));
        change(&mut trial.load);
        let session = Session::new(1).workload("json", &[50]).stack("a");
        let outcome = TrialOutcome::Measured(Box::new(trial));
        let record = session.measured(1, |_, _| outcome.clone()).build();
        analyse(&record).groups[0].cells[0].trials[0].flags.clone()
    };
    assert_eq!(flags(|_| ()), []);
    let unsteady = flags(|load| {
        for (index, bin) in load.bins.iter_mut().enumerate() {
            bin.succeeded = 450 + 5 * index as u64 + (index as u64 % 3);
        }
    });
    assert!(
        matches!(unsteady[..], [Flag::Unsteady { .. }]),
        "{unsteady:?}"
    );
    let cut_off = flags(|load| {
        load.window = Duration::from_millis(9_600);
        load.bins.last_mut().unwrap().succeeded = 0;
    });
    assert!(
        !cut_off
            .iter()
            .any(|flag| matches!(flag, Flag::Unsteady { .. }))
    );
}

#[test]
fn nothing_planned_is_nothing_found() {
    let analysis = analyse(&Session::new(0).build());
    assert!(analysis.groups.is_empty() && analysis.blocks.incomplete);
}

/// Records as they were written before there were controls, open loops and void trials.
#[test]
fn older_records_say_the_same() {
    let record = session(&[("a", 2_000.0), ("b", 1_000.0)], 3);
    let older = |value: serde_json::Value, newer: &[&[&str]]| {
        let mut value = value;
        for path in newer {
            let (last, parents) = path.split_last().unwrap();
            let parent = parents
                .iter()
                .fold(&mut value, |value, key| &mut value[*key]);
            let gone = parent.as_object_mut().unwrap().remove(*last);
            // What is skipped when it is empty was not there either.
            assert!(gone.is_some(), "{path:?}");
        }
        value
    };
    let load = ["outcome", "load"];
    let of_load = |name| [load[0], load[1], name];
    let fields = [
        "connect_time",
        "handshake_time",
        "tls",
        "answers_per_connection",
        "failures",
        "open",
        "receive_queues",
    ]
    .map(of_load);
    let noise = ["pressure", "sampler_cpu_seconds"].map(|name| ["outcome", "noise", name]);
    let mut newer: Vec<&[&str]> = vec![&["attempt"]];
    newer.extend(fields.iter().map(|path| &path[..]));
    newer.extend(noise.iter().map(|path| &path[..]));
    let trials = record.trials.iter().map(|trial| {
        let old = older(serde_json::to_value(trial).unwrap(), &newer);
        serde_json::from_value(old).unwrap()
    });
    let header = serde_json::to_value(&record.header).unwrap();
    let header = older(header, &[&["plan", "controls"], &["plan", "noise_bound"]]);
    let read = SessionRecord {
        header: serde_json::from_value(header).unwrap(),
        trials: trials.collect(),
        ..record.clone()
    };
    let analysis = analyse(&read);
    assert_eq!(analysis, analyse(&record));
    assert_eq!(analysis.groups[0].cells[0].rank, Some(1));
}
