//! Sessions that were never measured, of stacks whose true speeds are known: what the analysis finds in them shows how
//! often it is wrong, and how many heats find which difference. The statistics' tests and `cargo xtask power` share this
//! code.

pub mod heats;
pub mod recorded;

use std::ops::Range;

pub use crate::recorded::Recorded;

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
