//! One slice of a member, as it is recorded, and which rounds of slices were disturbed from outside. The engine measures
//! such a round at a rate again, and the statistics leave it out.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{CountHistogram, LatencyHistogram, Tally, observation::OpenLoop};

/// One slice of a member.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SliceRecord {
    /// The member's place in the list.
    pub member: u32,
    /// When the slice's guard began, from the heat's start.
    #[serde(rename = "at_seconds", with = "crate::seconds")]
    #[schemars(schema_with = "crate::seconds::schema")]
    pub at: Duration,
    /// How long the member had been without load before; `None` for its first slice.
    #[serde(rename = "gap_seconds", default, with = "crate::seconds::option")]
    #[schemars(schema_with = "crate::seconds::option::schema")]
    pub gap: Option<Duration>,
    /// The part before it that did not count, as it was planned.
    #[serde(rename = "guard_seconds", default, with = "crate::seconds")]
    #[schemars(schema_with = "crate::seconds::schema")]
    pub guard: Duration,
    /// The counted part's length.
    #[serde(rename = "window_seconds", with = "crate::seconds")]
    #[schemars(schema_with = "crate::seconds::schema")]
    pub window: Duration,
    /// Requests in the counted part, by their fate.
    pub tally: Tally,
    /// Service time (end − actual start) of the requests that began in it and were answered rightly, in it or after it.
    pub service_time: LatencyHistogram,
    /// Verified answers on each connection, over guard, counted part and drain; `None`: a connection was made again, or
    /// there was no answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_connection: Option<PerConnection>,
    /// How long requests were in flight in the counted part that began before it or were still in flight at its end,
    /// together.
    #[serde(rename = "cut_seconds", with = "crate::seconds")]
    #[schemars(schema_with = "crate::seconds::schema")]
    pub cut: Duration,
    /// How long the requests that were in flight at the counted part's start were in flight in it, together.
    #[serde(rename = "carried_seconds", with = "crate::seconds")]
    #[schemars(schema_with = "crate::seconds::schema")]
    pub carried: Duration,
    /// How long the requests that began in it were in flight after it, together.
    #[serde(rename = "draining_seconds", with = "crate::seconds")]
    #[schemars(schema_with = "crate::seconds::schema")]
    pub draining: Duration,
    /// What only an open loop has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open: Option<OpenLoop>,
    /// Body bytes of the verified answers.
    pub body_bytes: u64,
    /// CPU time, user and system, of the member's process tree in the counted part; `None` where it could not be read.
    pub cpu: Option<CpuUsed>,
    /// How long the requests that were in flight at the end were waited for.
    #[serde(rename = "drained_seconds", with = "crate::seconds")]
    #[schemars(schema_with = "crate::seconds::schema")]
    pub drained: Duration,
    /// Connections made again, over guard, counted part and drain.
    pub reconnected: u64,
    /// What the load generator used in the counted part.
    pub generator: GeneratorUse,
    /// What disturbed it; `None` where the system does not tell.
    pub noise: Option<SliceNoise>,
    /// How long freezing it took, and thawing it before.
    pub frozen: FreezeTimes,
    /// What else was seen.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flags: Vec<SliceFlag>,
}

impl SliceRecord {
    /// Verified answers per second of the counted part ([`Tally::answers`]).
    pub fn throughput(&self) -> f64 {
        if self.window.is_zero() {
            0.0
        } else {
            self.tally.answers() as f64 / self.window.as_secs_f64()
        }
    }
}

/// Verified answers on each of the connections that were open all the time.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
pub struct PerConnection {
    /// The fewest of a connection.
    pub least: u64,
    /// The median.
    pub median: u64,
    /// The most of a connection.
    pub most: u64,
}

impl PerConnection {
    /// Those of a load; `None` without a connection.
    pub fn new(answers: &CountHistogram) -> Option<Self> {
        Some(Self {
            least: answers.least()?,
            median: answers.median()?,
            most: answers.most()?,
        })
    }
}

/// CPU time of a member's process tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CpuUsed {
    /// User and system.
    pub seconds: f64,
    /// Between the two readings. That is the counted part's length but for how late the readings came.
    pub span_seconds: f64,
    /// User and system from the second reading to the end of the drain; `None` where that was not read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drain_seconds: Option<f64>,
}

/// What the load generator's threads used in the counted part of a slice, summed up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GeneratorUse {
    /// CPU time.
    pub cpu_seconds: f64,
    /// The part of it in which they had nothing to do and waited awake.
    pub polled_seconds: f64,
    /// The largest share of the time that one of them was at work (0 to 1), without what it waited awake.
    pub busiest: f64,
    /// The host of that thread: its place in [`crate::machine::Hosts::generators`]; `None`: this machine's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<u32>,
}

/// What the machine did in the counted part of a slice, in CPU seconds on the CPUs that server and generator use. The
/// kernel counts in ticks of 10 ms, so that a single slice's figures are coarse; over many they are not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SliceNoise {
    /// Taken by the hypervisor.
    pub steal_seconds: f64,
    /// Busy, for any program.
    pub busy_seconds: f64,
    /// The part of that which went into interrupts, network packets among them.
    pub interrupt_seconds: f64,
    /// What Deadheat and its services used, without the member.
    pub own_seconds: f64,
    /// How many CPUs these are.
    pub cpus: u32,
}

impl SliceNoise {
    /// The share (0 to 1) of these CPUs that the hypervisor took in a slice of `window`.
    fn stolen_share(&self, window: Duration) -> f64 {
        let all = f64::from(self.cpus) * window.as_secs_f64();
        if all > 0.0 {
            self.steal_seconds / all
        } else {
            0.0
        }
    }

    /// The share (0 to 1) of these CPUs that the hypervisor and other programs took at least, in a slice of `window` in
    /// which the member used `member_seconds`.
    pub(crate) fn taken_share(&self, window: Duration, member_seconds: f64) -> f64 {
        let all = f64::from(self.cpus) * window.as_secs_f64();
        let taken = self.steal_seconds + self.others(member_seconds).0.max(0.0);
        if all > 0.0 { taken / all } else { 0.0 }
    }

    /// CPU seconds that other programs used, at least and at most, if the member used `member_seconds`. The kernel's
    /// work for packets is counted among that of processes or beside it, and nothing tells which
    /// (`CONFIG_IRQ_TIME_ACCOUNTING`). Both are below zero where ticks lag behind.
    pub fn others(&self, member_seconds: f64) -> (f64, f64) {
        let most = self.busy_seconds - self.own_seconds - member_seconds;
        (most - self.interrupt_seconds, most)
    }
}

/// How long a member took to thaw and to freeze.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FreezeTimes {
    /// Before the slice.
    #[serde(rename = "thaw_seconds", with = "crate::seconds")]
    #[schemars(schema_with = "crate::seconds::schema")]
    pub thaw: Duration,
    /// After it, until all of it was frozen.
    #[serde(rename = "freeze_seconds", with = "crate::seconds")]
    #[schemars(schema_with = "crate::seconds::schema")]
    pub freeze: Duration,
}

/// What was seen of a slice beside its figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SliceFlag {
    /// The machine slept in it or before it: the monotonic clock stood still, and the clock that counts on did not.
    Suspended,
    /// Requests were still in flight when the drain was over.
    Undrained,
    /// Connections had to be made again.
    Reconnected,
    /// The member was without load for longer than servers keep idle connections ([`LONGEST_GAP`]).
    LongGap,
    /// The member could not be frozen when it was over.
    Unfrozen,
}

/// A slice in which the hypervisor and other programs took so much more of the CPUs of server and generator than in the
/// quiet ones of its member says little about the server. It is several steps of the kernel's clock.
const TAKEN: f64 = 0.25;
/// In a turn at a rate, which is long enough to tell, the hypervisor alone may take this much more than in the quiet ones.
/// The kernel counts time that was stolen while a process ran as time of that process: where 9 % of two CPUs were stolen,
/// the CPU time per request was a quarter above that of other turns, and where 46 % were, seven times as much.
const STOLEN: f64 = 0.05;
/// The share of a member's slices that are its quiet ones. What is taken in these is always taken, such as by a server or a
/// database whose CPU time is not known.
const QUIET: f64 = 0.2;

/// Whether the machine slept in a slice of this round, so that its clocks mean nothing.
pub fn is_suspended(round: &[SliceRecord]) -> bool {
    let slept = |slice: &SliceRecord| slice.flags.contains(&SliceFlag::Suspended);
    round.iter().any(slept)
}

/// For each of a heat's rounds, whether it was quiet: the machine did not sleep, and no slice was disturbed from outside.
pub fn quiet_rounds(rounds: &[Vec<SliceRecord>]) -> Vec<bool> {
    let awake = || rounds.iter().filter(|round| !is_suspended(round));
    let places = awake().flatten().map(|slice| slice.member as usize + 1);
    let members = places.max().unwrap_or(0);
    let usual = |share: fn(&SliceRecord) -> f64| -> Vec<f64> {
        let mut shares = vec![Vec::new(); members];
        for slice in awake().flatten() {
            shares[slice.member as usize].push(share(slice));
        }
        let quiet = |mut shares: Vec<f64>| {
            shares.sort_by(f64::total_cmp);
            let quiet = (shares.len() as f64 * QUIET) as usize;
            shares.get(quiet).copied().unwrap_or(0.0)
        };
        shares.into_iter().map(quiet).collect()
    };
    let [usually_taken, usually_stolen] = [usual(taken), usual(stolen)];
    let is_quiet = |slice: &SliceRecord| {
        let place = slice.member as usize;
        taken(slice) - usually_taken[place] <= TAKEN
            && stolen(slice) - usually_stolen[place] <= STOLEN
    };
    let each = rounds.iter();
    each.map(|round| !is_suspended(round) && round.iter().all(is_quiet))
        .collect()
}

/// The share of the CPUs of server and generator that the hypervisor and other programs took (0 to 1).
fn taken(slice: &SliceRecord) -> f64 {
    let member = slice.cpu.map_or(0.0, |cpu| cpu.seconds);
    let noise = slice.noise;
    noise.map_or(0.0, |noise| noise.taken_share(slice.window, member))
}

/// The share of these CPUs that the hypervisor took in a turn at a rate (0 to 1). Shorter slices are a few ticks of the
/// kernel's clock.
fn stolen(slice: &SliceRecord) -> f64 {
    let noise = slice.noise.filter(|_| slice.open.is_some());
    noise.map_or(0.0, |noise| noise.stolen_share(slice.window))
}
