//! Which members the next heat has.
//!
//! A heat holds only so many members. The anchor is in all of them, so that all heats can be compared. The other seats
//! are dealt by what the heats so far have shown: in every second heat first to those that never met, until all have,
//! and otherwise first to neighbours in the ranking that are undecided. So what decides the ranking is measured most,
//! and yet every pair meets.

use rand::{SeedableRng, seq::SliceRandom};
use rand_chacha::ChaCha8Rng;

/// What the next heat is dealt from.
#[derive(Clone, Copy, Debug)]
pub struct Allocation<'a> {
    /// The members that can run.
    pub members: &'a [usize],
    /// Those of them that run already, which are in before any other but the anchor.
    pub first: &'a [usize],
    /// The member that is in every heat; `None` if each may be left out.
    pub anchor: Option<usize>,
    /// Seats in a heat. With as many seats as members, all are in.
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

    /// How urgently a member is wanted beside those that are dealt: new meetings, open pairs (the more urgent the less
    /// often they met), and how rarely it ran; by turns the first or the second counts first.
    fn urgency(&self, member: usize, dealt: &[usize], waiting: &[usize]) -> (usize, usize, usize) {
        let heats = self.history.len();
        let is_new = |other: &&usize| **other != member && self.meetings(member, **other) == 0;
        // The anchor is beside everybody, and so says nothing about who is wanted.
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
