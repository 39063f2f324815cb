//! The rate of a load that ends by a count is that of a longer one: the time belongs to the requests.

use std::time::{Duration, Instant};

use deadheat_model::{
    LoadSpec, Observation, Schedule, StopRule,
    load::{Arrivals, Stage, Think},
    observation::CountedTime,
};
use deadheat_testkit::{
    Action, OracleServer, Turn,
    answers::{hello, send},
};

use crate::{
    arrivals::open,
    support::{count, run},
};

const ANSWERED_IN: Duration = Duration::from_millis(80);

fn slow() -> OracleServer {
    let answer = |turn: &Turn<'_>| {
        let mut steps = vec![Action::Until(turn.arrived + ANSWERED_IN)];
        steps.extend(send(hello()));
        steps
    };
    OracleServer::start(answer).unwrap()
}

/// The best of a few loads: whatever stalls makes each of them slower.
fn best(spec: &LoadSpec) -> Observation {
    let loads = (0..3).map(|_| run(spec));
    loads
        .max_by(|one, other| one.throughput().total_cmp(&other.throughput()))
        .unwrap()
}

#[track_caller]
fn assert_near(found: f64, expected: f64) {
    assert!(
        found <= expected * 1.001 && found > 0.85 * expected,
        "{found}/s instead of {expected}/s"
    );
}

#[test]
fn a_warm_up_and_connections_out_of_step_leave_the_rate_of_a_closed_loop_as_it_is() {
    let server = slow();
    let rate = 4.0 / ANSWERED_IN.as_secs_f64();
    for (warm_up, ramp) in [(0, 0), (100, 0), (130, 80)] {
        let mut spec = count(server.address(), 4, 12);
        spec.warm_up = Duration::from_millis(warm_up);
        spec.schedule = Schedule::Closed {
            connections: 4,
            ramp: Duration::from_millis(ramp),
        };
        let seen = best(&spec);
        assert_eq!(seen.measured.succeeded, 12);
        let Some(CountedTime::Closed {
            connections,
            in_use,
        }) = seen.counted
        else {
            panic!("{:?}", seen.counted)
        };
        // Histograms round up a little.
        let service = seen.service_time.sum().mul_f64(0.998);
        assert!(connections <= 4 && in_use >= service, "{in_use:?}");
        assert_near(seen.throughput(), rate);
    }
}

#[test]
fn users_who_think_do_so_after_the_last_answer_too() {
    let server = OracleServer::start(|_: &Turn<'_>| send(hello())).unwrap();
    let mut spec = count(server.address(), 2, 4);
    let time = Duration::from_millis(100);
    spec.think = Some(Think::Uniform {
        from: time,
        to: time,
    });
    let begun = Instant::now();
    let rate = run(&spec).throughput();
    // A machine that stalls makes the load longer, and its time with it.
    let least = 4.0 / (begun.elapsed() + time).as_secs_f64();
    assert!(
        rate <= 20.0 * 1.001 && rate >= least,
        "{rate}/s, not {least}/s to 20/s"
    );
}

#[test]
fn requests_at_a_rate_have_the_time_until_the_next_would_be_due() {
    let ms = Duration::from_millis;
    for server in [
        OracleServer::start(|_: &Turn<'_>| send(hello())).unwrap(),
        slow(),
    ] {
        let mut spec = open(server.address(), 50.0, 16);
        spec.warm_up = ms(100);
        spec.stop = StopRule::Count { requests: 5 };
        let seen = best(&spec);
        let Some(CountedTime::Open {
            first_due,
            next_due,
            ..
        }) = seen.counted
        else {
            panic!("{:?}", seen.counted)
        };
        // One of the warm-up that is sent late has its time, too.
        let first = 200 - 20 * seen.measured.issued;
        assert_eq!((first_due, next_due), (ms(first), Some(ms(200))));
        assert_near(seen.throughput(), 50.0);
    }
}

#[test]
fn a_rate_that_no_generator_can_send_ends_when_it_should() {
    let server = OracleServer::start(|_: &Turn<'_>| send(hello())).unwrap();
    for kind in [Arrivals::Uniform, Arrivals::Poisson] {
        let mut spec = open(server.address(), 1.0, 2);
        spec.schedule = Schedule::Open {
            arrivals: kind,
            stages: vec![Stage::constant(1e9)],
            connections: 2,
            most_connections: 2,
        };
        spec.stop = StopRule::Duration {
            length: Duration::from_millis(300),
        };
        let seen = run(&spec);
        let open = seen.open.as_ref().unwrap();
        let near = |count: u64, expected: u64| {
            assert!(count.abs_diff(expected) < expected / 1_000, "{count}");
        };
        near(open.offered, 300_000_000);
        near(open.unsent + seen.measured.issued, 300_000_000);
        // It noticed next to none of them in time.
        assert!(open.send_lag.quantile(0.5).unwrap() > Duration::from_millis(50));
    }
}
