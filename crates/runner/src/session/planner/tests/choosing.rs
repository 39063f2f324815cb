//! How many blocks, how long, and with which loads.

use deadheat_model::{
    LoadPhase,
    choice::{LatencyChoice, Offer, Origin, ShortPhase},
};

use super::{
    super::time::{OVERHEAD, USUAL_READY},
    *,
};

fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

#[test]
fn the_default_budget_gives_five_stacks_seven_blocks() {
    let plan = planned(&options(600), 5);
    // Five stacks and two controls at three load points.
    assert_eq!((plan.blocks, plan.cells.len()), (7, 21));
    assert!(plan.estimate <= seconds(600));
    assert!(
        plan.estimate >= seconds(300),
        "the budget is used: {:?}",
        plan.estimate
    );
}

#[test]
fn a_longer_budget_buys_blocks_first_and_then_longer_measurements() {
    let mut bought: Vec<(u32, u64)> = (1..=1200)
        .map(|budget| super::bought(&planned(&options(budget), 5)))
        .collect();
    bought.dedup();
    let ladder = [3, 4, 5, 6, 7].map(|blocks| (blocks, 1));
    let ladder = ladder
        .into_iter()
        .chain([2, 3, 5].map(|measure| (7, measure)));
    assert_eq!(bought, ladder.collect::<Vec<_>>());
}

#[test]
fn a_small_budget_keeps_three_blocks_and_whole_seconds_and_says_what_it_takes() {
    let plan = planned(&options(1), 5);
    assert_eq!(bought(&plan), (3, 1));
    assert_eq!(why(&plan).blocks_from, Origin::Least);
    // 21 trials: 0.7 s around each, 1 s of warm-up, 1 s or (of the workload that asks for it) 2 s of measurement, and
    // two probes of 0.5 s for it, but of the null server.
    let block = 21 * 1700 + 14 * 1000 + 7 * 2000 + 6 * 1000;
    assert_eq!(plan.estimate, Duration::from_millis(3 * block));
}

#[test]
fn how_soon_servers_are_ready_counts() {
    let mut some = participants(1, Runtime::Native);
    let unknown = of(&options(600), &some);
    some[0].ready = Some(USUAL_READY + seconds(2));
    let known = of(&options(600), &some);
    assert_eq!((bought(&unknown), bought(&known)), ((7, 5), (7, 5)));
    // Three load points, of the stack and of its twin.
    assert_eq!(known.estimate - unknown.estimate, 7 * 6 * seconds(2));
}

#[test]
fn a_workload_keeps_its_least_measurement_unless_the_user_says_otherwise() {
    let mut options = options(1);
    let measure = |options: &SessionOptions| planned(options, 1).workloads[2].measure;
    assert_eq!(measure(&options), seconds(2));
    options.measure = Some(Duration::from_millis(500));
    assert_eq!(measure(&options), Duration::from_millis(500));
}

#[test]
fn what_is_asked_for_stands_and_what_is_left_is_chosen() {
    let mut options = options(1);
    (options.blocks, options.measure) = (Some(11), Some(seconds(9)));
    let plan = planned(&options, 1);
    assert_eq!(bought(&plan), (11, 9));
    let origins = (why(&plan).blocks_from, why(&plan).measure_from);
    assert_eq!(origins, (Origin::Asked, Origin::Asked));

    options.budget = Some(seconds(600));
    (options.blocks, options.measure) = (Some(11), None);
    let plan = planned(&options, 1);
    assert_eq!(bought(&plan), (11, 3));
    assert_eq!(why(&plan).measure_from, Origin::Budget);

    (options.blocks, options.measure) = (None, Some(seconds(9)));
    let plan = planned(&options, 1);
    assert_eq!(bought(&plan), (6, 9));
    assert_eq!(why(&plan).blocks_from, Origin::Budget);
}

#[test]
fn what_is_asked_for_too_short_is_taken_and_told() {
    let mut options = options(600);
    assert_eq!(why(&planned(&options, 1)).too_short, []);
    (options.warm_up, options.measure) = (Some(seconds(1)), Some(Duration::from_millis(999)));
    let plan = planned(&options, 1);
    assert_eq!(plan.workloads[0].measure, Duration::from_millis(999));
    let short = ShortPhase {
        phase: LoadPhase::Measurement,
        length: Duration::from_millis(999),
    };
    assert_eq!(why(&plan).too_short, [short]);
    options.warm_up = Some(Duration::from_millis(100));
    assert_eq!(why(&planned(&options, 1)).too_short.len(), 2);
}

#[test]
fn latency_comes_in_when_seven_blocks_fit_with_it() {
    let mut options = options(600);
    options.latency = LatencyMode::Auto;
    let three = planned(&options, 3);
    assert_eq!(why(&three).latency, LatencyChoice::TooLong);
    assert!(three.cells.iter().all(|cell| cell.point == "c50"));
    let offer = why(&three).offers.last().expect("latency is offered");
    assert!(offer.latency && offer.blocks == 7, "{offer:?}");

    options.budget = Some(offer.budget);
    let with = planned(&options, 3);
    assert_eq!((why(&with).latency, with.blocks), (LatencyChoice::Fits, 7));

    options.latency = LatencyMode::Off;
    let without = planned(&options, 3);
    assert_eq!(why(&without).latency, LatencyChoice::Off);
    assert!(why(&without).offers.iter().all(|offer| !offer.latency));
}

#[test]
fn latency_that_is_asked_for_costs_blocks_down_to_three() {
    let mut options = options(900);
    options.latency = LatencyMode::On;
    let plan = planned(&options, 5);
    assert_eq!(why(&plan).latency, LatencyChoice::Asked);
    assert_eq!(bought(&plan), (3, 1));
    assert!(plan.estimate <= seconds(900));
    options.budget = Some(seconds(60));
    let plan = planned(&options, 5);
    assert_eq!(
        (bought(&plan), why(&plan).blocks_from),
        ((3, 1), Origin::Least)
    );
    assert!(plan.cells.iter().any(|cell| cell.point == "c50-open-90"));
}

#[test]
fn who_asks_for_few_blocks_gets_latency_only_by_asking() {
    let mut options = options(3600);
    (options.latency, options.blocks) = (LatencyMode::Auto, Some(6));
    assert_eq!(why(&planned(&options, 1)).latency, LatencyChoice::FewBlocks);
    options.blocks = Some(7);
    assert_eq!(why(&planned(&options, 1)).latency, LatencyChoice::Fits);
    (options.latency, options.blocks) = (LatencyMode::On, Some(1));
    assert_eq!(why(&planned(&options, 1)).latency, LatencyChoice::Asked);
}

#[test]
fn a_first_look_is_three_blocks_of_a_second_however_much_time_there_is() {
    let mut options = options(7200);
    options.purpose = Purpose::FirstLook;
    let plan = planned(&options, 1);
    assert_eq!(bought(&plan), (3, 1));
    assert_eq!(why(&plan).blocks_from, Origin::Purpose);
    assert_eq!(why(&plan).offers, []);
    options.blocks = Some(4);
    assert_eq!(bought(&planned(&options, 1)), (4, 1));
}

#[test]
fn a_publication_has_ten_blocks_or_as_many_as_fit() {
    let mut options = options(1);
    (options.purpose, options.latency) = (Purpose::Publication, LatencyMode::On);
    options.budget = None;
    let plan = planned(&options, 1);
    assert_eq!(
        (bought(&plan), why(&plan).blocks_from),
        ((10, 5), Origin::Purpose)
    );
    assert!(why(&plan).latency.is_on());

    options.budget = Some(plan.estimate * 3 / 2);
    let more = planned(&options, 1);
    assert_eq!(
        (bought(&more), why(&more).blocks_from),
        ((15, 5), Origin::Budget)
    );

    options.budget = Some(plan.estimate / 2);
    let least = planned(&options, 1);
    assert_eq!(
        (bought(&least), why(&least).blocks_from),
        ((10, 5), Origin::Least)
    );

    options.measure = Some(seconds(2));
    assert_eq!(bought(&planned(&options, 1)), (10, 2));
}

#[test]
fn offers_are_what_fits_what_is_evidence_and_latency() {
    let mut options = options(60);
    options.latency = LatencyMode::Auto;
    let plan = planned(&options, 5);
    let offers = &why(&plan).offers;
    let bought: Vec<(u32, u64, bool)> = offers
        .iter()
        .map(|one: &Offer| (one.blocks, one.measure.as_secs(), one.latency))
        .collect();
    assert_eq!(bought, [(3, 1, false), (7, 1, false), (7, 3, true)]);
    let whole = |offer: &Offer| offer.budget.as_secs().is_multiple_of(10);
    assert!(offers.iter().all(whole), "{offers:?}");
}

#[test]
fn when_nothing_else_is_left_a_longer_measurement_is_offered_and_at_last_nothing() {
    let plan = planned(&options(500), 5);
    assert_eq!(bought(&plan), (7, 1));
    assert_eq!(why(&plan).offers.len(), 1);
    let offer = why(&plan).offers[0];
    assert_eq!((offer.blocks, offer.measure), (7, seconds(2)));
    assert_eq!(why(&planned(&options(36_000), 5)).offers, []);
}

#[test]
fn a_load_by_count_takes_about_its_requests_and_no_longer_than_its_limit() {
    let mut options = options(600);
    options.latency = LatencyMode::Auto;
    options.budget = None;
    options.blocks = Some(1);
    options.workloads.truncate(1);
    let mut estimate = |requests: u64| {
        options.workloads[0].points[0].counted = Some(by_count(requests));
        let plan = planned(&options, 1);
        assert_eq!(why(&plan).latency, LatencyChoice::NoClosedLoop);
        plan.estimate
    };
    let fixed = USUAL_READY + OVERHEAD;
    // 1,000 requests/s where nothing is known; there is no warm-up.
    assert_eq!(estimate(5_000), fixed + seconds(5));
    assert_eq!(estimate(5_000_000), fixed + seconds(60));
}

#[test]
fn published_tables_are_repeated_three_times_or_as_often_as_fits() {
    let mut options = options(600);
    options.purpose = Purpose::Repetition;
    options.measure = Some(Duration::from_millis(500));
    for workload in &mut options.workloads {
        workload.points[0].counted = Some(by_count(1000));
    }
    options.budget = None;
    let plan = planned(&options, 1);
    assert_eq!((plan.blocks, why(&plan).blocks_from), (3, Origin::Purpose));
    assert_eq!(
        why(&plan).too_short,
        [],
        "it is a limit there, and no length"
    );
    options.budget = Some(plan.estimate * 2);
    assert_eq!(planned(&options, 1).blocks, 6);
    options.budget = Some(plan.estimate * 20);
    assert_eq!(planned(&options, 1).blocks, 7);
}
