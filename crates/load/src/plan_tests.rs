use super::*;
use crate::{limits::MAX_CONNECTIONS, sys::DescriptorLimit};
use deadheat_model::load::{
    Arrivals as Kind, Endpoint, Expectation, HttpVersion, RequestSpec, Stage,
};

fn spec() -> LoadSpec {
    let expect = Expectation {
        status: StatusSet::just(200),
        length: None,
        content: None,
    };
    let schedule = Schedule::Closed {
        connections: 3,
        ramp: Duration::ZERO,
    };
    LoadSpec::new(
        Target::plain("127.0.0.1:1".parse().unwrap()),
        vec![Exchange::new(RequestSpec::get("/"), expect)],
        schedule,
        StopRule::Count { requests: 1 },
    )
}

fn refusal(change: impl FnOnce(&mut LoadSpec)) -> LoadError {
    let mut spec = spec();
    change(&mut spec);
    Plan::new(&spec).expect_err("a refusal")
}

#[test]
fn what_cannot_work_is_refused() {
    let connected = |connections| Schedule::Closed {
        connections,
        ramp: Duration::ZERO,
    };
    assert!(Plan::new(&spec()).is_ok());
    assert!(matches!(
        refusal(|spec| spec.exchanges.clear()),
        LoadError::NoExchanges
    ));
    assert!(matches!(
        refusal(|spec| spec.schedule = connected(0)),
        LoadError::NoConnections
    ));
    let many = refusal(|spec| spec.schedule = connected(MAX_CONNECTIONS + 1));
    assert!(
        matches!(
            many,
            LoadError::TooManyConnections {
                connections: 1_000_001,
                ..
            }
        ),
        "{many}"
    );
    let mut most = spec();
    most.schedule = connected(MAX_CONNECTIONS);
    assert!(Plan::new(&most).is_ok());
    assert!(matches!(
        refusal(|spec| spec.bin = Duration::from_micros(1)),
        LoadError::TooShort { what: "bins", .. }
    ));
    assert!(matches!(
        refusal(|spec| spec.timeouts.request = Duration::ZERO),
        LoadError::ZeroTimeout { which: "request" }
    ));
    let bad = refusal(|spec| spec.exchanges[0].request.path = "/a b".to_owned());
    assert!(
        bad.to_string().starts_with("request 0 cannot be sent: "),
        "{bad}"
    );
}

#[test]
fn no_cpus_means_one_worker_that_is_not_pinned() {
    let mut spec = spec();
    assert_eq!(Plan::new(&spec).unwrap().cpus, [None]);
    spec.cpus = vec![1, 0];
    assert_eq!(Plan::new(&spec).unwrap().cpus, [Some(1), Some(0)]);
}

#[test]
fn the_descriptor_limit_is_raised_only_where_needed() {
    let limit = DescriptorLimit {
        soft: 100,
        hard: 1_000,
    };
    assert!(!must_raise(limit, 100, 90).unwrap());
    assert!(must_raise(limit, 101, 90).unwrap());
    let error = must_raise(limit, 1_001, 990).unwrap_err().to_string();
    assert!(
        error.contains("990 connections") && error.contains("ulimit -n 1001"),
        "{error}"
    );
}

fn open(stages: Vec<Stage>) -> Schedule {
    Schedule::Open {
        arrivals: Kind::Uniform,
        stages,
        connections: 3,
        most_connections: 5,
    }
}

#[test]
fn combinations_that_contradict_themselves_are_refused() {
    let pipelined = |reuse, pipeline| Protocol::Http1 {
        version: HttpVersion::Http11,
        reuse,
        pipeline,
    };
    for protocol in [
        pipelined(Reuse::KeepAlive, 0),
        pipelined(Reuse::KeepAlive, 5_000),
        pipelined(Reuse::PerRequest, 2),
    ] {
        assert!(matches!(
            refusal(|spec| spec.protocol = protocol),
            LoadError::Pipeline { .. }
        ));
    }
    let both = refusal(|spec| {
        spec.protocol = pipelined(Reuse::KeepAlive, 2);
        spec.schedule = open(vec![Stage::constant(1.0)]);
    });
    assert!(matches!(both, LoadError::Pipeline { .. }), "{both}");
    let never = refusal(|spec| spec.schedule = open(vec![Stage::constant(0.0)]));
    assert!(matches!(never, LoadError::BadSchedule { .. }), "{never}");
    let path = refusal(|spec| {
        spec.target.endpoint = Endpoint::Unix {
            path: "x".repeat(200).into(),
        };
    });
    assert!(matches!(path, LoadError::BadEndpoint { .. }), "{path}");
    let weights = refusal(|spec| spec.exchanges[0].weight = 0);
    assert!(matches!(weights, LoadError::BadWeights { .. }), "{weights}");
}

#[test]
fn a_status_map_is_its_set() {
    let set: StatusSet = "2xx,304,999".parse().unwrap();
    let map = StatusMap::new(&set);
    for status in 0..=u16::MAX {
        assert_eq!(map.contains(status), set.contains(status), "{status}");
    }
}

#[test]
fn each_slice_has_random_arrivals_of_its_own() {
    let mut spec = spec();
    spec.seed = 9;
    spec.stop = StopRule::Interrupt;
    spec.schedule = Schedule::Open {
        arrivals: Kind::Poisson,
        stages: vec![Stage::constant(100.0)],
        connections: 1,
        most_connections: 1,
    };
    let plan = Plan::new(&spec).unwrap();
    let of = |plan: &Plan, slice| {
        let arrivals = plan.arrivals_of_slice(&spec.schedule, slice, Duration::ZERO);
        arrivals.unwrap()
    };
    assert_eq!(of(&plan, 0), plan.arrivals.clone().unwrap());
    assert_ne!(of(&plan, 1), of(&plan, 0));
    assert_ne!(of(&plan, 2), of(&plan, 1));
    let again = Plan::new(&spec).unwrap();
    assert_eq!(of(&again, 2), of(&plan, 2));
}
