//! The turns of a heat's members: the rounds that lead in, the rounds that count, and equal work.

use std::time::Duration;

use deadheat_model::{
    SliceEvent, SliceResult,
    event::HeatStep,
    heat::{
        FreezeTimes, GeneratorUse, HeatEnd, HeatPlan, LONGEST_GAP, PerConnection, Role, Rounds,
        SLICE_SPREAD, SliceFlag, SliceNoise, SliceRecord, quiet_rounds,
    },
    observation::OpenLoop,
    session::StackFailure,
};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::{AFTER_A_FREEZE, COMING_TO, Offer, RunningHeat};
use crate::heat::{
    MeasuredSlice, WarmUps, Work,
    member_state::{Discarded, MemberState, flags},
};

/// How long a slice of the rounds that lead in is at most.
pub(crate) const LONGEST_LEAD_IN: Duration = Duration::from_secs(1);
/// How many rounds lead in what compiles while it runs. Where there was one, such a stack used 72 % more CPU time per answer in
/// the first round that counted than in the later half, then 46, 30, 12, 14, 10, 3 and 1 % more; others used the same in every
/// round (docs/evidence, `lead-in`).
const LEAD_IN_ROUNDS_COMPILING: u32 = 7;
/// Less sleep than this is the difference between two readings of the clocks.
const SLEEP: Duration = Duration::from_millis(5);

/// How many rounds lead in a member that is warmed up like this.
pub(crate) fn lead_in_rounds(warm_ups: WarmUps) -> u32 {
    if warm_ups.compiles() {
        LEAD_IN_ROUNDS_COMPILING
    } else {
        1
    }
}

impl RunningHeat<'_, '_> {
    /// The rounds that do not count: one, or several of what compiles while it runs; all have the last one. Since its warm-up a
    /// member may have been frozen for as long as all the others took to start, so that its connections were closed and its
    /// caches are cold. Its slices are as long as the plan had them: nobody waits for twenty slow answers that do not count.
    pub(super) fn lead_in(&mut self, order: &[usize]) {
        for left in (1..=LEAD_IN_ROUNDS_COMPILING).rev() {
            let rounds = |place: &MemberState<'_>| lead_in_rounds(place.warm_ups);
            let places = self.places.iter().enumerate();
            let beginning = places.filter(|(_, place)| rounds(place) == left);
            let beginning: Vec<usize> = beginning.map(|(index, _)| index).collect();
            self.come_to(&beginning);
            for &index in order {
                if left <= rounds(&self.places[index]) {
                    self.lead_in_turn(index);
                }
            }
        }
        for place in &mut self.places {
            place.forget();
        }
    }

    /// A slice of a round that leads in.
    fn lead_in_turn(&mut self, index: usize) {
        if self.places[index].runs && !self.is_stopped() {
            let suited = self.places[index].plan.slice;
            self.places[index].plan.slice = self.plan.slice.min(LONGEST_LEAD_IN);
            self.turn(index, 0, 1.0);
            self.places[index].plan.slice = suited;
        }
    }

    /// Whether a member was frozen for so long that its timers come due in bulk.
    pub(super) fn has_waited(&self, index: usize) -> bool {
        let place = &self.places[index];
        let idle = place
            .idle_since
            .map(|idle| self.environment.now().since(&idle));
        self.plan.freeze && place.runs && idle.is_some_and(|idle| idle >= LONGEST_GAP)
    }

    /// Of these members, those that were frozen for long are left alone for a moment, all at once, so that their timers come
    /// due and they close what was idle before they are asked. Actix reads the clock twice a second, so it answered 408 to
    /// requests right after a long freeze.
    pub(super) fn come_to(&mut self, members: &[usize]) {
        let mut waiting = members.to_vec();
        waiting.retain(|index| self.has_waited(*index));
        if waiting.is_empty() || self.is_stopped() {
            return;
        }
        self.each(&waiting, |course, index| course.thaw(index).map(drop));
        self.environment.pause(COMING_TO);
        self.each(&waiting, |course, index| course.freeze(index).map(drop));
    }

    /// Does something with each of these members that runs. Where it fails, the member has failed.
    fn each(
        &mut self,
        members: &[usize],
        act: impl Fn(&mut Self, usize) -> Result<(), StackFailure>,
    ) {
        for &index in members {
            if self.places[index].runs
                && let Err(failure) = act(self, index)
            {
                self.places[index].fail(failure, Discarded::All);
            }
        }
    }

    /// Runs rounds until there are enough, the user asks to stop, or nobody is left to be compared.
    pub(super) fn rounds(
        &mut self,
        orders: &[Vec<usize>],
        seed: u64,
    ) -> (Vec<Vec<SliceRecord>>, HeatEnd) {
        let begun = self.environment.now();
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut rounds = Vec::new();
        for order in orders.iter().cycle() {
            let done = rounds.len() as u32;
            let elapsed = self.environment.now().since(&begun);
            let enough = match self.plan.rounds {
                Rounds::Count { rounds } => done >= rounds,
                Rounds::Time { time } => elapsed >= time,
            };
            if enough {
                return (rounds, HeatEnd::Finished);
            }
            let compared =
                |place: &&MemberState<'_>| place.runs && place.record.role != Role::Ceiling;
            let left = self.places.iter().filter(compared).count();
            if left < self.least && !self.is_stopped() {
                return (rounds, HeatEnd::Deserted);
            }
            (self.on_step)(HeatStep::Round { done, elapsed });
            let mut slices = Vec::new();
            let length = random.random_range(1.0 - SLICE_SPREAD..1.0 + SLICE_SPREAD);
            for &index in order {
                if self.is_stopped() {
                    break;
                }
                if self.places[index].runs {
                    slices.extend(self.turn(index, done, length));
                }
            }
            if !slices.is_empty() {
                rounds.push(slices);
            }
            if self.is_stopped() {
                return (rounds, HeatEnd::Interrupted);
            }
        }
        // There is at least one order, so that the cycle never ends.
        (rounds, HeatEnd::Finished)
    }

    /// Offers a rate to each member, in as many rounds as are planned, every second one in reverse. A slice's guard lets
    /// connections and queues come to what is usual at this rate; what compiles while it runs is warmed up at it. A round
    /// that was disturbed from outside is measured again in the same direction, because the statistics leave it out; at
    /// most, there are twice as many.
    pub(super) fn at_rate(
        &mut self,
        plan: HeatPlan,
        offer: &Offer,
        order: &[usize],
    ) -> (Vec<Vec<SliceRecord>>, HeatEnd) {
        let rate = offer.per_second;
        for (place, is_loaded) in self.places.iter_mut().zip(&offer.is_loaded) {
            place.begin_part(plan, is_loaded.map(|_| rate));
        }
        for &index in order {
            if offer.is_loaded[index] == Some(true)
                && self.places[index].runs
                && !self.is_stopped()
                && let Err(failure) = self.warm_up_at(index, rate)
            {
                self.places[index].fail(failure, Discarded::All);
            }
        }
        let mut rounds: Vec<Vec<SliceRecord>> = Vec::new();
        let mut reversed: Vec<bool> = Vec::new();
        let planned = plan.rounds.number() as usize;
        loop {
            let quiet = quiet_rounds(&rounds);
            let counted = |direction: bool| {
                let all = quiet.iter().zip(&reversed);
                all.filter(|(quiet, reversed)| **quiet && **reversed == direction)
                    .count()
            };
            let (forward, backward) = (counted(false), counted(true));
            if forward + backward >= planned || rounds.len() >= 2 * planned {
                return (rounds, HeatEnd::Finished);
            }
            let round = rounds.len() as u32;
            let is_reversed = backward < forward;
            reversed.push(is_reversed);
            let mut order = order.to_vec();
            if is_reversed {
                order.reverse();
            }
            let mut slices = Vec::new();
            for index in order {
                if self.is_stopped() {
                    rounds.push(slices);
                    return (rounds, HeatEnd::Interrupted);
                }
                if offer.is_loaded[index] != Some(true) || !self.places[index].runs {
                    continue;
                }
                (self.on_step)(HeatStep::AtRate {
                    target: self.places[index].record.target.clone(),
                    per_second: rate,
                });
                match self.open_at(index, rate) {
                    Ok(()) => slices.extend(self.turn(index, round, 1.0)),
                    Err(failure) => self.places[index].fail(failure, Discarded::From(round)),
                }
            }
            rounds.push(slices);
        }
    }

    /// Loads a member that compiles while it runs at a rate until it is steady there.
    fn warm_up_at(&mut self, index: usize, per_second: f64) -> Result<(), StackFailure> {
        let Some(rule) = self.places[index].warm_ups.at_a_rate else {
            return Ok(());
        };
        (self.on_step)(HeatStep::AtRate {
            target: self.places[index].record.target.clone(),
            per_second,
        });
        self.open_at(index, per_second)?;
        self.warm_up(index, rule)?;
        self.freeze(index).map(drop)
    }

    /// Thaws a member, lets its timers come due, and opens its connections for a rate.
    fn open_at(&mut self, index: usize, per_second: f64) -> Result<(), StackFailure> {
        self.thaw(index)?;
        self.environment.pause(AFTER_A_FREEZE);
        self.places[index].member.open(Some(per_second))
    }

    /// A member's turn in a round, with a slice of `length` times its plan's. `None`: there was no slice, or it was cut
    /// short.
    fn turn(&mut self, index: usize, round: u32, length: f64) -> Option<SliceRecord> {
        let (slice, trouble) = match self.slice(index, length) {
            Ok((slice, seen)) => {
                let trouble = self.check(index, &seen, true).err();
                let with_void = |(failure, is_wrong)| {
                    if is_wrong {
                        (failure, Discarded::All)
                    } else {
                        (failure, Discarded::From(round))
                    }
                };
                (slice, trouble.map(with_void))
            }
            Err(failure) => (None, Some((failure, Discarded::From(round)))),
        };
        if let Some((failure, void)) = trouble {
            self.places[index].fail(failure, void);
            return slice;
        }
        self.sample_memory(index);
        slice
    }

    /// Thaws a member, loads it for a slice, and freezes it.
    fn slice(
        &mut self,
        index: usize,
        length: f64,
    ) -> Result<(Option<SliceRecord>, SliceResult), StackFailure> {
        let at = self.environment.now();
        let thaw = self.thaw(index)?;
        let (environment, plan) = (self.environment, self.places[index].plan);
        let (mut first, mut last) = (None, None);
        let seen = self.places[index].member.slice(
            plan.guard,
            plan.slice.mul_f64(length),
            &mut |edge| match edge {
                SliceEvent::CountingStarted => first = environment.work(),
                SliceEvent::CountingEnded => last = environment.work(),
                SliceEvent::Drained => {}
            },
        )?;
        let ended = self.environment.now();
        let frozen = self.freeze(index);
        let place = &mut self.places[index];
        if !seen.result.interrupted {
            place.add_routes(&seen.result.observation.groups);
        }
        let gap = place.idle_since.replace(ended).map(|idle| at.since(&idle));
        let slept = ended.slept_since(&self.seen);
        self.seen = ended;
        let mut flags = flags(&seen, gap);
        if slept > SLEEP {
            flags.push(SliceFlag::Suspended);
        }
        let freeze = match frozen {
            Ok(took) => took,
            Err(failure) => {
                flags.push(SliceFlag::Unfrozen);
                place.fail(failure, Discarded::Nothing);
                Duration::ZERO
            }
        };
        let times = SliceTimes {
            at: at.since(&self.begun),
            guard: plan.guard,
            gap,
            thaw,
            freeze,
        };
        let slice = record(index, times, &seen, first.zip(last), flags);
        // A slice that was cut short does not count.
        Ok(((!seen.result.interrupted).then_some(slice), seen.result))
    }

    /// Reads a member's memory, if that is due. It is its own turn's end, and nobody is loaded.
    fn sample_memory(&mut self, index: usize) {
        let now = self.environment.now();
        let place = &mut self.places[index];
        let is_due = place
            .sampled
            .is_none_or(|last| now.since(&last) >= self.plan.memory_every);
        if is_due {
            place.sample_memory();
            // After the reading, so that one that takes long is not taken without a pause.
            place.sampled = Some(self.environment.now());
        }
    }
}

/// When a slice was, and what was around it.
#[derive(Clone, Copy, Debug)]
struct SliceTimes {
    /// When it began, from the heat's start.
    pub(super) at: Duration,
    /// Its guard.
    pub(super) guard: Duration,
    /// Since the member's last slice.
    pub(super) gap: Option<Duration>,
    pub(super) thaw: Duration,
    pub(super) freeze: Duration,
}

/// The record of a slice of the member at `index`; `edges` is what the machine had done at the edges of the counted part.
fn record(
    index: usize,
    times: SliceTimes,
    seen: &MeasuredSlice,
    edges: Option<(Work, Work)>,
    flags: Vec<SliceFlag>,
) -> SliceRecord {
    let load = &seen.result.observation;
    SliceRecord {
        member: index as u32,
        at: times.at,
        gap: times.gap,
        guard: times.guard,
        window: load.window,
        tally: load.measured.clone(),
        service_time: load.service_time.compact(),
        per_connection: PerConnection::new(&load.answers_per_connection)
            .filter(|_| seen.result.reconnected == 0 && load.unmade.is_none()),
        cut: load.cut,
        carried: load.carried,
        draining: load.draining,
        open: load.open.as_ref().map(OpenLoop::compact),
        body_bytes: load.valid_body_bytes,
        cpu: seen.cpu,
        drained: seen.result.drained,
        reconnected: seen.result.reconnected,
        generator: generator_use(seen),
        noise: edges.map(|(first, last)| noise(&first, &last)),
        frozen: FreezeTimes {
            thaw: times.thaw,
            freeze: times.freeze,
        },
        flags,
    }
}

/// What the generator's threads used, summed up.
fn generator_use(seen: &MeasuredSlice) -> GeneratorUse {
    let load = &seen.result.observation;
    let workers = load.workers.iter();
    GeneratorUse {
        cpu_seconds: workers.clone().map(|one| one.cpu_time.as_secs_f64()).sum(),
        polled_seconds: workers.map(|one| one.polled.as_secs_f64()).sum(),
        busiest: load.busiest_worker(),
        host: seen.result.busiest_host,
    }
}

fn noise(first: &Work, last: &Work) -> SliceNoise {
    let grown = |part: fn(&Work) -> Duration| {
        // Counters that the kernel corrects may go back.
        part(last).saturating_sub(part(first)).as_secs_f64()
    };
    SliceNoise {
        steal_seconds: grown(|work| work.steal),
        busy_seconds: grown(|work| work.busy),
        interrupt_seconds: grown(|work| work.interrupts),
        own_seconds: grown(|work| work.own),
        cpus: last.cpus,
    }
}
