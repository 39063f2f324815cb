//! Latencies that are known beforehand: what the generator reports is what the server's own log says.

use std::time::Duration;

use deadheat_model::{LatencyHistogram, LoadSpec, StopRule};
use deadheat_testkit::{
    OracleServer, Script,
    judge::{TAIL_ALLOWANCE, assert_agree},
    latency::{Freeze, fixed, two_humped},
};

use crate::{
    arrivals::open,
    support::{count, run},
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
        let server = OracleServer::start(Boxed(script())).unwrap();
        let (case, spec) = loops(&server, requests)[which].clone();
        let seen = run(&spec);
        assert_eq!(
            seen.measured.succeeded, requests,
            "{case}: {:?}",
            seen.examples
        );
        assert_agree(case, &seen.service_time, &server.seen_at_rest());
        if let Some(open) = seen.open {
            // Each response time is that request's service time and what came before it.
            for percent in 1..=100 {
                let at = f64::from(percent) / 100.0;
                assert!(open.response_time.quantile(at) >= seen.service_time.quantile(at));
            }
            let mean = |histogram: &LatencyHistogram| histogram.mean().unwrap().as_secs_f64();
            let parts =
                mean(&open.send_lag) + mean(&open.connection_wait) + mean(&seen.service_time);
            let whole = mean(&open.response_time);
            assert!(
                (parts - whole).abs() <= 0.002 * whole + 1e-5,
                "{parts} and {whole}"
            );
        }
    }
}

struct Boxed(Box<dyn Script>);

impl Script for Boxed {
    fn answer(&self, turn: &deadheat_testkit::Turn<'_>) -> Vec<deadheat_testkit::Step> {
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

/// An open loop at a server that freezes in its middle.
fn freeze(length: Duration) {
    const RATE: f64 = 200.0;
    const CONNECTIONS: u32 = 8;
    let frozen = Freeze::new(2 * MS, 300 * MS, length);
    let server = OracleServer::start(frozen.clone()).unwrap();
    let mut spec = open(server.address(), RATE, CONNECTIONS);
    spec.timeouts.request = length + Duration::from_secs(20);
    let expected = RATE * (length.as_secs_f64() + 1.3);
    spec.stop = StopRule::Count {
        requests: expected as u64,
    };
    let seen = run(&spec);
    assert_eq!(
        seen.measured.succeeded, expected as u64,
        "{:?}",
        seen.examples
    );
    let open = seen.open.unwrap();
    let slower = |histogram: &LatencyHistogram, bound: Duration| {
        let share = 1.0 - histogram.share_up_to(bound);
        (share * histogram.count() as f64).round()
    };
    // Whatever was due at least `bound` before the thaw waited longer than that: rate × (length − bound) requests,
    // and one at the edge. More than that are slow only for as long as the backlog takes, and as the machine stalls.
    for part in [0.2, 0.5, 0.8] {
        let bound = length.mul_f64(part);
        let sure = RATE * (length - bound).as_secs_f64() - 1.0;
        let backlog = RATE * TAIL_ALLOWANCE.as_secs_f64();
        let got = slower(&open.response_time, bound);
        assert!(
            got >= sure,
            "{got} responses took over {bound:?}, not {sure}"
        );
        assert!(
            got <= sure + backlog,
            "{got} responses took over {bound:?}, not {sure}"
        );
    }
    // Only those that had been sent know of it in their service time: one on each connection.
    let stuck = slower(&seen.service_time, length / 2);
    assert_eq!(stuck, f64::from(CONNECTIONS));
    // All others waited for a connection.
    let waited = slower(&open.connection_wait, length / 2);
    let sure = RATE * length.as_secs_f64() / 2.0 - f64::from(CONNECTIONS) - 1.0;
    assert!(waited >= sure, "{waited} waited, not {sure}");
}

#[test]
fn a_freeze_is_in_the_response_time_of_every_request_due_in_it() {
    freeze(1_200 * MS);
}

#[test]
#[ignore = "takes 7 s: the same with a freeze of 5 s"]
fn a_long_freeze_is_in_the_response_time_of_every_request_due_in_it() {
    freeze(5_000 * MS);
}
