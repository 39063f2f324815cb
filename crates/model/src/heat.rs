//! The record of one heat. Its servers are alive at the same time and are loaded in turn, one slice at a time. A heat
//! is the unit of replication; its slices are repetitions.
//!
//! A record contains observations, and the round from which on a member's slices are invalid. The statistics decide
//! what counts.

mod slice;

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use self::slice::{
    CpuUsed, FreezeTimes, GeneratorUse, PerConnection, SliceFlag, SliceNoise, SliceRecord,
    TAKEN_FROM_HEAT, is_suspended, quiet_rounds,
};
use crate::{
    LatencyHistogram, TargetId, Wait, machine::CpuSource, observation::GroupSeen,
    session::StackFailure,
};

/// The maximum time that a member may be without load while the others have their turns. Servers close connections that
/// are idle for longer. Among widely used servers, Node is the first to do so, after 5 s, and internal timers are even
/// shorter.
pub const LONGEST_GAP: Duration = Duration::from_secs(2);

/// The maximum change of a slice's length, as a share of the planned length. The change is random, and the same for all
/// members in a round. With equal slices, periodic work of a server would be at the same place of each slice. Example:
/// a server pauses for 50 ms after each second of work, which is 4.8 % of its time. It lost 6.2 % in simulated slices
/// of 100 ms, and loses 4.8 % in slices of 60 to 140 ms.
pub const SLICE_SPREAD: f64 = 0.4;

/// One heat.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HeatRecord {
    /// The heat's number in its session, from 0.
    pub heat: u32,
    /// When it began (RFC 3339, UTC).
    pub started: String,
    /// The plan.
    pub plan: HeatPlan,
    /// The members. Slices refer to them by their index in this list.
    pub members: Vec<MemberRecord>,
    /// The rounds, each with its slices in order.
    pub rounds: Vec<Vec<SliceRecord>>,
    /// How the heat ended.
    pub end: HeatEnd,
    /// The host or the service whose loss interrupted the heat, and how it was lost; `None`: nothing was lost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost: Option<String>,
    /// How long it took: of the first load at which these starts are measured, from the first start to the last stop without
    /// the time of other loads; of another load, its own time.
    #[serde(rename = "wall_seconds", with = "crate::seconds")]
    #[schemars(schema_with = "crate::seconds::schema")]
    pub wall: Duration,
}

impl HeatRecord {
    /// If other programs disturbed the heat from beginning to end, the minimum share (0 to 1) of the CPUs of server and
    /// generator that they took.
    pub fn disturbance(&self) -> Option<f64> {
        slice::disturbance(&self.rounds)
    }

    /// The minimum share (0 to 1) of the CPUs of server and generator that other programs took in its quiet rounds; `None`
    /// if it is not known, or the heat too short to know it well.
    pub fn taken_share(&self) -> Option<f64> {
        slice::taken_from_heat(&self.rounds)
    }
}

/// The plan of a heat, whatever its members. Slices and guards are longer for members whose answers are slow.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HeatPlan {
    /// The mean length of the counted part of a slice. It differs from round to round ([`SLICE_SPREAD`]).
    #[serde(rename = "slice_seconds", with = "crate::seconds")]
    #[schemars(schema_with = "crate::seconds::schema")]
    pub slice: Duration,
    /// The length of the guard: the part before the counted one, which is loaded and does not count.
    #[serde(rename = "guard_seconds", with = "crate::seconds")]
    #[schemars(schema_with = "crate::seconds::schema")]
    pub guard: Duration,
    /// When the heat has enough rounds.
    pub rounds: Rounds,
    /// Whether members are frozen while they are not loaded.
    pub freeze: bool,
    /// How the load generator waits for answers.
    pub wait: Wait,
    /// The minimum time between two readings of a member's memory.
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
    /// When this much time has passed since the first round began. A round that has begun is finished.
    Time {
        /// The time since the start of the first round.
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

/// The additional time between two slices: freezing, thawing, and waiting for requests in flight.
const BETWEEN: Duration = Duration::from_millis(10);

impl HeatPlan {
    /// The approximate time of a round with this many members: one slice of each.
    pub fn round(&self, members: u32) -> Duration {
        (self.guard + self.slice + BETWEEN).saturating_mul(members)
    }

    /// The minimum time that each of `members` is idle between two of its slices: the slices of the others.
    pub fn gap(&self, members: usize) -> Duration {
        let others = u32::try_from(members.saturating_sub(1)).unwrap_or(u32::MAX);
        (self.guard + self.slice).saturating_mul(others)
    }

    /// Whether a round of `members` takes so long that servers may close idle connections.
    pub fn is_too_slow_for(&self, members: usize) -> bool {
        self.gap(members) >= LONGEST_GAP
    }
}

/// The number of warm-up slices after which a server has a rest, if it has rests.
const SLICES_BEFORE_A_REST: u32 = 10;

/// How long a member is warmed up. A warm-up consists of slices without a guard.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WarmUpRule {
    /// The minimum length of the warm-up.
    #[serde(rename = "least_seconds", with = "crate::seconds")]
    #[schemars(schema_with = "crate::seconds::schema")]
    pub least: Duration,
    /// The maximum length of the warm-up, whether the member is steady by then or not.
    #[serde(rename = "most_seconds", with = "crate::seconds")]
    #[schemars(schema_with = "crate::seconds::schema")]
    pub most: Duration,
    /// The length of a slice.
    #[serde(rename = "slice_seconds", with = "crate::seconds")]
    #[schemars(schema_with = "crate::seconds::schema")]
    pub slice: Duration,
    /// The pause of the server after each slice. In a pause, its compilers have the CPU to themselves. Under load, they
    /// share it with the server's other threads.
    #[serde(rename = "pause_seconds", default, with = "crate::seconds")]
    #[schemars(schema_with = "crate::seconds::schema")]
    pub pause: Duration,
    /// The pause after every tenth slice, in place of `pause`; zero: `pause` applies there, too.
    #[serde(
        rename = "rest_seconds",
        default,
        with = "crate::seconds",
        skip_serializing_if = "Duration::is_zero"
    )]
    #[schemars(schema_with = "crate::seconds::schema")]
    pub rest: Duration,
    /// The number of last slices that are examined.
    pub look: u32,
    /// The maximum change from the earlier half of these slices to the later half, as a share of the earlier half
    /// (0.05: 5 %). The member is steady if both throughput and CPU time per answer change by no more. If another
    /// program uses a part of the CPUs, throughput alone would not show that a compiler is working.
    pub bound: f64,
}

impl WarmUpRule {
    /// The length of the server's pause after this many slices of its warm-up.
    pub fn pause_after(&self, slices: u32) -> Duration {
        match slices % SLICES_BEFORE_A_REST {
            0 if !self.rest.is_zero() => self.rest,
            _ => self.pause,
        }
    }

    /// The time of the slices that are examined, with the pauses after them.
    pub fn looked_at(&self) -> Duration {
        let pauses: Duration = (1..=self.look).map(|slices| self.pause_after(slices)).sum();
        self.slice * self.look + pauses
    }
}

/// How a member was warmed up.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WarmUp {
    /// The rule.
    pub rule: WarmUpRule,
    /// The length of the warm-up, including pauses.
    #[serde(rename = "took_seconds", with = "crate::seconds")]
    #[schemars(schema_with = "crate::seconds::schema")]
    pub took: Duration,
    /// Whether the member became steady.
    pub steady: bool,
    /// How much faster the later half of the last slices was than the earlier half, as a share of the earlier half;
    /// `None`: there were too few slices, or one half had no answer.
    pub trend: Option<f64>,
    /// How much CPU time per answer rose, computed as `trend`; also `None` if CPU time is not known.
    pub cost_trend: Option<f64>,
    /// The time of load, including pauses, until throughput and CPU time per answer were within [`SETTLED`] of their
    /// values at the end, to the nearest slice. If the member was not steady at the end, the whole time of load.
    #[serde(
        rename = "settled_seconds",
        default,
        with = "crate::seconds::option",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(schema_with = "crate::seconds::option::schema")]
    pub settled: Option<Duration>,
    /// Whether `settled` is an upper bound, because the member settled before the medians of its slices could show it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub settled_is_bound: bool,
    /// CPU time, user and system, of its process tree from its start until it settled; `None`: not known.
    #[serde(
        rename = "settled_cpu_seconds",
        default,
        with = "crate::seconds::option",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(schema_with = "crate::seconds::option::schema")]
    pub settled_cpu: Option<Duration>,
    /// Answers of the first slices, up to the slice that reaches [`FIRST_ANSWERS`]. Fewer if all of the load had fewer.
    #[serde(default)]
    pub first_answers: u64,
    /// The 99th percentile of their service time; `None`: no answers.
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
    /// Whether the warm-up ended before the member was steady. False if it was too short to judge.
    pub fn is_unsteady(&self) -> bool {
        !self.steady && self.rule.looked_at() <= self.rule.most
    }
}

/// How far a settled member may be from its speed and cost at the end of its warm-up, as a share (0.1: 10 %). Slices of
/// steady servers vary by 5 to 10 %.
pub const SETTLED: f64 = 0.1;

/// The minimum number of answers after a start whose 99th percentile is recorded.
pub const FIRST_ANSWERS: u64 = 1_000;

/// The record of a member of a heat.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MemberRecord {
    /// The stack and its variant.
    pub target: TargetId,
    /// The member's role.
    pub role: Role,
    /// The server's command; empty: it never started.
    pub command: Vec<String>,
    /// The number of loads that its process had served in earlier heats.
    #[serde(default, skip_serializing_if = "crate::load::is_zero")]
    pub loads_before: u32,
    /// The time from the process's start to its first correct answer; `None`: no correct answer, or it was already
    /// running.
    #[serde(rename = "ready_seconds", default, with = "crate::seconds::option")]
    #[schemars(schema_with = "crate::seconds::option::schema")]
    pub ready: Option<Duration>,
    /// The rate of an open loop, in requests per second; `None` in a closed loop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offered_per_second: Option<f64>,
    /// How it was frozen between its slices; `None`: it did not get that far.
    pub freezing: Option<Freezing>,
    /// Its warm-up; `None`: it did not get that far.
    pub warm_up: Option<WarmUp>,
    /// The number of checks that passed before the load; `None`: not all passed.
    pub verified_before: Option<u32>,
    /// The number of checks that passed after the rounds; `None`: not all passed, or it did not get that far.
    pub verified_after: Option<u32>,
    /// The source of its CPU time.
    pub cpu_source: Option<CpuSource>,
    /// Its memory.
    pub memory: MemoryUsed,
    /// The results of each route, if the workload has several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub routes: Vec<RouteFigures>,
    /// The compression of an answer, if the workload asks for compressed answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compression: Option<Compression>,
    /// Writes of the whole heat, including the warm-up, that the server acknowledged and that the database had
    /// afterwards; `None`: it does not write, or they could not be compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub writes: Option<u64>,
    /// The first failure; `None`: no failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<MemberFailure>,
}

impl MemberRecord {
    /// A member of which nothing else is known yet.
    pub fn new(target: TargetId, role: Role) -> Self {
        Self {
            target,
            role,
            command: Vec::new(),
            loads_before: 0,
            ready: None,
            offered_per_second: None,
            freezing: None,
            warm_up: None,
            verified_before: None,
            verified_after: None,
            cpu_source: None,
            memory: MemoryUsed::default(),
            routes: Vec::new(),
            compression: None,
            writes: None,
            failure: None,
        }
    }

    /// Its memory, if that is a result of this load; `None`: its process had served other loads before, which affected
    /// it.
    pub fn memory_here(&self) -> Option<&MemoryUsed> {
        (self.loads_before == 0).then_some(&self.memory)
    }
}

/// The length of an answer with and without compression, from a check before the load.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Compression {
    /// The length of the answer in bytes.
    pub bytes: u64,
    /// The length after decompression in bytes.
    pub decompressed_bytes: u64,
}

impl Compression {
    /// The length after decompression, divided by the length of the answer.
    pub fn ratio(self) -> f64 {
        self.decompressed_bytes as f64 / self.bytes.max(1) as f64
    }
}

/// The results of one of a member's routes, in the counted parts of all of its slices.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RouteFigures {
    /// The route ("GET /items/ID").
    pub route: String,
    /// Requests that were issued in a counted part and whose verified answers came in it.
    pub succeeded: u64,
    /// Requests that were issued in a counted part and failed in it.
    pub failed: u64,
    /// Service time of verified answers to requests that were issued in a counted part, including answers after that
    /// part.
    pub service_time: LatencyHistogram,
}

impl RouteFigures {
    /// Empty results for a route.
    pub fn new(route: impl Into<String>) -> Self {
        Self {
            route: route.into(),
            succeeded: 0,
            failed: 0,
            service_time: LatencyHistogram::new(),
        }
    }

    /// Adds the results of another heat.
    pub fn merge(&mut self, other: &Self) {
        self.succeeded += other.succeeded;
        self.failed += other.failed;
        self.service_time.merge(&other.service_time);
    }

    /// Adds a slice's results of the route's group of requests.
    pub fn add(&mut self, seen: &GroupSeen) {
        self.succeeded += seen.succeeded;
        self.failed += seen.failed;
        self.service_time.merge(&seen.service_time);
        self.service_time.merge(&seen.late);
    }
}

/// The role of a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "is", rename_all = "kebab-case")]
pub enum Role {
    /// It is compared with the other members.
    Member,
    /// The null server, which shows the maximum throughput of the generator.
    Ceiling,
    /// A second instance of another member, which shows how large a difference the method finds between equals (A/A).
    Twin {
        /// That member's index in the list.
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
    /// By SIGSTOP to every process, which the parent processes could notice.
    Signals {
        /// Why a control group was not used.
        reason: String,
    },
    /// Not at all, because the plan says so. Servers that were already running are never frozen.
    Off,
}

/// A member's memory: the PSS of its process tree in bytes, read between slices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryUsed {
    /// The memory when it had just become ready; `None`: not readable.
    pub idle: Option<u64>,
    /// The mean over the rounds; `None`: no sample was readable.
    pub mean: Option<u64>,
    /// The largest sample.
    pub peak: Option<u64>,
    /// The number of samples.
    pub samples: u32,
}

/// The failure of a member. The heat continues without it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MemberFailure {
    /// What was attempted, and what happened.
    #[serde(flatten)]
    pub failure: StackFailure,
    /// The first round from which on its slices are invalid. 0: all slices are invalid, because it answered wrongly.
    /// `None`: all slices count, because they were over and checked.
    pub void_from: Option<u32>,
}

/// How a heat ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum HeatEnd {
    /// All rounds were measured.
    Finished,
    /// The user stopped the session. The record contains what was measured until then, and the last round may be
    /// incomplete.
    Interrupted,
    /// No member was left to measure.
    Deserted,
    /// All rounds were measured, and count for nothing: other programs disturbed the heat from beginning to end
    /// ([`HeatRecord::disturbance`]).
    Disturbed,
}

#[cfg(test)]
mod tests;
