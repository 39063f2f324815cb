//! The times of a load's heats: their length, the duration of their rounds, and their number.

use std::time::Duration;

use deadheat_model::heat::{HeatPlan, LONGEST_GAP, Rounds};

use super::HeatOptions;
use crate::{
    heat::{AFTER_A_FREEZE, COMING_TO, LONGEST_LEAD_IN, WarmUps, lead_in_rounds, suited},
    services::upstream,
    session::members::{starting_time, warm_up_time},
};

/// The assumed ratio of the scatter between slices of a stack to the scatter between its processes.
const SCATTER: f64 = 8.0;
/// The minimum duration of a heat's rounds if no budget is set.
const MIN_ROUNDS: Duration = Duration::from_secs(10);
/// The maximum duration of a heat's rounds.
const MAX_ROUNDS: Duration = Duration::from_secs(60);
/// The minimum duration of a heat's rounds with any budget.
const SHORTEST_ROUNDS: Duration = Duration::from_secs(5);
/// The possible durations of a heat's rounds in a plan for a precision.
pub(super) const ROUND_TIMES: [Duration; 8] = [
    SHORTEST_ROUNDS,
    Duration::from_secs(7),
    Duration::from_secs(10),
    Duration::from_secs(15),
    Duration::from_secs(20),
    Duration::from_secs(30),
    Duration::from_secs(45),
    MAX_ROUNDS,
];
/// The minimum number of heats of each stack in a plan. A single heat shows no scatter.
const MIN_HEATS: u32 = 2;
/// The number of heats of each stack that suffices for verdicts of all kinds.
const ENOUGH_HEATS: u32 = deadheat_model::heats::MIN_HEATS;
/// If this many heats fit, the plan has as many as fit, at most [`ENOUGH_HEATS`]. So stacks that start a little slower than
/// expected do not turn eight short heats into two long ones.
const NEARLY_ENOUGH: u32 = 6;
/// The length of a member's turn at a rate. The machine's speed drifts from second to second (docs/evidence,
/// `default-run`). Many short turns are therefore more precise than a few long ones. One second contains a full cycle
/// of jobs that run once per second.
const TURN_AT_A_RATE: Duration = Duration::from_secs(1);
/// How long a member is loaded at a rate in a heat, in all its turns, …
const LONGEST_WORK: Duration = Duration::from_secs(5);
/// … or for less where the time is short, but no less than this.
const SHORTEST_WORK: Duration = Duration::from_secs(2);
/// The part before a turn that does not count: connections and queues come to what is usual at the rate.
const GUARD_AT_A_RATE: Duration = Duration::from_millis(300);
/// Twins in a heat, on average.
const TWINS: f64 = 0.5;
/// The normal quantile of the intervals that a plan is chosen for: some twenty pairs share an error of 5 %.
const QUANTILE: f64 = 3.0;
/// Degrees of freedom that a variance has before its heats add to them ([statistics](../../../../docs/statistics.md)).
const EXPECTED_FREEDOM: u32 = 4;
/// Heats of each stack where nobody gave a budget.
const USUAL_HEATS: u32 = 10;

/// What a heat of a load takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct HeatCost {
    /// Starting, checking, warming up and stopping all members, the round in which all lead in, and equal work.
    pub(super) bring_up: Duration,
    /// One round.
    pub(super) round: Duration,
    /// The number of members in addition to the control.
    pub(super) members: u32,
    /// Twins in it, on average.
    pub(super) twins: f64,
}

/// About what starting, checking, warming up and stopping a member takes. `ready` is what it took to its first correct
/// answer, if that is known.
pub(super) fn bring_up(warm_ups: WarmUps, ready: Option<Duration>) -> Duration {
    starting_time(ready) + warm_up_time(warm_ups.started)
}

/// About what a member's rounds that lead in take, beyond the one that all have.
pub(super) fn more_to_lead_in(plan: HeatPlan, warm_ups: WarmUps) -> Duration {
    let plan = HeatPlan {
        slice: plan.slice.min(LONGEST_LEAD_IN),
        ..plan
    };
    plan.round(1) * (lead_in_rounds(warm_ups) - 1)
}

/// The approximate time of a member's warm-ups at this number of rates.
pub(super) fn warm_up_at_rates(warm_ups: WarmUps, rates: usize) -> Duration {
    let each = warm_ups.at_a_rate.map(warm_up_time);
    each.unwrap_or_default() * rates as u32
}

/// What a turn at a rate takes of which so much counts.
fn at_a_rate(slice: Duration) -> Duration {
    AFTER_A_FREEZE + GUARD_AT_A_RATE + slice
}

/// The number of heats, and the duration of their rounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct HeatCount {
    /// The heats of each stack.
    pub(super) heats: u32,
    pub(super) time: Duration,
}

impl HeatCost {
    /// Of heats with `seats` of the members that take so long to bring up, and a `control` that takes so long. Answers
    /// take `delay` at least. Each member takes `to_lead_in` more once all are up.
    pub(super) fn new(
        plan: HeatPlan,
        members: &[Duration],
        to_lead_in: &[Duration],
        seats: usize,
        control: Option<Duration>,
        delay: Option<Duration>,
    ) -> Self {
        let seated = members.len().min(seats) as u32;
        let in_heat = |all: &[Duration]| {
            let sum: Duration = all.iter().sum();
            sum.mul_f64(f64::from(seated) / members.len().max(1) as f64)
        };
        let suited = suited(plan, delay.unwrap_or_default());
        let in_round = seated + u32::from(control.is_some());
        // The rounds that lead in have slices as planned.
        let lead_in = HeatPlan {
            slice: plan.slice.min(LONGEST_LEAD_IN),
            ..suited
        };
        let starts = in_heat(members) + control.unwrap_or_default();
        let coming_to = if starts >= LONGEST_GAP {
            COMING_TO
        } else {
            Duration::ZERO
        };
        Self {
            bring_up: starts + coming_to + in_heat(to_lead_in) + lead_in.round(in_round),
            round: suited.round(in_round),
            members: seated,
            twins: control.map_or(0.0, |_| TWINS),
        }
    }

    /// The plan of equal work at each rate: turns of all members, repeatedly, with every second one in reverse order,
    /// so that steady changes cancel. `share` and `turns` are those of [`Self::count`]. If time is short, equal work
    /// gets half of the time that eight heats with the shortest rounds leave.
    pub(super) fn equal_work(
        &self,
        plan: HeatPlan,
        options: &HeatOptions,
        share: Option<Duration>,
        turns: u32,
    ) -> HeatPlan {
        let left = |share: Duration| {
            let heat = share / turns.saturating_mul(ENOUGH_HEATS).max(1);
            heat.saturating_sub(self.heat(SHORTEST_ROUNDS)) / 2
        };
        let counted = TURN_AT_A_RATE.as_secs_f64() / at_a_rate(TURN_AT_A_RATE).as_secs_f64();
        let each = |left: Duration| left.div_f64(self.slices_at(options.rates.len().max(1)));
        let fits = share.map_or(LONGEST_WORK, |share| each(left(share)).mul_f64(counted));
        let work = fits.clamp(SHORTEST_WORK, LONGEST_WORK);
        HeatPlan {
            slice: TURN_AT_A_RATE,
            guard: GUARD_AT_A_RATE,
            rounds: Rounds::Count {
                rounds: work.div_duration_f64(TURN_AT_A_RATE).round() as u32,
            },
            ..plan
        }
    }

    /// The cost with equal work at this number of rates. It is done once, whatever the duration of the rounds.
    pub(super) fn with_equal_work(self, work: &HeatPlan, rates: usize) -> Self {
        let slices = self.slices_at(rates) * f64::from(work.rounds.number());
        Self {
            bring_up: self.bring_up + at_a_rate(work.slice).mul_f64(slices),
            ..self
        }
    }

    fn slices_at(&self, rates: usize) -> f64 {
        (f64::from(self.members) + self.twins) * rates as f64
    }

    /// The time of a whole heat with rounds of duration `time`. A round that has begun is finished.
    pub(super) fn heat(&self, time: Duration) -> Duration {
        self.bring_up + self.round.saturating_mul(self.rounds(time, u128::div_ceil))
    }

    fn rounds(&self, time: Duration, divide: fn(u128, u128) -> u128) -> u32 {
        let rounds = divide(time.as_nanos(), self.round.as_nanos().max(1));
        u32::try_from(rounds).unwrap_or(u32::MAX)
    }

    /// The best duration of rounds without a budget. With n rounds in a heat, the variance of a stack's mean over all
    /// slices is (b² + w²/n) / heats, where b is the scatter between processes and w the scatter between slices. A heat
    /// takes T₀ + n·t: the time of starting it, and the time of each round. For a given total time, the variance is
    /// smallest at n = w/b · √(T₀/t).
    fn best(&self) -> Duration {
        let (bring_up, round) = (self.bring_up.as_secs_f64(), self.round.as_secs_f64());
        let best = Duration::from_secs_f64(SCATTER * (bring_up * round).sqrt());
        best.clamp(MIN_ROUNDS, MAX_ROUNDS)
    }

    /// The number of heats of each stack and the duration of their rounds that make intervals narrowest. `share` is the
    /// load's part of the budget, and `turns` is the number of heats until every stack has been in one.
    pub(super) fn count(
        &self,
        options: &HeatOptions,
        share: Option<Duration>,
        turns: u32,
    ) -> HeatCount {
        let asked = options.heats.map(|heats| heats.max(1));
        let Some(share) = share else {
            return HeatCount {
                heats: asked.unwrap_or(USUAL_HEATS),
                time: options.time.unwrap_or_else(|| self.best()),
            };
        };
        let with = |heats: u32| HeatCount {
            heats,
            time: options
                .time
                .unwrap_or_else(|| self.shortened(share / turns.saturating_mul(heats))),
        };
        if let Some(heats) = asked {
            return with(heats);
        }
        let shortest = self.heat(options.time.unwrap_or(SHORTEST_ROUNDS));
        let most = share.as_nanos() / u128::from(turns) / shortest.as_nanos().max(1);
        let most = u32::try_from(most).unwrap_or(u32::MAX).max(MIN_HEATS);
        // With fewer than eight, nothing can be a dead heat, and a rare kind of process stays unseen.
        let least = match most {
            NEARLY_ENOUGH.. => most.min(ENOUGH_HEATS),
            _ => MIN_HEATS,
        };
        let mut plans = (least..=most).map(with);
        // A fixed time is best used up; of equals, the one with more heats.
        let narrowest = match options.time {
            Some(_) => plans.next_back(),
            None => plans.min_by(|a, b| self.width(*a).total_cmp(&self.width(*b))),
        };
        narrowest.unwrap_or_else(|| with(MIN_HEATS))
    }

    /// The half width that is to be expected of intervals, in units of the scatter between processes: the variance of
    /// [`Self::best`], and Student's quantile by the first term of its expansion (Abramowitz and Stegun 26.7.5).
    fn width(&self, count: HeatCount) -> f64 {
        let rounds = f64::from(self.rounds(count.time, u128::div_ceil).max(1));
        let heats = f64::from(count.heats);
        let freedom = f64::from((count.heats - 1) * (self.members - 1).max(1) + EXPECTED_FREEDOM);
        let quantile = QUANTILE + (QUANTILE.powi(3) + QUANTILE) / (4.0 * freedom);
        quantile * ((1.0 + SCATTER.powi(2) / rounds) / heats).sqrt()
    }

    /// The duration of the rounds of a heat that must not take longer than `heat`.
    fn shortened(&self, heat: Duration) -> Duration {
        let left = heat.saturating_sub(self.bring_up);
        let whole = self.round.saturating_mul(self.rounds(left, |a, b| a / b));
        whole.max(SHORTEST_ROUNDS)
    }
}

/// The delay of the slow upstream, of workloads that ask it.
pub(super) const DELAY: Duration = upstream::DELAY;

/// The plan of a heat with rounds of duration `time`.
pub(super) fn with_time(plan: HeatPlan, time: Duration) -> HeatPlan {
    HeatPlan {
        rounds: Rounds::Time { time },
        ..plan
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn cost(bring_up: u64, round_ms: u64) -> HeatCost {
        HeatCost {
            bring_up: Duration::from_secs(bring_up),
            round: Duration::from_millis(round_ms),
            members: 6,
            twins: TWINS,
        }
    }

    fn options() -> HeatOptions {
        HeatOptions::default()
    }

    #[test]
    fn rounds_go_on_longer_where_starting_takes_longer_within_bounds() {
        // 8·√(9 · 1) s, and both bounds.
        assert_eq!(cost(9, 1_000).best(), 24 * SECOND);
        assert_eq!(cost(1, 100).best(), MIN_ROUNDS);
        assert_eq!(cost(60, 2_000).best(), MAX_ROUNDS);
    }

    /// Heats of each stack, and the seconds of their rounds.
    fn count(cost: HeatCost, share: Option<u64>, turns: u32) -> (u32, u64) {
        let found = cost.count(&options(), share.map(Duration::from_secs), turns);
        (found.heats, found.time.as_secs())
    }

    #[test]
    fn ten_heats_of_each_stack_without_a_budget() {
        assert_eq!(count(cost(9, 1_000), None, 1), (10, 24));
        assert_eq!(count(cost(9, 1_000), None, 3), (10, 24));
    }

    #[test]
    fn a_budget_is_shared_so_that_intervals_become_narrowest() {
        // About 8·√(9 · 1) s of rounds in each heat, as without a budget.
        assert_eq!(count(cost(9, 1_000), Some(330), 1), (11, 21));
        assert_eq!(count(cost(9, 1_000), Some(660), 2), (11, 21));
        // Bringing up a heat takes a third of the time: two long ones say more than three with five rounds each. But where
        // there is room for eight, there are eight.
        assert_eq!(count(cost(95, 1_500), Some(300), 1), (2, 54));
        assert_eq!(count(cost(95, 1_500), Some(600), 1), (3, 105));
        assert_eq!(count(cost(95, 1_500), Some(809), 1), (8, 6));
        // Starting costs next to nothing, so that there are as many processes as can be.
        assert_eq!(count(cost(1, 200), Some(300), 1), (50, 5));
    }

    #[test]
    fn the_shortest_budget_has_two_heats_and_is_exceeded() {
        assert_eq!(count(cost(9, 1_000), Some(42), 1), (2, 12), "it just fits");
        assert_eq!(count(cost(9, 1_000), Some(1), 1), (2, 5));
    }

    #[test]
    fn explicit_options_take_precedence() {
        let cost = cost(9, 1_000);
        let (share, asked) = (Some(60 * SECOND), Some(5));
        let heats = HeatOptions {
            heats: asked,
            ..options()
        };
        let found = cost.count(&heats, share, 1);
        assert_eq!((found.heats, found.time), (5, 5 * SECOND));
        assert_eq!(cost.count(&heats, None, 1).time, 24 * SECOND);
        let time = HeatOptions {
            time: Some(40 * SECOND),
            ..options()
        };
        let found = cost.count(&time, Some(200 * SECOND), 1);
        assert_eq!((found.heats, found.time), (4, 40 * SECOND));
        let none = HeatOptions {
            heats: Some(0),
            ..options()
        };
        assert_eq!(cost.count(&none, share, 1).heats, 1);
    }

    #[test]
    fn a_heat_ends_with_a_whole_round() {
        assert_eq!(cost(9, 1_000).heat(24 * SECOND), 33 * SECOND);
        assert_eq!(cost(9, 7_000).heat(10 * SECOND), 23 * SECOND);
    }
}
