//! Two sessions against each other, built by hand.

use deadheat_model::{
    Failure, LoadPoint, SessionRecord, TargetId, TrialOutcome,
    change::Aspect,
    load::Arrivals,
    observation::OpenLoop,
    plan::{Controls, Twin},
    session::TargetState,
    trial::Phase,
    workload::{OfferedRate, OpenLoad},
};
use deadheat_stats::{
    versus::{
        Bounds, Compared, Gated, Metric, Ratio, Verdict, Versus,
        sessions::{compare, refusals},
    },
    welch::difference,
};

use crate::fixture::{
    Found, Session, failed, failure, good, histogram, measured, scatter, with_failures,
};

/// Two stacks at two load points. `share` is the rate over that of the usual session.
fn session(id: &str, share: impl Fn(&str, u32) -> f64) -> SessionRecord {
    let session = Session::new(7)
        .workload("json", &[50])
        .workload("users", &[50])
        .stack("go-nethttp")
        .stack("rust-axum");
    let session = session.measured(7, |cell, block| {
        let noise = 0.004 * scatter(&format!("{id} {cell}"), block);
        good(Found::at(
            5_000.0 * share(&cell.target.stack, block) * (1.0 + noise),
        ))
    });
    let id = id.to_owned();
    session.with(|record| record.header.id = id).build()
}

fn same(id: &str) -> SessionRecord {
    session(id, |_, _| 1.0)
}

fn versus(a: &SessionRecord, b: &SessionRecord) -> Versus {
    compare(("a", a), ("b", b), Bounds::default())
}

#[track_caller]
fn cell<'a>(versus: &'a Versus, name: &str) -> &'a Compared {
    let mut cells = versus.compared.iter();
    let found = cells.find(|cell| cell.subject.to_string() == name);
    found.unwrap_or_else(|| panic!("{name} was not compared: {:#?}", versus.not_compared))
}

#[track_caller]
fn ratio(cell: &Compared, metric: Metric) -> &Ratio {
    let mut ratios = cell.ratios.iter();
    ratios.find(|ratio| ratio.metric == metric).unwrap()
}

/// The reason for which a cell was not compared, and whether B failed.
#[track_caller]
fn reason(versus: &Versus, name: &str) -> (String, bool) {
    let mut cells = versus.not_compared.iter();
    let found = cells.find(|cell| cell.subject.to_string() == name);
    let found = found.unwrap_or_else(|| panic!("{name}: {:#?}", versus.compared));
    (found.reason.clone(), found.b_failed)
}

/// `stats.ttest_ind(b, a, equal_var=False)` of SciPy 1.17.1: `pvalue`, `df`, `confidence_interval(.99)`.
#[test]
fn welch_is_that_of_scipy() {
    let a = [0.01, 0.03, -0.02, 0.015, 0.0];
    let b = [0.05, 0.07, 0.06, 0.04, 0.08, 0.055, 0.09];
    let found = difference(&a, &b).unwrap();
    let near = |found: f64, expected: f64| (found / expected - 1.0).abs() < 1e-9;
    assert!(near(found.p_of_zero(), 0.0005938470242746513), "{found:?}");
    assert!(near(found.freedom, 8.420147292631595), "{found:?}");
    assert!(near(
        found.mean - found.half_width(0.99),
        0.021459852512986592
    ));
    assert!(near(
        found.mean + found.half_width(0.99),
        0.09168300462987056
    ));
    assert_eq!(difference(&a[..1], &b), None);
    let still = difference(&[1.0, 1.0], &[1.0, 1.0]).unwrap();
    assert_eq!(still.p_of_zero(), 1.0);
}

#[test]
fn the_same_twice_is_a_dead_heat_in_everything() {
    let versus = versus(&same("a"), &same("b"));
    assert_eq!(versus.compared.len(), 4);
    assert_eq!(versus.not_compared, []);
    for cell in &versus.compared {
        assert_eq!(cell.verdict(), Verdict::DeadHeat, "{cell:#?}");
        let metrics: Vec<Metric> = cell.ratios.iter().map(|ratio| ratio.metric).collect();
        let expected = [
            Metric::Throughput,
            Metric::ServiceTimeP50,
            Metric::ServiceTimeP99,
            Metric::CpuPerRequest,
            Metric::MemoryMean,
        ];
        assert_eq!(metrics, expected);
    }
    assert_eq!(versus.warnings, [] as [&str; 0]);
    let gate = versus.gate(0.03);
    assert!(!gate.failed && gate.cells.iter().all(|cell| cell.is == Gated::Excluded));
}

#[test]
fn one_slower_stack_is_found_alone_and_both_ways() {
    let (fast, slow) = (
        same("a"),
        session(
            "b",
            |stack, _| if stack == "rust-axum" { 0.95 } else { 1.0 },
        ),
    );
    let there = versus(&fast, &slow);
    let back = versus(&slow, &fast);
    for workload in ["json", "users"] {
        let slower = ratio(
            cell(&there, &format!("rust-axum {workload} c50")),
            Metric::Throughput,
        )
        .clone();
        assert_eq!(slower.verdict, Verdict::Worse);
        assert!((slower.ratio - 0.95).abs() < 0.005, "{slower:?}");
        let interval = slower.interval.unwrap();
        assert!(interval.low < 0.95 && 0.95 < interval.high && interval.high < 1.0);
        let faster = ratio(
            cell(&back, &format!("rust-axum {workload} c50")),
            Metric::Throughput,
        )
        .clone();
        assert_eq!(faster.verdict, Verdict::Better);
        assert!((faster.ratio * slower.ratio - 1.0).abs() < 1e-12);
        assert_eq!(
            cell(&there, &format!("go-nethttp {workload} c50")).verdict(),
            Verdict::DeadHeat
        );
    }
    assert!(there.gate(0.03).failed, "5 % is more than 3 %");
    let wide = there.gate(0.06);
    assert!(
        !wide.failed && wide.cells.iter().all(|cell| cell.is == Gated::Excluded),
        "{wide:?}"
    );
    assert!(!back.gate(0.03).failed, "what is faster is not slower");
}

#[test]
fn what_is_too_noisy_is_undecided_and_says_that_a_slowdown_was_not_excluded() {
    let noisy = |id: &'static str| {
        session(id, move |stack, block| {
            1.0 + 0.1 * scatter(&format!("{id}{stack}"), block)
        })
    };
    let versus = versus(&noisy("a"), &noisy("b"));
    for cell in &versus.compared {
        assert_eq!(cell.verdict(), Verdict::NotEnoughData, "{cell:#?}");
    }
    let gate = versus.gate(0.03);
    assert!(!gate.failed);
    assert!(
        gate.cells.iter().all(|cell| cell.is == Gated::NotExcluded),
        "{gate:?}"
    );
}

/// Holm's method: an interval excludes 1 exactly where the adjusted p is below α.
#[test]
fn intervals_and_adjusted_p_values_agree() {
    let (a, b) = (
        same("a"),
        session(
            "b",
            |stack, _| if stack == "rust-axum" { 0.996 } else { 0.999 },
        ),
    );
    let versus = versus(&a, &b);
    let mut told = (0, 0);
    for ratio in versus.compared.iter().flat_map(|cell| &cell.ratios) {
        let interval = ratio.interval.unwrap();
        let excludes = interval.low > 1.0 || interval.high < 1.0;
        assert_eq!(excludes, ratio.p_adjusted.unwrap() < 0.05, "{ratio:?}");
        assert!(ratio.p_adjusted >= ratio.p && interval.level >= 0.95);
        told = if excludes {
            (told.0 + 1, told.1)
        } else {
            (told.0, told.1 + 1)
        };
    }
    assert!(told.0 > 0 && told.1 > 0, "both occur: {told:?}");
}

#[test]
fn every_circumstance_that_would_be_in_the_figures_refuses() {
    type Alter = fn(&mut SessionRecord);
    let cases: [(&str, Alter); 13] = [
        ("processor", |record| {
            record.header.machine.cpu_model = "Other".to_owned()
        }),
        ("usable CPUs", |record| record.header.machine.cpus = vec![0]),
        ("kernel", |record| {
            record.header.machine.kernel = "7".to_owned()
        }),
        ("mitigations", |record| {
            record.header.machine.mitigations.clear()
        }),
        ("frequency governor", |record| {
            record.header.machine.governor = None
        }),
        ("congestion control", |record| {
            record.header.machine.congestion_control = Some("bbr".to_owned());
        }),
        ("Deadheat", |record| record.header.deadheat = "9".to_owned()),
        ("pinning", |record| {
            record.header.plan.pinning = deadheat_model::plan::Pinning::Off { cpus: vec![0, 1] };
        }),
        ("json: measurement", |record| {
            record.header.plan.workloads[0].measure = std::time::Duration::from_secs(1);
        }),
        ("json: what it exercises", |record| {
            record.header.plan.workloads[0].description = "Another.".to_owned();
        }),
        ("json: least time of an answer", |record| {
            record.header.plan.workloads[0].delay_seconds = Some(0.5);
        }),
        ("json c50", |record| {
            record.header.plan.workloads[0].points[0].connections = 51
        }),
        ("warm-up of go-nethttp json c50 and 3 more", |record| {
            for trial in &mut record.trials {
                trial.warm_up = std::time::Duration::from_secs(9);
            }
        }),
    ];
    assert_eq!(refusals(&same("a"), &same("b")), []);
    for (what, alter) in cases {
        let (a, mut b) = (same("a"), same("b"));
        alter(&mut b);
        let found = refusals(&a, &b);
        let names: Vec<&str> = found.iter().map(|change| change.what.as_str()).collect();
        assert_eq!(names, [what]);
        assert!(found[0].before != found[0].after);
        if what == "kernel" {
            let forced = versus(&a, &b);
            assert_eq!(
                forced.warnings,
                ["kernel differs: 6.12.0-test in A, 7 in B"]
            );
        }
    }
}

#[test]
fn what_is_compared_is_shown_and_refuses_nothing() {
    let (a, mut b) = (same("a"), same("b"));
    b.header.commit = Some("fedcba".to_owned());
    b.header.targets[0].versions[0].version = "1.3.0".to_owned();
    b.header.targets[1].target = TargetId::new("rust-axum2", None);
    assert_eq!(refusals(&a, &b), []);
    let versus = versus(&a, &b);
    let aspects: Vec<Aspect> = versus
        .differences
        .iter()
        .map(|change| change.aspect)
        .collect();
    let expected = [
        Aspect::Commit,
        Aspect::Version,
        Aspect::Selection,
        Aspect::Selection,
    ];
    assert_eq!(aspects, expected, "{:?}", versus.differences);
    let compared: Vec<String> = versus
        .compared
        .iter()
        .map(|cell| cell.subject.to_string())
        .collect();
    assert_eq!(
        compared,
        ["go-nethttp json c50", "go-nethttp users c50"],
        "a renamed stack is no cell"
    );
    assert_eq!(versus.not_compared, []);
}

#[test]
fn what_does_not_count_is_not_compared() {
    let usual = |_: &str, _: u32| 1.0;
    let with = |change: fn(&mut SessionRecord)| {
        let mut record = session("b", usual);
        change(&mut record);
        record
    };
    let one = |record: &mut SessionRecord, block: u32, outcome: TrialOutcome| {
        let mut trials = record.trials.iter_mut();
        let trial = trials
            .find(|trial| trial.block == block && trial.cell.to_string() == "rust-axum json c50");
        trial.unwrap().outcome = outcome;
    };
    let name = "rust-axum json c50";
    let a = same("a");

    let mut b = same("b");
    one(&mut b, 3, failed(Phase::Load, "the server died", &[]));
    let (told, b_failed) = reason(&versus(&a, &b), name);
    assert_eq!(
        told,
        "B failed in 1 of 7 trials, under load: the server died"
    );
    assert!(b_failed && versus(&a, &b).b_failed());
    let (told, b_failed) = reason(&versus(&b, &a), name);
    assert_eq!(
        told,
        "A failed in 1 of 7 trials, under load: the server died"
    );
    assert!(!b_failed && !versus(&b, &a).b_failed());

    let mut b = same("b");
    one(
        &mut b,
        3,
        with_failures(Found::at(5_000.0), Failure::WrongContent, 1, "x"),
    );
    assert_eq!(
        reason(&versus(&a, &b), name).0,
        "B failed in 1 of 7 trials, wrong answers: 1"
    );

    let mut b = same("b");
    one(
        &mut b,
        3,
        good(Found {
            busy: 0.95,
            ..Found::at(5_000.0)
        }),
    );
    let (told, b_failed) = reason(&versus(&a, &b), name);
    assert!(
        told.contains("lower bound") && told.contains("1 of 7") && !b_failed,
        "{told}"
    );

    let b = with(|record| record.trials.retain(|trial| trial.cell.workload != "json"));
    let told = versus(&a, &b);
    assert_eq!(told.compared, []);
    assert_eq!(
        reason(&told, "go-nethttp users c50").0,
        "B has no complete block"
    );

    let b = with(|record| {
        record.header.targets[1].state =
            TargetState::Failed(failure(Phase::Build, "`cc` exited with 1", &[]));
        record
            .header
            .plan
            .cells
            .retain(|cell| cell.target.stack != "rust-axum");
        record
            .trials
            .retain(|trial| trial.cell.target.stack != "rust-axum");
    });
    let (told, b_failed) = reason(&versus(&a, &b), name);
    assert_eq!(told, "B failed while building: `cc` exited with 1");
    assert!(b_failed);
    let mut both = b.clone();
    both.header.id = "c".to_owned();
    let told = versus(&b, &both);
    assert_eq!(
        told.b.failed.as_deref(),
        Some("rust-axum failed while building: `cc` exited with 1")
    );
    assert!(told.b_failed());

    let b = with(|record| {
        let (reason, remedy) = ("no `cc`".to_owned(), "apt install gcc".to_owned());
        record.header.targets[1].state = TargetState::Unavailable { reason, remedy };
        record
            .header
            .plan
            .cells
            .retain(|cell| cell.target.stack != "rust-axum");
        record
            .trials
            .retain(|trial| trial.cell.target.stack != "rust-axum");
    });
    let (told, b_failed) = reason(&versus(&a, &b), name);
    assert_eq!(
        told,
        "B was unavailable: no `cc` (to change that: apt install gcc)"
    );
    assert!(!b_failed);
}

/// Adds a target that no manifest has, measured like the others at `share` of their rate.
fn with_control(mut record: SessionRecord, name: TargetId, of: &str, share: f64) -> SessionRecord {
    let copies: Vec<_> = record
        .trials
        .iter()
        .filter(|trial| trial.cell.target.stack == of)
        .cloned()
        .collect();
    for mut trial in copies {
        let rate = match &trial.outcome {
            TrialOutcome::Measured(measured) => measured.load.throughput(),
            TrialOutcome::Failed(_) => unreachable!(),
        };
        trial.outcome = good(Found::at(rate * share));
        trial.cell.target = name.clone();
        if !record.header.plan.cells.contains(&trial.cell) {
            record.header.plan.cells.push(trial.cell.clone());
        }
        record.trials.push(trial);
    }
    record
}

fn with_twin(record: SessionRecord, share: f64) -> SessionRecord {
    let name = Controls::twin_id();
    let mut record = with_control(record, name.clone(), "go-nethttp", share);
    let of = TargetId::new("go-nethttp", None);
    record.header.plan.controls.twin = Some(Twin { name, of });
    record
}

#[test]
fn the_floor_is_the_larger_one_of_both_sessions_and_keeps_less_from_counting() {
    let slower = |id| session(id, |_, _| 0.96);
    let a = with_twin(same("a"), 1.02);
    let b = with_twin(slower("b"), 0.95);
    let found = versus(&a, &b);
    assert_eq!(found.compared.len(), 4, "a twin is no cell: {found:?}");
    let told: Vec<&str> = found.warnings.iter().map(|told| &told[..4]).collect();
    assert_eq!(
        told,
        ["in A", "in B"],
        "both are biased: {:?}",
        found.warnings
    );
    for one in &found.compared {
        let ratio = ratio(one, Metric::Throughput);
        assert!(
            (ratio.floor.unwrap() - (1.0 / 0.95 - 1.0)).abs() < 0.001,
            "{ratio:?}"
        );
        assert_eq!(ratio.threshold, ratio.floor.unwrap());
        assert_eq!(
            ratio.verdict,
            Verdict::NotEnoughData,
            "4 % is less than the floor: {ratio:?}"
        );
    }
    let quiet = versus(&with_twin(same("a"), 1.0), &with_twin(slower("b"), 1.0));
    assert_eq!(quiet.compared[0].verdict(), Verdict::Worse);
}

#[test]
fn a_null_server_that_moved_is_a_warning() {
    let null = |record, share| {
        let name = Controls::null_server_id();
        let mut record = with_control(record, name.clone(), "go-nethttp", share);
        record.header.plan.controls.null_server = Some(name);
        record
    };
    let still = versus(&null(same("a"), 4.0), &null(same("b"), 4.0));
    assert_eq!(still.warnings, [] as [&str; 0]);
    assert_eq!(still.compared.len(), 4);
    let moved = versus(&null(same("a"), 4.0), &null(same("b"), 3.8));
    assert_eq!(moved.warnings.len(), 2, "{:?}", moved.warnings);
    assert!(
        moved.warnings[0].contains("0.949 times"),
        "{:?}",
        moved.warnings
    );
}

/// `share` of the rate of the usual null server, whose trials the generator limits.
fn limited_null(record: SessionRecord, share: f64) -> SessionRecord {
    let name = Controls::null_server_id();
    let mut record = with_control(record, name.clone(), "go-nethttp", share);
    for trial in &mut record.trials {
        if trial.cell.target == name
            && let TrialOutcome::Measured(found) = &trial.outcome
        {
            trial.outcome = good(Found {
                busy: 0.95,
                ..Found::at(found.load.throughput())
            });
        }
    }
    record.header.plan.controls.null_server = Some(name);
    record
}

#[test]
fn a_null_server_that_the_generator_limited_shows_drift_and_keeps_less_from_counting() {
    let slower = || session("b", |_, _| 0.96);
    let moved = versus(
        &limited_null(same("a"), 4.0),
        &limited_null(slower(), 4.0 * 0.99),
    );
    assert_eq!(moved.warnings.len(), 2, "{:?}", moved.warnings);
    for one in &moved.compared {
        let ratio = ratio(one, Metric::Throughput);
        let drift = ratio.drift.unwrap();
        assert!(
            (drift - (1.0 / (0.96 * 0.99) - 1.0)).abs() < 0.005,
            "{drift}"
        );
        assert_eq!(ratio.threshold, drift);
        assert_eq!(ratio.verdict, Verdict::NotEnoughData, "{ratio:?}");
    }
    // As fast in both, it keeps nothing from counting.
    let still = versus(
        &limited_null(same("a"), 4.0),
        &limited_null(slower(), 4.0 / 0.96),
    );
    assert_eq!(still.warnings, [] as [&str; 0]);
    assert_eq!(still.compared[0].verdict(), Verdict::Worse);
}

/// An open loop at `rate`, its response times `times` those of the service times.
fn open(id: &str, rate: OfferedRate, offered: f64, times: f64) -> SessionRecord {
    let session = Session::new(7).workload("json", &[50]).with(|record| {
        record.header.plan.workloads[0].points.push(LoadPoint {
            id: "c50-open".to_owned(),
            connections: 50,
            rounds: None,
            sending: Default::default(),
            counted: None,
            open: Some(OpenLoad {
                capacity_of: "c50".to_owned(),
                rate,
                arrivals: Arrivals::Poisson,
            }),
        });
    });
    let session = session.stack("go-nethttp").measured(7, |cell, block| {
        let noise = 1.0 + 0.004 * scatter(&format!("{id}{cell}"), block);
        if cell.point == "c50" {
            return good(Found::at(5_000.0 * noise));
        }
        let mut trial = measured(Found::at(offered));
        let answers = (offered * 10.0) as u64;
        trial.load.open = Some(OpenLoop {
            offered: answers,
            response_time: histogram(answers, 0.01 * times * noise),
            send_lag: histogram(answers, 1e-6),
            ..OpenLoop::default()
        });
        TrialOutcome::Measured(Box::new(trial))
    });
    let id = id.to_owned();
    let session = session.with(|record| {
        record.header.id = id;
        for trial in &mut record.trials {
            trial.offered_per_second = (trial.cell.point == "c50-open").then_some(offered);
        }
    });
    session.build()
}

#[test]
fn open_loops_are_compared_by_response_times_at_the_same_rate_alone() {
    let rates = [
        OfferedRate::OfOwnCapacity(70),
        OfferedRate::OfSlowestCapacity(70),
    ];
    for rate in rates {
        let slower = versus(
            &open("a", rate, 3_500.0, 1.0),
            &open("b", rate, 3_500.0, 1.2),
        );
        let found = cell(&slower, "go-nethttp json c50-open");
        assert_eq!(
            found.ratios[0].metric,
            Metric::ResponseTimeP50,
            "no throughput: {found:?}"
        );
        assert_eq!(found.verdict(), Verdict::Worse, "{found:#?}");
        assert_eq!(slower.gate(0.03).cells.len(), 1, "the closed loop alone");
        let faster = versus(
            &open("a", rate, 3_500.0, 1.2),
            &open("b", rate, 3_500.0, 1.0),
        );
        assert_eq!(
            cell(&faster, "go-nethttp json c50-open").verdict(),
            Verdict::Better
        );
        let other = versus(
            &open("a", rate, 3_500.0, 1.0),
            &open("b", rate, 3_600.0, 1.0),
        );
        let (told, b_failed) = reason(&other, "go-nethttp json c50-open");
        assert!(
            told.contains("3500/s in A and 3600/s in B") && !b_failed,
            "{told}"
        );
    }
}

#[test]
fn too_few_blocks_are_told_of() {
    let mut b = same("b");
    b.trials.retain(|trial| trial.block < 1);
    let found = versus(&same("a"), &b);
    assert_eq!(
        found.warnings,
        ["B has 1 complete block, fewer than 7: indicative"]
    );
    for cell in &found.compared {
        assert_eq!(cell.verdict(), Verdict::NotEnoughData);
        assert_eq!(cell.ratios[0].interval, None);
    }
}
