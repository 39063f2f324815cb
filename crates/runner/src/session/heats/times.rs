//! How long the heats of a load take, how long their rounds go on, and how many of them there are.

use std::time::Duration;

use deadheat_model::{
    heat::{HeatPlan, Rounds},
    stack::Runtime,
};

use super::HeatOptions;
use crate::{
    heat::{rule, rule_of, suited},
    services::upstream,
    session::{
        Participant, SessionOptions,
        members::{starting_time, warm_up_time},
    },
};

/// How many times as much slices of a stack scatter as its processes do.
const SCATTER: f64 = 8.0;
/// Rounds are not chosen to go on for less than this, …
const LEAST_ROUNDS: Duration = Duration::from_secs(10);
/// … nor for longer than this, …
const MOST_ROUNDS: Duration = Duration::from_secs(60);
/// … but in a short budget for this.
const SHORTEST_ROUNDS: Duration = Duration::from_secs(5);
/// Heats of each stack that a plan has at least: with fewer there is no scatter to speak of.
const LEAST_HEATS: u32 = 3;
/// Heats of each stack where nobody gave a budget.
const USUAL_HEATS: u32 = 10;
/// Freezing, thawing and waiting for what is in flight, for each slice.
const BETWEEN: Duration = Duration::from_millis(10);

/// What a heat of a load takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct HeatCost {
    /// Starting, checking, warming up and stopping all members, and the round that leads in.
    pub(super) bring_up: Duration,
    /// One round.
    pub(super) round: Duration,
}

/// How many heats there are, and how long their rounds go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct HeatCount {
    /// Of each stack.
    pub(super) heats: u32,
    pub(super) time: Duration,
}

impl HeatCost {
    /// Of heats with `seats` of these stacks and a control, whose answers take `delay` at least.
    pub(super) fn of(
        options: &SessionOptions,
        plan: HeatPlan,
        stacks: &[&Participant],
        seats: usize,
        delay: Option<Duration>,
    ) -> Self {
        let of = |rule, ready| starting_time(ready) + warm_up_time(rule);
        let null_server = options.warm_up.map_or_else(
            || rule_of(Runtime::Native, None),
            |asked| rule(asked, asked),
        );
        // One probe before and one after the load, each as slow as the upstream.
        let probes = 2 * delay.unwrap_or_default();
        let all: Duration = stacks
            .iter()
            .map(|one| of(one.warm_up, one.ready) + probes)
            .sum();
        let count = stacks.len().max(1) as f64;
        let in_heat = all.mul_f64(stacks.len().min(seats) as f64 / count);
        let suited = suited(plan, delay.unwrap_or_default());
        let members = 1 + stacks.len().min(seats) as u32;
        // The round that leads in has slices as planned.
        let lead_in = (suited.guard + plan.slice + BETWEEN) * members;
        Self {
            bring_up: in_heat + of(null_server, None) + lead_in,
            round: (suited.guard + suited.slice + BETWEEN) * members,
        }
    }

    /// The time of a whole heat whose rounds go on for `time`: a round that has begun is finished.
    pub(super) fn heat(&self, time: Duration) -> Duration {
        self.bring_up + self.round.saturating_mul(self.rounds(time, u128::div_ceil))
    }

    fn rounds(&self, time: Duration, divide: fn(u128, u128) -> u128) -> u32 {
        let rounds = divide(time.as_nanos(), self.round.as_nanos().max(1));
        u32::try_from(rounds).unwrap_or(u32::MAX)
    }

    /// How long rounds go on unless anything else is said. With n rounds in a heat, the variance of a stack's mean over
    /// all slices is (b² + w²/n) / heats, where b is the scatter between processes and w that between slices. A heat
    /// takes T₀ + n·t: bringing it up, and a round's time for each. For a given time in all, the variance is smallest at
    /// n = w/b · √(T₀/t).
    fn best(&self) -> Duration {
        let (bring_up, round) = (self.bring_up.as_secs_f64(), self.round.as_secs_f64());
        let best = Duration::from_secs_f64(SCATTER * (bring_up * round).sqrt());
        best.clamp(LEAST_ROUNDS, MOST_ROUNDS)
    }

    /// How many heats of each stack fit `share`, the load's part of the budget, if it takes `turns` heats until every
    /// stack has been in one.
    pub(super) fn count(
        &self,
        options: &HeatOptions,
        share: Option<Duration>,
        turns: u32,
    ) -> HeatCount {
        let asked = options.heats.map(|heats| heats.max(1));
        let least = asked.unwrap_or(LEAST_HEATS);
        let fits = |share: Duration, time: Duration| {
            let heats = share.as_nanos() / self.heat(time).as_nanos().max(1);
            u32::try_from(heats / u128::from(turns)).unwrap_or(u32::MAX)
        };
        let usual = options.time.unwrap_or_else(|| self.best());
        let time = match share {
            Some(share) if options.time.is_none() && fits(share, usual) < least => self
                .shortened(share / turns.saturating_mul(least))
                .min(usual),
            _ => usual,
        };
        let fitting = || share.map_or(USUAL_HEATS, |share| fits(share, time).max(LEAST_HEATS));
        HeatCount {
            heats: asked.unwrap_or_else(fitting),
            time,
        }
    }

    /// How long rounds go on in a heat that is to take no more than `heat`.
    fn shortened(&self, heat: Duration) -> Duration {
        let left = heat.saturating_sub(self.bring_up);
        let whole = self.round.saturating_mul(self.rounds(left, |a, b| a / b));
        whole.max(SHORTEST_ROUNDS)
    }
}

/// The delay of the slow upstream, of workloads that ask it.
pub(super) const DELAY: Duration = upstream::DELAY;

/// The plan of a heat whose rounds go on for `time`.
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
        }
    }

    fn options() -> HeatOptions {
        HeatOptions::default()
    }

    #[test]
    fn rounds_go_on_longer_where_starting_takes_longer_within_bounds() {
        // 8·√(9 · 1) s, and both bounds.
        assert_eq!(cost(9, 1_000).best(), 24 * SECOND);
        assert_eq!(cost(1, 100).best(), LEAST_ROUNDS);
        assert_eq!(cost(60, 2_000).best(), MOST_ROUNDS);
    }

    #[test]
    fn ten_heats_of_each_stack_without_a_budget_and_what_fits_with_one() {
        let cost = cost(9, 1_000);
        let count = |share: Option<u64>, turns| {
            let share = share.map(Duration::from_secs);
            let found = cost.count(&options(), share, turns);
            (found.heats, found.time.as_secs())
        };
        assert_eq!(count(None, 1), (10, 24));
        assert_eq!(count(None, 3), (10, 24));
        // A heat takes 33 s.
        assert_eq!(count(Some(330), 1), (10, 24));
        assert_eq!(count(Some(329), 1), (9, 24));
        assert_eq!(count(Some(330), 2), (5, 24));
    }

    #[test]
    fn a_short_budget_shortens_rounds_before_there_are_fewer_than_three_heats() {
        let cost = cost(9, 1_000);
        let count = |share| {
            let found = cost.count(&options(), Some(Duration::from_secs(share)), 1);
            (found.heats, found.time.as_secs())
        };
        assert_eq!(count(99), (3, 24));
        assert_eq!(count(98), (3, 23), "32.7 s for each heat, in whole rounds");
        assert_eq!(count(60), (3, 11));
        assert_eq!(count(42), (3, 5));
        assert_eq!(count(1), (3, 5), "more than the budget");
    }

    #[test]
    fn what_was_asked_for_stands() {
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
        let found = cost.count(&time, share, 1);
        assert_eq!((found.heats, found.time), (3, 40 * SECOND));
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
