//! What sessions are asked to do, for tests.

use std::time::Duration;

use deadheat_model::{LoadPoint, TargetId, WorkloadManifest, stack::Runtime, workload::Oracle};

use super::{Participant, PinningMode, SelectedTarget, SessionOptions};
use crate::{
    heat::WarmUps,
    manifest::{SelectedWorkload, Stack},
    process::Supervision,
};

pub(super) fn point(id: &str) -> LoadPoint {
    LoadPoint {
        id: id.to_owned(),
        connections: 50,
        rounds: None,
        queries: None,
        revalidate: false,
        protocol: Default::default(),
        streams: 1,
        sending: Default::default(),
        open: None,
    }
}

pub(super) fn workload(id: &str, oracle: Oracle) -> SelectedWorkload {
    SelectedWorkload {
        manifest: WorkloadManifest {
            id: id.to_owned(),
            description: String::new(),
            pack: None,
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

/// Options with three workloads, no stacks and no pinning. `budget` is in seconds.
pub(super) fn options(budget: u64) -> SessionOptions {
    let text = Oracle::Text {
        body: String::new(),
    };
    let workloads = vec![
        workload("plaintext", text),
        workload("users", Oracle::Users),
        workload("proxy", Oracle::Relayed),
    ];
    let supervision = Supervision::by("deadheat");
    SessionOptions {
        budget: Some(Duration::from_secs(budget)),
        pinning: PinningMode::Off,
        ..SessionOptions::new(Vec::new(), workloads, None, 1, supervision)
    }
}

pub(super) fn participants(count: usize, runtime: Runtime) -> Vec<Participant> {
    (0..count)
        .map(|index| Participant {
            target: TargetId::new(format!("stack-{index}"), None),
            runtime,
            warm_ups: WarmUps::new(runtime, None),
            workloads: ["plaintext", "users", "proxy"].map(str::to_owned).to_vec(),
            protocols: Default::default(),
            ready: None,
        })
        .collect()
}

/// A stack of this name, compiled beforehand, that answers everything.
pub(super) fn selected(name: &str) -> SelectedTarget {
    let manifest = serde_json::json!({
        "id": name, "language": "x", "framework": "x", "class": "platform", "runtime": "native",
        "run": { "command": ["x"] },
    });
    SelectedTarget {
        stack: Stack {
            dir: "/".into(),
            manifest: serde_json::from_value(manifest).unwrap(),
            added: None,
        },
        target: TargetId::new(name, None),
    }
}
