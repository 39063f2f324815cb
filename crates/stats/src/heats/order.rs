//! The order of the slices in a round: who comes after whom is balanced.
//!
//! A member can profit or suffer from the one before it: a warm cache, a CPU that was slowed down. In a Williams square
//! (Australian Journal of Scientific Research A 2, 1949) each member is in each place once, and comes directly after
//! each other member once. An odd number of members needs two squares, each order and its reverse, for the second
//! property; then each member comes after each other one twice.
//!
//! Between the last slice of a round and the first of the next nothing is balanced. The squares of a long heat are
//! relabelled and their rows shuffled by a seed, so that this, too, is nobody's alone.

use rand::{SeedableRng, seq::SliceRandom};
use rand_chacha::ChaCha8Rng;

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

/// The rounds of a heat without end: one balanced set after another, each with labels and rows shuffled by the seed.
/// The members' numbers are 0 to `members` − 1, of which there is at least one.
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
