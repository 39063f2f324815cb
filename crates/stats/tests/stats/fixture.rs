//! Session records built by hand, for the tests of this crate and of deadheat-report.

#![allow(
    dead_code,
    reason = "two test binaries share this module, each uses a part"
)]

use std::time::Duration;

use deadheat_model::{
    Cell, Failure, LatencyHistogram, LoadPoint, Observation, Plan, SessionHeader, SessionRecord,
    TargetId, TrialRecord,
    load::Arrivals,
    machine::Machine,
    observation::{Bin, FailureExample, OpenLoop, Tally, WorkerHealth},
    plan::{Controls, NoiseBound, Pinning, PlannedWorkload, Twin},
    session::{BuildRecord, EndReason, FoundVersion, SCHEMA, TargetRecord, TargetState},
    stack::{Database, DatabaseAccess, Pool, Runtime},
    trial::{CpuSource, Measured, Noise, Phase, Resources, TrialFailure, TrialOutcome},
    workload::{OfferedRate, OpenLoad},
};

/// The length of a measurement, in seconds.
pub const WINDOW: f64 = 10.0;

/// A session under construction.
pub struct Session {
    record: SessionRecord,
}

/// What a trial of a healthy stack finds.
#[derive(Clone, Copy, Debug)]
pub struct Found {
    /// Verified answers per second.
    pub rate: f64,
    /// Connections.
    pub connections: u32,
    /// CPU share of the generator's worker.
    pub busy: f64,
    /// CPUs that the server used.
    pub cores: f64,
    /// Mean PSS in MiB.
    pub memory_mib: f64,
}

impl Found {
    /// A server of one busy core at `rate`.
    pub fn at(rate: f64) -> Self {
        Self {
            rate,
            connections: 50,
            busy: 0.4,
            cores: 0.98,
            memory_mib: 24.0,
        }
    }
}

impl Session {
    /// A session of so many planned blocks, that finished.
    pub fn new(blocks: u32) -> Self {
        let header = SessionHeader {
            schema: SCHEMA,
            id: "2026-03-01T10-00-00Z".to_owned(),
            deadheat: "0.1.0".to_owned(),
            commit: Some("0123456789abcdef0123456789abcdef01234567-dirty".to_owned()),
            started: "2026-03-01T10:00:00Z".to_owned(),
            arguments: ["run", "--workload", "json"].map(str::to_owned).to_vec(),
            machine: Machine {
                cpu_model: "Example CPU @ 2.60GHz".to_owned(),
                cpus: vec![0, 1],
                shared_cores: Vec::new(),
                memory_bytes: 8 << 30,
                os: "Debian GNU/Linux 13 (trixie)".to_owned(),
                kernel: "6.12.0-test".to_owned(),
                mitigations: vec![
                    "spectre_v2: Mitigation: Enhanced IBRS".to_owned(),
                    "meltdown: Not affected".to_owned(),
                ],
                governor: Some("performance".to_owned()),
                congestion_control: Some("cubic".to_owned()),
            },
            findings: Vec::new(),
            plan: Plan {
                seed: 42,
                blocks,
                targets: Vec::new(),
                workloads: Vec::new(),
                cells: Vec::new(),
                controls: Controls::default(),
                noise_bound: None,
                pinning: Pinning::Apart {
                    server: vec![0],
                    generator: vec![1],
                },
                budget_seconds: None,
                estimate: Duration::from_secs(600),
                choice: None,
            },
            targets: Vec::new(),
            postgres: None,
            published: Vec::new(),
            definitions: Default::default(),
            boot: None,
            live: false,
            environment: Vec::new(),
        };
        let record = SessionRecord {
            header,
            trials: Vec::new(),
            end: Some(EndReason::Finished),
            resumed: Vec::new(),
        };
        Self { record }
    }

    /// Adds a workload at some connections. Workloads come before targets.
    pub fn workload(mut self, id: &str, connections: &[u32]) -> Self {
        let point = |connections: &u32| LoadPoint {
            id: format!("c{connections}"),
            connections: *connections,
            rounds: None,
            sending: Default::default(),
            counted: None,
            open: None,
        };
        self.record.header.plan.workloads.push(PlannedWorkload {
            id: id.to_owned(),
            description: format!("What {id} exercises."),
            points: connections.iter().map(point).collect(),
            delay_seconds: None,
            measure: Duration::from_secs_f64(WINDOW),
        });
        self
    }

    /// Adds open loops to the last workload, each at a rate. Workloads come before targets.
    pub fn open(mut self, rates: &[OfferedRate]) -> Self {
        let workload = self.record.header.plan.workloads.last_mut().unwrap();
        let closed = workload.points[0].clone();
        for rate in rates {
            let name = match rate {
                OfferedRate::OfOwnCapacity(percent) => percent.to_string(),
                OfferedRate::OfSlowestCapacity(_) => "common".to_owned(),
            };
            workload.points.push(LoadPoint {
                id: format!("{}-open-{name}", closed.id),
                open: Some(OpenLoad {
                    capacity_of: closed.id.clone(),
                    rate: *rate,
                    arrivals: Arrivals::Poisson,
                }),
                ..closed.clone()
            });
        }
        self
    }

    /// Voids trials that are disturbed past the usual bound.
    pub fn noise_bound(mut self) -> Self {
        self.record.header.plan.noise_bound = Some(NoiseBound::default());
        self
    }

    /// Adds the null server, at the closed load points.
    pub fn null_server(mut self) -> Self {
        let id = Controls::null_server_id();
        self.record.header.plan.controls.null_server = Some(id.clone());
        self.plan_control(&id, |point| point.open.is_none())
    }

    /// Adds a twin of `name`, at the closed load points and at those with a rate common to all.
    pub fn twin(mut self, name: &str) -> Self {
        let id = Controls::twin_id();
        self.record.header.plan.controls.twin = Some(Twin {
            name: id.clone(),
            of: name.parse().unwrap(),
        });
        self.plan_control(&id, |point| {
            let rate = point.open.as_ref().map(|open| open.rate);
            matches!(rate, None | Some(OfferedRate::OfSlowestCapacity(_)))
        })
    }

    fn plan_control(mut self, id: &TargetId, at: impl Fn(&LoadPoint) -> bool) -> Self {
        let plan = &mut self.record.header.plan;
        for workload in &plan.workloads {
            for point in workload.points.iter().filter(|point| at(point)) {
                plan.cells.push(Cell {
                    target: id.clone(),
                    workload: workload.id.clone(),
                    point: point.id.clone(),
                });
            }
        }
        self
    }

    /// Adds a stack that is ready and planned for every workload.
    pub fn stack(mut self, name: &str) -> Self {
        let plan = &mut self.record.header.plan;
        let target: TargetId = name.parse().unwrap();
        plan.targets.push(target.clone());
        for workload in &plan.workloads {
            for point in &workload.points {
                plan.cells.push(Cell {
                    target: target.clone(),
                    workload: workload.id.clone(),
                    point: point.id.clone(),
                });
            }
        }
        let build = BuildRecord {
            seconds: 12.3,
            incremental: false,
            artefact_bytes: 7_654_321,
        };
        self.asked_for(name, TargetState::Ready { build })
    }

    /// Adds a stack that was asked for, in some state, and plans nothing for it.
    pub fn asked_for(mut self, name: &str, state: TargetState) -> Self {
        let target: TargetId = name.parse().unwrap();
        let (language, framework) = target.stack.split_once('-').unwrap_or((&target.stack, ""));
        self.record.header.targets.push(TargetRecord {
            language: language.to_owned(),
            framework: framework.to_owned(),
            runtime: Runtime::Native,
            variant_description: target.variant.as_ref().map(|id| format!("variant {id}")),
            cpus: None,
            database: Some(Database {
                access: DatabaseAccess::Async,
                driver: "a driver".to_owned(),
                pool: Pool::Size(16),
            }),
            limits: Vec::new(),
            sources: None,
            versions: vec![FoundVersion {
                name: language.to_owned(),
                version: "1.2.3".to_owned(),
            }],
            state,
            failed_workloads: Vec::new(),
            target,
        });
        self
    }

    /// Measures every cell in blocks `0..blocks` with what `outcome` says.
    pub fn measured(mut self, blocks: u32, outcome: impl Fn(&Cell, u32) -> TrialOutcome) -> Self {
        for block in 0..blocks {
            let cells = self.record.header.plan.cells.clone();
            for (position, cell) in cells.into_iter().enumerate() {
                let outcome = outcome(&cell, block);
                self = self.trial(block, position as u32, cell, outcome);
            }
        }
        self
    }

    /// Adds one trial.
    pub fn trial(mut self, block: u32, position: u32, cell: Cell, outcome: TrialOutcome) -> Self {
        let earlier = self.record.trials.iter();
        let earlier = earlier.filter(|trial| trial.block == block && trial.cell == cell);
        let offered_per_second = match &outcome {
            TrialOutcome::Measured(measured) => {
                let open = measured.load.open.as_ref();
                open.map(|open| open.offered as f64 / WINDOW)
            }
            TrialOutcome::Failed(_) => None,
        };
        self.record.trials.push(TrialRecord {
            block,
            position,
            attempt: earlier.count() as u32,
            cell,
            started: format!("2026-03-01T10:{:02}:{:02}Z", block % 60, position % 60),
            command: vec!["./server".to_owned()],
            port: 20_000,
            warm_up: Duration::from_secs(2),
            offered_per_second,
            outcome,
        });
        self
    }

    /// Changes the record.
    pub fn with(mut self, change: impl FnOnce(&mut SessionRecord)) -> Self {
        change(&mut self.record);
        self
    }

    /// The record.
    pub fn build(self) -> SessionRecord {
        self.record
    }
}

/// A number between −1 and 1 that depends on the name and the block, the same on every machine.
pub fn scatter(name: &str, block: u32) -> f64 {
    let mut state =
        0xcbf2_9ce4_8422_2325_u64 ^ u64::from(block).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    for byte in name.bytes() {
        state = (state ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    state ^= state >> 29;
    (state % 2_001) as f64 / 1_000.0 - 1.0
}

/// A trial that was measured and is fine.
pub fn good(found: Found) -> TrialOutcome {
    TrialOutcome::Measured(Box::new(measured(found)))
}

/// The contents of a trial that was measured and is fine.
pub fn measured(found: Found) -> Measured {
    let succeeded = (found.rate * WINDOW).round() as u64;
    let mib = f64::from(1 << 20);
    Measured {
        ready: Duration::from_millis(35),
        verified_before: 12,
        verified_after: 12,
        load: observation(succeeded, found),
        resources: Resources {
            cpu_source: CpuSource::CgroupV2,
            cpu_seconds: found.cores * (WINDOW + 0.01),
            span_seconds: WINDOW + 0.01,
            pss_idle_bytes: Some((found.memory_mib * 0.4 * mib) as u64),
            pss_mean_bytes: Some((found.memory_mib * mib) as u64),
            pss_peak_bytes: Some((found.memory_mib * 1.3 * mib) as u64),
            samples: 100,
            processes: 1,
            threads: 6,
            voluntary_switches: Some(succeeded / 20),
            involuntary_switches: Some(321),
            minor_faults: 4_567,
            major_faults: 0,
            series: None,
        },
        noise: Noise {
            steal_share: 0.002,
            idle_share: 0.31,
            other_cpu_seconds: 0.05,
            server_cpus_busy: Some(0.9),
            generator_cpus_busy: Some(0.5),
            ..Noise::default()
        },
    }
}

fn observation(succeeded: u64, found: Found) -> Observation {
    let in_flight = u64::from(found.connections);
    let tally = |carried_in: u64, succeeded: u64| Tally {
        carried_in,
        issued: succeeded + in_flight - carried_in,
        succeeded,
        in_flight,
        ..Tally::default()
    };
    let bins = 20;
    let bin = |index: u64| Bin {
        succeeded: succeeded * (index + 1) / bins - succeeded * index / bins,
        failed: 0,
    };
    let window = Duration::from_secs_f64(WINDOW);
    Observation {
        total: tally(0, succeeded + succeeded / 5),
        measured: tally(in_flight, succeeded),
        window,
        service_time: histogram(succeeded, f64::from(found.connections) / found.rate),
        bin: Duration::from_millis(500),
        bins: (0..bins).map(bin).collect(),
        connections_opened: in_flight,
        connections_peak: in_flight,
        body_bytes: succeeded * 35,
        content_checked: succeeded / 16,
        workers: vec![WorkerHealth {
            host: None,
            cpu: Some(1),
            cpu_time: window.mul_f64(found.busy),
            polled: Duration::ZERO,
            run_delay: None,
            wall: window,
        }],
        ..Observation::default()
    }
}

/// A trial that was measured in an open loop and is fine: `found.rate` was offered, and answered in times around a mean
/// in seconds.
pub fn open(found: Found, mean: f64) -> Measured {
    let mut trial = measured(found);
    let load = &mut trial.load;
    let offered = load.measured.succeeded;
    load.service_time = histogram(offered, mean * 0.8);
    load.open = Some(OpenLoop {
        offered,
        response_time: histogram(offered, mean),
        send_lag: histogram(offered, 10e-6),
        connection_wait: histogram(offered, mean * 0.1),
        ..OpenLoop::default()
    });
    trial
}

/// The same trial, while others had a tenth of the machine.
pub fn disturbed(mut trial: Measured) -> TrialOutcome {
    trial.noise.steal_share = 0.1;
    TrialOutcome::Measured(Box::new(trial))
}

/// `count` service times around a mean in seconds, with a tail.
pub fn histogram(count: u64, mean: f64) -> LatencyHistogram {
    const SHAPE: u64 = 1_000;
    let record = |histogram: &mut LatencyHistogram, step: u64| {
        let u = (step as f64 + 0.5) / SHAPE as f64;
        // An exponential tail of mean 0.4 on a floor of 0.6, which adds up to 1.
        histogram.record_ns((mean * 1e9 * (0.6 - 0.4 * (1.0 - u).ln())) as u64);
    };
    let mut shape = LatencyHistogram::new();
    (0..SHAPE).for_each(|step| record(&mut shape, step));
    let mut whole = LatencyHistogram::new();
    (0..count % SHAPE).for_each(|step| record(&mut whole, step * SHAPE / (count % SHAPE)));
    let mut times = count / SHAPE;
    while times > 0 {
        if times % 2 == 1 {
            whole.merge(&shape);
        }
        shape.merge(&shape.clone());
        times /= 2;
    }
    whole
}

/// A measured trial in which `count` requests failed as `kind`, on top of those that succeeded.
pub fn with_failures(found: Found, kind: Failure, count: u64, detail: &str) -> TrialOutcome {
    let mut trial = measured(found);
    for tally in [&mut trial.load.total, &mut trial.load.measured] {
        tally.failed[kind] += count;
        tally.issued += count;
    }
    trial.load.examples.push(FailureExample {
        kind,
        detail: detail.to_owned(),
    });
    TrialOutcome::Measured(Box::new(trial))
}

/// A trial that failed.
pub fn failed(phase: Phase, reason: &str, log_tail: &[&str]) -> TrialOutcome {
    TrialOutcome::Failed(failure(phase, reason, log_tail))
}

/// A failure.
pub fn failure(phase: Phase, reason: &str, log_tail: &[&str]) -> TrialFailure {
    TrialFailure {
        phase,
        reason: reason.to_owned(),
        log_tail: log_tail.iter().map(|line| (*line).to_owned()).collect(),
        load: None,
    }
}
