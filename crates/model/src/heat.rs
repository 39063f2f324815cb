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

/// After how many slices of its warm-up a server has a rest, if it has rests.
const SLICES_BEFORE_A_REST: u32 = 10;

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
    /// How long it is left alone instead after every tenth slice; zero: it has no rests.
    #[serde(
        rename = "rest_seconds",
        default,
        with = "crate::seconds",
        skip_serializing_if = "Duration::is_zero"
    )]
    #[schemars(schema_with = "crate::seconds::schema")]
    pub rest: Duration,
    /// How many of the last slices are looked at.
    pub look: u32,
    /// The member is steady when neither throughput nor CPU time per answer of the later half of these is further than
    /// this from that of the earlier half, as a share of it (0.05: 5 %). Where somebody else takes a part of the CPUs,
    /// throughput alone would hide that a compiler is at work.
    pub bound: f64,
}

impl WarmUpRule {
    /// How long the server is left alone after this many slices of its warm-up.
    pub fn pause_after(&self, slices: u32) -> Duration {
        match slices % SLICES_BEFORE_A_REST {
            0 if !self.rest.is_zero() => self.rest,
            _ => self.pause,
        }
    }

    /// The time of the slices that are looked at, with the pauses after them.
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
mod tests;
