use std::time::Duration;

use deadheat_model::{
    Schedule, StopRule,
    load::{Expectation, RequestSpec, Stage, StatusSet},
};

use super::*;

fn exchange(target: usize, weight: u32) -> Exchange {
    let expect = Expectation {
        status: StatusSet::success(),
        length: None,
        content: None,
    };
    Exchange {
        target,
        weight,
        ..Exchange::new(RequestSpec::get("/"), expect)
    }
}

fn target(port: u16) -> Target {
    Target::plain(([127, 0, 0, 1], port).into())
}

/// A load of this many connections with exchanges of these targets and weights.
fn spec(connections: u32, exchanges: &[(usize, u32)]) -> LoadSpec {
    let closed = Schedule::Closed {
        connections,
        ramp: Duration::ZERO,
    };
    let all = exchanges.iter().map(|(to, weight)| exchange(*to, *weight));
    let mut spec = LoadSpec::new(target(1), all.collect(), closed, StopRule::Interrupt);
    let last = exchanges.iter().map(|(target, _)| *target).max();
    spec.others = (1..=last.unwrap_or(0))
        .map(|index| target(index as u16 + 1))
        .collect();
    spec
}

fn taken(spec: &LoadSpec) -> Vec<u32> {
    let routes = Routes::new(spec).unwrap();
    let connections = u64::from(spec.schedule.most_connections());
    (0..connections)
        .map(|number| routes.place(number).route)
        .collect()
}

fn refusal(spec: &LoadSpec) -> String {
    Routes::new(spec).unwrap_err().to_string()
}

#[test]
fn addresses_of_a_target_are_taken_in_turn() {
    let mut spec = spec(5, &[(0, 1)]);
    assert_eq!(taken(&spec), [0; 5]);
    spec.target.more = vec!["127.0.0.2:1".parse().unwrap(), "[::1]:1".parse().unwrap()];
    assert_eq!(taken(&spec), [0, 1, 2, 0, 1]);
    let routes = Routes::new(&spec).unwrap();
    assert_eq!(routes.place(4).nth, 4);
}

#[test]
fn connections_are_shared_out_as_the_weights_say() {
    assert_eq!(taken(&spec(4, &[(0, 1), (1, 1)])), [0, 1, 0, 1]);
    assert_eq!(taken(&spec(4, &[(0, 2), (1, 1), (0, 1)])), [0, 0, 1, 0]);
    // Each has at least one.
    let mut few = taken(&spec(3, &[(0, 1_000_000), (1, 1), (2, 1)]));
    few.sort_unstable();
    assert_eq!(few, [0, 1, 2]);
    for (total, weights, least, expected) in [
        (10, &[1, 1, 1][..], &[1, 1, 1][..], &[4, 3, 3][..]),
        (100, &[98, 1, 1], &[1, 1, 1], &[98, 1, 1]),
        (10, &[98, 1, 1], &[1, 1, 1], &[8, 1, 1]),
        (10, &[98, 1, 1], &[1, 3, 1], &[6, 3, 1]),
        (1_000_000, &[u64::from(u32::MAX), 1], &[1, 1], &[999_999, 1]),
    ] {
        assert_eq!(shares(total, weights, least), expected);
    }
}

#[test]
fn each_target_has_a_cycle_of_its_own() {
    let routes = Routes::new(&spec(2, &[(0, 2), (1, 5), (0, 4)])).unwrap();
    assert_eq!(routes.cycle, [2, 0, 2, 1]);
    assert_eq!((routes.turns(0), routes.turns(1)), (0..3, 3..4));
}

#[test]
fn what_cannot_be_shared_out_is_refused() {
    let two = &[(0, 1), (1, 1)];
    assert!(refusal(&spec(1, two)).contains("cannot lead to 2 addresses"));
    let mut addresses = spec(2, &[(0, 1)]);
    addresses.target.more = vec!["127.0.0.2:1".parse().unwrap(); 2];
    assert!(refusal(&addresses).contains("cannot lead to 3 addresses"));
    let mut open = spec(2, two);
    open.schedule = Schedule::Open {
        arrivals: deadheat_model::load::Arrivals::Uniform,
        stages: vec![Stage::constant(5.0)],
        connections: 2,
        most_connections: 2,
    };
    assert!(refusal(&open).contains("Load each server at its own rate"));
    let mut of_addresses = spec(3, &[(0, 1)]);
    of_addresses.target.more = addresses.target.more[..1].to_vec();
    of_addresses.schedule = open.schedule.clone();
    assert!(refusal(&of_addresses).contains("Load each server at its own rate"));
    let mut lost = spec(2, two);
    lost.others.clear();
    assert!(refusal(&lost).contains("target 1"));
    // A target that nobody asks anything of.
    assert!(refusal(&spec(2, &[(1, 1)])).contains("weights"));
}

#[test]
fn exchanges_are_sent_as_often_as_their_weights_say_and_evenly() {
    let order = |weights: &[u32]| {
        let all: Vec<(usize, u32)> = weights.iter().map(|weight| (0, *weight)).collect();
        Routes::new(&spec(1, &all)).unwrap().cycle
    };
    assert_eq!(order(&[1]), [0]);
    assert_eq!(order(&[7]), [0]);
    assert_eq!(order(&[2, 4]), [1, 0, 1]);
    assert_eq!(order(&[5, 1, 1]), [0, 0, 1, 0, 2, 0, 0]);
}
