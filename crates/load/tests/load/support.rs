//! A spec to start from, and what holds for every load.

use std::{
    net::SocketAddr,
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::Duration,
};

use deadheat_load::{LoadError, LoadEvent};
use deadheat_model::{
    Exchange, LoadSpec, Observation, Schedule, StopRule,
    load::{Content, Expectation, RequestSpec, StatusSet, Target, Timeouts},
};
use deadheat_testkit::{answers::BODY, faults::Case, wait_until};

/// GET / with the testkit's body as the answer.
pub fn hello() -> Exchange {
    expecting(RequestSpec::get("/"), BODY)
}

/// A request with exactly this body as the answer.
pub fn expecting(request: RequestSpec, body: &[u8]) -> Exchange {
    answered_with(request, 200, body)
}

/// The request of a case of the testkit with its right answer.
pub fn exchange_of(case: &Case) -> Exchange {
    let request = RequestSpec {
        method: case.method.to_owned(),
        ..RequestSpec::get("/")
    };
    answered_with(request, case.status, case.body)
}

fn answered_with(request: RequestSpec, status: u16, body: &[u8]) -> Exchange {
    let expect = Expectation {
        status: StatusSet::just(status),
        length: Some(body.len() as u64),
        content: Some(Content::Exact {
            bytes: body.to_vec(),
        }),
    };
    Exchange::new(request, expect)
}

/// Records each exchange for itself.
pub fn in_groups(spec: &mut LoadSpec) {
    for (group, exchange) in (0..).zip(&mut spec.exchanges) {
        exchange.group = Some(group);
    }
}

/// So many requests on so many connections, without warm-up.
pub fn count(address: SocketAddr, connections: u32, requests: u64) -> LoadSpec {
    let schedule = Schedule::Closed {
        connections,
        ramp: Duration::ZERO,
    };
    let (target, stop) = (Target::plain(address), StopRule::Count { requests });
    LoadSpec {
        timeouts: Timeouts {
            connect: Duration::from_secs(10),
            request: Duration::from_secs(20),
            drain: Duration::ZERO,
        },
        bin: Duration::from_millis(10),
        ..LoadSpec::new(target, vec![hello()], schedule, stop)
    }
}

/// A load over time.
pub fn lasting(address: SocketAddr, connections: u32, warm_up_ms: u64, length_ms: u64) -> LoadSpec {
    LoadSpec {
        stop: StopRule::Duration {
            length: Duration::from_millis(length_ms),
        },
        warm_up: Duration::from_millis(warm_up_ms),
        ..count(address, connections, 0)
    }
}

/// Runs a load to its end.
pub fn run(spec: &LoadSpec) -> Observation {
    run_until(spec, &mut |_| {}, &AtomicBool::new(false)).expect("a load that starts")
}

/// The length, in milliseconds, of a load that is stopped by a condition: it only ends a broken test.
pub const UNTIL_STOPPED: u64 = 60_000;

/// Runs a load and stops it as soon as `enough` is true, however long a busy machine takes until then.
pub fn run_until_enough(spec: &LoadSpec, enough: impl Fn() -> bool) -> Observation {
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        let load = scope.spawn(|| run_until(spec, &mut |_| {}, &stop).expect("a load that starts"));
        wait_until("enough for the test", || load.is_finished() || enough());
        stop.store(true, Ordering::Relaxed);
        load.join().expect("a load without a panic")
    })
}

/// Runs loads of `length`, ten times it and a hundred times it, until `is_enough` is true of one: a busy machine may give
/// the server no CPU in the first. Returns the last one.
pub fn run_longer(
    length: Duration,
    load: impl Fn(Duration) -> Observation,
    is_enough: impl Fn(&Observation) -> bool,
) -> Observation {
    let first = load(length);
    [10, 100].into_iter().fold(first, |seen, factor| {
        if is_enough(&seen) {
            seen
        } else {
            load(length * factor)
        }
    })
}

/// Runs a load, and checks what holds for every observation.
pub fn run_until(
    spec: &LoadSpec,
    on_event: &mut dyn FnMut(LoadEvent),
    stop: &AtomicBool,
) -> Result<Observation, LoadError> {
    let seen = deadheat_load::run(spec, on_event, stop)?;
    assert!(seen.total.is_conserved(), "{:?}", seen.total);
    assert!(seen.measured.is_conserved(), "{:?}", seen.measured);
    assert_eq!(seen.service_time.count(), seen.measured.succeeded);
    let sum = |count: fn(&deadheat_model::observation::Bin) -> u64| {
        seen.bins.iter().map(count).sum::<u64>()
    };
    let (own, carried) = (&seen.measured, seen.measured.carried_succeeded);
    assert_eq!(sum(|bin| bin.succeeded), own.succeeded + carried);
    let failed = own.failed.total() + own.carried_failed;
    assert_eq!(sum(|bin| bin.failed), failed);
    assert!(seen.measured.issued <= seen.total.issued);
    assert_eq!(seen.workers.len(), spec.workers().len());
    for (kind, _) in seen.total.failed.iter() {
        assert!(
            seen.examples.iter().any(|example| example.kind == kind),
            "no example of {kind}"
        );
    }
    Ok(seen)
}
