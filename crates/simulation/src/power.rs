//! How often a difference is found.

use std::ops::Range;

use deadheat_stats::Analysis;

use crate::{Design, Machine, Simulation};

/// Stacks that are compared, a table for each of these.
pub const STACKS: [usize; 2] = [2, 8];
/// By how much one stack is faster than the other, in the tables.
pub const EFFECTS: [f64; 5] = [0.015, 0.02, 0.03, 0.05, 0.10];
/// The standard deviation of a trial's throughput between processes, in the tables.
pub const NOISES: [f64; 3] = [0.01, 0.02, 0.05];
/// Blocks, in the tables.
pub const BLOCKS: [u32; 7] = [3, 5, 7, 10, 15, 20, 30];
/// Sessions behind each figure of the tables.
pub const SESSIONS: u32 = 2_000;

/// How many of some sessions showed something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// Those that did.
    pub of_these: u32,
    /// All of them.
    pub sessions: u32,
}

impl Share {
    /// The share, 0 to 1.
    pub fn rate(self) -> f64 {
        f64::from(self.of_these) / f64::from(self.sessions)
    }
}

/// In how many of the sessions of these seeds `shows` holds.
pub fn share(seeds: Range<u64>, shows: impl FnMut(u64) -> bool) -> Share {
    let sessions = (seeds.end - seeds.start) as u32;
    let mut shows = shows;
    let of_these = seeds.filter(|seed| shows(*seed)).count() as u32;
    Share { of_these, sessions }
}

/// Whether the session's load point has any two stacks that are called different.
pub fn any_difference(analysis: &Analysis) -> bool {
    let mut pairs = analysis.groups[0].comparison.pairs().iter();
    pairs.any(|pair| pair.different)
}

/// In how many sessions of so many stacks, of which the first is faster than the others by `effect` (0.05: 5 %), it is
/// found to be faster than the second. Every session measures one stack twice, as a real one does.
pub fn found(
    effect: f64,
    stacks: usize,
    machine: Machine,
    blocks: u32,
    seeds: Range<u64>,
) -> Share {
    let mut speeds = vec![1.0; stacks];
    speeds[0] += effect;
    let mut simulation = Simulation::new(Design::session(&speeds, blocks), machine);
    let (first, second) = (Design::name(0), Design::name(1));
    share(seeds, |seed| {
        let analysis = simulation.analyse(seed);
        let mut pairs = analysis.groups[0].comparison.pairs().iter();
        pairs.any(|pair| pair.different && pair.faster == first && pair.slower == second)
    })
}
