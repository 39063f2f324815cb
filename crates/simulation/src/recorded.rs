//! Whole records of sessions of heats that were never measured: a [`Field`] for each load, and who decides which heat is
//! next. What a session says, and how it is steered, is tested with these.

use std::time::Duration;

use deadheat_model::{
    HeatRecord, LatencyHistogram, LoadPoint, Tally, TargetId, Wait,
    heat::{
        CpuUsed, FreezeTimes, Freezing, GeneratorUse, HeatEnd, HeatPlan, MemberRecord, MemoryUsed,
        Role, Rounds, SliceNoise, SliceRecord, WarmUp, WarmUpRule,
    },
    heats::{
        Control, MeasuredHeat, NextHeat, Plan, PlannedLoad, SCHEMA, SessionHeader, SessionRecord,
        Step,
    },
    machine::{CpuSource, Machine},
    plan::Pinning,
    session::{BuildRecord, TargetRecord, TargetState},
    stack::{Class, Runtime, StackRole},
};
use deadheat_stats::heats::{Heat, Slice};

use crate::heats::{Disturbances, Field, Member, Processes, field};

/// A session to be drawn.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// The stacks, with their true speeds and noise. Each load has all of them.
    pub stacks: Vec<(TargetId, Member)>,
    /// Workloads; each has a load of 50 connections.
    pub workloads: Vec<String>,
    /// The field: its members are replaced by the stacks and the controls.
    pub field: Field,
    /// Members of a heat at most, a control among them.
    pub capacity: u32,
    /// The numbers of heats at which it is looked at.
    pub looks: Vec<u32>,
    /// Whether a load ends when it is decided.
    pub until_decided: bool,
    /// The precision that is asked for.
    pub precision: Option<f64>,
    /// Whether each heat starts its processes.
    pub separate_loads: bool,
    /// The time that it may take.
    pub budget: Option<Duration>,
    /// How long servers take to start and warm up, for each member.
    pub start: Duration,
    /// Times that are recorded for each slice; 0: none, which is quicker.
    pub times: u32,
}

/// The counted part of a slice.
const WINDOW: Duration = Duration::from_millis(100);
/// The part before it.
const GUARD: Duration = Duration::from_millis(30);
/// What requests in flight at the edges of a slice take.
const DRAIN: Duration = Duration::from_millis(1);
/// How many times faster than the fastest stack the null server is.
const CEILING: f64 = 1.5;
/// Connections.
const CONNECTIONS: u32 = 50;

impl Recorded {
    /// Stacks of these speeds with unequal noise, at one load, all in every heat, looked at after 8 and 10 heats.
    pub fn measured(speeds: &[f64]) -> Self {
        let name = |(index, speed): (usize, &f64)| {
            let target = TargetId::new(format!("stack-{index}"), None);
            (target, Member::unequal(index, *speed))
        };
        Self {
            stacks: speeds.iter().enumerate().map(name).collect(),
            workloads: vec!["plaintext".to_owned()],
            field: Field::measured(&[]),
            capacity: speeds.len() as u32 + 1,
            looks: vec![8, 10],
            until_decided: true,
            precision: None,
            separate_loads: false,
            budget: None,
            start: Duration::from_secs(2),
            times: 0,
        }
    }

    /// The same, of stacks that hardly scatter, on a quiet machine.
    pub fn quiet(speeds: &[f64]) -> Self {
        let mut plan = Self::measured(speeds);
        plan.field.machine.spread = 0.01;
        plan.field.disturbances = Disturbances::default();
        for (_, member) in &mut plan.stacks {
            member.spread = 0.01;
            member.correlation = 0.0;
            member.processes = Processes::Alike(0.0);
        }
        plan
    }

    /// The session of a seed: heats as `steer` asks for them, which is shown the record so far and the time spent.
    pub fn run(
        &self,
        seed: u64,
        steer: &mut dyn FnMut(&SessionRecord, Duration) -> Step,
    ) -> SessionRecord {
        let mut record = SessionRecord {
            header: self.header(seed),
            heats: Vec::new(),
            resumed: Vec::new(),
            end: None,
        };
        let field = Field {
            members: self.members(),
            ..self.field.clone()
        };
        let mut session = field.start(seed);
        let mut spent = Duration::ZERO;
        loop {
            match steer(&record, spent) {
                Step::End(reason) => {
                    record.end = Some(reason);
                    return record;
                }
                Step::Heat(next) => {
                    let heat = self.heat(&record, &next, &mut session);
                    spent += heat.heat.wall;
                    record.heats.push(heat);
                }
            }
        }
    }

    /// The stacks, the null server, and a twin of speed 1, which is given its original's where it runs.
    fn members(&self) -> Vec<Member> {
        let stacks = self.stacks.iter().map(|(_, member)| *member);
        let best = stacks.clone().map(|one| one.speed).fold(0.0, f64::max);
        let controls = [CEILING * best, 1.0].map(|speed| Member::unequal(0, speed));
        stacks.chain(controls).collect()
    }

    fn heat(
        &self,
        record: &SessionRecord,
        next: &NextHeat,
        session: &mut field::DrawnSession<'_>,
    ) -> MeasuredHeat {
        let load = &record.header.plan.loads[next.load];
        let twin = match next.control {
            Some(Control::Twin { of }) => Some(of),
            _ => None,
        };
        let control = next.control.map(|control| match control {
            Control::Ceiling => load.ceiling(),
            Control::Twin { .. } => load.twin(),
        });
        let numbers: Vec<usize> = next.members.iter().copied().chain(control).collect();
        let drawn = session.heat(&numbers);
        let role = |number: &usize| match (number.checked_sub(load.targets.len()), twin) {
            (None, _) => Role::Member,
            (Some(1), Some(of)) => Role::Twin {
                of: numbers.iter().position(|one| *one == of).unwrap_or(0) as u32,
            },
            _ => Role::Ceiling,
        };
        let member = |number: &usize| {
            let target = match (role(number), twin) {
                (Role::Twin { .. }, Some(of)) => load.targets[of].clone(),
                _ => load.target(*number),
            };
            member(target, role(number))
        };
        let speed = |number: usize| match twin {
            Some(of) if number == load.twin() => self.stacks[of].1.speed,
            _ => 1.0,
        };
        let members: Vec<MemberRecord> = numbers.iter().map(member).collect();
        let slices = |heat: &Heat| -> Vec<Vec<SliceRecord>> {
            let place = |member: usize| numbers.iter().position(|one| *one == member);
            let slice = |slice: &Slice| {
                let is_ceiling = slice.member == load.ceiling();
                let throughput = slice.answers / slice.seconds * speed(slice.member);
                Some(self.slice(place(slice.member)? as u32, throughput, is_ceiling))
            };
            let rounds = heat.rounds.iter();
            rounds
                .map(|round| round.slices.iter().filter_map(slice).collect())
                .collect()
        };
        let rounds = slices(&drawn);
        let loaded = (WINDOW + GUARD) * numbers.len() as u32 * rounds.len() as u32;
        MeasuredHeat {
            load: next.load as u32,
            heat: HeatRecord {
                lost: None,
                heat: record.heats.len() as u32,
                started: "2026-11-23T12:00:00Z".to_owned(),
                plan: load.heat,
                members,
                rounds,
                end: HeatEnd::Finished,
                wall: loaded + self.start * numbers.len() as u32,
            },
        }
    }

    fn slice(&self, member: u32, throughput: f64, is_ceiling: bool) -> SliceRecord {
        let answers = (throughput * WINDOW.as_secs_f64()).round() as u64;
        let in_flight = u64::from(CONNECTIONS);
        let tally = Tally {
            carried_in: in_flight,
            issued: answers,
            succeeded: answers,
            in_flight,
            ..Tally::default()
        };
        let mut service_time = LatencyHistogram::new();
        let mean = f64::from(CONNECTIONS) / throughput.max(1.0) * 1e9;
        for time in 0..self.times {
            // An exponential distribution, taken at its quantiles.
            let share = (f64::from(time) + 0.5) / f64::from(self.times);
            service_time.record_ns((-(1.0 - share).ln() * mean) as u64);
        }
        let (server, busiest) = if is_ceiling { (0.5, 0.99) } else { (0.97, 0.6) };
        let window = WINDOW.as_secs_f64();
        SliceRecord {
            member,
            at: Duration::ZERO,
            gap: Some(Duration::from_millis(700)),
            guard: GUARD,
            window: WINDOW,
            tally,
            service_time: service_time.compact(),
            per_connection: None,
            cut: Duration::ZERO,
            carried: DRAIN * CONNECTIONS,
            draining: DRAIN * CONNECTIONS,
            open: None,
            body_bytes: 13 * answers,
            cpu: Some(CpuUsed {
                seconds: server * window,
                span_seconds: window,
                drain_seconds: Some(server * DRAIN.as_secs_f64()),
            }),
            drained: DRAIN,
            reconnected: 0,
            generator: GeneratorUse {
                cpu_seconds: window,
                polled_seconds: (1.0 - busiest) * window,
                busiest,
                host: None,
            },
            noise: Some(SliceNoise {
                steal_seconds: 0.0,
                busy_seconds: (server + 1.0) * window,
                interrupt_seconds: 0.0,
                own_seconds: window,
                cpus: 2,
            }),
            frozen: FreezeTimes::default(),
            flags: Vec::new(),
        }
    }

    fn header(&self, seed: u64) -> SessionHeader {
        let load = |workload: &String| PlannedLoad {
            workload: workload.clone(),
            description: "A simulated load.".to_owned(),
            point: LoadPoint::new(format!("c{CONNECTIONS}"), CONNECTIONS),
            delay_seconds: None,
            targets: self.stacks.iter().map(|(name, _)| name.clone()).collect(),
            heat: HeatPlan {
                slice: WINDOW,
                guard: GUARD,
                rounds: Rounds::Count {
                    rounds: self.field.rounds as u32,
                },
                freeze: true,
                wait: Wait::Poll,
                memory_every: Duration::from_secs(1),
            },
            capacity: self.capacity,
            shared_starts: (!self.separate_loads).then_some(0),
            capacity_reason: None,
            looks: self.looks.clone(),
        };
        let budgets = self.stacks.iter().filter_map(|(name, _)| name.cpus);
        let cpus = budgets.max().unwrap_or(1) as usize;
        SessionHeader {
            hosts: Vec::new(),
            schema: SCHEMA,
            id: "2026-11-23-simulated".to_owned(),
            deadheat: "0.1.0".to_owned(),
            build: None,
            commit: None,
            embedded: None,
            started: "2026-11-23T12:00:00Z".to_owned(),
            arguments: vec!["run".to_owned()],
            machine: machine(),
            findings: Vec::new(),
            comparison: None,
            asked: Default::default(),
            plan: Plan {
                hosts: None,
                seed,
                loads: self.workloads.iter().map(load).collect(),
                pinning: Pinning::Apart {
                    server: (0..cpus).collect(),
                    generator: vec![cpus],
                },
                alpha: 0.05,
                margin: 0.03,
                least_heats: deadheat_model::heats::MIN_HEATS,
                until_decided: self.until_decided,
                precision: self.precision,
                budget_seconds: self.budget.map(|budget| budget.as_secs_f64()),
                estimate: Duration::from_secs(600),
                price_per_cpu_hour: None,
                left_out: Vec::new(),
            },
            targets: self.stacks.iter().map(|(name, _)| target(name)).collect(),
            postgres: None,
            published: Vec::new(),
            definitions: Default::default(),
            boot: None,
            live: false,
            environment: Vec::new(),
        }
    }
}

fn member(target: TargetId, role: Role) -> MemberRecord {
    MemberRecord {
        command: vec!["./server".to_owned()],
        ready: Some(Duration::from_millis(12)),
        freezing: Some(Freezing::CgroupV2),
        warm_up: Some(WarmUp {
            rule: WarmUpRule {
                least: Duration::from_secs(1),
                most: Duration::from_secs(4),
                slice: Duration::from_millis(200),
                pause: Duration::ZERO,
                rest: Duration::ZERO,
                look: 8,
                bound: 0.05,
            },
            took: Duration::from_millis(1_600),
            steady: true,
            trend: Some(0.01),
            cost_trend: Some(0.0),
            settled: Some(Duration::from_millis(600)),
            settled_is_bound: false,
            settled_cpu: Some(Duration::from_millis(500)),
            first_answers: 2_000,
            first_p99: Some(Duration::from_millis(5)),
        }),
        verified_before: Some(3),
        verified_after: Some(3),
        cpu_source: Some(CpuSource::CgroupV2),
        memory: MemoryUsed {
            idle: Some(8 << 20),
            mean: Some(12 << 20),
            peak: Some(16 << 20),
            samples: 4,
        },
        ..MemberRecord::new(target, role)
    }
}

fn target(target: &TargetId) -> TargetRecord {
    TargetRecord {
        target: target.clone(),
        language: "Go".to_owned(),
        framework: "net/http".to_owned(),
        class: Class::Platform,
        role: StackRole::Stack,
        runtime: Runtime::Native,
        variant_description: None,
        cpus: target.cpus,
        database: None,
        protocols: None,
        limits: Vec::new(),
        versions: Vec::new(),
        sources: Some("5".repeat(64)),
        added: None,
        state: TargetState::Ready {
            build: BuildRecord {
                seconds: 1.0,
                incremental: false,
                artefact_bytes: 8 << 20,
            },
        },
        failed_workloads: Vec::new(),
    }
}

/// A machine of which nothing is said but that it has two CPUs.
fn machine() -> Machine {
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
