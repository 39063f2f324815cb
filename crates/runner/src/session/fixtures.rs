//! Sessions for tests: what they are asked to do, their plans and their records.

use std::time::Duration;

use deadheat_model::{
    LoadPoint, TargetId, Wait, WorkloadManifest,
    heat::{HeatEnd, HeatPlan, HeatRecord, MemberFailure, MemberRecord, Role, Rounds, SliceRecord},
    heats::{Plan, PlannedLoad, SCHEMA, SessionHeader, SessionRecord},
    machine::Machine,
    plan::Pinning,
    session::{Phase, StackFailure},
    stack::Runtime,
    workload::Oracle,
};

use super::{Participant, PinningMode, SelectedTarget, SessionOptions};
use crate::{
    heat::WarmUps,
    manifest::{SelectedWorkload, Stack},
    process::Supervision,
};

pub(super) fn point(id: &str) -> LoadPoint {
    LoadPoint::new(id, 50)
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

/// The workload plaintext in a closed loop, for these stacks.
pub(super) fn load(targets: &[&str]) -> PlannedLoad {
    PlannedLoad {
        shared_starts: None,
        workload: "plaintext".to_owned(),
        description: String::new(),
        point: point("c50"),
        delay_seconds: None,
        targets: targets
            .iter()
            .map(|target| TargetId::new(*target, None))
            .collect(),
        heat: HeatPlan {
            slice: Duration::from_millis(100),
            guard: Duration::from_millis(30),
            rounds: Rounds::Count { rounds: 2 },
            freeze: true,
            wait: Wait::Sleep,
            memory_every: Duration::ZERO,
        },
        capacity: 8,
        capacity_reason: None,
        looks: vec![3, 10],
    }
}

/// A session of these loads, without heats.
pub(super) fn record(loads: Vec<PlannedLoad>) -> SessionRecord {
    let plan = Plan {
        hosts: None,
        seed: 7,
        loads,
        pinning: Pinning::Off { cpus: vec![0, 1] },
        alpha: 0.05,
        margin: 0.03,
        least_heats: deadheat_model::heats::MIN_HEATS,
        until_decided: true,
        precision: None,
        budget_seconds: None,
        estimate: Duration::ZERO,
        price_per_cpu_hour: None,
        left_out: Vec::new(),
    };
    let header: SessionHeader = serde_json::from_value(serde_json::json!({
        "schema": SCHEMA, "id": "x", "deadheat": "1", "commit": null, "started": "", "arguments": [],
        "machine": Machine::default(), "plan": plan, "targets": [], "postgres": null, "asked": {},
    }))
    .unwrap();
    SessionRecord {
        header,
        heats: Vec::new(),
        resumed: Vec::new(),
        end: None,
    }
}

/// A heat of these members, in each round a slice of each with this throughput. One is the null server, by its name.
pub(super) fn heat<const N: usize>(members: &[&str; N], rounds: &[[u64; N]]) -> HeatRecord {
    HeatRecord {
        lost: None,
        heat: 0,
        started: String::new(),
        plan: load(&[]).heat,
        members: members.iter().map(|name| member(name)).collect(),
        rounds: rounds
            .iter()
            .map(|round| {
                (0..)
                    .zip(round)
                    .map(|(member, answers)| slice(member, *answers))
            })
            .map(Iterator::collect)
            .collect(),
        end: HeatEnd::Finished,
        wall: Duration::from_secs(1),
    }
}

fn member(name: &str) -> MemberRecord {
    let target = TargetId::new(name, None);
    let role = if target == TargetId::null_server() {
        Role::Ceiling
    } else {
        Role::Member
    };
    MemberRecord {
        verified_before: Some(1),
        verified_after: Some(1),
        ..MemberRecord::new(target, role)
    }
}

/// A slice of one second with this number of answers.
fn slice(member: u32, answers: u64) -> SliceRecord {
    let mut slice = SliceRecord {
        member,
        window: Duration::from_secs(1),
        ..SliceRecord::default()
    };
    (slice.tally.issued, slice.tally.succeeded) = (answers, answers);
    slice
}

/// A failure that discards the member's slices from round `void_from` on.
pub(super) fn failure(phase: Phase, void_from: Option<u32>) -> MemberFailure {
    MemberFailure {
        failure: StackFailure {
            phase,
            reason: "broken".to_owned(),
            log_tail: Vec::new(),
            load: None,
        },
        void_from,
    }
}
