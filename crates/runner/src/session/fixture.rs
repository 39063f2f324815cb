//! Sessions for the tests of what follows from a session's records.

use std::time::Duration;

use deadheat_model::{
    Cell, Failure, LoadPoint, Observation, Plan, SessionHeader, SessionRecord, TargetId,
    TrialOutcome, TrialRecord,
    load::Arrivals,
    plan::{NoiseBound, Pinning, PlannedWorkload},
    session::SCHEMA,
    trial::{CpuSource, Measured, Noise, Phase, Resources, TrialFailure},
    workload::{OfferedRate, OpenLoad},
};

/// A session of the workload plaintext on a machine of two CPUs, without trials.
pub(super) struct Fixture {
    pub(super) record: SessionRecord,
}

/// A cell of the workload plaintext.
pub(super) fn cell(target: &str, point: &str) -> Cell {
    Cell {
        target: TargetId::new(target, None),
        workload: "plaintext".to_owned(),
        point: point.to_owned(),
    }
}

impl Fixture {
    /// With one closed loop.
    pub(super) fn closed<const N: usize>(targets: [&str; N]) -> Self {
        Self::of(&targets, vec![point("c50", None)])
    }

    /// With a closed loop and two open ones.
    pub(super) fn with_open<const N: usize>(targets: [&str; N]) -> Self {
        let points = vec![
            point("c50", None),
            point("c50-open-90", Some(OfferedRate::OfOwnCapacity(90))),
            point("c50-open-common", Some(OfferedRate::OfSlowestCapacity(70))),
        ];
        Self::of(&targets, points)
    }

    fn of(targets: &[&str], points: Vec<LoadPoint>) -> Self {
        let cells = targets
            .iter()
            .flat_map(|target| points.iter().map(|point| cell(target, &point.id)));
        let mut plan: Plan = serde_json::from_value(serde_json::json!({
            "seed": 7, "blocks": 3, "targets": targets, "workloads": [], "cells": [],
            "pinning": Pinning::Off { cpus: vec![0, 1] },
            "budget_seconds": null, "estimate_seconds": 1.0,
        }))
        .unwrap();
        plan.cells = cells.collect();
        plan.noise_bound = Some(NoiseBound::default());
        plan.workloads = vec![PlannedWorkload {
            id: "plaintext".to_owned(),
            description: String::new(),
            points,
            delay_seconds: None,
            measure: Duration::from_secs(1),
        }];
        let header: SessionHeader = serde_json::from_value(serde_json::json!({
            "schema": SCHEMA, "id": "x", "deadheat": "1", "commit": null, "started": "",
            "arguments": [], "targets": [], "postgres": null, "plan": plan,
            "machine": deadheat_model::machine::Machine {
                cpus: vec![0, 1],
                ..Default::default()
            },
        }))
        .unwrap();
        Self {
            record: SessionRecord {
                header,
                trials: Vec::new(),
                end: None,
                resumed: Vec::new(),
            },
        }
    }

    /// A quiet trial.
    pub(super) fn trial(cell: &Cell, block: u32, attempt: u32) -> TrialRecord {
        TrialRecord {
            attempt,
            ..Self::answering(cell, block, 1000)
        }
    }

    /// A quiet trial with this throughput.
    pub(super) fn answering(cell: &Cell, block: u32, per_second: u64) -> TrialRecord {
        let mut load = Observation {
            window: Duration::from_secs(1),
            ..Observation::default()
        };
        load.measured.succeeded = per_second;
        load.measured.issued = per_second;
        record(
            cell,
            block,
            TrialOutcome::Measured(Box::new(measured(load))),
        )
    }

    /// A trial during which others used more than the bound allows.
    pub(super) fn disturbed(cell: &Cell, block: u32, attempt: u32) -> TrialRecord {
        let mut trial = Self::trial(cell, block, attempt);
        if let TrialOutcome::Measured(measured) = &mut trial.outcome {
            measured.noise.other_cpu_seconds = 0.2;
        }
        trial
    }

    /// Adds so many failed requests to a measurement.
    pub(super) fn fail(trial: &mut TrialRecord, kind: Failure, count: u64) {
        if let TrialOutcome::Measured(measured) = &mut trial.outcome {
            let tally = &mut measured.load.measured;
            tally.failed[kind] += count;
            tally.issued += count;
        }
    }

    /// A trial that failed.
    pub(super) fn failed(cell: &Cell, block: u32) -> TrialRecord {
        let failure = TrialFailure {
            phase: Phase::Load,
            reason: "broken".to_owned(),
            log_tail: Vec::new(),
            load: None,
        };
        record(cell, block, TrialOutcome::Failed(failure))
    }
}

fn point(id: &str, rate: Option<OfferedRate>) -> LoadPoint {
    LoadPoint {
        id: id.to_owned(),
        connections: 50,
        rounds: None,
        sending: Default::default(),
        counted: None,
        open: rate.map(|rate| OpenLoad {
            capacity_of: "c50".to_owned(),
            rate,
            arrivals: Arrivals::Poisson,
        }),
    }
}

fn record(cell: &Cell, block: u32, outcome: TrialOutcome) -> TrialRecord {
    TrialRecord {
        block,
        position: 0,
        attempt: 0,
        cell: cell.clone(),
        started: String::new(),
        command: Vec::new(),
        port: 0,
        warm_up: Duration::ZERO,
        offered_per_second: None,
        outcome,
    }
}

fn measured(load: Observation) -> Measured {
    Measured {
        ready: Duration::ZERO,
        verified_before: 1,
        verified_after: 1,
        load,
        resources: Resources {
            cpu_source: CpuSource::Proc,
            cpu_seconds: 0.5,
            span_seconds: 1.0,
            pss_idle_bytes: Some(1),
            pss_mean_bytes: Some(1),
            pss_peak_bytes: Some(1),
            samples: 1,
            processes: 1,
            threads: 1,
            voluntary_switches: Some(0),
            involuntary_switches: Some(0),
            minor_faults: 0,
            major_faults: 0,
            series: None,
        },
        noise: Noise::default(),
    }
}
