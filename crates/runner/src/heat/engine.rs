//! The course of one heat.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use deadheat_model::{
    Failure, Observation, SliceEvent, TargetId,
    event::HeatStep,
    fault::LoadFault,
    heat::{
        Freezing, HeatEnd, HeatPlan, HeatRecord, LONGEST_GAP, Role, Rounds, SLICE_SPREAD,
        SliceFlag, SliceRecord, WarmUp, WarmUpRule,
    },
    stack_failure::{Phase, StackFailure},
};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::{
    Member, Moment, World,
    judging::{answer_time, example, flags, generator_slept, suited, wrong_answers},
    place::{Place, Void},
    slices::{SliceTimes, record},
    warm_up,
};

/// What a server needs after a long freeze until its timers have come due.
pub(crate) const COMING_TO: Duration = Duration::from_secs(1);
/// How long a slice of the round that leads in is at most.
pub(crate) const LONGEST_LEAD_IN: Duration = Duration::from_secs(1);
/// What a server needs after a freeze before connections are opened, when nothing is timed yet.
pub(crate) const AFTER_A_FREEZE: Duration = Duration::from_millis(200);
/// How long the notice of a server's end may take where its requests were refused.
const END_NOTICE: Duration = Duration::from_millis(500);
/// So many slices in a row without an answer, also in the drain, and a member is given up. One may be the machine's
/// doing.
const SILENT: u32 = 2;
/// Less sleep than this is the difference between two readings of the clocks.
const SLEEP: Duration = Duration::from_millis(5);

/// One heat, to be run.
pub struct Heat<'m> {
    /// Its number in the session.
    pub number: u32,
    /// What is done. Slices and guards become longer where the warm-up finds slow answers.
    pub plan: HeatPlan,
    /// The orders of the rounds: each names every entry once, by its place. They are taken in turn, again and again. The
    /// members start in the first one.
    pub orders: Vec<Vec<usize>>,
    /// Decides how long the slices of each round are ([`SLICE_SPREAD`]).
    pub seed: u64,
    /// The servers that take part.
    pub entries: Vec<Entry<'m>>,
    /// What follows the rounds.
    pub equal_work: Vec<EqualWork<'m>>,
    /// It ends when fewer than so many are left to be compared; at least 1.
    pub least: usize,
}

/// A rate at which all members are loaded, one after another.
pub struct EqualWork<'m> {
    /// The slice's length, and the part before it that does not count.
    pub plan: HeatPlan,
    /// What is offered, from what the rounds have found; `None`: nothing, because the rate is not known.
    pub offer: Offering<'m>,
}

/// From what the rounds of a heat have found to what is offered.
pub type Offering<'m> = Box<dyn Fn(&HeatRecord) -> Option<Offer> + 'm>;

/// A rate that is offered to the members of a heat.
#[derive(Clone, Debug, PartialEq)]
pub struct Offer {
    /// Requests per second.
    pub per_second: f64,
    /// By place, whether it is loaded; `None`: it takes no part. Who cannot take the rate takes part and is not loaded.
    pub is_loaded: Vec<Option<bool>>,
}

/// A server that takes part.
pub struct Entry<'m> {
    /// The stack and its variant.
    pub target: TargetId,
    /// What it is there for.
    pub role: Role,
    /// How it is warmed up.
    pub warm_up: WarmUpRule,
    /// Whether it goes on in the next heat, frozen until then; otherwise it ends with this one.
    pub is_kept: bool,
    /// The server.
    pub member: Box<dyn Member + 'm>,
}

/// Why a heat cannot be run as it was planned.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum HeatError {
    /// An order leaves somebody out, or names somebody twice.
    #[error("the order of round {round} is not one of all {members} members, each once")]
    Order {
        /// The order's place in the list.
        round: usize,
        /// Members.
        members: usize,
    },
    /// There is no order.
    #[error("a heat needs the order of at least one round")]
    NoOrder,
}

/// Runs a heat to its end, or until `stop` is set, which ends it within a second. `started` is when it began (RFC 3339).
/// A member that fails is stopped, and the heat goes on without it. Returns the record of the rounds, then one for each rate
/// that was offered.
///
/// # Errors
/// When the orders are not those of the members. Nothing was started then.
pub fn run(
    heat: Heat<'_>,
    started: String,
    world: &dyn World,
    stop: &AtomicBool,
) -> Result<Vec<HeatRecord>, HeatError> {
    run_told(heat, started, world, stop, &mut |_| ())
}

/// Runs a heat, and calls `on_step` at each step.
///
/// # Errors
/// As [`run`].
pub fn run_told(
    heat: Heat<'_>,
    started: String,
    world: &dyn World,
    stop: &AtomicBool,
    on_step: &mut dyn FnMut(HeatStep),
) -> Result<Vec<HeatRecord>, HeatError> {
    check_orders(&heat.orders, heat.entries.len())?;
    let begun = world.now();
    let mut course = Course {
        plan: heat.plan,
        world,
        stop,
        on_step,
        begun,
        seen: begun,
        least: heat.least.max(1),
        places: heat
            .entries
            .into_iter()
            .map(|entry| Place::new(entry, heat.plan))
            .collect(),
    };
    course.bring_all_up(&heat.orders[0]);
    course.lead_in(&heat.orders[0]);
    let (rounds, end) = course.rounds(&heat.orders, heat.seed);
    let mut parts = vec![course.part(heat.number, &started, heat.plan, rounds, end, begun)];
    if end == HeatEnd::Finished {
        for work in &heat.equal_work {
            let Some(offer) = (work.offer)(&parts[0]) else {
                break;
            };
            let begun = world.now();
            let (slices, end) = course.at_rate(work.plan, &offer, &heat.orders[0]);
            parts.push(course.part(heat.number, &started, work.plan, slices, end, begun));
        }
    }
    (course.on_step)(HeatStep::Ending);
    let ending = world.now();
    course.verify_again();
    // The user asked to stop between the last round and the last check.
    let is_unverified = course.is_unverified();
    let is_in_a_hurry = course.is_stopped();
    stop_all(&mut course.places, is_in_a_hurry);
    // What all parts needed is the first one's.
    parts[0].wall += world.now().since(&ending);
    let members = course.places.into_iter().map(Place::into_records);
    let mut members: Vec<_> = members.collect();
    for part in &mut parts {
        part.members = members.iter_mut().filter_map(Iterator::next).collect();
        if is_unverified {
            part.end = HeatEnd::Interrupted;
        }
    }
    Ok(parts)
}

fn check_orders(orders: &[Vec<usize>], members: usize) -> Result<(), HeatError> {
    if orders.is_empty() {
        return Err(HeatError::NoOrder);
    }
    for (round, order) in orders.iter().enumerate() {
        let mut sorted = order.clone();
        sorted.sort_unstable();
        if !sorted.into_iter().eq(0..members) {
            return Err(HeatError::Order { round, members });
        }
    }
    Ok(())
}

/// Ends all servers at the same time: the slowest says how long it takes.
fn stop_all(places: &mut [Place<'_>], is_in_a_hurry: bool) {
    std::thread::scope(|scope| {
        for place in places.iter_mut() {
            scope.spawn(move || {
                if is_in_a_hurry {
                    place.stop_soon()
                } else {
                    place.stop()
                }
            });
        }
    });
}

/// A step of bringing up the member at a place.
type Step<C> = fn(&mut C, usize) -> Result<(), StackFailure>;

/// A heat on its way.
struct Course<'h, 'm> {
    plan: HeatPlan,
    world: &'h dyn World,
    stop: &'h AtomicBool,
    on_step: &'h mut dyn FnMut(HeatStep),
    begun: Moment,
    /// When the clocks were last compared.
    seen: Moment,
    least: usize,
    places: Vec<Place<'m>>,
}

impl Course<'_, '_> {
    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// A part of the heat that has just ended, with its members as far as they are known.
    fn part(
        &self,
        heat: u32,
        started: &str,
        plan: HeatPlan,
        rounds: Vec<Vec<SliceRecord>>,
        end: HeatEnd,
        begun: Moment,
    ) -> HeatRecord {
        HeatRecord {
            heat,
            started: started.to_owned(),
            plan,
            members: self.places.iter().map(|one| one.record.clone()).collect(),
            rounds,
            end,
            lost: None,
            wall: self.world.now().since(&begun),
        }
    }

    /// Starts, checks, warms up and freezes the members, one after another, in an order that differs from heat to heat:
    /// later ones are a little faster (docs/evidence, `start-order`). Where all of them are needed, as in a comparison of two,
    /// all are started before any is warmed up: the failure of one is known at once, and ends it.
    fn bring_all_up(&mut self, order: &[usize]) {
        let are_all_needed = self.places.len() > 1 && self.least >= self.places.len();
        if !are_all_needed {
            for &index in order {
                self.bring_up(index, &[Self::start, Self::prepare]);
            }
            return;
        }
        for &index in order {
            self.bring_up(index, &[Self::start, Self::hold]);
        }
        if self.places.iter().all(|place| place.runs) {
            for &index in order {
                self.bring_up(index, &[Self::release, Self::prepare]);
            }
        } else {
            // Nothing is left for the others to do, and nothing is wrong with them.
            self.places.iter_mut().for_each(Place::stop_soon);
        }
    }

    /// Takes a member through these steps, as far as it does not fail.
    fn bring_up(&mut self, index: usize, steps: &[Step<Self>]) {
        if self.is_stopped() {
            return;
        }
        let target = self.places[index].record.target.clone();
        (self.on_step)(HeatStep::BringingUp { target });
        for step in steps {
            if self.is_stopped() {
                return;
            }
            if let Err(failure) = step(self, index) {
                self.places[index].fail(failure, Void::All);
                return;
            }
        }
    }

    /// Starts a member and checks its answers.
    fn start(&mut self, index: usize) -> Result<(), StackFailure> {
        let place = &mut self.places[index];
        if let Some(started) = place.member.start()? {
            if started.loads_before > 0 {
                self.world.pause(AFTER_A_FREEZE);
            }
            place.begin(started);
            place.record.verified_before = Some(place.member.verify(Phase::VerifyBefore)?);
        }
        Ok(())
    }

    /// Freezes a member that waits for its warm-up.
    fn hold(&mut self, index: usize) -> Result<(), StackFailure> {
        if self.places[index].runs {
            self.freeze(index)?;
            self.places[index].idle_since = Some(self.world.now());
        }
        Ok(())
    }

    /// Lets it go on, and come to if that was long.
    fn release(&mut self, index: usize) -> Result<(), StackFailure> {
        let has_waited = self.has_waited(index);
        self.thaw(index)?;
        if has_waited {
            self.world.pause(COMING_TO);
        }
        Ok(())
    }

    /// Opens the connections of a member, warms it up and freezes it.
    fn prepare(&mut self, index: usize) -> Result<(), StackFailure> {
        if !self.places[index].runs {
            return Ok(());
        }
        self.places[index].member.open(None)?;
        self.warm_up(index)?;
        if !self.is_stopped() {
            self.places[index].member.settle()?;
        }
        self.freeze(index).map(drop)
    }

    fn warm_up(&mut self, index: usize) -> Result<(), StackFailure> {
        let begun = self.world.now();
        let rule = self.places[index].warm_up;
        let (mut course, mut answers) = (warm_up::Course::default(), Vec::new());
        let mut warm_up = WarmUp {
            rule,
            took: Duration::ZERO,
            steady: false,
            trend: None,
            cost_trend: None,
            settled: None,
            settled_is_bound: false,
            settled_cpu: None,
            first_answers: 0,
            first_p99: None,
        };
        while warm_up.took < rule.most && !warm_up.steady && !self.is_stopped() {
            let place = &mut self.places[index];
            let seen = place
                .member
                .slice(Duration::ZERO, rule.slice, &mut |_| ())?;
            self.check(index, &seen.result.observation)
                .map_err(|(failure, _)| failure)?;
            let cpu = self.places[index].member.cpu();
            course.add(&seen, self.world.now().since(&begun), cpu);
            self.world.pause(rule.pause);
            answers.push(answer_time(&seen, rule.slice));
            warm_up.took = self.world.now().since(&begun);
            (warm_up.trend, warm_up.cost_trend) = course.trends(rule.look);
            let is_small = |trend: f64| trend.abs() <= rule.bound;
            warm_up.steady = warm_up.took >= rule.least
                && warm_up.trend.is_some_and(is_small)
                && warm_up.cost_trend.is_none_or(is_small);
        }
        course.conclude(&mut warm_up);
        // Of the last slices together: one that the machine spoiled is no slow server.
        let mut last = answers.split_off(answers.len().saturating_sub(rule.look as usize));
        last.sort_unstable();
        let answer = last.get(last.len() / 2).copied();
        self.places[index].plan = suited(self.plan, answer.unwrap_or_default());
        self.places[index].record.warm_up = Some(warm_up);
        self.places[index].idle_since = Some(self.world.now());
        Ok(())
    }

    /// Whether what a load found says that the member has failed; if so, with whether its answers were wrong, so that
    /// nothing that it answered counts.
    fn check(
        &mut self,
        index: usize,
        observation: &Observation,
    ) -> Result<(), (StackFailure, bool)> {
        let place = &mut self.places[index];
        let fault = observation.fault();
        let reason = match fault {
            Some(LoadFault::WrongAnswers { count }) => Some(wrong_answers(count, observation)),
            Some(LoadFault::NotConserved) => {
                Some("the load generator's own figures do not add up".to_owned())
            }
            // It was not asked, so that a slice like this says nothing about it.
            _ if generator_slept(observation) => None,
            // Of a slow server no answer may fall into the counted part.
            _ if observation.total.succeeded == 0 => {
                place.silent += 1;
                let is_silent = place.silent >= SILENT && !self.stop.load(Ordering::Relaxed);
                let example = example(observation, |_| true);
                is_silent.then(|| format!("{SILENT} slices in a row had no right answer{example}"))
            }
            _ => {
                place.silent = 0;
                None
            }
        };
        // Where nobody listens any more, the server's end may be the reason, and its notice still on its way.
        let total = &observation.total;
        let patience = if total.failed[Failure::ConnectRefused] > 0 || total.succeeded == 0 {
            END_NOTICE
        } else {
            Duration::ZERO
        };
        let exit = place.member.exit(patience);
        let exit = exit.map(|exit| format!("{} {exit} under load", place.record.target));
        match exit.or(reason) {
            Some(reason) => {
                let is_wrong = matches!(fault, Some(LoadFault::WrongAnswers { .. }));
                Err((place.failure(Phase::Load, reason), is_wrong))
            }
            None => Ok(()),
        }
    }

    /// Freezes a member, unless the plan says that nobody is; how long that took.
    fn freeze(&mut self, index: usize) -> Result<Duration, StackFailure> {
        let place = &mut self.places[index];
        if !self.plan.freeze {
            place.record.freezing = Some(Freezing::Off);
            return Ok(Duration::ZERO);
        }
        let begun = self.world.now();
        let frozen = place.member.freeze();
        // Afterwards, because it may have become another way.
        place.record.freezing = Some(place.member.freezing());
        match frozen {
            Ok(()) => Ok(self.world.now().since(&begun)),
            Err(reason) => Err(place.failure(Phase::Load, reason)),
        }
    }

    fn thaw(&mut self, index: usize) -> Result<Duration, StackFailure> {
        if !self.plan.freeze {
            return Ok(Duration::ZERO);
        }
        let begun = self.world.now();
        let place = &mut self.places[index];
        match place.member.thaw() {
            Ok(()) => Ok(self.world.now().since(&begun)),
            Err(reason) => Err(place.failure(Phase::Load, reason)),
        }
    }

    /// A round that does not count. Since its warm-up a member may have been frozen for as long as all the others took to
    /// start, so that its connections were closed and its caches are cold. Its slices are as long as the plan had them:
    /// nobody waits for twenty slow answers that do not count.
    fn lead_in(&mut self, order: &[usize]) {
        self.come_to();
        for &index in order {
            if self.places[index].runs && !self.is_stopped() {
                let suited = self.places[index].plan.slice;
                self.places[index].plan.slice = self.plan.slice.min(LONGEST_LEAD_IN);
                self.turn(index, 0, 1.0);
                self.places[index].plan.slice = suited;
            }
        }
        for place in &mut self.places {
            place.forget_memory();
        }
    }

    /// Whether a member was frozen for so long that its timers come due in bulk.
    fn has_waited(&self, index: usize) -> bool {
        let place = &self.places[index];
        let idle = place.idle_since.map(|idle| self.world.now().since(&idle));
        self.plan.freeze && place.runs && idle.is_some_and(|idle| idle >= LONGEST_GAP)
    }

    /// Leaves the members that were frozen for long alone for a moment, all at once, so that their timers come due and they
    /// close what was idle before they are asked. Actix reads the clock twice a second, so it answered 408 to requests right
    /// after a long freeze.
    fn come_to(&mut self) {
        let waiting = (0..self.places.len()).filter(|index| self.has_waited(*index));
        let waiting: Vec<usize> = waiting.collect();
        if waiting.is_empty() || self.is_stopped() {
            return;
        }
        self.each(&waiting, |course, index| course.thaw(index).map(drop));
        self.world.pause(COMING_TO);
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
                self.places[index].fail(failure, Void::All);
            }
        }
    }

    /// Runs rounds until there are enough, the user asks to stop, or nobody is left to be compared.
    fn rounds(&mut self, orders: &[Vec<usize>], seed: u64) -> (Vec<Vec<SliceRecord>>, HeatEnd) {
        let begun = self.world.now();
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut rounds = Vec::new();
        for order in orders.iter().cycle() {
            let done = rounds.len() as u32;
            let elapsed = self.world.now().since(&begun);
            let enough = match self.plan.rounds {
                Rounds::Count { rounds } => done >= rounds,
                Rounds::Time { time } => elapsed >= time,
            };
            if enough {
                return (rounds, HeatEnd::Finished);
            }
            let compared = |place: &&Place<'_>| place.runs && place.record.role != Role::Ceiling;
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
    /// connections and queues come to what is usual at this rate.
    fn at_rate(
        &mut self,
        plan: HeatPlan,
        offer: &Offer,
        order: &[usize],
    ) -> (Vec<Vec<SliceRecord>>, HeatEnd) {
        let rate = offer.per_second;
        for (place, is_loaded) in self.places.iter_mut().zip(&offer.is_loaded) {
            place.begin_part(plan, is_loaded.map(|_| rate));
        }
        let mut rounds = Vec::new();
        for round in 0..plan.rounds.number() {
            let mut order = order.to_vec();
            if round % 2 == 1 {
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
                    Err(failure) => self.places[index].fail(failure, Void::From(round)),
                }
            }
            rounds.push(slices);
        }
        (rounds, HeatEnd::Finished)
    }

    /// Thaws a member, lets its timers come due, and opens its connections for a rate.
    fn open_at(&mut self, index: usize, per_second: f64) -> Result<(), StackFailure> {
        self.thaw(index)?;
        self.world.pause(AFTER_A_FREEZE);
        self.places[index].member.open(Some(per_second))
    }

    /// A member's turn in a round, with a slice of `length` times its plan's. `None`: there was no slice, or it was cut
    /// short.
    fn turn(&mut self, index: usize, round: u32, length: f64) -> Option<SliceRecord> {
        let (slice, trouble) = match self.slice(index, length) {
            Ok((slice, observation)) => {
                let trouble = self.check(index, &observation).err();
                let with_void = |(failure, is_wrong)| {
                    if is_wrong {
                        (failure, Void::All)
                    } else {
                        (failure, Void::From(round))
                    }
                };
                (slice, trouble.map(with_void))
            }
            Err(failure) => (None, Some((failure, Void::From(round)))),
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
    ) -> Result<(Option<SliceRecord>, Observation), StackFailure> {
        let at = self.world.now();
        let thaw = self.thaw(index)?;
        let (world, plan) = (self.world, self.places[index].plan);
        let (mut first, mut last) = (None, None);
        let seen = self.places[index].member.slice(
            plan.guard,
            plan.slice.mul_f64(length),
            &mut |edge| match edge {
                SliceEvent::CountingStarted => first = world.work(),
                SliceEvent::CountingEnded => last = world.work(),
                SliceEvent::Drained => {}
            },
        )?;
        let ended = self.world.now();
        let frozen = self.freeze(index);
        let place = &mut self.places[index];
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
                place.fail(failure, Void::Nothing);
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
        // One that was cut short is none.
        Ok((
            (!seen.result.interrupted).then_some(slice),
            seen.result.observation,
        ))
    }

    /// Reads a member's memory, if that is due. It is its own turn's end, and nobody is loaded.
    fn sample_memory(&mut self, index: usize) {
        let now = self.world.now();
        let place = &mut self.places[index];
        let is_due = place
            .sampled
            .is_none_or(|last| now.since(&last) >= self.plan.memory_every);
        if is_due {
            place.sample_memory();
            // After the reading, so that one that takes long is not taken without a pause.
            place.sampled = Some(self.world.now());
        }
    }

    /// Whether somebody who took part to the end was not checked once more.
    fn is_unverified(&self) -> bool {
        let mut running = self.places.iter().filter(|place| place.runs);
        running.any(|place| place.record.verified_after.is_none())
    }

    /// Checks each member once more, while the others are frozen. Not where the user waits for the end.
    fn verify_again(&mut self) {
        for index in 0..self.places.len() {
            if !self.places[index].runs || self.is_stopped() {
                continue;
            }
            if let Err(failure) = self.thaw(index) {
                self.places[index].fail(failure, Void::All);
                continue;
            }
            let idle = self.places[index].idle_since;
            if idle.is_some_and(|idle| self.world.now().since(&idle) >= LONGEST_GAP) {
                self.world.pause(AFTER_A_FREEZE);
            }
            let verified = self.places[index].member.verify(Phase::VerifyAfter);
            match verified {
                Ok(checks) => self.places[index].verified_after(checks),
                Err(failure) => {
                    self.places[index].fail(failure, Void::All);
                    continue;
                }
            }
            // Its slices are over; that it runs on would only disturb those that are checked after it.
            if let Err(failure) = self.freeze(index) {
                self.places[index].fail(failure, Void::Nothing);
            }
        }
    }
}
