//! Whole sessions of loads that were built by hand.

use std::{collections::BTreeMap, time::Duration};

use deadheat_model::{
    TargetId,
    heats::{EndReason, Plan, PlannedLoad, SCHEMA, SessionHeader, SessionRecord},
    machine::Machine,
    plan::Pinning,
    session::{BuildRecord, FoundVersion, TargetRecord, TargetState},
    stack::{Class, Database, DatabaseIo, DatabaseLayer, Pool, Runtime, StackRole},
};
use deadheat_stats::{
    heats::Settings,
    standings::{Absent, AbsentBecause, Standings, TimeSpent},
};

use super::fixture::{HEAT, Load, starts};

/// A stack that has no figure.
pub fn absent(name: &str, is: AbsentBecause, reason: &str, remedy: Option<&str>) -> Absent {
    Absent {
        target: name.parse().unwrap(),
        is,
        reason: reason.to_owned(),
        remedy: remedy.map(str::to_owned),
        log: match is {
            AbsentBecause::Failed => vec![reason.to_owned()],
            _ => Vec::new(),
        },
    }
}

/// A session of these loads: its record without heats, and its standings.
pub fn session(loads: &[Load], absent: Vec<Absent>) -> (SessionRecord, Standings) {
    let mut targets: BTreeMap<String, TargetRecord> = BTreeMap::new();
    for load in loads {
        for stack in &load.stacks {
            let record = target(&stack.name);
            targets.entry(stack.name.clone()).or_insert(record);
        }
    }
    let planned = loads.iter().map(|load| PlannedLoad {
        shared_starts: None,
        workload: load.workload.clone(),
        description: format!("what {} exercises", load.workload),
        point: load.point(),
        delay_seconds: None,
        targets: load.targets(),
        heat: HEAT,
        capacity: 7,
        capacity_reason: None,
        looks: vec![5, 7, 10, 14, 20],
    });
    let header = SessionHeader {
        hosts: Vec::new(),
        schema: SCHEMA,
        id: "20261122T030405Z".to_owned(),
        deadheat: "0.2.0".to_owned(),
        build: None,
        commit: Some("0123456789abcdef".to_owned()),
        embedded: None,
        started: "2026-11-22T03:04:05Z".to_owned(),
        arguments: ["deadheat", "run"].map(str::to_owned).to_vec(),
        machine: Machine {
            cpu_model: "AMD EPYC 7B13 64-Core Processor".to_owned(),
            cpus: vec![0, 1],
            shared_cores: Vec::new(),
            memory_bytes: 8 << 30,
            os: "Debian GNU/Linux 13 (trixie)".to_owned(),
            kernel: "6.12.0-test".to_owned(),
            mitigations: vec!["meltdown: Not affected".to_owned()],
            governor: None,
            congestion_control: Some("cubic".to_owned()),
        },
        findings: Vec::new(),
        comparison: None,
        asked: Default::default(),
        plan: Plan {
            hosts: None,
            seed: 42,
            loads: planned.collect(),
            pinning: Pinning::Apart {
                server: vec![0],
                generator: vec![1],
            },
            alpha: 0.05,
            margin: 0.03,
            least_heats: deadheat_model::heats::MIN_HEATS,
            until_decided: true,
            precision: None,
            budget_seconds: Some(600.0),
            estimate: Duration::from_secs(600),
            price_per_cpu_hour: None,
            left_out: Vec::new(),
        },
        targets: targets.into_values().collect(),
        postgres: None,
        published: Vec::new(),
        definitions: BTreeMap::new(),
        boot: None,
        live: false,
        environment: Vec::new(),
    };
    let record = SessionRecord {
        header,
        heats: Vec::new(),
        resumed: Vec::new(),
        end: Some(EndReason::Budget),
    };
    let standings = Standings {
        settings: Settings::default(),
        starts: starts(loads),
        loads: loads.iter().map(Load::standings).collect(),
        absent,
        published: Vec::new(),
        time: TimeSpent {
            heats_seconds: 580.0,
            counted_seconds: 340.0,
            between_seconds: 80.0,
            warm_up_seconds: 100.0,
            starting_seconds: 60.0,
        },
        warnings: Vec::new(),
        end: Some(EndReason::Budget),
    };
    (record, standings)
}

fn target(name: &str) -> TargetRecord {
    let target: TargetId = name.parse().unwrap();
    let (language, framework) = target.stack.split_once('-').unwrap_or((&target.stack, ""));
    TargetRecord {
        language: language.to_owned(),
        framework: framework.to_owned(),
        class: Class::Micro,
        role: StackRole::Stack,
        runtime: Runtime::Native,
        variant_description: target.variant.as_ref().map(|id| format!("variant {id}")),
        cpus: None,
        database: Some(Database {
            io: DatabaseIo::Async,
            layer: DatabaseLayer::Raw,
            driver: "a driver".to_owned(),
            pool: Pool::Size(16),
            prepared: true,
            unprepared: Vec::new(),
            other_statements: false,
        }),
        protocols: None,
        limits: Vec::new(),
        versions: vec![FoundVersion {
            name: language.to_owned(),
            version: "1.2.3".to_owned(),
        }],
        sources: None,
        added: None,
        state: TargetState::Ready {
            build: BuildRecord {
                seconds: 3.0,
                incremental: false,
                artefact_bytes: 5_000_000,
            },
        },
        failed_workloads: Vec::new(),
        target,
    }
}
