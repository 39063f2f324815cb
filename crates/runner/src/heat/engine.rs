//! Runs one heat.

mod turns;

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use deadheat_model::{
    Failure, LoadFault, SliceResult, TargetId,
    event::HeatStep,
    heat::{
        Freezing, HeatEnd, HeatPlan, HeatRecord, LONGEST_GAP, Role, SliceRecord, WarmUp, WarmUpRule,
    },
    session::{Phase, StackFailure},
};

pub(crate) use turns::{LONGEST_LEAD_IN, lead_in_rounds};

use super::{
    Environment, Member, Moment,
    member_state::{
        Discarded, MemberState, answer_time, generator_slept, is_connecting, is_only_connecting,
        made_too_slowly, suited, why_silent, wrong_answers,
    },
    warm_up::{self, WarmUps},
};

/// The time that a server needs after a long freeze until its overdue timers have fired.
pub(crate) const COMING_TO: Duration = Duration::from_secs(1);
/// The time that a server needs after a freeze before connections are opened, when nothing is timed yet.
pub(crate) const AFTER_A_FREEZE: Duration = Duration::from_millis(200);
/// The maximum delay until the end of a server becomes known, when its requests were refused.
const END_NOTICE: Duration = Duration::from_millis(500);
/// A member fails after this many consecutive slices without an answer, including the drain. A single one may be the
/// machine's fault.
const SILENT: u32 = 2;

/// A heat to run.
pub struct Heat<'m> {
    /// The heat's number in the session.
    pub number: u32,
    /// The plan of the rounds. Slices and guards become longer if the warm-up finds slow answers.
    pub plan: HeatPlan,
    /// The orders of the members in the rounds, by their index in `entries`. Each order contains every entry once. The
    /// rounds cycle through the orders. The members start in the first one.
    pub orders: Vec<Vec<usize>>,
    /// The seed of the lengths of each round's slices ([`SLICE_SPREAD`]).
    pub seed: u64,
    /// The servers that take part.
    pub entries: Vec<Entry<'m>>,
    /// Loads at equal rates that follow the rounds.
    pub equal_work: Vec<EqualWork<'m>>,
    /// The heat ends when fewer members than this are left to compare; at least 1.
    pub least: usize,
}

/// A load of all members at the same rate, one after another.
pub struct EqualWork<'m> {
    /// The plan of the slice: its length, and the part before it that does not count.
    pub plan: HeatPlan,
    /// Computes the rate from the results of the rounds. `None` means that the rate is unknown and nothing is loaded.
    pub offer: Offering<'m>,
}

/// Computes the offered rate from the record of a heat's rounds; `None` if it is unknown.
pub type Offering<'m> = Box<dyn Fn(&HeatRecord) -> Option<Offer> + 'm>;

/// A rate that is offered to the members of a heat.
#[derive(Clone, Debug, PartialEq)]
pub struct Offer {
    /// Requests per second.
    pub per_second: f64,
    /// For each entry, whether it is loaded. A member that cannot sustain the rate takes part with `false`. `None`
    /// takes no part.
    pub is_loaded: Vec<Option<bool>>,
}

/// A server that takes part.
pub struct Entry<'m> {
    /// The stack and its variant.
    pub target: TargetId,
    /// The role of the server in the heat.
    pub role: Role,
    /// The rules of its warm-ups.
    pub warm_ups: WarmUps,
    /// Whether the server stays for the next heat, frozen until then. Otherwise it stops with this one.
    pub is_kept: bool,
    /// The server.
    pub member: Box<dyn Member + 'm>,
}

/// An error in the plan of a heat.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum HeatError {
    /// An order omits a member, or contains one twice.
    #[error("the order of round {round} is not one of all {members} members, each once")]
    Order {
        /// The index of the order.
        round: usize,
        /// The number of members.
        members: usize,
    },
    /// The list of orders is empty.
    #[error("a heat needs the order of at least one round")]
    NoOrder,
}

/// Runs a heat to its end, or until `stop` is set, which ends it within a second. `started` is the start time (RFC
/// 3339). A member that fails is stopped, and the heat continues without it. Returns the record of the rounds, then one
/// record for each offered rate.
///
/// # Errors
/// When the orders do not match the members. Nothing was started then.
pub fn run(
    heat: Heat<'_>,
    started: String,
    environment: &dyn Environment,
    stop: &AtomicBool,
) -> Result<Vec<HeatRecord>, HeatError> {
    run_told(heat, started, environment, stop, &mut |_| ())
}

/// Runs a heat, and calls `on_step` at each step.
///
/// # Errors
/// As [`run`].
pub fn run_told(
    heat: Heat<'_>,
    started: String,
    environment: &dyn Environment,
    stop: &AtomicBool,
    on_step: &mut dyn FnMut(HeatStep),
) -> Result<Vec<HeatRecord>, HeatError> {
    check_orders(&heat.orders, heat.entries.len())?;
    let begun = environment.now();
    let mut course = RunningHeat {
        plan: heat.plan,
        environment,
        stop,
        on_step,
        begun,
        seen: begun,
        least: heat.least.max(1),
        places: heat
            .entries
            .into_iter()
            .map(|entry| MemberState::new(entry, heat.plan))
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
            let begun = environment.now();
            let (slices, end) = course.at_rate(work.plan, &offer, &heat.orders[0]);
            parts.push(course.part(heat.number, &started, work.plan, slices, end, begun));
        }
    }
    (course.on_step)(HeatStep::Ending);
    let ending = environment.now();
    course.verify_again();
    // The user asked to stop between the last round and the last check.
    let is_unverified = course.is_unverified();
    let is_in_a_hurry = course.is_stopped();
    stop_all(&mut course.places, is_in_a_hurry);
    // The time that belongs to all parts counts for the first one.
    parts[0].wall += environment.now().since(&ending);
    let members = course.places.into_iter().map(MemberState::into_records);
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

/// Stops all servers at the same time, which takes as long as the slowest one needs.
fn stop_all(places: &mut [MemberState<'_>], is_in_a_hurry: bool) {
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

/// A step of starting the member at an index.
type BringUpStep<C> = fn(&mut C, usize) -> Result<(), StackFailure>;

/// A running heat.
struct RunningHeat<'h, 'm> {
    plan: HeatPlan,
    environment: &'h dyn Environment,
    stop: &'h AtomicBool,
    on_step: &'h mut dyn FnMut(HeatStep),
    begun: Moment,
    /// When the awake clock and the total clock were last compared.
    seen: Moment,
    least: usize,
    places: Vec<MemberState<'m>>,
}

impl RunningHeat<'_, '_> {
    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Records the part of the heat that has just ended, with the records of its members so far.
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
            wall: self.environment.now().since(&begun),
        }
    }

    /// Starts, checks, warms up and freezes the members, one after another. The order differs from heat to heat,
    /// because later ones are slightly faster (docs/evidence, `start-order`). If all members are needed, as in a
    /// comparison of two, all are started before any is warmed up, so a failure is known at once and ends the heat.
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
            // The others have nothing to do, and nothing is wrong with them.
            self.places.iter_mut().for_each(MemberState::stop_soon);
        }
    }

    /// Runs these steps on a member until one fails.
    fn bring_up(&mut self, index: usize, steps: &[BringUpStep<Self>]) {
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
                self.places[index].fail(failure, Discarded::All);
                return;
            }
        }
    }

    /// Starts a member and checks its answers.
    fn start(&mut self, index: usize) -> Result<(), StackFailure> {
        let place = &mut self.places[index];
        if let Some(started) = place.member.start()? {
            if started.loads_before > 0 {
                self.environment.pause(AFTER_A_FREEZE);
            }
            place.begin(started);
            let verified = self.verify(index, Phase::VerifyBefore)?;
            let place = &mut self.places[index];
            place.record.verified_before = verified;
            place.record.compression = place.member.compression();
        }
        Ok(())
    }

    /// Checks a member's answers. Returns the number of checks that passed; `None`: the user asked to stop meanwhile.
    fn verify(&mut self, index: usize, phase: Phase) -> Result<Option<u32>, StackFailure> {
        match self.places[index].member.verify(phase) {
            Err(_) if self.is_stopped() => Ok(None),
            verified => verified.map(Some),
        }
    }

    /// Freezes a member that waits for its warm-up.
    fn hold(&mut self, index: usize) -> Result<(), StackFailure> {
        if self.places[index].runs {
            self.freeze(index)?;
            self.places[index].idle_since = Some(self.environment.now());
        }
        Ok(())
    }

    /// Thaws a member. After a long freeze, waits until its overdue timers have fired.
    fn release(&mut self, index: usize) -> Result<(), StackFailure> {
        let has_waited = self.has_waited(index);
        self.thaw(index)?;
        if has_waited {
            self.environment.pause(COMING_TO);
        }
        Ok(())
    }

    /// Opens the connections of a member, warms it up and freezes it.
    fn prepare(&mut self, index: usize) -> Result<(), StackFailure> {
        if !self.places[index].runs {
            return Ok(());
        }
        self.places[index].member.open(None)?;
        let answer = self.warm_up(index, self.places[index].warm_ups.started)?;
        self.places[index].plan = suited(self.plan, answer);
        if !self.is_stopped() {
            self.places[index].member.settle()?;
        }
        self.freeze(index).map(drop)
    }

    /// Loads a member until its speed is steady. Returns the median answer time of its last slices.
    fn warm_up(&mut self, index: usize, rule: WarmUpRule) -> Result<Duration, StackFailure> {
        let begun = self.environment.now();
        let (mut course, mut answers) = (warm_up::WarmUpSlices::default(), Vec::new());
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
        let mut shows_no_trend = false;
        while warm_up.took < rule.most && !self.is_stopped() {
            let place = &mut self.places[index];
            let seen = place
                .member
                .slice(Duration::ZERO, rule.slice, &mut |_| ())?;
            self.check(index, &seen.result, false)
                .map_err(|(failure, _)| failure)?;
            let cpu = self.places[index].member.cpu();
            warm_up.took = self.environment.now().since(&begun);
            course.add(&seen, warm_up.took, cpu);
            answers.push(answer_time(&seen, rule.slice));
            (warm_up.trend, warm_up.cost_trend) = course.trends(rule.look);
            let is_small = |trend: f64| trend.abs() <= rule.bound;
            shows_no_trend = !is_connecting(&seen.result)
                && warm_up.trend.is_some_and(is_small)
                && warm_up.cost_trend.is_none_or(is_small);
            if shows_no_trend && warm_up.took >= rule.least || self.is_stopped() {
                break;
            }
            // A pause never follows the last slice, because the effect of code compiled during a pause must be
            // measured.
            let left = rule.most.saturating_sub(warm_up.took);
            self.environment
                .pause(rule.pause_after(answers.len() as u32).min(left));
            warm_up.took = self.environment.now().since(&begun);
        }
        warm_up.steady = shows_no_trend && warm_up.took >= rule.least;
        course.conclude(&mut warm_up);
        // The median of the last slices, so that one disturbed slice does not count as a slow server.
        let mut last = answers.split_off(answers.len().saturating_sub(rule.look as usize));
        last.sort_unstable();
        let answer = last.get(last.len() / 2).copied();
        self.places[index].record.warm_up = Some(warm_up);
        self.places[index].idle_since = Some(self.environment.now());
        Ok(answer.unwrap_or_default())
    }

    /// The failure that a slice shows, if any, of a member that `is_warm` or is still warming up. The flag says whether
    /// its answers were wrong, so that none of its slices count.
    fn check(
        &mut self,
        index: usize,
        slice: &SliceResult,
        is_warm: bool,
    ) -> Result<(), (StackFailure, bool)> {
        let place = &mut self.places[index];
        let observation = &slice.observation;
        let fault = observation.fault();
        let reason = match fault {
            Some(LoadFault::WrongAnswers { count }) => Some(wrong_answers(count, observation)),
            Some(LoadFault::NotConserved) => {
                Some("the load generator's own figures do not add up".to_owned())
            }
            // The generator slept, so the slice says nothing about the member.
            _ if generator_slept(observation) => None,
            // Handshakes may take longer than a slice, and continue in the next. A warm-up has time for them.
            _ if !is_warm && is_only_connecting(observation) => None,
            _ if is_warm && is_connecting(slice) => made_too_slowly(observation),
            // No answer of a slow server may fall into the counted part.
            _ if observation.total.succeeded == 0 => {
                place.silent += 1;
                let is_silent = place.silent >= SILENT && !self.stop.load(Ordering::Relaxed);
                let why = why_silent(observation);
                is_silent.then(|| format!("{SILENT} slices in a row had no right answer{why}"))
            }
            _ => {
                place.silent = 0;
                None
            }
        };
        // If connections are refused, the server may have ended, and the notice of its end may still be on its way.
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

    /// Freezes a member, unless the plan freezes none. Returns the time that this took.
    fn freeze(&mut self, index: usize) -> Result<Duration, StackFailure> {
        let place = &mut self.places[index];
        if !self.plan.freeze {
            place.record.freezing = Some(Freezing::Off);
            return Ok(Duration::ZERO);
        }
        let begun = self.environment.now();
        let frozen = place.member.freeze();
        // Read after the freeze, because the method may have changed.
        place.record.freezing = Some(place.member.freezing());
        frozen?;
        Ok(self.environment.now().since(&begun))
    }

    fn thaw(&mut self, index: usize) -> Result<Duration, StackFailure> {
        if !self.plan.freeze {
            return Ok(Duration::ZERO);
        }
        let begun = self.environment.now();
        self.places[index].member.thaw()?;
        Ok(self.environment.now().since(&begun))
    }

    /// Whether a member that took part to the end lacks its last check.
    fn is_unverified(&self) -> bool {
        let mut running = self.places.iter().filter(|place| place.runs);
        running.any(|place| place.record.verified_after.is_none())
    }

    /// Checks each member again while the others are frozen, unless the user waits for the end.
    fn verify_again(&mut self) {
        for index in 0..self.places.len() {
            if !self.places[index].runs || self.is_stopped() {
                continue;
            }
            let written = self.places[index].member.check_written();
            let thawed = written.and_then(|writes| {
                self.places[index].written(writes);
                self.thaw(index)
            });
            if let Err(failure) = thawed {
                self.places[index].fail(failure, Discarded::All);
                continue;
            }
            let idle = self.places[index].idle_since;
            if idle.is_some_and(|idle| self.environment.now().since(&idle) >= LONGEST_GAP) {
                self.environment.pause(AFTER_A_FREEZE);
            }
            match self.verify(index, Phase::VerifyAfter) {
                Ok(Some(checks)) => self.places[index].verified_after(checks),
                Ok(None) => continue,
                Err(failure) => {
                    self.places[index].fail(failure, Discarded::All);
                    continue;
                }
            }
            // The member's slices are over, but if it kept running, it would disturb later checks.
            if let Err(failure) = self.freeze(index) {
                self.places[index].fail(failure, Discarded::Nothing);
            }
        }
    }
}
