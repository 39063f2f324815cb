//! The members of the next heat, the order of their slices in each round, and the number of heats needed ([`Pilot`]).
//!
//! A heat has a limited number of members. The anchor is in all of them, so that all heats can be compared. The other
//! seats are dealt by what the heats so far have shown: in every second heat first to those that never met, until all
//! have, and otherwise first to neighbours in the ranking that are undecided. So what decides the ranking is measured
//! most, and yet every pair meets.

use rand::{SeedableRng, seq::SliceRandom};
use rand_chacha::ChaCha8Rng;

use super::{Settings, fit::quantile, within::Estimate};

/// The input for choosing the members of the next heat.
#[derive(Clone, Copy, Debug)]
pub struct Allocation<'a> {
    /// The members that can run.
    pub members: &'a [usize],
    /// Those that run already. They are chosen first, after the anchor.
    pub first: &'a [usize],
    /// The member that is in every heat; `None` if each may be left out.
    pub anchor: Option<usize>,
    /// Seats in a heat. With as many seats as members, all members take part.
    pub capacity: usize,
    /// The members of each heat so far.
    pub history: &'a [Vec<usize>],
    /// Undecided neighbours in the ranking ([`Ranking::open_neighbours`](super::Ranking::open_neighbours)), of all
    /// load points that the heat serves.
    pub open: &'a [(usize, usize)],
    /// Decides between members that are equally urgent.
    pub seed: u64,
}

impl Allocation<'_> {
    /// The members of the next heat, in ascending order. The same history and seed give the same members.
    pub fn next(&self) -> Vec<usize> {
        let mut waiting = self.members.to_vec();
        waiting.sort_unstable();
        waiting.dedup();
        if waiting.len() <= self.capacity {
            return waiting;
        }
        let mut random = ChaCha8Rng::seed_from_u64(self.seed);
        random.set_stream(self.history.len() as u64);
        waiting.shuffle(&mut random);
        let mut dealt = Vec::with_capacity(self.capacity);
        let anchor = |member: &usize| Some(*member) == self.anchor;
        if let Some(place) = waiting.iter().position(anchor) {
            dealt.push(waiting.remove(place));
        }
        // As the shuffle has them.
        let (running, rest) = waiting
            .into_iter()
            .partition(|one| self.first.contains(one));
        let (mut running, mut waiting): (Vec<usize>, Vec<usize>) = (running, rest);
        running.truncate(self.capacity - dealt.len());
        dealt.append(&mut running);
        while dealt.len() < self.capacity {
            let urgency = |member: &usize| self.urgency(*member, &dealt, &waiting);
            let best = (0..waiting.len()).max_by(|a, b| {
                let (one, other) = (urgency(&waiting[*a]), urgency(&waiting[*b]));
                // Of equal ones the first: the shuffle has decided between them.
                one.cmp(&other).then(b.cmp(a))
            });
            let Some(best) = best else { break };
            dealt.push(waiting.remove(best));
        }
        dealt.sort_unstable();
        dealt
    }

    /// The urgency of a member next to those that are chosen already: new meetings, open pairs (weighted by how rarely
    /// they met), and how rarely it ran. New meetings and open pairs take turns in counting first.
    fn urgency(&self, member: usize, dealt: &[usize], waiting: &[usize]) -> (usize, usize, usize) {
        let heats = self.history.len();
        let is_new = |other: &&usize| **other != member && self.meetings(member, **other) == 0;
        // The anchor meets everybody, and so says nothing about which member is wanted.
        let chosen = || dealt.iter().filter(|other| Some(**other) != self.anchor);
        // Nobody is chosen yet: whom it could meet.
        let new = if chosen().count() == 0 {
            waiting.iter().filter(is_new).count()
        } else {
            chosen().filter(is_new).count()
        };
        let open = |others: &[usize]| -> usize {
            let is_open = |other: &&usize| {
                let pair = |(a, b): &(usize, usize)| {
                    (*a, *b) == (member, **other) || (*b, *a) == (member, **other)
                };
                self.open.iter().any(pair)
            };
            let rarely = |other: &usize| 1 + heats - self.meetings(member, *other);
            others.iter().filter(is_open).map(rarely).sum()
        };
        // A pair with somebody who is in counts first, then one with somebody who could still be.
        let open = open(dealt) * (1 + self.members.len() * (1 + heats)) + open(waiting);
        let rested = heats
            - self
                .history
                .iter()
                .filter(|heat| heat.contains(&member))
                .count();
        match heats % 2 {
            0 => (new, open, rested),
            _ => (open, new, rested),
        }
    }

    fn meetings(&self, a: usize, b: usize) -> usize {
        let both = |heat: &&Vec<usize>| heat.contains(&a) && heat.contains(&b);
        self.history.iter().filter(both).count()
    }
}

/// The rounds of one balanced set for `members` members, as members' numbers in the order of their slices: as many
/// rounds as members, twice as many if that is odd (but one for a single member).
pub fn balanced(members: usize) -> Vec<Vec<usize>> {
    // 0, 1, k − 1, 2, k − 2, …: neighbours differ by each number from 1 to k − 1 once (modulo k), if k is even.
    let place = |place: usize| match place {
        0 => 0,
        odd if odd % 2 == 1 => odd.div_ceil(2),
        even => members - even / 2,
    };
    let first: Vec<usize> = (0..members).map(place).collect();
    let row = |shift: usize| first.iter().map(move |member| (member + shift) % members);
    let mut rows: Vec<Vec<usize>> = (0..members).map(|shift| row(shift).collect()).collect();
    if members % 2 == 1 && members > 1 {
        let reversed = rows
            .clone()
            .into_iter()
            .map(|row| row.into_iter().rev().collect());
        rows.extend(reversed.collect::<Vec<_>>());
    }
    rows
}

/// An endless sequence of rounds: one balanced set after another, each with labels and rows shuffled by the seed.
/// The members' numbers are 0 to `members` − 1. There must be at least one member.
///
/// A member can profit or suffer from the one before it: a warm cache, a CPU that was slowed down. In a Williams square
/// (Australian Journal of Scientific Research A 2, 1949) each member is in each place once, and comes directly after
/// each other member once. An odd number of members needs two squares, each order and its reverse, for the second
/// property; then each member comes after each other one twice.
///
/// The transition between the last slice of a round and the first of the next is not balanced. The squares of a long
/// heat are relabelled and their rows shuffled by a seed, so that these transitions spread over all members.
pub fn rounds(members: usize, seed: u64) -> impl Iterator<Item = Vec<usize>> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut labels: Vec<usize> = (0..members).collect();
    std::iter::repeat_with(move || {
        labels.shuffle(&mut random);
        let mut rows = balanced(members);
        rows.shuffle(&mut random);
        for member in rows.iter_mut().flatten() {
            *member = labels[*member];
        }
        rows
    })
    .flatten()
}

/// The noise of each member in a pilot of one heat or more, which shows how many heats are needed.
///
/// A heat's estimate of a pair scatters by what the rounds leave of the noise within the heat, which a pilot shows, and
/// by what differs between processes, which a single heat cannot show and [`Settings::between_processes`] assumes:
/// variance of a heat = Σ over both members (scatter × inflation ÷ rounds + processes²). The half width after H heats
/// is Student's quantile × √(variance ÷ H).
#[derive(Clone, Debug, PartialEq)]
pub struct Pilot {
    /// The variance of a single round's logarithm, as if rounds were independent; `None` for a member without an
    /// estimate in the pilot.
    rounds: Vec<Option<f64>>,
    /// The variance between processes.
    processes: f64,
}

/// The planned number and shape of heats.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlannedHeats {
    /// Heats that contain both members of a pair: at least 2.
    pub heats: u32,
    /// Rounds of each heat.
    pub rounds: u32,
    /// Members of each heat.
    pub members: usize,
    /// The share of errors of the interval. For the verdicts of P pairs it is at least α ÷ P.
    pub alpha: f64,
}

/// The usual scatter of a round's logarithm, counted as if rounds were independent: with it, half widths are those of
/// simulated sessions with assumed noise (docs/statistics.md, "What to expect").
const USUAL_SCATTER: f64 = 0.19;

/// The maximum number of heats of a plan.
const MAX_HEATS: u32 = 100_000;

impl Pilot {
    /// From the estimates of the pilot's heats, for members numbered from 0.
    pub fn new(members: usize, heats: &[Vec<Estimate>], settings: &Settings) -> Self {
        let noise = |member: usize| {
            let estimates = heats.iter().flatten();
            let own = estimates.filter(|estimate| estimate.member == member);
            let own = own.filter_map(|estimate| estimate.scatter);
            let own: Vec<f64> = own.map(|own| own.variance * own.inflation).collect();
            (!own.is_empty()).then(|| own.iter().sum::<f64>() / own.len() as f64)
        };
        Self {
            rounds: (0..members).map(noise).collect(),
            processes: settings.between_processes.powi(2),
        }
    }

    /// The usual noise of a shared machine, for a plan without a pilot.
    pub fn usual(members: usize, settings: &Settings) -> Self {
        Self {
            rounds: vec![Some(USUAL_SCATTER.powi(2)); members],
            processes: settings.between_processes.powi(2),
        }
    }

    /// The half width of the interval of a pair's ratio, on the logarithm (0.03: ±3 %); `None` if the pilot has no
    /// estimate of one of them, or with fewer than 2 heats.
    pub fn half_width(&self, a: usize, b: usize, planned: &PlannedHeats) -> Option<f64> {
        let (one, other) = (self.rounds[a]?, self.rounds[b]?);
        if planned.heats < 2 {
            return None;
        }
        let variance = (one + other) / f64::from(planned.rounds) + 2.0 * self.processes;
        let error = (variance / f64::from(planned.heats)).sqrt();
        Some(quantile(planned.alpha, planned.freedom()) * error)
    }

    /// The median of the half widths of all pairs of these members.
    pub fn median_half_width(&self, members: &[usize], planned: &PlannedHeats) -> Option<f64> {
        let mut found: Vec<f64> = Vec::new();
        for (place, a) in members.iter().enumerate() {
            let pairs = members[place + 1..].iter();
            found.extend(pairs.filter_map(|b| self.half_width(*a, *b, planned)));
        }
        found.sort_by(f64::total_cmp);
        found.get(found.len() / 2).copied()
    }

    /// The fewest heats with a median half width of at most `target`; ignores the `heats` of `planned`. `None` if the
    /// pilot has no estimates, or if no number of heats is enough.
    pub fn heats_for(&self, members: &[usize], target: f64, planned: &PlannedHeats) -> Option<u32> {
        let reaches = |heats: u32| {
            let planned = PlannedHeats { heats, ..*planned };
            let found = self.median_half_width(members, &planned);
            found.is_some_and(|found| found <= target)
        };
        let mut most = 2;
        while !reaches(most) {
            if most >= MAX_HEATS {
                return None;
            }
            most *= 2;
        }
        let mut least = most / 2;
        while most - least > 1 {
            let middle = u32::midpoint(least, most);
            if reaches(middle) {
                most = middle;
            } else {
                least = middle;
            }
        }
        Some(most)
    }
}

impl PlannedHeats {
    /// Degrees of freedom of all residuals of such heats. The fit's own are at most these, and near them for members
    /// whose noise differs little.
    fn freedom(&self) -> f64 {
        let members = self.members.max(2) - 1;
        members as f64 * f64::from(self.heats - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How often each member (column) comes directly after each other (row).
    fn successions(rounds: &[Vec<usize>], members: usize) -> Vec<Vec<usize>> {
        let mut counts = vec![vec![0; members]; members];
        for round in rounds {
            for pair in round.windows(2) {
                counts[pair[0]][pair[1]] += 1;
            }
        }
        counts
    }

    #[test]
    fn each_member_comes_after_each_other_equally_often_and_is_in_each_place_equally_often() {
        for members in 1..=16 {
            let set = balanced(members).len();
            for rounds in [
                balanced(members),
                rounds(members, 7).take(3 * set).collect(),
            ] {
                let counts = successions(&rounds, members);
                let expected = rounds.len() / members;
                for (a, counts) in counts.iter().enumerate() {
                    for (b, count) in counts.iter().enumerate() {
                        let expected = if a == b { 0 } else { expected };
                        assert_eq!(*count, expected, "{b} after {a} of {members}");
                    }
                }
                for place in 0..members {
                    for member in 0..members {
                        let there = rounds.iter().filter(|round| round[place] == member);
                        assert_eq!(there.count(), expected, "{member} in place {place}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_seed_gives_the_same_rounds_again_and_another_seed_gives_others() {
        let of = |seed| rounds(6, seed).take(20).collect::<Vec<_>>();
        assert_eq!(of(1), of(1));
        assert_ne!(of(1), of(2));
    }
}
