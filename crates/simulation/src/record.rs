//! The least record of a session that the analysis takes: one workload at one load point.

use std::time::Duration;

use deadheat_model::{
    Cell, LoadPoint, Observation, Plan, SessionHeader, SessionRecord, TargetId, TrialRecord,
    machine::Machine,
    observation::Tally,
    plan::{Controls, Pinning, PlannedWorkload, Twin},
    session::{EndReason, SCHEMA},
    trial::{CpuSource, Measured, Noise, Resources, TrialOutcome},
};

const WORKLOAD: &str = "json";
const POINT: &str = "c50";
const CONNECTIONS: u32 = 50;
/// Long enough that the rounding to whole answers is far below any noise.
const WINDOW: Duration = Duration::from_secs(100);

/// A finished session of `targets`, the twin among them, whose trials have found nothing yet.
pub(crate) fn empty(targets: &[TargetId], twin: Option<Twin>, blocks: u32) -> SessionRecord {
    let controls = Controls {
        twin,
        ..Controls::default()
    };
    let plan = plan(targets, controls, blocks);
    let trials = (0..blocks)
        .flat_map(|block| plan.cells.iter().map(move |cell| (block, cell)))
        .map(|(block, cell)| trial(block, cell.clone()))
        .collect();
    SessionRecord {
        header: header(plan),
        trials,
        end: Some(EndReason::Finished),
        resumed: Vec::new(),
    }
}

/// Makes `trial` that of `target` in `block`, with so many answers per second.
pub(crate) fn fill(trial: &mut TrialRecord, target: &TargetId, block: u32, rate: f64) {
    trial.block = block;
    if trial.cell.target != *target {
        trial.cell.target = target.clone();
    }
    let TrialOutcome::Measured(measured) = &mut trial.outcome else {
        unreachable!("every trial of a simulation is measured")
    };
    let answers = (rate * WINDOW.as_secs_f64()).round() as u64;
    let in_flight = u64::from(CONNECTIONS);
    measured.load.measured = Tally {
        carried_in: in_flight,
        issued: answers,
        succeeded: answers,
        in_flight,
        ..Tally::default()
    };
    measured.load.total = Tally {
        issued: answers + in_flight,
        succeeded: answers,
        in_flight,
        ..Tally::default()
    };
}

fn plan(targets: &[TargetId], controls: Controls, blocks: u32) -> Plan {
    let contenders = targets.iter().filter(|target| !controls.has(target));
    let cell = |target: &TargetId| Cell {
        target: target.clone(),
        workload: WORKLOAD.to_owned(),
        point: POINT.to_owned(),
    };
    Plan {
        seed: 0,
        blocks,
        targets: contenders.cloned().collect(),
        workloads: vec![PlannedWorkload {
            id: WORKLOAD.to_owned(),
            description: String::new(),
            points: vec![LoadPoint {
                id: POINT.to_owned(),
                connections: CONNECTIONS,
                rounds: None,
                sending: Default::default(),
                counted: None,
                open: None,
            }],
            delay_seconds: None,
            measure: WINDOW,
        }],
        cells: targets.iter().map(cell).collect(),
        controls,
        noise_bound: None,
        pinning: Pinning::Apart {
            server: vec![0],
            generator: vec![1],
        },
        budget_seconds: None,
        estimate: Duration::ZERO,
        choice: None,
    }
}

fn header(plan: Plan) -> SessionHeader {
    SessionHeader {
        schema: SCHEMA,
        id: "simulated".to_owned(),
        deadheat: String::new(),
        commit: None,
        started: String::new(),
        arguments: Vec::new(),
        machine: machine(),
        findings: Vec::new(),
        boot: None,
        live: false,
        environment: Vec::new(),
        definitions: Default::default(),
        plan,
        targets: Vec::new(),
        postgres: None,
        published: Vec::new(),
    }
}

/// A machine of which nothing is said but that it has two CPUs.
pub(crate) fn machine() -> Machine {
    Machine {
        cpu_model: String::new(),
        cpus: vec![0, 1],
        shared_cores: Vec::new(),
        memory_bytes: 0,
        os: String::new(),
        kernel: String::new(),
        mitigations: Vec::new(),
        governor: None,
        congestion_control: None,
    }
}

fn trial(block: u32, cell: Cell) -> TrialRecord {
    let resources = Resources {
        cpu_source: CpuSource::CgroupV2,
        cpu_seconds: 0.9 * WINDOW.as_secs_f64(),
        span_seconds: WINDOW.as_secs_f64(),
        pss_idle_bytes: Some(1 << 20),
        pss_mean_bytes: Some(1 << 21),
        pss_peak_bytes: Some(1 << 22),
        samples: 1,
        processes: 1,
        threads: 1,
        voluntary_switches: Some(0),
        involuntary_switches: Some(0),
        minor_faults: 0,
        major_faults: 0,
        series: None,
    };
    let measured = Measured {
        ready: Duration::from_millis(30),
        verified_before: 1,
        verified_after: 1,
        load: Observation {
            window: WINDOW,
            ..Observation::default()
        },
        resources,
        noise: Noise::default(),
    };
    TrialRecord {
        block,
        position: 0,
        attempt: 0,
        cell,
        started: String::new(),
        command: Vec::new(),
        port: 0,
        warm_up: Duration::ZERO,
        offered_per_second: None,
        outcome: TrialOutcome::Measured(Box::new(measured)),
    }
}
