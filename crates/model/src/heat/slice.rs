//! The record of one slice of a member, and the detection of rounds that were disturbed from outside. At a rate, the
//! engine measures such a round again. The statistics exclude it.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{CountHistogram, LatencyHistogram, Tally, observation::OpenLoop};

/// One slice of a member.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SliceRecord {
    /// The member's index in the heat's list.
    pub member: u32,
    /// When the slice's guard began, from the heat's start.
    #[serde(rename = "at_seconds", with = "crate::seconds")]
    #[schemars(schema_with = "crate::seconds::schema")]
    pub at: Duration,
    /// The time that the member had been without load before; `None`: its first slice.
    #[serde(rename = "gap_seconds", default, with = "crate::seconds::option")]
    #[schemars(schema_with = "crate::seconds::option::schema")]
    pub gap: Option<Duration>,
    /// The planned length of the guard, which does not count.
    #[serde(rename = "guard_seconds", default, with = "crate::seconds")]
    #[schemars(schema_with = "crate::seconds::schema")]
    pub guard: Duration,
    /// The counted part's length.
    #[serde(rename = "window_seconds", with = "crate::seconds")]
    #[schemars(schema_with = "crate::seconds::schema")]
    pub window: Duration,
    /// Requests in the counted part, by their fate.
    pub tally: Tally,
    /// Service time (end − actual start) of the requests that began in it and had verified answers, in it or after it.
    pub service_time: LatencyHistogram,
    /// Verified answers on each connection, over guard, counted part and drain; `None`: a connection was opened again,
    /// or there was no answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_connection: Option<PerConnection>,
    /// The total time that requests were in flight in the counted part, of those that began before it or were still in
    /// flight at its end.
    #[serde(rename = "cut_seconds", with = "crate::seconds")]
    #[schemars(schema_with = "crate::seconds::schema")]
    pub cut: Duration,
    /// The total time, in the counted part, of the requests that were in flight at its start.
    #[serde(rename = "carried_seconds", with = "crate::seconds")]
    #[schemars(schema_with = "crate::seconds::schema")]
    pub carried: Duration,
    /// The total time, after the counted part, of the requests that began in it.
    #[serde(rename = "draining_seconds", with = "crate::seconds")]
    #[schemars(schema_with = "crate::seconds::schema")]
    pub draining: Duration,
    /// Results that only an open loop has; `None`: closed loop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open: Option<OpenLoop>,
    /// Body bytes of the verified answers.
    pub body_bytes: u64,
    /// CPU time, user and system, of the member's process tree in the counted part; `None`: not readable.
    pub cpu: Option<CpuUsed>,
    /// The length of the drain: the wait for requests that were in flight at the end.
    #[serde(rename = "drained_seconds", with = "crate::seconds")]
    #[schemars(schema_with = "crate::seconds::schema")]
    pub drained: Duration,
    /// Connections that were opened again, over guard, counted part and drain.
    pub reconnected: u64,
    /// What the load generator used in the counted part.
    pub generator: GeneratorUse,
    /// Disturbances by the machine; `None`: the system does not report them.
    pub noise: Option<SliceNoise>,
    /// How long it took to thaw the member before the slice, and to freeze it afterwards.
    pub frozen: FreezeTimes,
    /// Further observations.
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

/// Verified answers per connection, of the connections that were open all the time.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
pub struct PerConnection {
    /// The fewest answers of a connection.
    pub least: u64,
    /// The median.
    pub median: u64,
    /// The most answers of a connection.
    pub most: u64,
}

impl PerConnection {
    /// The summary of a load's answers per connection; `None`: no connection.
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
    /// User and system time.
    pub seconds: f64,
    /// The time between the two readings. It differs from the counted part's length only by the delay of the readings.
    pub span_seconds: f64,
    /// User and system time from the second reading to the end of the drain; `None`: not read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drain_seconds: Option<f64>,
}

/// What the load generator's threads used in the counted part of a slice, in total.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GeneratorUse {
    /// CPU time.
    pub cpu_seconds: f64,
    /// The part of it in which the threads had nothing to do and polled.
    pub polled_seconds: f64,
    /// The share of the time that the busiest thread worked (0 to 1). Polling is not included.
    pub busiest: f64,
    /// The host of that thread, as an index in [`crate::machine::Hosts::generators`]; `None`: this machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<u32>,
}

/// What the machine did in the counted part of a slice, in CPU seconds on the CPUs of server and generator. The kernel
/// counts in ticks of 10 ms. The figures of one slice are therefore coarse; those of many slices are not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SliceNoise {
    /// Time that the hypervisor took.
    pub steal_seconds: f64,
    /// Busy time, for any program.
    pub busy_seconds: f64,
    /// The part of the busy time for interrupts, network packets among them, that the kernel may have counted for no
    /// process.
    pub interrupt_seconds: f64,
    /// Time that Deadheat and its services used, without the member.
    pub own_seconds: f64,
    /// The number of these CPUs.
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

    /// The minimum share (0 to 1) of these CPUs that the hypervisor and other programs took, in a slice of `window` in
    /// which the member used `member_seconds`.
    pub(crate) fn taken_share(&self, window: Duration, member_seconds: f64) -> f64 {
        let all = f64::from(self.cpus) * window.as_secs_f64();
        let taken = self.steal_seconds + self.others(member_seconds).0.max(0.0);
        if all > 0.0 { taken / all } else { 0.0 }
    }

    /// The minimum and the maximum of CPU seconds that other programs used, if the member used `member_seconds`. The
    /// interrupts that count for no process may have been for any program's packets. Both values are negative if ticks
    /// lag behind.
    pub fn others(&self, member_seconds: f64) -> (f64, f64) {
        let most = self.busy_seconds - self.own_seconds - member_seconds;
        (most - self.interrupt_seconds, most)
    }
}

/// How long a member took to thaw and to freeze.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FreezeTimes {
    /// To thaw it, before the slice.
    #[serde(rename = "thaw_seconds", with = "crate::seconds")]
    #[schemars(schema_with = "crate::seconds::schema")]
    pub thaw: Duration,
    /// To freeze all of it, after the slice.
    #[serde(rename = "freeze_seconds", with = "crate::seconds")]
    #[schemars(schema_with = "crate::seconds::schema")]
    pub freeze: Duration,
}

/// An observation about a slice, in addition to its figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SliceFlag {
    /// The machine slept in the slice or before it: the monotonic clock stopped, unlike the clock that includes sleep.
    Suspended,
    /// Requests were still in flight when the drain was over.
    Undrained,
    /// Connections had to be opened again.
    Reconnected,
    /// The member was without load for longer than servers keep idle connections ([`LONGEST_GAP`]).
    LongGap,
    /// The member could not be frozen after the slice.
    Unfrozen,
}

/// How much more of the CPUs of server and generator the hypervisor and other programs may take than in the member's
/// quiet slices (0 to 1). Slices above this say little about the server. It is several ticks of the kernel's clock.
const TAKEN: f64 = 0.25;
/// The limit of [`TAKEN`] for the hypervisor alone, in a turn at a rate, which is long enough to measure it. The kernel counts time
/// that was stolen while a process ran as time of that process. With 9 % of two CPUs stolen, CPU time per request was a
/// quarter higher than in other turns; with 46 %, it was seven times as high.
const STOLEN: f64 = 0.05;
/// The share of a member's slices that are its quiet ones. What is taken in these is always taken, such as by a server
/// or a database whose CPU time is not known.
const QUIET: f64 = 0.2;

/// Whether the machine slept in a slice of this round, which makes its times meaningless.
pub fn is_suspended(round: &[SliceRecord]) -> bool {
    let slept = |slice: &SliceRecord| slice.flags.contains(&SliceFlag::Suspended);
    round.iter().any(slept)
}

/// For each round of a heat, whether it was quiet: the machine did not sleep, and no slice was disturbed from outside.
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

/// A heat is disturbed if other programs took more than this share (0 to 1) of the CPUs of server and generator in its quiet
/// rounds (docs/evidence, `disturbed-heats`).
pub const TAKEN_FROM_HEAT: f64 = 0.05;
/// The counted time that a heat needs to be judged. The kernel's ticks of 10 ms are small against it.
const JUDGED_FROM: Duration = Duration::from_secs(5);

/// If a heat was disturbed from beginning to end, the minimum share (0 to 1) of the CPUs of server and generator that other
/// programs took. No round of it differs from the others, so [`quiet_rounds`] finds nothing.
///
/// It is the share of the less disturbed half of the members: another program disturbs all of them, and a process that a
/// server started outside its tree disturbs one.
pub(crate) fn disturbance(rounds: &[Vec<SliceRecord>]) -> Option<f64> {
    let is_disturbed = |share: &f64| *share > TAKEN_FROM_HEAT;
    // Most heats need no more than this.
    taken_over(rounds.iter()).filter(is_disturbed)?;
    taken_from_heat(rounds).filter(is_disturbed)
}

/// The minimum share (0 to 1) of the CPUs of server and generator that other programs took in the quiet rounds of a heat;
/// `None` if it is not known, or the heat too short to know it well.
pub(crate) fn taken_from_heat(rounds: &[Vec<SliceRecord>]) -> Option<f64> {
    let windows = rounds.iter().flatten().map(|slice| slice.window);
    if windows.sum::<Duration>() < JUDGED_FROM {
        return None;
    }
    let quiet = quiet_rounds(rounds);
    let rounds = rounds.iter().zip(quiet);
    taken_over(rounds.filter_map(|(round, is_quiet)| is_quiet.then_some(round)))
}

/// What other programs took over these rounds, in the less disturbed half of the members.
fn taken_over<'r>(rounds: impl Iterator<Item = &'r Vec<SliceRecord>>) -> Option<f64> {
    let mut members: Vec<(SliceNoise, Duration, f64)> = Vec::new();
    for slice in rounds.flatten() {
        let (Some(noise), Some(cpu)) = (slice.noise, slice.cpu) else {
            continue;
        };
        let place = slice.member as usize;
        members.resize(members.len().max(place + 1), Default::default());
        let (sum, window, used) = &mut members[place];
        sum.busy_seconds += noise.busy_seconds;
        sum.interrupt_seconds += noise.interrupt_seconds;
        sum.own_seconds += noise.own_seconds;
        sum.cpus = noise.cpus;
        *window += slice.window;
        *used += cpu.seconds;
    }
    let known = || members.iter().filter(|(_, window, _)| !window.is_zero());
    // The sums are without what the hypervisor took.
    let shares = known().map(|(noise, window, used)| noise.taken_share(*window, *used));
    let mut shares: Vec<f64> = shares.collect();
    shares.sort_by(f64::total_cmp);
    shares.get(shares.len().checked_sub(1)? / 2).copied()
}

/// The share of the CPUs of server and generator that the hypervisor and other programs took (0 to 1).
fn taken(slice: &SliceRecord) -> f64 {
    let member = slice.cpu.map_or(0.0, |cpu| cpu.seconds);
    let noise = slice.noise;
    noise.map_or(0.0, |noise| noise.taken_share(slice.window, member))
}

/// The share of these CPUs that the hypervisor took in a turn at a rate (0 to 1). Shorter slices are only a few ticks
/// of the kernel's clock.
fn stolen(slice: &SliceRecord) -> f64 {
    let noise = slice.noise.filter(|_| slice.open.is_some());
    noise.map_or(0.0, |noise| noise.stolen_share(slice.window))
}
