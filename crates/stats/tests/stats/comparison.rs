//! Two sessions of heats against each other.

use std::time::Duration;

use deadheat_model::{
    TargetId,
    change::Aspect,
    heat::{Role, SliceRecord},
    heats::SessionRecord,
    observation::OpenLoop,
    plan::Pinning,
    session::{Phase, StackFailure, TargetState},
    workload::{OfferedRate, OpenLoad},
};
use deadheat_simulation::Recorded;
use deadheat_stats::{
    comparison::{
        Bounds, CellId, Check, Compared, ComparisonAnalysis, Gated, Method, Metric, Ratio,
        RatioVerdict, SideFacts,
        sessions::{LETTERS, Sample, compare, correct, refusals},
    },
    interval::difference,
};

use crate::{
    random::Random,
    standings::{died, member, quiet, steered},
};

/// Eight heats of two stacks of these speeds and of three that never change, on a machine that hardly changes.
fn session(id: &str, speeds: &[f64; 2]) -> SessionRecord {
    let mut plan = quiet(&[speeds[0], speeds[1], 0.8, 0.9, 1.1]);
    plan.field.machine.spread = 0.002;
    eight_heats(id, plan)
}

fn eight_heats(id: &str, plan: Recorded) -> SessionRecord {
    let plan = Recorded {
        looks: vec![8],
        until_decided: false,
        times: 400,
        ..plan
    };
    // Other heats for each.
    let seed = id.bytes().map(u64::from).sum();
    let mut record = steered(&plan, seed);
    record.header.id = id.to_owned();
    record
}

fn same(id: &str) -> SessionRecord {
    session(id, &[1.0, 1.2])
}

fn comparison(a: &SessionRecord, b: &SessionRecord) -> ComparisonAnalysis {
    compare(("a", a), ("b", b), LETTERS, Bounds::default())
}

/// The warnings after the one that every comparison has.
fn warnings(comparison: &ComparisonAnalysis) -> Vec<&str> {
    assert_eq!(comparison.warnings[0].id, "two-times", "{comparison:?}");
    let others = comparison.warnings[1..].iter();
    others.map(|one| one.sentence.as_str()).collect()
}

#[track_caller]
/// `--fail-if-slower`.
fn slower_by(bound: f64) -> Check {
    Check {
        fail_if_slower: Some(bound),
        ..Check::default()
    }
}

fn cell<'a>(comparison: &'a ComparisonAnalysis, stack: &str) -> &'a Compared {
    let mut cells = comparison.compared.iter();
    let is = |cell: &&Compared| cell.subject.target == Some(TargetId::new(stack, None));
    let found = cells.find(is);
    found.unwrap_or_else(|| panic!("{stack} was not compared: {:#?}", comparison.not_compared))
}

#[track_caller]
fn ratio(cell: &Compared, metric: Metric) -> &Ratio {
    let mut ratios = cell.ratios.iter();
    ratios.find(|ratio| ratio.metric == metric).unwrap()
}

/// The reason for which the only such cell was not compared, and whether B failed.
#[track_caller]
fn reason(comparison: &ComparisonAnalysis) -> (&str, bool) {
    let [cell] = &comparison.not_compared[..] else {
        panic!("{comparison:#?}")
    };
    assert_eq!(cell.subject.to_string(), "stack-1 plaintext c50");
    (&cell.reason, cell.b_failed)
}

/// The slices of the members of a kind.
fn slices(
    record: &mut SessionRecord,
    is: impl Fn(&TargetId, Role) -> bool,
) -> impl Iterator<Item = &mut SliceRecord> {
    record.heats.iter_mut().flat_map(move |heat| {
        let members = heat.heat.members.iter();
        let wanted: Vec<bool> = members.map(|one| is(&one.target, one.role)).collect();
        let slices = heat.heat.rounds.iter_mut().flatten();
        slices.filter(move |slice| wanted[slice.member as usize])
    })
}

/// The same session, with other sources of this stack.
fn changed(mut record: SessionRecord, stack: &str) -> SessionRecord {
    let mut targets = record.header.targets.iter_mut();
    let target = targets.find(|one| one.target.stack == stack);
    target.expect("the stack").sources = Some("changed".to_owned());
    record
}

/// The same session, in which members of a kind answered `share` of what they did.
fn scaled(
    mut record: SessionRecord,
    share: f64,
    is: impl Fn(&TargetId, Role) -> bool,
) -> SessionRecord {
    for slice in slices(&mut record, is) {
        let answers = (slice.tally.succeeded as f64 * share).round() as u64;
        slice.tally.succeeded = answers;
        slice.tally.issued = answers;
    }
    record
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
    let comparison = comparison(&same("a"), &same("b"));
    assert_eq!(
        (comparison.compared.len(), &comparison.not_compared[..]),
        (5, &[][..])
    );
    for cell in &comparison.compared {
        assert_eq!(cell.verdict, RatioVerdict::DeadHeat, "{cell:#?}");
        let metrics: Vec<Metric> = cell.ratios.iter().map(|ratio| ratio.metric).collect();
        let expected = [
            Metric::Throughput,
            Metric::CpuPerRequest,
            Metric::MemoryPeak,
        ];
        assert_eq!(metrics, expected);
        assert_eq!((cell.ratios[0].heats_a, cell.ratios[0].heats_b), (8, 8));
        assert!(cell.notes.is_empty(), "{cell:#?}");
    }
    assert!(warnings(&comparison).is_empty(), "{comparison:?}");
    let gate = comparison.gate(slower_by(0.03));
    assert!(!gate.failed && gate.cells.iter().all(|cell| cell.is == Gated::Excluded));
    let decided = comparison.gate(Check {
        require_decision: true,
        ..Check::default()
    });
    assert!(!decided.failed, "a dead heat is a decision");
}

#[test]
fn one_slower_stack_is_found_alone_and_both_ways() {
    let (fast, slow) = (same("a"), session("b", &[1.0, 1.2 * 0.95]));
    let slow = changed(slow, "stack-1");
    let (there, back) = (comparison(&fast, &slow), comparison(&slow, &fast));
    let slower = ratio(cell(&there, "stack-1"), Metric::Throughput);
    assert_eq!(slower.verdict, RatioVerdict::Worse, "{slower:?}");
    assert!((slower.ratio - 0.95).abs() < 0.01, "{slower:?}");
    let interval = slower.interval.unwrap();
    assert!(interval.low < 0.95 && 0.95 < interval.high && interval.high < 1.0);
    let cost = ratio(cell(&there, "stack-1"), Metric::CpuPerRequest);
    assert_eq!(cost.verdict, RatioVerdict::Worse);
    let faster = ratio(cell(&back, "stack-1"), Metric::Throughput);
    assert_eq!(faster.verdict, RatioVerdict::Better);
    assert!((faster.ratio * slower.ratio - 1.0).abs() < 1e-12);
    assert_eq!(cell(&there, "stack-0").verdict, RatioVerdict::DeadHeat);
    assert!(there.gate(slower_by(0.03)).failed, "5 % is more than 3 %");
    assert!(!there.gate(slower_by(0.07)).failed);
    assert!(
        !back.gate(slower_by(0.03)).failed,
        "what is faster is not slower"
    );
    assert!(
        !there.gate(Check::default()).failed,
        "without a gate, slower is a result and no failure"
    );
}

#[test]
fn what_is_too_noisy_is_undecided_and_says_that_a_slowdown_was_not_excluded() {
    let noisy = |id: &str| eight_heats(id, Recorded::measured(&[1.0, 1.2]));
    let comparison = comparison(&noisy("a"), &noisy("b"));
    for cell in &comparison.compared {
        assert_eq!(cell.verdict, RatioVerdict::NotEnoughData, "{cell:#?}");
    }
    let gate = comparison.gate(slower_by(0.03));
    let is_open = |cell: &deadheat_stats::comparison::GateCell| cell.is == Gated::NotExcluded;
    assert!(!gate.failed && gate.cells.iter().all(is_open), "{gate:?}");
    let decided = |check: Check| Check {
        require_decision: true,
        ..check
    };
    assert!(comparison.gate(decided(slower_by(0.03))).failed);
    assert!(comparison.gate(decided(Check::default())).failed);
    assert!(!comparison.gate(Check::default()).failed);
}

/// Holm's method: an interval excludes 1 exactly where the adjusted p is below α.
#[test]
fn intervals_and_adjusted_p_values_agree() {
    let comparison = comparison(&same("a"), &changed(session("b", &[0.999, 1.1]), "stack-1"));
    let mut told = [0, 0];
    for ratio in comparison.compared.iter().flat_map(|cell| &cell.ratios) {
        let Some(interval) = ratio.interval else {
            assert_eq!(ratio.metric, Metric::MemoryPeak);
            continue;
        };
        let excludes = interval.low > 1.0 || interval.high < 1.0;
        assert_eq!(excludes, ratio.p_adjusted.unwrap() < 0.05, "{ratio:?}");
        assert!(ratio.p_adjusted >= ratio.p && interval.level >= 0.95);
        told[usize::from(excludes)] += 1;
    }
    assert!(told[0] > 0 && told[1] > 0, "both occur: {told:?}");
}

/// The comparison of sessions with these ratios, each of which decides in its cell.
fn with_ratios(ratios: Vec<Ratio>) -> ComparisonAnalysis {
    let side = |name: &str| SideFacts {
        name: name.to_owned(),
        facts: Vec::new(),
        failed: None,
    };
    let cell = |(place, ratio): (usize, Ratio)| Compared {
        subject: CellId {
            target: None,
            workload: place.to_string(),
            point: "c50".to_owned(),
        },
        ratios: vec![ratio],
        deciding: 1,
        tested: 1,
        ..Compared::default()
    };
    ComparisonAnalysis {
        how: Method::Sessions,
        a: side("A"),
        b: side("B"),
        is_change: false,
        bounds: Bounds::default(),
        compared: ratios.into_iter().enumerate().map(cell).collect(),
        not_compared: Vec::new(),
        conditions: Vec::new(),
        differences: Vec::new(),
        warnings: Vec::new(),
    }
}

/// Twenty cells that are exactly as slow as the bound, and known very well to hardly at all.
#[test]
fn a_slowdown_of_just_the_bound_fails_in_half_of_the_error_level() {
    const SESSIONS: u32 = 1_000;
    let bounds = Bounds::default();
    let mut random = Random(12);
    let mut failed = 0;
    for _ in 0..SESSIONS {
        let ratio = |place: i32| {
            let spread = 0.001 * 30_f64.powf(f64::from(place) / 19.0);
            let mut logs = |mean: f64| -> Vec<f64> {
                (0..8).map(|_| mean + spread * random.normal()).collect()
            };
            let (a, b) = (logs(0.0), logs(0.97_f64.ln()));
            let sample = Sample::new(Metric::Throughput, a, b).expect("values");
            sample.ratio(&bounds)
        };
        let mut ratios: Vec<Ratio> = (0..20).map(ratio).collect();
        correct(&mut ratios.iter_mut().collect::<Vec<_>>(), &bounds);
        let gate = with_ratios(ratios).gate(slower_by(0.03));
        let level = gate.cells[0].interval.expect("an interval").level;
        assert!((level - (1.0 - 0.05 / 20.0)).abs() < 1e-12, "{level}");
        failed += u32::from(gate.failed);
    }
    // 2.5 %, and three standard errors of 1,000 sessions.
    assert!(failed < 40, "{failed} of {SESSIONS}");
}

#[test]
fn every_circumstance_that_would_be_in_the_figures_refuses() {
    type Alter = fn(&mut SessionRecord);
    let cases: [(&str, Alter); 6] = [
        ("processor", |record| {
            record.header.machine.cpu_model = "7".to_owned()
        }),
        ("pinning", |record| {
            record.header.plan.pinning = Pinning::Off { cpus: vec![0, 1] };
        }),
        ("plaintext:c50: slices", |record| {
            record.header.plan.loads[0].heat.slice = Duration::from_secs(1);
        }),
        ("plaintext:c50: load point", |record| {
            record.header.plan.loads[0].point.connections = 51;
        }),
        ("warm-up of stack-0 at plaintext:c50 and 5 more", |record| {
            let members = record.heats.iter_mut();
            for one in members.flat_map(|heat| &mut heat.heat.members) {
                one.warm_up.as_mut().unwrap().rule.most = Duration::from_secs(9);
            }
        }),
        ("warm-up of stack-0 at plaintext:c50 and 5 more", |record| {
            let members = record.heats.iter_mut();
            for one in members.flat_map(|heat| &mut heat.heat.members) {
                one.warm_up.as_mut().unwrap().rule.rest = Duration::from_secs(1);
            }
        }),
    ];
    let (a, b) = (same("a"), same("b"));
    assert_eq!(refusals(&a, &b), []);
    for (what, alter) in cases {
        let mut b = b.clone();
        alter(&mut b);
        let found = refusals(&a, &b);
        let names: Vec<String> = found.iter().map(|change| change.name()).collect();
        assert_eq!(names, [what]);
        assert!(found[0].before != found[0].after);
        let forced = comparison(&a, &b);
        assert!(warnings(&forced)[0].starts_with(&format!("Conditions differ: {what} is ")));
    }
}

#[test]
fn what_is_compared_is_shown_and_refuses_nothing() {
    let (a, mut b) = (same("a"), same("b"));
    b.header.machine.kernel = "7".to_owned();
    b.header.deadheat = "9".to_owned();
    b.header.commit = Some("fedcba".to_owned());
    b.header.targets[1].target = TargetId::new("renamed", None);
    assert_eq!(refusals(&a, &b), []);
    let comparison = comparison(&a, &b);
    let differences = comparison.differences.iter();
    let aspects: Vec<Aspect> = differences.map(|change| change.aspect).collect();
    let expected = [
        Aspect::System,
        Aspect::Deadheat,
        Aspect::Commit,
        Aspect::Selection,
        Aspect::Selection,
    ];
    assert_eq!(aspects, expected, "{:?}", comparison.differences);
    assert_eq!(comparison.compared.len(), 4, "a renamed stack is no cell");
    assert_eq!(comparison.not_compared, []);
}

/// Of stack-1, which is not in the plan any more.
fn gone(state: TargetState) -> SessionRecord {
    let mut record = same("b");
    record.header.targets[1].state = state;
    record.header.plan.loads[0].targets.remove(1);
    record
}

#[test]
fn what_does_not_count_is_not_compared() {
    let a = same("a");
    let fails = |heats: &[usize]| {
        let mut record = same("b");
        for heat in heats {
            member(&mut record.heats[*heat], "stack-1").failure = died("it died", 0);
        }
        record
    };
    // One failure may be the machine's doing.
    let once = comparison(&a, &fails(&[3]));
    assert_eq!(once.not_compared, []);
    let notes = cell(&once, "stack-1").notes.iter();
    let notes: Vec<&str> = notes.map(|one| one.sentence.as_str()).collect();
    assert_eq!(notes, ["B failed in 1 of 8 heats, under load: it died."]);

    let b = fails(&[1, 3]);
    let found = comparison(&a, &b);
    let (told, b_failed) = reason(&found);
    assert_eq!(told, "B failed in 2 of 8 heats, under load: it died");
    assert!(b_failed && found.b_failed());
    let found = comparison(&b, &a);
    assert!(reason(&found).0.starts_with("A failed in 2 of 8 heats") && !found.b_failed());

    let mut b = same("b");
    for slice in slices(&mut b, |target, _| target.stack == "stack-1") {
        slice.generator.busiest = 0.99;
        slice.cpu.as_mut().unwrap().seconds /= 2.0;
    }
    let found = comparison(&a, &b);
    assert_eq!(
        reason(&found),
        ("B is a lower bound: the generator was the limit", false)
    );

    let failure = StackFailure {
        phase: Phase::Build,
        reason: "`cc` exited with 1".to_owned(),
        log_tail: Vec::new(),
        load: None,
    };
    let b = gone(TargetState::Failed(failure));
    let found = comparison(&a, &b);
    let told = "B failed building: `cc` exited with 1";
    assert_eq!(reason(&found), (told, true));
    let both = comparison(&b, &b);
    assert!(reason(&both).0.ends_with(&format!("; {told}")) && both.b_failed());

    let (why, remedy) = ("no `cc`".to_owned(), "apt install gcc".to_owned());
    let b = gone(TargetState::Unavailable {
        reason: why,
        remedy,
    });
    let found = comparison(&a, &b);
    let told = "B was unavailable: no `cc` (to change that: apt install gcc)";
    assert_eq!(reason(&found), (told, false));
    assert_eq!(comparison(&b, &b).not_compared, []);
}

/// On a machine that slows everything by 20 %, a stack that changed by 5 % more is found, and it alone.
#[test]
fn what_everything_moved_by_is_no_change_of_a_stack() {
    let slower = scaled(session("b", &[1.0, 1.2 * 0.95]), 0.8, |_, _| true);
    let slower = changed(slower, "stack-1");
    let found = comparison(&same("a"), &slower);
    let [told] = warnings(&found)[..] else {
        panic!("{found:?}")
    };
    assert!(
        told.starts_with(
            "At plaintext c50, the throughput of 4 stacks that did not change is 0.80 times as high in B as in A"
        ),
        "{told}"
    );
    for one in &found.compared {
        let ratio = ratio(one, Metric::Throughput);
        let moved = ratio.unchanged.unwrap();
        assert!((moved.ratio - 0.8).abs() < 0.02, "{moved:?}");
        let is_changed = one.subject.target == Some(TargetId::new("stack-1", None));
        // The stack itself is none of those that it is compared with.
        assert_eq!(moved.stacks, if is_changed { 4 } else { 3 });
        let expected = if is_changed { 0.95 } else { 1.0 };
        assert!((ratio.ratio / expected - 1.0).abs() < 0.02, "{ratio:?}");
        let is_worse = ratio.verdict == RatioVerdict::Worse;
        assert_eq!(is_worse, is_changed, "{ratio:?}");
    }
}

/// A machine that treats servers differently: what one stack lost is less than what others did, and proves nothing.
#[test]
fn a_stack_that_moved_as_far_as_unchanged_ones_did_is_undecided() {
    let mut b = same("b");
    for (stack, share) in [("stack-2", 1.3), ("stack-3", 0.9), ("stack-4", 0.8)] {
        b = scaled(b, share, |target, _| target.stack == stack);
    }
    let b = scaled(b, 0.85, |target, _| target.stack == "stack-1");
    let found = comparison(&same("a"), &changed(b, "stack-1"));
    let lost = ratio(cell(&found, "stack-1"), Metric::Throughput);
    assert!((lost.ratio - 0.87).abs() < 0.02, "{lost:?}");
    assert_eq!(lost.verdict, RatioVerdict::NotEnoughData);
    assert!(!found.gate(slower_by(0.03)).failed);
}

#[test]
fn without_unchanged_stacks_there_is_no_verdict() {
    let mut b = scaled(same("b"), 0.5, |target, _| target.stack == "stack-1");
    for stack in ["stack-1", "stack-2", "stack-3", "stack-4"] {
        b = changed(b, stack);
    }
    let found = comparison(&same("a"), &b);
    let [told] = warnings(&found)[..] else {
        panic!("{found:?}")
    };
    assert!(
        told.starts_with("Only one stack is the same in A and in B at plaintext c50"),
        "{told}"
    );
    let half = ratio(cell(&found, "stack-1"), Metric::Throughput);
    assert!((half.ratio - 0.5).abs() < 0.02);
    assert_eq!(
        (half.unchanged, half.interval, half.verdict),
        (None, None, RatioVerdict::NotEnoughData)
    );
    let gate = found.gate(slower_by(0.03));
    assert!(gate.cells.iter().all(|cell| cell.is == Gated::NotExcluded));
}

#[test]
fn two_heats_are_too_few_for_an_interval() {
    let mut b = same("b");
    b.heats.truncate(2);
    for cell in &comparison(&same("a"), &b).compared {
        let ratio = &cell.ratios[0];
        assert_eq!((ratio.heats_a, ratio.heats_b), (8, 2));
        assert_eq!((ratio.interval, ratio.p), (None, None));
        assert_eq!(ratio.verdict, RatioVerdict::NotEnoughData);
    }
}

#[test]
fn a_session_whose_twin_differed_is_told_of() {
    let is_twin = |_: &TargetId, role| matches!(role, Role::Twin { .. });
    let found = comparison(&same("a"), &scaled(same("b"), 0.9, is_twin));
    let [told] = warnings(&found)[..] else {
        panic!("{found:?}")
    };
    assert!(told.starts_with("In B one stack under two names (A/A) differed"));
    assert_eq!(found.compared.len(), 5, "a twin is no cell");
}

#[test]
fn a_rate_that_b_cannot_take_fails_it_if_a_always_takes_it() {
    let (a, b) = (open("a", 3_500.0, 1.0), open("b", 3_500.0, 1.0));
    // In its first heats, the second stack falls behind.
    let behind = |record: &SessionRecord, heats: usize| {
        let mut record = record.clone();
        let later = record.heats.split_off(heats);
        for slice in slices(&mut record, |target, _| target.stack == "stack-1") {
            slice.open.as_mut().unwrap().oldest_unsent = Duration::from_secs(9);
        }
        record.heats.extend(later);
        record
    };
    let found = comparison(&a, &behind(&b, 8));
    let told = "B cannot take the rate: requests waited longer and longer in 8 of 8 heats";
    assert_eq!(reason(&found), (told, true));
    let sometimes = comparison(&behind(&a, 1), &behind(&b, 8));
    assert_eq!(reason(&sometimes), (told, false));
    let of_a = comparison(&behind(&a, 8), &b);
    let (told, b_failed) = reason(&of_a);
    assert!(told.starts_with("A cannot take the rate") && !b_failed);
    // A higher rate says nothing of B.
    let higher = comparison(&a, &behind(&open("b", 3_600.0, 1.0), 8));
    assert!(!higher.b_failed(), "{:?}", higher.not_compared);
}

/// An open loop at this rate, with response times of `times` the usual of the second stack.
fn open(id: &str, offered: f64, times: f64) -> SessionRecord {
    let mut record = same(id);
    record.header.plan.loads[0].point.open = Some(OpenLoad {
        capacity_of: "c50".to_owned(),
        rate: OfferedRate::Common,
    });
    let mut respond = |times: f64, is: fn(&TargetId) -> bool| {
        for slice in slices(&mut record, |target, _| is(target)) {
            let mut loop_of = OpenLoop::default();
            for time in 0..400 {
                loop_of
                    .response_time
                    .record_ns((1e6 * times) as u64 + 100 * time);
            }
            slice.open = Some(loop_of);
        }
    };
    respond(1.0, |_| true);
    respond(times, |target| target.stack == "stack-1");
    let heats = record.heats.iter_mut();
    for member in heats.flat_map(|heat| &mut heat.heat.members) {
        member.offered_per_second = Some(offered);
    }
    record
}

#[test]
fn open_loops_are_compared_by_response_times_at_the_same_rate_alone() {
    let slower = changed(open("b", 3_500.0, 1.2), "stack-1");
    let slower = comparison(&open("a", 3_500.0, 1.0), &slower);
    let found = cell(&slower, "stack-1");
    let first = &found.ratios[0];
    assert_eq!(first.metric, Metric::ResponseTimeP50, "no throughput");
    assert!((first.ratio - 1.2).abs() < 0.02, "{first:?}");
    let gate = slower.gate(slower_by(0.03));
    assert_eq!(gate.cells[0].metric, Metric::ResponseTimeP50);
    let worse = gate.cells.iter().filter(|cell| cell.is == Gated::Worse);
    assert!(gate.failed && worse.count() == 1);
    assert!(!slower.gate(slower_by(0.25)).failed, "20 % is less");
    let other = comparison(&open("a", 3_500.0, 1.0), &open("b", 3_600.0, 1.0));
    let cell = &other.not_compared[0];
    assert!(cell.reason.contains("3500/s in A and 3600/s in B") && !cell.b_failed);
}
