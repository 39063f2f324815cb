//! What sessions are asked to do, for tests.

use std::time::Duration;

use deadheat_model::{
    LoadPoint, TargetId, WorkloadManifest, choice::Purpose, stack::Runtime, workload::Oracle,
};

use super::{
    LatencyMode, Participant, PinningMode, START_TIMEOUT, SessionOptions, heats::HeatOptions,
};
use crate::{
    heat::rule_of, manifest::SelectedWorkload, process::Supervision, services::postgres::Source,
};

pub(super) fn point(id: &str) -> LoadPoint {
    LoadPoint {
        id: id.to_owned(),
        connections: 50,
        rounds: None,
        sending: Default::default(),
        open: None,
    }
}

pub(super) fn workload(id: &str, oracle: Oracle) -> SelectedWorkload {
    SelectedWorkload {
        manifest: WorkloadManifest {
            id: id.to_owned(),
            description: String::new(),
            oracle,
            method: "GET".to_owned(),
            path: "/".to_owned(),
            content_type: "text/plain".to_owned(),
            content_sample: 1,
            point: vec![point("c50")],
        },
        points: vec![point("c50")],
    }
}

/// Three workloads, without latency.
pub(super) fn options(budget: u64) -> SessionOptions {
    let text = Oracle::Text {
        body: String::new(),
    };
    SessionOptions {
        targets: Vec::new(),
        workloads: vec![
            workload("plaintext", text),
            workload("users", Oracle::Users),
            workload("proxy", Oracle::Relayed),
        ],
        cells: None,
        published: Vec::new(),
        plaintext: None,
        results: "results".into(),
        seed: 1,
        budget: Some(Duration::from_secs(budget)),
        purpose: Purpose::Usual,
        warm_up: None,
        latency: LatencyMode::Off,
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

pub(super) fn participants(count: usize, runtime: Runtime) -> Vec<Participant> {
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
