//! From the rounds of a heat to its members' estimates.

use deadheat_stats::heats::{
    Quantity,
    within::{Estimate, of_heat},
};

use super::heat;

fn estimates(rounds: &[Vec<Option<f64>>]) -> Vec<Estimate> {
    of_heat(&heat(rounds), Quantity::Throughput)
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
    let found = &estimates(&rounds);
    assert!((ratio(found, 1, 0) - 2.0).abs() < 1e-9);
    assert!((ratio(found, 2, 0) - 0.5).abs() < 1e-9);
    let scatter = found[0].scatter.unwrap();
    assert!(scatter.variance < 1e-12 && scatter.rounds == 10);
}

/// The machine drifts, so that a member that is missing from the later rounds would look slow beside the others.
#[test]
fn a_round_in_which_somebody_is_missing_counts_for_nobody() {
    let mut rounds: Vec<_> = (0..10).map(|r| drifting(r, [100.0, 200.0, 50.0])).collect();
    rounds[0][2] = None;
    rounds[5][1] = None;
    for round in &mut rounds[6..] {
        round[2] = None;
    }
    let found = &estimates(&rounds);
    assert!((ratio(found, 1, 0) - 2.0).abs() < 1e-9, "{found:?}");
    assert!((ratio(found, 2, 0) - 0.5).abs() < 1e-9, "{found:?}");
    // Round 1 to 4 alone.
    let level: f64 = (1..5).map(|r| 100.0 * 1.1_f64.powi(r)).sum::<f64>() / 4.0;
    assert!((found[0].value - level.ln()).abs() < 1e-9, "{found:?}");
}

/// Two slices of twenty without an answer are a tenth of the time.
#[test]
fn stalls_count_for_the_time_that_they_took() {
    let mut rounds = vec![drifting(0, [100.0, 200.0, 50.0]); 20];
    for round in [0, 5] {
        rounds[round][1] = Some(0.0);
    }
    let found = &estimates(&rounds);
    assert!((ratio(found, 1, 0) - 1.8).abs() < 1e-9, "{found:?}");
    assert!((ratio(found, 2, 0) - 0.5).abs() < 1e-9, "{found:?}");
}

/// A cost is all CPU time over all answers, whatever single slices cost.
#[test]
fn what_a_server_does_now_and_then_is_in_its_cost() {
    let mut heat = heat(&vec![vec![Some(100.0), Some(200.0)]; 10]);
    for round in heat.rounds.iter_mut().step_by(5) {
        round.slices[1].cpu_seconds = Some(0.6);
    }
    let found = of_heat(&heat, Quantity::Cost);
    // Eight slices of 0.1 s and two of 0.6 s for 200 answers, beside ten of 0.1 s for 100.
    assert!((ratio(&found, 1, 0) - 1.0).abs() < 1e-9, "{found:?}");
    assert!((found[1].value + 0.01_f64.ln()).abs() < 1e-9, "{found:?}");
}

#[test]
fn a_member_that_never_answers_has_no_estimate_and_disturbs_nobody() {
    let mut rounds: Vec<_> = (0..10).map(|r| drifting(r, [100.0, 200.0, 50.0])).collect();
    for round in &mut rounds {
        round[1] = Some(0.0);
    }
    let found = &estimates(&rounds);
    let members: Vec<usize> = found.iter().map(|one| one.member).collect();
    assert_eq!(members, [0, 2]);
    assert!((ratio(found, 2, 0) - 0.5).abs() < 1e-9, "{found:?}");
    assert!(found[0].scatter.is_some(), "{found:?}");
}

/// The scatter of one member does not become the others'.
#[test]
fn each_member_has_its_own_scatter() {
    let rates = |r: usize| {
        let sign = if (r / 2).is_multiple_of(2) { 1.0 } else { -1.0 };
        drifting(r, [100.0, 200.0, 50.0 * (0.1_f64 * sign).exp()])
    };
    let rounds: Vec<_> = (0..40).map(rates).collect();
    let found = &estimates(&rounds);
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
        estimates(&rounds)[2].scatter.unwrap().inflation
    };
    assert!(inflation(&slow) > 5.0);
    assert_eq!(inflation(&alternating), 1.0);
}
