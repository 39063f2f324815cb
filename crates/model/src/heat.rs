//! One heat as it is recorded: servers that were alive at the same time and were loaded in turn, a slice at a time. A
//! heat is the unit of replication; what happens inside it is repetition.
//!
//! What counts is decided by the statistics, from what stands here. A record says what was seen, and from where on a
//! member's slices mean nothing.

mod slice;

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use self::slice::{
    CpuUsed, FreezeTimes, GeneratorUse, PerConnection, SliceFlag, SliceNoise, SliceRecord,
    is_suspended, quiet_rounds,
};
use crate::{
    LatencyHistogram, TargetId, Wait, machine::CpuSource, observation::GroupSeen,
    session::StackFailure,
};

/// How long a member may be left without load while the others have their turns. Servers close connections that are
/// idle for longer; the first of them that are widely used do so after 5 s (Node), and timers inside of them are
/// shorter still.
pub const LONGEST_GAP: Duration = Duration::from_secs(2);

/// A slice is up to this share shorter or longer than the plan's, at random, and the same for all members in a round. With
/// slices that are all alike, a server that does something after every so much work does it at the same place of each
/// slice: a server that stands still for 50 ms after each second of work, 4.8 % of its time, lost 6.2 % in simulated slices
/// of 100 ms, and loses 4.8 % in slices of 60 to 140 ms.
pub const SLICE_SPREAD: f64 = 0.4;

/// One heat.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HeatRecord {
    /// The heat's number in its session, from 0.
    pub heat: u32,
    /// When it began (RFC 3339, UTC).
    pub started: String,
    /// What was to be done.
    pub plan: HeatPlan,
    /// Who took part. Slices name them by their place in this list.
    pub members: Vec<MemberRecord>,
    /// The rounds, each with the slices in their order.
    pub rounds: Vec<Vec<SliceRecord>>,
    /// How it ended.
    pub end: HeatEnd,
    /// The host that was lost, if that is why it was interrupted, and how.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost: Option<String>,
    /// From the first start to the last stop.
    #[serde(rename = "wall_seconds", with = "crate::seconds")]
    #[schemars(schema_with = "crate::seconds::schema")]
    pub wall: Duration,
}

/// What a heat does, whatever its members. Slices and guards of a member whose answers are slow are longer.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HeatPlan {
    /// The counted part of a slice, on average: each round has another length ([`SLICE_SPREAD`]).
    #[serde(rename = "slice_seconds", with = "crate::seconds")]
    #[schemars(schema_with = "crate::seconds::schema")]
    pub slice: Duration,
    /// The part before it, which is loaded and does not count.
    #[serde(rename = "guard_seconds", with = "crate::seconds")]
    #[schemars(schema_with = "crate::seconds::schema")]
    pub guard: Duration,
    /// When there are enough rounds.
    pub rounds: Rounds,
    /// Whether members that are not loaded are frozen.
    pub freeze: bool,
    /// How the load generator waits for answers.
    pub wait: Wait,
    /// How often a member's memory is read at most.
    #[serde(rename = "memory_every_seconds", with = "crate::seconds")]
    #[schemars(schema_with = "crate::seconds::schema")]
    pub memory_every: Duration,
}

/// When a heat has enough rounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "until", rename_all = "kebab-case")]
pub enum Rounds {
    /// After a number of rounds.
    Count {
        /// Rounds.
        rounds: u32,
    },
    /// When so much time has gone by since the first one began. A round that has begun is finished.
    Time {
        /// From the start of the first round.
        #[serde(rename = "seconds", with = "crate::seconds")]
        #[schemars(schema_with = "crate::seconds::schema")]
        time: Duration,
    },
}

impl Rounds {
    /// The number of rounds; 1 if the time decides, as for a single uninterrupted load.
    pub fn number(self) -> u32 {
        match self {
            Rounds::Count { rounds } => rounds,
            Rounds::Time { .. } => 1,
        }
    }
}

/// From a slice to the next one, beyond what it is loaded for: freezing, thawing, and waiting for what is in flight.
const BETWEEN: Duration = Duration::from_millis(10);

impl HeatPlan {
    /// About how long a round of so many members takes: a slice of each.
    pub fn round(&self, members: u32) -> Duration {
        (self.guard + self.slice + BETWEEN).saturating_mul(members)
    }

    /// How long each of `members` is without load between two of its slices, at least: the others' slices.
    pub fn gap(&self, members: usize) -> Duration {
        let others = u32::try_from(members.saturating_sub(1)).unwrap_or(u32::MAX);
        (self.guard + self.slice).saturating_mul(others)
    }

    /// Whether `members` are so many, or the slices so long, that servers may close idle connections meanwhile.
    pub fn is_too_slow_for(&self, members: usize) -> bool {
        self.gap(members) >= LONGEST_GAP
    }
}

/// How long a member is warmed up, which is done in slices without a guard.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WarmUpRule {
    /// At least this long.
    #[serde(rename = "least_seconds", with = "crate::seconds")]
    #[schemars(schema_with = "crate::seconds::schema")]
    pub least: Duration,
    /// At most this long, whether it is steady by then or not.
    #[serde(rename = "most_seconds", with = "crate::seconds")]
    #[schemars(schema_with = "crate::seconds::schema")]
    pub most: Duration,
    /// The length of a slice.
    #[serde(rename = "slice_seconds", with = "crate::seconds")]
    #[schemars(schema_with = "crate::seconds::schema")]
    pub slice: Duration,
    /// How long the server is left alone after each slice. Its compilers have the CPU to themselves then, which under
    /// load they share with all its threads.
    #[serde(rename = "pause_seconds", default, with = "crate::seconds")]
    #[schemars(schema_with = "crate::seconds::schema")]
    pub pause: Duration,
    /// How many of the last slices are looked at.
    pub look: u32,
    /// The member is steady when neither throughput nor CPU time per answer of the later half of these is further than
    /// this from that of the earlier half, as a share of it (0.05: 5 %). Where somebody else takes a part of the CPUs,
    /// throughput alone would hide that a compiler is at work.
    pub bound: f64,
}

impl WarmUpRule {
    /// The time of the slices that are looked at, with the pauses after them.
    pub fn looked_at(&self) -> Duration {
        (self.slice + self.pause) * self.look
    }
}

/// How a member was warmed up.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WarmUp {
    /// The rule.
    pub rule: WarmUpRule,
    /// How long it took, pauses included.
    #[serde(rename = "took_seconds", with = "crate::seconds")]
    #[schemars(schema_with = "crate::seconds::schema")]
    pub took: Duration,
    /// Whether it became steady.
    pub steady: bool,
    /// How much faster the later half of the last slices was than the earlier half, as a share of it; `None` when there
    /// were too few of them, or no answer in one of the halves.
    pub trend: Option<f64>,
    /// The same of CPU time per answer; `None` as well where CPU time is not known.
    pub cost_trend: Option<f64>,
    /// Load, pauses included, until throughput and CPU time per answer were within [`SETTLED`] of what they were at the
    /// end, to the slice; all of the load if it was not steady by then.
    #[serde(
        rename = "settled_seconds",
        default,
        with = "crate::seconds::option",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(schema_with = "crate::seconds::option::schema")]
    pub settled: Option<Duration>,
    /// Whether it had settled before medians of its slices could show it: the true time is `settled` or less.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub settled_is_bound: bool,
    /// CPU time, user and system, that its process tree had used since its start by then; `None` where it is not known.
    #[serde(
        rename = "settled_cpu_seconds",
        default,
        with = "crate::seconds::option",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(schema_with = "crate::seconds::option::schema")]
    pub settled_cpu: Option<Duration>,
    /// Answers of the first slices: as many slices as have [`FIRST_ANSWERS`] together. Fewer if all of the load had fewer.
    #[serde(default)]
    pub first_answers: u64,
    /// The 99th percentile of their service time; `None` without any.
    #[serde(
        rename = "first_p99_seconds",
        default,
        with = "crate::seconds::option",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(schema_with = "crate::seconds::option::schema")]
    pub first_p99: Option<Duration>,
}

impl WarmUp {
    /// Whether it ended before the member was steady. A fixed time may be too short to tell: then it is not known.
    pub fn is_unsteady(&self) -> bool {
        !self.steady && self.rule.looked_at() <= self.rule.most
    }
}

/// How far a member that has settled may be from the speed and the cost at the end of its warm-up, as a share (0.1: 10 %).
/// Slices of steady servers scatter by 5 to 10 %.
pub const SETTLED: f64 = 0.1;

/// The answers after a start whose 99th percentile is recorded, at least.
pub const FIRST_ANSWERS: u64 = 1_000;

/// Who takes part in a heat.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MemberRecord {
    /// The stack and its variant.
    pub target: TargetId,
    /// What it is there for.
    pub role: Role,
    /// The server's command; empty when it never started.
    pub command: Vec<String>,
    /// The loads that its process had served in heats before this one.
    #[serde(default, skip_serializing_if = "crate::load::is_zero")]
    pub loads_before: u32,
    /// From the process's start to its first correct answer; `None` when there was none, or it runs already.
    #[serde(rename = "ready_seconds", default, with = "crate::seconds::option")]
    #[schemars(schema_with = "crate::seconds::option::schema")]
    pub ready: Option<Duration>,
    /// The rate of an open loop, in requests per second; `None` in a closed loop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offered_per_second: Option<f64>,
    /// How it was frozen between its slices; `None` when it never came to that.
    pub freezing: Option<Freezing>,
    /// Its warm-up; `None` when it never came to that.
    pub warm_up: Option<WarmUp>,
    /// Checks that passed before the load; `None` when they did not all.
    pub verified_before: Option<u32>,
    /// Checks that passed after the rounds; `None` when they did not all, or it never came to that.
    pub verified_after: Option<u32>,
    /// How its CPU time was taken.
    pub cpu_source: Option<CpuSource>,
    /// Its memory.
    pub memory: MemoryUsed,
    /// What it did of each route, if the workload has several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub routes: Vec<RouteFigures>,
    /// How much shorter compression makes an answer, if the workload asks for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compression: Option<Compression>,
    /// Writes of the whole heat, warm-up included, that it acknowledged and the database had after it; `None` if it writes
    /// nothing, or they could not be compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub writes: Option<u64>,
    /// What went wrong first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<MemberFailure>,
}

impl MemberRecord {
    /// What its memory says of this load; `None` where its process had served other loads before, which left their part in
    /// it.
    pub fn memory_here(&self) -> Option<&MemoryUsed> {
        (self.loads_before == 0).then_some(&self.memory)
    }
}

/// An answer of a member that was compressed, as a check before the load saw it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Compression {
    /// Its length in bytes, …
    pub bytes: u64,
    /// … and that of what is in it.
    pub decompressed_bytes: u64,
}

impl Compression {
    /// How many times shorter it is.
    pub fn ratio(self) -> f64 {
        self.decompressed_bytes as f64 / self.bytes.max(1) as f64
    }
}

/// What a member did of one of several routes, in the counted parts of all of its slices.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RouteFigures {
    /// "GET /items/ID".
    pub route: String,
    /// Requests that were issued in a counted part and whose verified answers came in it.
    pub succeeded: u64,
    /// Requests that were issued in a counted part and failed in it.
    pub failed: u64,
    /// Service time of verified answers to requests that were issued in a counted part, also if they came after it.
    pub service_time: LatencyHistogram,
}

impl RouteFigures {
    /// Nothing yet of a route.
    pub fn new(route: impl Into<String>) -> Self {
        Self {
            route: route.into(),
            succeeded: 0,
            failed: 0,
            service_time: LatencyHistogram::new(),
        }
    }

    /// Adds what another heat has of it.
    pub fn merge(&mut self, other: &Self) {
        self.succeeded += other.succeeded;
        self.failed += other.failed;
        self.service_time.merge(&other.service_time);
    }

    /// Adds what a slice found of its group of requests.
    pub fn add(&mut self, seen: &GroupSeen) {
        self.succeeded += seen.succeeded;
        self.failed += seen.failed;
        self.service_time.merge(&seen.service_time);
        self.service_time.merge(&seen.late);
    }
}

/// What a member is there for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "is", rename_all = "kebab-case")]
pub enum Role {
    /// It is compared with the others.
    Member,
    /// It shows what the generator can do at most: the null server.
    Ceiling,
    /// The same as another member, to show what the method makes of no difference (A/A).
    Twin {
        /// That member's place in the list.
        of: u32,
    },
}

/// How a process tree is frozen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "by", rename_all = "kebab-case")]
pub enum Freezing {
    /// By `cgroup.freeze` of a control group of v2.
    CgroupV2,
    /// By `freezer.state` of a control group of v1.
    CgroupV1,
    /// By SIGSTOP to every process, which their parents could see.
    Signals {
        /// Why not by a control group.
        reason: String,
    },
    /// Not at all, because the plan says so, as of servers that run already: they are not Deadheat's to freeze.
    Off,
}

/// A member's memory: the PSS of its process tree in bytes, read between slices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryUsed {
    /// When it had just become ready; `None` where it could not be read.
    pub idle: Option<u64>,
    /// The mean over the rounds; `None` where no sample could be read.
    pub mean: Option<u64>,
    /// The largest of them.
    pub peak: Option<u64>,
    /// Samples behind the mean and the peak.
    pub samples: u32,
}

/// Where a member failed. The heat goes on without it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MemberFailure {
    /// What was attempted, and what happened.
    #[serde(flatten)]
    pub failure: StackFailure,
    /// Its slices from this round on mean nothing; 0: none of them does, because it was seen to answer wrongly. `None`:
    /// all of them count, since they were over and checked.
    pub void_from: Option<u32>,
}

/// How a heat ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum HeatEnd {
    /// All rounds were measured.
    Finished,
    /// The user asked to stop. What was measured until then is here, and the last round may be cut.
    Interrupted,
    /// There was nobody left to measure.
    Deserted,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Failure, LatencyHistogram, Tally, session::Phase};

    const PLAN: HeatPlan = HeatPlan {
        slice: Duration::from_millis(100),
        guard: Duration::from_millis(30),
        rounds: Rounds::Count { rounds: 20 },
        freeze: true,
        wait: Wait::Poll,
        memory_every: Duration::from_secs(1),
    };

    #[test]
    fn the_gap_is_that_of_the_others_slices() {
        assert_eq!(PLAN.gap(1), Duration::ZERO);
        assert_eq!(PLAN.gap(7), Duration::from_millis(780));
        assert!(!PLAN.is_too_slow_for(16));
        assert!(PLAN.is_too_slow_for(17));
    }

    #[test]
    fn what_others_used_lies_between_two_bounds() {
        let noise = SliceNoise {
            steal_seconds: 0.0,
            busy_seconds: 0.2,
            interrupt_seconds: 0.03,
            own_seconds: 0.07,
            cpus: 2,
        };
        let (least, most) = noise.others(0.09);
        assert!((least - 0.01).abs() < 1e-9 && (most - 0.04).abs() < 1e-9);
        let taken = noise.taken_share(Duration::from_millis(100), 0.09);
        assert!((taken - 0.05).abs() < 1e-9, "{taken}");
    }

    /// Some 6,000 answers in a slice, as those of a fast server scatter.
    fn slice(member: u32, round: u32) -> SliceRecord {
        let mut service_time = LatencyHistogram::new();
        for answer in 0..6_000_u64 {
            // The tail of an exponential distribution, in an order of its own.
            let share = (answer * 2_654_435_761 + u64::from(member * 31 + round)) % 10_007;
            let spread = -(1.0 - share as f64 / 10_007.0).ln();
            service_time.record_ns(150_000 + (250_000.0 * spread) as u64);
        }
        let mut tally = Tally {
            issued: 6_002,
            succeeded: 6_000,
            in_flight: 1,
            ..Tally::default()
        };
        tally.failed[Failure::Reset] = 1;
        SliceRecord {
            member,
            at: Duration::from_millis(u64::from(round) * 900),
            gap: Some(Duration::from_micros(812_345)),
            guard: PLAN.guard,
            window: PLAN.slice,
            tally,
            service_time: service_time.compact(),
            per_connection: Some(PerConnection {
                least: 110,
                median: 120,
                most: 131,
            }),
            cut: Duration::from_micros(4_321),
            carried: Duration::from_micros(2_100),
            draining: Duration::from_micros(2_345),
            open: None,
            body_bytes: 78_000,
            cpu: Some(CpuUsed {
                seconds: 0.098_765,
                span_seconds: 0.100_087,
                drain_seconds: Some(0.000_321),
            }),
            drained: Duration::from_micros(1_234),
            reconnected: 0,
            generator: GeneratorUse {
                cpu_seconds: 0.1,
                polled_seconds: 0.012_345,
                busiest: 0.876_54,
                host: Some(1),
            },
            noise: Some(SliceNoise {
                steal_seconds: 0.01,
                busy_seconds: 0.2,
                interrupt_seconds: 0.02,
                own_seconds: 0.1,
                cpus: 2,
            }),
            frozen: FreezeTimes {
                thaw: Duration::from_micros(40),
                freeze: Duration::from_micros(90),
            },
            flags: vec![SliceFlag::Reconnected],
        }
    }

    #[test]
    fn a_heat_is_read_back_and_small() {
        let member = MemberRecord {
            loads_before: 0,
            target: TargetId::new("go-nethttp", Some("1cpu")),
            role: Role::Twin { of: 0 },
            command: vec!["out/server".to_owned()],
            ready: Some(Duration::from_millis(12)),
            offered_per_second: None,
            freezing: Some(Freezing::Signals {
                reason: "no control group could be made that freezes".to_owned(),
            }),
            warm_up: Some(WarmUp {
                rule: WarmUpRule {
                    least: Duration::from_secs(1),
                    most: Duration::from_secs(4),
                    slice: Duration::from_millis(200),
                    pause: Duration::ZERO,
                    look: 8,
                    bound: 0.05,
                },
                took: Duration::from_millis(1_700),
                steady: true,
                trend: Some(-0.01),
                cost_trend: None,
                settled: Some(Duration::from_millis(600)),
                settled_is_bound: true,
                settled_cpu: Some(Duration::from_millis(550)),
                first_answers: 2_345,
                first_p99: Some(Duration::from_micros(8_900)),
            }),
            verified_before: Some(3),
            verified_after: None,
            cpu_source: Some(CpuSource::CgroupV2),
            memory: MemoryUsed {
                idle: Some(7_000_000),
                mean: None,
                peak: None,
                samples: 0,
            },
            routes: vec![RouteFigures::new("GET /items")],
            compression: Some(Compression {
                bytes: 1_500,
                decompressed_bytes: 8_300,
            }),
            writes: Some(6_085),
            failure: Some(MemberFailure {
                failure: StackFailure {
                    phase: Phase::Load,
                    reason: "was ended by SIGSEGV under load".to_owned(),
                    log_tail: vec!["last words".to_owned()],
                    load: None,
                },
                void_from: Some(3),
            }),
        };
        let round = |round| (0..7).map(|member| slice(member, round)).collect();
        let heat = HeatRecord {
            heat: 2,
            started: "2026-11-23T03:00:00Z".to_owned(),
            plan: PLAN,
            members: vec![member; 7],
            rounds: (0..20).map(round).collect(),
            end: HeatEnd::Interrupted,
            lost: Some("host h2: the connection was closed".to_owned()),
            wall: Duration::from_millis(24_500),
        };
        let json = serde_json::to_string(&heat).unwrap();
        assert_eq!(serde_json::from_str::<HeatRecord>(&json).unwrap(), heat);
        // Seven members and twenty rounds.
        assert!(json.len() < 500_000, "{} bytes", json.len());
    }
}
