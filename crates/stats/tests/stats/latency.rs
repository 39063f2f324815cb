//! Open loops: response times, their order at a rate common to all, and who was late.

use std::time::Duration;

use deadheat_model::{
    Cell, SessionRecord, TrialOutcome, observation::OpenLoop, trial::Measured,
    workload::OfferedRate,
};
use deadheat_stats::{
    Analysis, Group, Metric, TrialAnalysis, analyse,
    analysis::{GroupComparison, NotRanked},
    cell::PercentileValue,
    limit::Limit,
    trial::Flag,
    verdict::{CellVerdict, TrialVerdict},
};

use crate::fixture::{Found, Session, good, histogram, open, scatter};

const OWN: OfferedRate = OfferedRate::OfOwnCapacity(70);
/// A few, because histograms take long to make.
const BLOCKS: u32 = 4;
const COMMON: OfferedRate = OfferedRate::OfSlowestCapacity(70);

/// Stacks at a capacity and with a mean response time in seconds, and a twin of the first.
fn session(stacks: &[(&str, f64, f64)], common: f64, twin: f64) -> SessionRecord {
    let mut session = Session::new(BLOCKS)
        .workload("json", &[50])
        .open(&[OWN, COMMON]);
    for (name, _, _) in stacks {
        session = session.stack(name);
    }
    let session = session.twin(stacks[0].0);
    let outcome = |cell: &Cell, block| {
        let name = cell.target.to_string();
        let stack = stacks.iter().find(|(other, _, _)| *other == name);
        let (_, capacity, mean) = *stack.unwrap_or(&stacks[0]);
        let scatter = 1.0 + 0.01 * scatter(&name, block);
        let mean = mean * scatter * if stack.is_none() { twin } else { 1.0 };
        let trial = match cell.point.as_str() {
            "c50" => return good(Found::at(capacity)),
            "c50-open-70" => open(Found::at(capacity * 0.7), mean),
            "c50-open-common" => open(Found::at(common), mean),
            other => panic!("{other}"),
        };
        TrialOutcome::Measured(Box::new(trial))
    };
    session.measured(BLOCKS, outcome).build()
}

fn group<'a>(analysis: &'a Analysis, point: &str) -> &'a Group {
    let mut groups = analysis.groups.iter();
    groups.find(|group| group.point.id == point).unwrap()
}

fn names(group: &Group) -> Vec<(String, Option<u32>)> {
    let cells = group.cells.iter();
    cells
        .map(|cell| (cell.target.to_string(), cell.rank))
        .collect()
}

const TWO: [(&str, f64, f64); 2] = [("quick", 3_000.0, 0.004), ("slow", 4_000.0, 0.005)];

#[test]
fn at_a_common_rate_the_shorter_response_time_is_better() {
    let analysis = analyse(&session(&TWO, 2_100.0, 1.0));
    let group = group(&analysis, "c50-open-common");
    assert_eq!(group.metric, Metric::ResponseTime { percent: 99.0 });
    assert_eq!(
        names(group),
        [("quick".to_owned(), Some(1)), ("slow".to_owned(), Some(2))]
    );
    let pair = &group.comparison.pairs()[0];
    assert_eq!(pair.faster.to_string(), "quick");
    assert!((pair.ratio - 1.25).abs() < 0.02 && pair.different);
    assert!(pair.interval.low < 1.25 && 1.25 < pair.interval.high);
    let estimates = group.cells[0].estimates.as_ref().unwrap();
    let found = estimates.open.as_ref().unwrap();
    assert_eq!(found.offered_per_second, Some(2_100.0));
    assert!((estimates.throughput_per_second.median - 2_100.0).abs() < 1.0);
    // The fixture's p99 is 0.6 + 0.4 ln 100 means.
    let p99 = group.cells[0].response_time(99.0).unwrap();
    assert!((p99.mean / (0.004 * 2.442) - 1.0).abs() < 0.02, "{p99:?}");
    assert!(p99.interval.unwrap().low < p99.mean);
    let p50 = |times: &[deadheat_stats::cell::PercentileEstimate]| match times[0].value {
        PercentileValue::Seconds(mean) => mean.mean,
        PercentileValue::TooFewRequests { .. } => panic!(),
    };
    assert!(
        p50(&estimates.service_time) < 0.9 * p50(&found.response_time),
        "service time is another figure"
    );
    assert!(estimates.cpu_us_per_request.is_some());
}

#[test]
fn closed_points_of_the_same_session_are_ranked_by_throughput() {
    let analysis = analyse(&session(&TWO, 2_100.0, 1.0));
    let group = group(&analysis, "c50");
    assert_eq!(group.metric, Metric::Throughput);
    assert_eq!(names(group)[0].0, "slow", "which has the higher capacity");
    assert_eq!(group.cells[0].estimates.as_ref().unwrap().open, None);
}

#[test]
fn response_times_at_rates_of_their_own_are_no_order() {
    let analysis = analyse(&session(&TWO, 2_100.0, 1.0));
    let group = group(&analysis, "c50-open-70");
    let reason = NotRanked::RatesDiffer;
    assert_eq!(group.comparison, GroupComparison::NotRanked { reason });
    assert!(group.cells.iter().all(|cell| cell.rank.is_none()));
    assert!(group.twin.is_none(), "the twin is not measured there");
    let first = group.cells[0].target.to_string();
    assert_eq!(first, "quick", "the shortest response time first");
    let offered = |index: usize| {
        let estimates = group.cells[index].estimates.as_ref().unwrap();
        estimates.open.as_ref().unwrap().offered_per_second
    };
    assert_eq!((offered(0), offered(1)), (Some(2_100.0), Some(2_800.0)));
}

#[test]
fn a_common_rate_that_is_not_common_ranks_nobody() {
    let record = session(&TWO, 2_100.0, 1.0);
    let mut other = record.clone();
    for trial in &mut other.trials {
        if trial.cell.target.to_string() == "slow" && trial.offered_per_second == Some(2_100.0) {
            trial.offered_per_second = Some(2_000.0);
        }
    }
    let analysis = analyse(&other);
    let reason = NotRanked::RatesDiffer;
    assert_eq!(
        group(&analysis, "c50-open-common").comparison,
        GroupComparison::NotRanked { reason }
    );
}

#[test]
fn without_a_p99_for_all_the_median_is_compared() {
    // 900 a second over ten seconds are too few for a p99.
    let analysis = analyse(&session(&TWO, 900.0, 1.0));
    let group = group(&analysis, "c50-open-common");
    assert_eq!(group.metric, Metric::ResponseTime { percent: 50.0 });
    assert_eq!(group.cells[0].response_time(99.0), None);
    let pair = &group.comparison.pairs()[0];
    assert!((pair.ratio - 1.25).abs() < 0.02 && pair.different);
}

#[test]
fn five_percent_of_a_response_time_matter_and_the_twin_may_ask_for_more() {
    let judged = |slower: f64, twin: f64| {
        let stacks = [("one", 3_000.0, 0.004), ("other", 3_000.0, 0.004 * slower)];
        let analysis = analyse(&session(&stacks, 2_100.0, twin));
        let group = group(&analysis, "c50-open-common");
        let pair = &group.comparison.pairs()[0];
        assert!(pair.p_adjusted < 0.05, "{pair:?}");
        (pair.different, group.least_difference, group.is_biased())
    };
    assert_eq!(judged(1.035, 1.0), (false, 0.05, false));
    assert_eq!(judged(1.08, 1.0), (true, 0.05, false));
    let (different, least, biased) = judged(1.08, 1.15);
    assert!(!different && biased && (least - 0.15).abs() < 0.02);
}

/// One trial at 2,100 requests a second with response times of 4 ms, after a change.
fn trial(change: impl Fn(&mut Measured, &mut OpenLoop)) -> TrialAnalysis {
    let session = Session::new(1).workload("json", &[50]).open(&[OWN]);
    let record = session.stack("a").measured(1, |cell, _| {
        if cell.point == "c50" {
            return good(Found::at(3_000.0));
        }
        let mut measured = open(Found::at(2_100.0), 0.004);
        let mut open = measured.load.open.take().unwrap();
        change(&mut measured, &mut open);
        measured.load.open = Some(open);
        TrialOutcome::Measured(Box::new(measured))
    });
    let analysis = analyse(&record.build());
    let cell = &group(&analysis, "c50-open-70").cells[0];
    let overloaded = cell.trials[0].flags.iter().any(Flag::is_overload);
    let estimates = cell.estimates.as_ref().unwrap();
    let found = estimates.open.as_ref().unwrap();
    assert_eq!(found.overloaded, usize::from(overloaded));
    cell.trials[0].clone()
}

fn limits(trial: &TrialAnalysis) -> &[Limit] {
    match &trial.verdict {
        TrialVerdict::GeneratorLimited { limits } => limits,
        _ => &[],
    }
}

#[test]
fn connections_of_an_open_loop_need_no_request_each() {
    let sound = trial(|_, _| ());
    assert_eq!((sound.verdict, sound.flags), (TrialVerdict::Counts, vec![]));
}

#[test]
fn a_late_generator_is_the_limit() {
    let late = trial(|_, open| open.send_lag = histogram(open.offered, 0.004));
    assert!(
        matches!(
            limits(&late),
            [Limit::SendLag { percent: 99.0, response_share, .. }] if *response_share >= 0.5
        ),
        "{late:?}"
    );
    // Less of the response time is a doubt, and less than a tenth is nothing.
    let doubtful = trial(|_, open| open.send_lag = histogram(open.offered, 0.0008));
    assert_eq!(doubtful.verdict, TrialVerdict::Counts);
    assert!(matches!(doubtful.flags[..], [Flag::SendLag { .. }]));
    let little = trial(|_, open| open.send_lag = histogram(open.offered, 0.0003));
    assert_eq!((limits(&little), &little.flags[..]), (&[][..], &[][..]));
}

/// 420 more requests than were sent were due, about 2 %: they are unsent at the end.
fn unsent(open: &mut OpenLoop) {
    open.unsent = 420;
    open.offered += open.unsent;
    open.oldest_unsent = Duration::from_millis(300);
}

#[test]
fn requests_unsent_with_free_connections_are_the_generators_fault() {
    let late = trial(|_, open| {
        unsent(open);
        open.send_lag = histogram(open.offered, 0.0008);
        open.connection_wait = histogram(open.offered, 0.00001);
    });
    let found = limits(&late);
    let share = found.iter().find_map(|limit| match limit {
        Limit::Late { sent_share, .. } => Some(*sent_share),
        _ => None,
    });
    assert!((share.unwrap() - 0.98).abs() < 1e-3, "{found:?}");
    assert!(!late.flags.iter().any(Flag::is_overload));
}

#[test]
fn requests_unsent_for_want_of_a_connection_are_the_servers() {
    let behind = trial(|_, open| {
        unsent(open);
        open.connection_wait = histogram(open.offered, 0.2);
        open.response_time = histogram(open.offered, 0.21);
    });
    assert_eq!(behind.verdict, TrialVerdict::Counts);
    let [
        Flag::Overloaded {
            offered: 21_420,
            unsent: 420,
            connections: 50,
            in_flight_after: 50,
            oldest_unsent_seconds,
            ..
        },
    ] = behind.flags[..]
    else {
        panic!("{:?}", behind.flags)
    };
    assert!((oldest_unsent_seconds - 0.3).abs() < 1e-9);
    // Its response times are shown.
    let figures = behind.figures.unwrap();
    let open = figures.open.unwrap();
    assert!(open.response_time.unwrap().shown(99.0).unwrap() > 0.4);
    // Half a percent is none.
    let keeps_up = trial(|_, open| {
        open.unsent = open.offered / 200;
        open.offered += open.unsent;
    });
    assert_eq!(keeps_up.flags, []);
}

/// `of` requests that were answered were due before the measurement.
fn backlog(measured: &mut Measured, open: &mut OpenLoop, of: u64) {
    open.offered = measured.load.measured.issued - of;
    open.connection_wait = histogram(open.offered, 0.2);
    open.response_time = histogram(measured.load.measured.succeeded, 0.21);
}

#[test]
fn a_backlog_of_the_warm_up_is_told_although_none_is_left_at_the_end() {
    let cold = trial(|measured, open| backlog(measured, open, 420));
    assert_eq!(cold.verdict, TrialVerdict::Counts);
    assert_eq!(
        cold.flags,
        [Flag::Backlog {
            offered: 20_580,
            waiting: 420,
            connections: 50
        }]
    );
    // Half a percent is none.
    let warm = trial(|measured, open| backlog(measured, open, 105));
    assert_eq!(warm.flags, []);
    // Neither is what waited for the generator.
    let late = trial(|measured, open| {
        backlog(measured, open, 420);
        open.send_lag = histogram(open.offered, 0.004);
        open.connection_wait = histogram(open.offered, 0.00001);
    });
    assert!(!late.flags.iter().any(Flag::is_overload), "{late:?}");
}

#[test]
fn a_stack_that_was_overloaded_once_at_the_common_rate_is_in_no_pair_and_has_no_rank() {
    let stacks = [
        ("quick", 3_000.0, 0.004),
        ("slow", 4_000.0, 0.005),
        ("lost", 4_000.0, 0.001),
    ];
    let mut record = session(&stacks, 2_100.0, 1.0);
    let mut trials = record.trials.iter_mut();
    let overloaded = trials.find(|trial| {
        let cell = &trial.cell;
        cell.target.to_string() == "lost" && cell.point == "c50-open-common"
    });
    let TrialOutcome::Measured(measured) = &mut overloaded.unwrap().outcome else {
        panic!()
    };
    let open = measured.load.open.as_mut().unwrap();
    unsent(open);
    open.connection_wait = histogram(open.offered, 0.2);
    let analysis = analyse(&record);
    let at_common = group(&analysis, "c50-open-common");
    assert_eq!(
        names(at_common)[..2],
        [("quick".to_owned(), Some(1)), ("slow".to_owned(), Some(2))]
    );
    let lost = &at_common.cells[2];
    assert_eq!(
        (lost.target.to_string().as_str(), lost.rank),
        ("lost", None)
    );
    assert!(lost.is_overloaded() && lost.verdict == CellVerdict::Counts);
    assert_eq!(at_common.comparison.pairs().len(), 1);
    // Its other load points are what they were.
    let closed = group(&analysis, "c50");
    assert!(closed.cells.iter().all(|cell| cell.rank.is_some()));
}

#[test]
fn of_a_limited_generator_nothing_follows_for_the_server() {
    let busy = trial(|measured, open| {
        unsent(open);
        open.connection_wait = histogram(open.offered, 0.2);
        open.response_time = histogram(open.offered, 0.21);
        let wall = measured.load.workers[0].wall;
        measured.load.workers[0].cpu_time = wall.mul_f64(0.95);
    });
    assert!(matches!(limits(&busy), [Limit::Worker { .. }]));
    assert_eq!(busy.flags, []);
}

#[test]
fn a_cell_of_unknown_capacity_fails_and_is_not_compared() {
    let mut record = session(&TWO, 2_100.0, 1.0);
    for trial in &mut record.trials {
        if trial.cell.target.to_string() == "slow" && trial.cell.point != "c50" {
            trial.offered_per_second = None;
            trial.outcome = crate::fixture::failed(
                deadheat_model::trial::Phase::Load,
                "its capacity is not known",
                &[],
            );
        }
    }
    let analysis = analyse(&record);
    let group = group(&analysis, "c50-open-common");
    assert!(matches!(
        group.cells[1].verdict,
        CellVerdict::Failed { failed: 4, .. }
    ));
    assert_eq!(group.cells[0].rank, Some(1));
}
