//! The open loop's schedule, as a server saw it.
//!
//! The schedule itself is tested exactly beside its code. Here the question is whether requests are sent by it. A
//! machine that stalls makes requests late, which moves some of the arrivals by the length of the stall; so what is
//! judged is Kolmogorov's distance between the arrivals and the law, with a bound that stalls of a tenth of the time
//! pass and that every other law misses by far, and whether the earliest of each hundred is on time.

use std::{net::SocketAddr, time::Duration};

use deadheat_model::{
    LoadSpec, Schedule, StopRule,
    load::{Arrivals, Stage},
};
use deadheat_testkit::{
    OracleServer, Turn, answers,
    judge::{distance, gaps},
};

use crate::support::{count, run};

/// Kolmogorov's distance that passes. Of 1,000 arrivals by the law itself, 1 in 100,000 runs would have one of 0.078.
const NEAR: f64 = 0.1;
/// How late the earliest of a hundred requests may be: a stall as long as it takes to send a hundred is none that
/// happens.
const ON_TIME: Duration = Duration::from_millis(10);

/// A uniform open loop with one answer expected, to be given a stop rule.
pub fn open(address: SocketAddr, rate: f64, connections: u32) -> LoadSpec {
    let schedule = Schedule::Open {
        arrivals: Arrivals::Uniform,
        stages: vec![Stage::constant(rate)],
        connections,
        most_connections: connections,
    };
    LoadSpec {
        schedule,
        ..count(address, 1, 0)
    }
}

/// When requests arrived, in seconds since the first.
fn arrivals(kind: Arrivals, stages: &[Stage], requests: u64, seed: u64) -> Vec<f64> {
    let server = OracleServer::start(|_: &Turn<'_>| answers::send(answers::hello())).unwrap();
    let mut spec = open(server.address(), 1.0, 16);
    spec.schedule = Schedule::Open {
        arrivals: kind,
        stages: stages.to_vec(),
        connections: 16,
        most_connections: 16,
    };
    spec.stop = StopRule::Count { requests };
    spec.seed = seed;
    let seen = run(&spec);
    assert_eq!(seen.measured.succeeded, requests, "{:?}", seen.examples);
    let arrivals = server.seen_at_rest().arrivals;
    assert_eq!(arrivals.len() as u64, requests);
    let since_first = arrivals.iter().map(|at| (*at - arrivals[0]).as_secs_f64());
    since_first.collect()
}

#[test]
fn uniform_arrivals_are_on_time_from_the_first_to_the_last() {
    const RATE: f64 = 500.0;
    let seen = arrivals(Arrivals::Uniform, &[Stage::constant(RATE)], 1_000, 1);
    let late: Vec<f64> = (0..)
        .zip(&seen)
        .map(|(nth, at)| at - f64::from(nth) / RATE)
        .collect();
    // The first may itself have been late, so its hundred is the reference.
    let earliest: Vec<f64> = late
        .chunks(100)
        .map(|hundred| hundred.iter().copied().fold(f64::INFINITY, f64::min))
        .collect();
    for (hundred, earliest_of_it) in earliest.iter().enumerate() {
        let off = (earliest_of_it - earliest[0]).abs();
        assert!(
            off <= ON_TIME.as_secs_f64(),
            "hundred {hundred}: {off} s: {earliest:?}"
        );
    }
    let length = seen.len() as f64 / RATE;
    let far = distance(seen, |at| at / length);
    assert!(far <= NEAR, "{far} from uniform");
}

#[test]
fn poisson_arrivals_have_exponential_gaps_and_come_at_any_time_alike() {
    const RATE: f64 = 500.0;
    let seen = arrivals(Arrivals::Poisson, &[Stage::constant(RATE)], 1_000, 1);
    let exponential = |gap: f64| 1.0 - (-gap * RATE).exp();
    let far = distance(gaps(&seen), exponential);
    assert!(far <= NEAR, "{far} from exponential gaps");
    // What the bound is worth: even gaps miss it by far.
    let even = distance(vec![1.0 / RATE; 1_000], exponential);
    assert!(even > 5.0 * NEAR, "{even}");
    let length = seen[seen.len() - 1];
    let far = distance(seen, |at| at / length);
    assert!(far <= NEAR, "{far} from uniform");
}

#[test]
fn arrivals_follow_from_the_seed() {
    let stages = [Stage::constant(200.0)];
    let [first, again, other] =
        [7, 7, 8].map(|seed| gaps(&arrivals(Arrivals::Poisson, &stages, 100, seed)));
    let differences = |a: &[f64], b: &[f64]| {
        let mut all: Vec<f64> = a.iter().zip(b).map(|(a, b)| (a - b).abs()).collect();
        all.sort_by(f64::total_cmp);
        all[all.len() / 2]
    };
    // The median of what two independent gaps differ by is ln 2 of their mean.
    let (alike, unlike) = (differences(&first, &again), differences(&first, &other));
    assert!(
        alike < 0.5 * unlike,
        "{alike} s with one seed, {unlike} s with two"
    );
}

#[test]
fn a_linear_ramp_is_quadratic() {
    let ramp = Stage {
        length: Duration::from_secs(2),
        from: 100.0,
        to: 900.0,
    };
    // The integral of 100 + 400 t.
    let expected = |at: f64| (100.0 * at + 200.0 * at * at) / 1_000.0;
    for kind in [Arrivals::Uniform, Arrivals::Poisson] {
        let seen = arrivals(kind, &[ramp], 1_000, 1);
        let far = distance(seen, |at| expected(at).min(1.0));
        assert!(far <= NEAR, "{kind:?}: {far} from the ramp");
    }
    let even = distance(
        (0..1_000).map(|nth| f64::from(nth) / 500.0).collect(),
        expected,
    );
    assert!(even > 1.9 * NEAR, "a constant rate would be {even} from it");
}

#[test]
fn stages_follow_each_other() {
    let hold = |rate: f64| Stage {
        length: Duration::from_millis(500),
        from: rate,
        to: rate,
    };
    let seen = arrivals(
        Arrivals::Uniform,
        &[hold(200.0), hold(1_000.0), hold(400.0)],
        800,
        1,
    );
    let expected = |at: f64| match at {
        ..0.5 => 200.0 * at,
        0.5..1.0 => 100.0 + 1_000.0 * (at - 0.5),
        _ => 600.0 + 400.0 * (at - 1.0),
    };
    let far = distance(seen, |at| expected(at).min(800.0) / 800.0);
    assert!(far <= NEAR, "{far} from the stages");
}
