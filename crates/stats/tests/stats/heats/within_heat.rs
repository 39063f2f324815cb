//! From the rounds of a heat to its members' estimates.

use deadheat_stats::heats::{
    Quantity, Settings,
    within::{Estimate, of_heat},
};

use super::heat;

fn estimates(rounds: &[Vec<Option<f64>>]) -> Vec<Vec<Estimate>> {
    of_heat(&heat(rounds), Quantity::Throughput, &Settings::default())
}

/// How many times faster member `a` is than member `b`.
fn ratio(estimates: &[Estimate], a: usize, b: usize) -> f64 {
    let of = |member| estimates.iter().find(|one| one.member == member).unwrap();
    (of(a).value - of(b).value).exp()
}

/// Round `r` of a machine that drifts by 10 % from round to round and has no other noise.
fn drifting(r: usize, rates: [f64; 3]) -> Vec<Option<f64>> {
    let machine = 1.1_f64.powi(r as i32);
    rates.iter().map(|rate| Some(rate * machine)).collect()
}

#[test]
fn what_moves_a_whole_round_moves_no_estimate() {
    let rounds: Vec<_> = (0..10).map(|r| drifting(r, [100.0, 200.0, 50.0])).collect();
    let found = &estimates(&rounds)[0];
    assert!((ratio(found, 1, 0) - 2.0).abs() < 1e-9);
    assert!((ratio(found, 2, 0) - 0.5).abs() < 1e-9);
    let scatter = found[0].scatter.unwrap();
    assert!(scatter.variance < 1e-12 && scatter.rounds == 10);
}

/// A mean over the slices that are there would make the others of these rounds look 26 % slower.
#[test]
fn a_missing_slice_moves_nobody() {
    let mut rounds: Vec<_> = (0..10).map(|r| drifting(r, [100.0, 200.0, 50.0])).collect();
    rounds[0][2] = None;
    rounds[4][2] = None;
    rounds[5][1] = None;
    for round in &mut rounds[6..] {
        round[2] = None;
    }
    let found = &estimates(&rounds)[0];
    assert!((ratio(found, 1, 0) - 2.0).abs() < 1e-7, "{found:?}");
    assert!((ratio(found, 2, 0) - 0.5).abs() < 1e-7, "{found:?}");
}

#[test]
fn one_disturbed_slice_in_ten_moves_nobody() {
    let mut rounds: Vec<_> = (0..10).map(|r| drifting(r, [100.0, 200.0, 50.0])).collect();
    rounds[3][0] = Some(1.0);
    let found = &estimates(&rounds)[0];
    assert!((ratio(found, 1, 0) - 2.0).abs() < 1e-9, "{found:?}");
}

/// A slice without answers is the member's worst, not a missing one.
#[test]
fn stalls_count_against_the_member_and_against_nobody_else() {
    let noisy = |r: usize| {
        let rates = [100.0, 200.0 * 1.02_f64.powi(r as i32 % 5), 50.0];
        drifting(r, rates)
    };
    let whole: Vec<_> = (0..20).map(noisy).collect();
    let mut stalled = whole.clone();
    let mut missing = whole.clone();
    // The slowest of its rounds, so that leaving them out would make it faster.
    for round in [0, 5] {
        stalled[round][1] = Some(0.0);
        missing[round][1] = None;
    }
    let (whole, stalled) = (&estimates(&whole)[0], &estimates(&stalled)[0]);
    let missing = &estimates(&missing)[0];
    assert!((ratio(stalled, 2, 0) - 0.5).abs() < 1e-3, "{stalled:?}");
    // Among the 20 % that are trimmed they change nothing.
    let change = ratio(stalled, 1, 0) / ratio(whole, 1, 0) - 1.0;
    assert!(change.abs() < 5e-3, "{change}");
    let gain = ratio(missing, 1, 0) / ratio(stalled, 1, 0) - 1.0;
    assert!(gain > 1e-3, "{gain}");
}

#[test]
fn a_member_that_hardly_ever_answers_has_no_estimate() {
    let mut rounds: Vec<_> = (0..10).map(|r| drifting(r, [100.0, 200.0, 50.0])).collect();
    for round in &mut rounds[..5] {
        round[1] = Some(0.0);
    }
    let found = &estimates(&rounds)[0];
    let members: Vec<usize> = found.iter().map(|one| one.member).collect();
    assert_eq!(members, [0, 2]);
    assert!((ratio(found, 2, 0) - 0.5).abs() < 1e-7, "{found:?}");
}

#[test]
fn members_without_a_common_round_are_apart() {
    let rounds = [
        vec![Some(1.0), Some(2.0), None, None],
        vec![None, None, Some(1.0), Some(3.0)],
    ];
    let found = estimates(&rounds);
    let members = |group: &Vec<Estimate>| group.iter().map(|one| one.member).collect::<Vec<_>>();
    assert_eq!(
        found.iter().map(members).collect::<Vec<_>>(),
        [[0, 1], [2, 3]]
    );
    assert!((ratio(&found[1], 3, 2) - 3.0).abs() < 1e-9);
}

/// The scatter of one member does not become the others'.
#[test]
fn each_member_has_its_own_scatter() {
    let rates = |r: usize| {
        let sign = if (r / 2).is_multiple_of(2) { 1.0 } else { -1.0 };
        drifting(r, [100.0, 200.0, 50.0 * (0.1_f64 * sign).exp()])
    };
    let rounds: Vec<_> = (0..40).map(rates).collect();
    let found = &estimates(&rounds)[0];
    let of = |member: usize| found[member].scatter.unwrap().variance;
    assert!(of(2) > 0.9 * 0.01, "{found:?}");
    assert!(of(0) < 0.2 * of(2) && of(1) < 0.2 * of(2), "{found:?}");
}

#[test]
fn rounds_that_resemble_their_neighbours_say_less() {
    let slow = |r: usize| (r as f64 / 40.0 * std::f64::consts::TAU).sin();
    let alternating = |r: usize| if r.is_multiple_of(2) { 1.0 } else { -1.0 };
    let inflation = |noise: &dyn Fn(usize) -> f64| {
        let rates = |r: usize| drifting(r, [100.0, 200.0, 50.0 * (0.1 * noise(r)).exp()]);
        let rounds: Vec<_> = (0..80).map(rates).collect();
        estimates(&rounds)[0][2].scatter.unwrap().inflation
    };
    assert!(inflation(&slow) > 5.0);
    assert_eq!(inflation(&alternating), 1.0);
}
