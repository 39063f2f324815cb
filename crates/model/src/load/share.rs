//! A load that several generators share.

use serde::{Deserialize, Serialize};

/// The part of a load that one of several generators has: of all things numbered from 0 (arrivals, connections,
/// requests of templates), every `of`-th from `index` on. The parts of all generators together are the load of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "(u32, u32)", into = "(u32, u32)")]
pub struct Share {
    index: u32,
    of: u32,
}

impl Share {
    /// All of it.
    pub const WHOLE: Self = Self { index: 0, of: 1 };

    /// Part `index` of `of`; `None`: there is no such part.
    pub fn new(index: u32, of: u32) -> Option<Self> {
        (index < of).then_some(Self { index, of })
    }

    /// Whether it is all of it.
    pub fn is_whole(&self) -> bool {
        self.of == 1
    }

    /// How many generators share it.
    pub fn count(self) -> u32 {
        self.of
    }

    /// How many of `total` things are in it.
    pub fn part(self, total: u64) -> u64 {
        let (index, of) = (u64::from(self.index), u64::from(self.of));
        total / of + u64::from(index < total % of)
    }

    /// The number among all generators of the thing that this generator numbers `own`.
    #[inline]
    pub fn number(self, own: u64) -> u64 {
        own.wrapping_mul(u64::from(self.of))
            .wrapping_add(u64::from(self.index))
    }
}

impl Default for Share {
    fn default() -> Self {
        Self::WHOLE
    }
}

/// A part that a whole does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("part {index} of {of} does not exist")]
pub struct NoSuchPart {
    index: u32,
    of: u32,
}

impl TryFrom<(u32, u32)> for Share {
    type Error = NoSuchPart;

    fn try_from((index, of): (u32, u32)) -> Result<Self, NoSuchPart> {
        Self::new(index, of).ok_or(NoSuchPart { index, of })
    }
}

impl From<Share> for (u32, u32) {
    fn from(share: Share) -> Self {
        (share.index, share.of)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_are_the_whole_and_nothing_is_in_two() {
        for (total, of) in [(0, 1), (1, 3), (10, 3), (12, 4), (2, 5)] {
            let mut numbers = Vec::new();
            for index in 0..of {
                let share = Share::new(index, of).unwrap();
                numbers.extend((0..share.part(total)).map(|own| share.number(own)));
            }
            numbers.sort_unstable();
            assert_eq!(numbers, (0..total).collect::<Vec<u64>>());
        }
        assert_eq!(Share::new(3, 3), None);
        assert!(serde_json::from_str::<Share>("[2,2]").is_err());
        assert!(serde_json::from_str::<Share>("[0,0]").is_err());
    }
}
