//! What plans are made: the fixtures.

mod cells;
mod choosing;
mod properties;

use std::time::Duration;

use deadheat_model::{
    LoadPoint, Plan, TargetId, WorkloadManifest,
    choice::{Choice, Purpose},
    plan::{NoiseBound, Pinning},
    stack::Runtime,
    workload::{CountedLoad, Oracle},
};

use super::{Participant, plan};
use crate::{
    heat::rule_of,
    manifest::SelectedWorkload,
    process::Supervision,
    services::postgres::Source,
    session::{LatencyMode, PinningMode, START_TIMEOUT, SessionOptions, heats::HeatOptions},
};

pub(in crate::session) fn point(id: &str) -> LoadPoint {
    LoadPoint {
        id: id.to_owned(),
        connections: 50,
        rounds: None,
        sending: Default::default(),
        counted: None,
        open: None,
    }
}

pub(in crate::session) fn by_count(requests: u64) -> CountedLoad {
    CountedLoad {
        requests,
        limit: Duration::from_secs(60),
    }
}

pub(in crate::session) fn workload(
    id: &str,
    oracle: Oracle,
    least: Option<Duration>,
) -> SelectedWorkload {
    SelectedWorkload {
        manifest: WorkloadManifest {
            id: id.to_owned(),
            description: String::new(),
            oracle,
            method: "GET".to_owned(),
            path: "/".to_owned(),
            content_type: "text/plain".to_owned(),
            least_measurement: least,
            content_sample: 1,
            point: vec![point("c50")],
        },
        points: vec![point("c50")],
    }
}

/// Three workloads, without latency.
pub(in crate::session) fn options(budget: u64) -> SessionOptions {
    let text = Oracle::Text {
        body: String::new(),
    };
    SessionOptions {
        targets: Vec::new(),
        workloads: vec![
            workload("plaintext", text, None),
            workload("users", Oracle::Users, None),
            workload("proxy", Oracle::Relayed, Some(Duration::from_secs(2))),
        ],
        cells: None,
        published: Vec::new(),
        plaintext: None,
        results: "results".into(),
        seed: 1,
        budget: Some(Duration::from_secs(budget)),
        purpose: Purpose::Usual,
        blocks: None,
        measure: None,
        warm_up: None,
        latency: LatencyMode::Off,
        noise_bound: Some(NoiseBound::default()),
        heats: HeatOptions::default(),
        pinning: PinningMode::Off,
        postgres: Source::automatic(None),
        supervision: Supervision::by("deadheat"),
        start_timeout: START_TIMEOUT,
        findings: Vec::new(),
        live: false,
        arguments: Vec::new(),
        version: String::new(),
    }
}

pub(in crate::session) fn participants(count: usize, runtime: Runtime) -> Vec<Participant> {
    (0..count)
        .map(|index| Participant {
            target: TargetId::new(format!("stack-{index}"), None),
            runtime,
            warm_up: rule_of(runtime, None),
            workloads: ["plaintext", "users", "proxy"].map(str::to_owned).to_vec(),
            ready: None,
        })
        .collect()
}

fn of(options: &SessionOptions, participants: &[Participant]) -> Plan {
    plan(options, participants, Pinning::Off { cpus: vec![0] })
}

fn planned(options: &SessionOptions, count: usize) -> Plan {
    of(options, &participants(count, Runtime::Native))
}

fn why(plan: &Plan) -> &Choice {
    plan.choice.as_ref().expect("a new plan says why")
}

/// Blocks and measurement.
fn bought(plan: &Plan) -> (u32, u64) {
    (plan.blocks, why(plan).measure.as_secs())
}
