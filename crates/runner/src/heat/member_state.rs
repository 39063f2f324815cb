//! A member's place in a heat: what is known of it so far, and what follows from its slices: flags, a failure in words, and
//! how long its slices should be.

use std::time::Duration;

use deadheat_model::{
    Failure, Observation, SliceResult,
    figure::count,
    heat::{
        HeatPlan, LONGEST_GAP, MemberFailure, MemberRecord, MemoryUsed, RouteFigures, SliceFlag,
    },
    observation::GroupSeen,
    session::{Phase, StackFailure},
};

use super::{Entry, MeasuredSlice, Member, Moment, Started, WarmUps};

/// The slices of a failed member that are discarded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Discarded {
    /// All slices: the answers were wrong, or the member was never ready.
    All,
    /// The slices of this round and of later ones.
    From(u32),
    /// No slice: the member failed after its last slice.
    Nothing,
}

/// A member's place in a heat.
pub(super) struct MemberState<'m> {
    pub(super) member: Box<dyn Member + 'm>,
    pub(super) warm_ups: WarmUps,
    /// Whether the server is kept for the next heat.
    is_kept: bool,
    /// Whether it takes part (still).
    pub(super) runs: bool,
    pub(super) record: MemberRecord,
    /// Its records of the parts of the heat before: the rounds, and earlier rates.
    before: Vec<MemberRecord>,
    /// When its last slice ended.
    pub(super) idle_since: Option<Moment>,
    /// When its memory was last read.
    pub(super) sampled: Option<Moment>,
    /// Slices in a row without an answer.
    pub(super) silent: u32,
    /// The heat's plan with slices and guards as long as its own answers ask for: a slice in which a connection has only a
    /// few answers measures its edges. Those of others stay short, so that they keep close to each other in time.
    pub(super) plan: HeatPlan,
    memory_sum: u64,
}

impl<'m> MemberState<'m> {
    pub(super) fn new(entry: Entry<'m>, plan: HeatPlan) -> Self {
        Self {
            member: entry.member,
            warm_ups: entry.warm_ups,
            is_kept: entry.is_kept,
            runs: false,
            record: MemberRecord::new(entry.target, entry.role),
            before: Vec::new(),
            idle_since: None,
            sampled: None,
            silent: 0,
            plan,
            memory_sum: 0,
        }
    }

    /// It has become ready.
    pub(super) fn begin(&mut self, started: Started) {
        self.runs = true;
        self.record.command = started.command;
        self.record.ready = started.ready;
        self.record.cpu_source = started.cpu_source;
        self.record.loads_before = started.loads_before;
        if started.loads_before == 0 {
            // Before anything but readiness was asked.
            self.record.memory.idle = self.member.memory();
        }
    }

    pub(super) fn sample_memory(&mut self) {
        let Some(bytes) = self.member.memory() else {
            return;
        };
        self.memory_sum += bytes;
        let memory = &mut self.record.memory;
        memory.samples += 1;
        memory.mean = self.memory_sum.checked_div(memory.samples.into());
        memory.peak = memory.peak.max(Some(bytes));
    }

    /// Adds what a slice found of each route.
    pub(super) fn add_routes(&mut self, groups: &[GroupSeen]) {
        let routes = &mut self.record.routes;
        if routes.is_empty() && !groups.is_empty() {
            let names = self.member.routes();
            routes.extend(names.into_iter().map(RouteFigures::new));
        }
        for (route, seen) in routes.iter_mut().zip(groups) {
            route.add(seen);
        }
    }

    /// Forgets what was seen of its memory and its routes so far, which does not count.
    pub(super) fn forget(&mut self) {
        self.record.routes.clear();
        let idle = self.record.memory.idle;
        self.record.memory = MemoryUsed {
            idle,
            ..MemoryUsed::default()
        };
        (self.memory_sum, self.sampled) = (0, None);
    }

    /// Begins a part of the heat with figures of its own, at a rate if it is loaded at one. A failure before means that none
    /// of it counts; one in it says nothing about what was before.
    pub(super) fn begin_part(&mut self, plan: HeatPlan, offered_per_second: Option<f64>) {
        self.before.push(self.record.clone());
        self.record.warm_up = None;
        self.record.offered_per_second = offered_per_second;
        if let Some(failure) = &mut self.record.failure {
            failure.void_from = Some(0);
        }
        self.plan = plan;
        self.forget();
    }

    /// So many checks passed after everything.
    pub(super) fn verified_after(&mut self, checks: u32) {
        let records = self.before.iter_mut().chain([&mut self.record]);
        records.for_each(|record| record.verified_after = Some(checks));
    }

    /// So many writes of the whole heat were acknowledged, and are in the database.
    pub(super) fn written(&mut self, writes: Option<u64>) {
        let first = self.before.first_mut().unwrap_or(&mut self.record);
        first.writes = writes;
    }

    /// A failure of its server.
    pub(super) fn failure(&mut self, phase: Phase, reason: String) -> StackFailure {
        self.member.failure(phase, reason)
    }

    /// Takes it out of the heat and stops it, so that it disturbs nobody. Its first failure is the one that is recorded. If
    /// writes that it acknowledged are lost, all of its slices are discarded: nobody knows in which one that began.
    pub(super) fn fail(&mut self, mut failure: StackFailure, mut discarded: Discarded) {
        if self.runs && discarded != Discarded::All {
            match self.member.check_written() {
                Ok(None) => {}
                Ok(Some(writes)) => {
                    let writes = count(writes);
                    failure.reason +=
                        &format!("; all {writes} acknowledged writes are in the database");
                }
                Err(lost) => {
                    failure.reason += &format!("; {}", lost.reason);
                    discarded = Discarded::All;
                }
            }
        }
        let failure = self.of_its_process(failure);
        let void_from = match discarded {
            Discarded::All => Some(0),
            Discarded::From(round) => Some(round),
            Discarded::Nothing => None,
        };
        let failure = MemberFailure { failure, void_from };
        if discarded == Discarded::All {
            for record in &mut self.before {
                record.failure.get_or_insert_with(|| failure.clone());
            }
        }
        self.record.failure.get_or_insert(failure);
        // Soon, because the connections of all the others are idle meanwhile.
        self.stop_soon();
    }

    /// The failure, which may be no matter of this load if the process served others before.
    fn of_its_process(&self, mut failure: StackFailure) -> StackFailure {
        if self.record.loads_before > 0 {
            failure.reason += " (in a process that had served another load before; --separate-loads starts a new one)";
        }
        failure
    }

    /// Ends the server without looking how.
    pub(super) fn stop_soon(&mut self) {
        self.runs = false;
        self.member.stop_soon();
    }

    /// Leaves the server to the next heat, or ends it. Not ending as it should is a failure, unless there was one before.
    pub(super) fn stop(&mut self) {
        if self.is_kept && self.runs {
            self.member.keep();
            return;
        }
        self.runs = false;
        if let Err(failure) = self.member.stop() {
            let failure = self.of_its_process(failure);
            let void_from = None;
            let first = self.before.first_mut().unwrap_or(&mut self.record);
            first
                .failure
                .get_or_insert(MemberFailure { failure, void_from });
        }
    }

    /// Its records: of the rounds, then of each rate.
    pub(super) fn into_records(self) -> impl Iterator<Item = MemberRecord> {
        let records = self.before.into_iter().chain([self.record]);
        records.map(|mut record| {
            for route in &mut record.routes {
                route.service_time = route.service_time.compact();
            }
            record
        })
    }
}

/// The number of sequential answers on each connection that a slice must have time for.
const ANSWERS: u32 = 20;
/// The maximum length of a slice. In longer ones, servers would close the idle connections of the other members.
const LONGEST_SLICE: Duration = Duration::from_secs(10);

/// The plan of a heat, with slices long enough for a member with this answer time.
pub(crate) fn suited(plan: HeatPlan, answer: Duration) -> HeatPlan {
    HeatPlan {
        slice: plan.slice.max((answer * ANSWERS).min(LONGEST_SLICE)),
        guard: plan.guard.max(answer.min(LONGEST_SLICE)),
        ..plan
    }
}

pub(super) fn wrong_answers(count: u64, observation: &Observation) -> String {
    let example = example(observation, Failure::is_wrong_answer);
    format!("{count} answers under load were wrong{example}")
}

/// An example of a failure for which `is` returns `true`, as the end of a sentence; empty without one.
pub(super) fn example(observation: &Observation, is: fn(Failure) -> bool) -> String {
    let mut examples = observation.examples.iter();
    let example = examples.find(|one| is(one.kind));
    let shown =
        example.map(|one| format!(", for example: {}: {}", one.kind.describe(), one.detail));
    shown.unwrap_or_default()
}

/// Why there was no right answer, as the end of a sentence: a failure, or what connections waited for.
pub(super) fn why_silent(observation: &Observation) -> String {
    let unmade = observation.unmade.described();
    let unmade = unmade.filter(|_| is_only_connecting(observation));
    unmade.map_or_else(
        || example(observation, |_| true),
        |unmade| format!(": {unmade}"),
    )
}

/// Whether no request was sent because connections were still being made.
pub(super) fn is_only_connecting(observation: &Observation) -> bool {
    observation.total.issued == 0 && !observation.unmade.is_none()
}

/// Whether more than a tenth of the connections were still being made for the first time when a slice ended. A server may
/// need several slices for its handshakes, and until then only the other connections load it.
pub(super) fn is_connecting(slice: &SliceResult) -> bool {
    let unmade = slice.observation.unmade;
    let have_tcp = slice.observation.answers_per_connection.count();
    slice.reconnected == 0 && unmade.total() * 10 > have_tcp + unmade.connecting
}

/// The failure of a member whose connections are still being made after its warm-up: it is not loaded as the others are.
pub(super) fn made_too_slowly(observation: &Observation) -> Option<String> {
    let unmade = observation.unmade.described()?;
    Some(format!(
        "{unmade} after the warm-up. If the server makes them in the end, choose a longer --warm-up"
    ))
}

/// Whether nothing was sent because no worker of the load generator had a CPU from the beginning to the end of the slice.
pub(super) fn generator_slept(observation: &Observation) -> bool {
    let workers = &observation.workers;
    let slept = !workers.is_empty() && workers.iter().all(|one| one.wall.is_zero());
    slept && observation.total.issued == 0
}

/// About the time of one answer, in a slice of this length. Answers that take longer than it are seen in its drain.
pub(super) fn answer_time(seen: &MeasuredSlice, slice: Duration) -> Duration {
    let observation = &seen.result.observation;
    match (observation.measured.succeeded, observation.total.succeeded) {
        (0, 1..) => slice + seen.result.drained,
        _ => observation.service_time.quantile(0.5).unwrap_or_default(),
    }
}

pub(super) fn flags(seen: &MeasuredSlice, gap: Option<Duration>) -> Vec<SliceFlag> {
    let found = [
        (seen.result.undrained() > 0, SliceFlag::Undrained),
        (seen.result.reconnected > 0, SliceFlag::Reconnected),
        (
            gap.is_some_and(|gap| gap >= LONGEST_GAP),
            SliceFlag::LongGap,
        ),
    ];
    let found = found.into_iter().filter(|(is_so, _)| *is_so);
    found.map(|(_, flag)| flag).collect()
}
