//! Latencies that are known beforehand: what the generator reports is what the server's own log says.

use std::time::Duration;

use deadheat_model::{
    LatencyHistogram, LoadSpec, Observation, StopRule,
    load::{HttpVersion, Protocol, RequestSpec, Reuse},
    observation::GroupSeen,
};
use deadheat_testkit::{
    Action, OracleServer, Script, Turn,
    answers::{BODY, hello, send, sized},
    judge::{TAIL_ALLOWANCE, assert_agree, least},
    latency::{Freeze, fixed, head_first, two_humped},
};

use crate::{
    arrivals::open,
    support::{count, expecting, in_groups, run},
};

const MS: Duration = Duration::from_millis(1);
fn loops(server: &OracleServer, requests: u64) -> [(&'static str, LoadSpec); 2] {
    let closed = count(server.address(), 16, requests);
    let mut open = open(server.address(), 400.0, 64);
    open.stop = StopRule::Count { requests };
    [("closed", closed), ("open", open)]
}

fn check(script: impl Fn() -> Box<dyn Script> + Sync, requests: u64) {
    for which in 0..2 {
        assert_agree(["closed", "open"][which], || {
            let server = OracleServer::start(Boxed(script())).unwrap();
            let (case, spec) = loops(&server, requests)[which].clone();
            let seen = run(&spec);
            assert_eq!(
                seen.measured.succeeded, requests,
                "{case}: {:?}",
                seen.examples
            );
            assert_consistent(&seen);
            (seen.service_time, server.seen_at_rest())
        });
    }
}

/// Asserts that each response time of an open loop is that request's service time and what came before it.
fn assert_consistent(seen: &Observation) {
    if let Some(open) = &seen.open {
        for percent in 1..=100 {
            let at = f64::from(percent) / 100.0;
            assert!(open.response_time.quantile(at) >= seen.service_time.quantile(at));
        }
        let mean = |histogram: &LatencyHistogram| histogram.mean().unwrap().as_secs_f64();
        let parts = mean(&open.send_lag) + mean(&open.connection_wait) + mean(&seen.service_time);
        let whole = mean(&open.response_time);
        assert!(
            (parts - whole).abs() <= 0.002 * whole + 1e-5,
            "{parts} and {whole}"
        );
    }
}

#[test]
fn first_bytes_are_recorded_where_that_is_asked_for() {
    let early = 20 * MS;
    let server = OracleServer::start(head_first(2 * early, early)).unwrap();
    // What is pipelined behind another request arrives with it, and has its head when the other has its body.
    // On a busy machine, heads are read late.
    for (pipeline, after) in [(1, early / 2), (3, Duration::from_micros(1))] {
        let mut spec = count(server.address(), 4, 48);
        spec.protocol = Protocol::Http1 {
            version: HttpVersion::Http11,
            reuse: Reuse::KeepAlive,
            pipeline,
        };
        assert_eq!(run(&spec).first_byte, None);
        spec.first_byte = true;
        let seen = run(&spec);
        let first = seen.first_byte.expect("it was asked for");
        assert_eq!(first.count(), seen.measured.succeeded);
        assert!(first.least() >= Some(early * 999 / 1000), "{first:?}");
        // Bodies came later than their heads.
        let came = seen.service_time.mean().unwrap() - first.mean().unwrap();
        assert!(came >= after, "{came:?}");
    }
}

#[test]
fn requests_are_recorded_each_for_itself_where_that_is_asked_for() {
    let server = OracleServer::start(|turn: &Turn<'_>| match turn.request.path.as_str() {
        "/slow" => vec![Action::Pause(10 * MS), Action::Send(hello())],
        "/wrong" => send(sized(500, "", b"")),
        _ => send(hello()),
    })
    .unwrap();
    let mut spec = count(server.address(), 1, 60);
    let paths = ["/", "/slow", "/wrong"];
    spec.exchanges = paths
        .map(|path| expecting(RequestSpec::get(path), BODY))
        .to_vec();
    spec.exchanges[0].weight = 4;
    assert_eq!(run(&spec).groups, []);
    in_groups(&mut spec);
    let seen = run(&spec);
    let sum = |of: fn(&GroupSeen) -> u64| seen.groups.iter().map(of).sum::<u64>();
    assert_eq!(sum(|one| one.succeeded), seen.measured.succeeded);
    assert_eq!(sum(|one| one.failed), seen.measured.failed.total());
    assert_eq!(sum(|one| one.valid_body_bytes), seen.valid_body_bytes);
    let counts = |one: &GroupSeen| (one.succeeded, one.failed, one.service_time.count());
    let counted: Vec<_> = seen.groups.iter().map(counts).collect();
    assert_eq!(counted, [(40, 0, 40), (10, 0, 10), (0, 10, 0)]);
    assert!(seen.groups[1].service_time.least() >= Some(9 * MS));
    assert_eq!(seen.all_statuses.values().sum::<u64>(), seen.total.ended());
    // Two exchanges of a group count together, over the whole load.
    spec.exchanges[1].group = Some(0);
    spec.exchanges[2].group = None;
    let [both] = &run(&spec).groups[..] else {
        panic!("one group");
    };
    assert_eq!((both.succeeded, both.total_succeeded), (50, 50));
}

struct Boxed(Box<dyn Script>);

impl Script for Boxed {
    fn answer(&self, turn: &deadheat_testkit::Turn<'_>) -> Vec<deadheat_testkit::Action> {
        self.0.answer(turn)
    }
}

#[test]
fn a_fixed_latency_is_reported_as_it_was() {
    check(|| Box::new(fixed(40 * MS)), 400);
}

#[test]
fn two_humps_are_reported_with_their_shares() {
    check(|| Box::new(two_humped(20 * MS, 200 * MS, 10)), 400);
}

#[test]
fn a_service_time_ends_with_the_last_byte() {
    check(|| Box::new(head_first(100 * MS, 80 * MS)), 200);
}

/// By how many requests more were slow in an open loop at a server that freezes in its middle than the freeze and a stall
/// of the machine explain. That it is not less is asserted.
fn beyond_the_freeze() -> f64 {
    const RATE: f64 = 200.0;
    const CONNECTIONS: u32 = 8;
    const FREEZE: Duration = Duration::from_secs(5);
    let server = OracleServer::start(Freeze::new(2 * MS, 300 * MS, FREEZE)).unwrap();
    let mut spec = open(server.address(), RATE, CONNECTIONS);
    spec.timeouts.request = FREEZE + Duration::from_secs(20);
    // Longer than the freeze, also where the first request was late.
    let requests = (RATE * (FREEZE.as_secs_f64() + 2.0)) as u64;
    spec.stop = StopRule::Count { requests };
    let seen = run(&spec);
    assert_eq!(seen.measured.succeeded, requests, "{:?}", seen.examples);
    let open = seen.open.unwrap();
    let slower = |histogram: &LatencyHistogram, bound: Duration| {
        let share = 1.0 - histogram.share_up_to(bound);
        (share * histogram.count() as f64).round()
    };
    // Whatever was due at least `bound` before the thaw waited longer than that: rate × (length − bound) requests, but
    // for one at the edge. More than that are slow only for as long as the backlog takes, and as the machine stalls.
    let beyond = [0.2, 0.5, 0.8].map(|part| {
        let bound = FREEZE.mul_f64(part);
        let sure = RATE * (FREEZE - bound).as_secs_f64() - 1.0;
        let got = slower(&open.response_time, bound);
        assert!(
            got >= sure,
            "{got} responses took over {bound:?}, not {sure}"
        );
        got - sure - RATE * TAIL_ALLOWANCE.as_secs_f64()
    });
    // Only those that had been sent know of it in their service time: one on each connection.
    let stuck = slower(&seen.service_time, FREEZE / 2) - f64::from(CONNECTIONS);
    assert!(stuck >= 0.0, "{stuck} are missing");
    // All others waited for a connection.
    let waited = slower(&open.connection_wait, FREEZE / 2);
    let sure = RATE * FREEZE.as_secs_f64() / 2.0 - f64::from(CONNECTIONS) - 1.0;
    assert!(waited >= sure, "{waited} waited, not {sure}");
    beyond.into_iter().fold(stuck, f64::max)
}

#[test]
fn a_freeze_is_in_the_response_time_of_every_request_due_in_it() {
    let beyond = least(0.0, beyond_the_freeze);
    assert!(beyond <= 0.0, "{beyond} requests too many were slow");
}
