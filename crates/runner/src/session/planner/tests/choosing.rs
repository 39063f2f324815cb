//! How many blocks, how long, and with which loads.

use super::{
    super::time::{OVERHEAD, USUAL_READY},
    *,
};

#[test]
fn the_default_budget_gives_five_stacks_seven_blocks() {
    let plan = planned(&options(600), 5);
    // Five stacks and two controls at three load points.
    assert_eq!((plan.blocks, plan.cells.len()), (7, 21));
    assert!(plan.estimate <= Duration::from_secs(600));
    assert!(
        plan.estimate >= Duration::from_secs(300),
        "the budget is used: {:?}",
        plan.estimate
    );
}

#[test]
fn a_small_budget_keeps_three_blocks_and_whole_seconds_and_says_what_it_takes() {
    let plan = planned(&options(1), 5);
    assert_eq!(bought(&plan), (3, 1));
    assert!(plan.estimate > Duration::from_secs(1));
}

#[test]
fn a_workload_keeps_its_least_measurement_unless_the_user_says_otherwise() {
    let mut options = options(1);
    let measure = |options: &SessionOptions| planned(options, 1).workloads[2].measure;
    assert_eq!(measure(&options), Duration::from_secs(2));
    options.measure = Some(Duration::from_millis(500));
    assert_eq!(measure(&options), Duration::from_millis(500));
}

#[test]
fn blocks_and_measurement_can_be_given() {
    let mut options = options(1);
    (options.blocks, options.measure) = (Some(11), Some(Duration::from_secs(9)));
    assert_eq!(bought(&planned(&options, 1)), (11, 9));
}

#[test]
fn a_load_by_count_takes_about_its_requests_and_no_longer_than_its_limit() {
    let mut options = options(600);
    options.budget = None;
    options.blocks = Some(1);
    options.workloads.truncate(1);
    let mut estimate = |requests: u64| {
        options.workloads[0].points[0].counted = Some(by_count(requests));
        planned(&options, 1).estimate
    };
    let fixed = USUAL_READY + OVERHEAD;
    // 1,000 requests/s where nothing is known; there is no warm-up.
    assert_eq!(estimate(5_000), fixed + Duration::from_secs(5));
    assert_eq!(estimate(5_000_000), fixed + Duration::from_secs(60));
}
