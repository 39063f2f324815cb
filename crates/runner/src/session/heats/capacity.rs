//! How many servers a heat can have: what memory, the database and the servers' patience allow.

use deadheat_model::heat::HeatPlan;

use crate::services::postgres::SEATS;

/// Members of a heat at most, a control among them. With slices of 100 ms, twelve keep the gap between two slices of a
/// member below [`deadheat_model::heat::LONGEST_GAP`]. The more there are, the fewer heats bring everybody to one, and the
/// less time goes into starting and warming up.
pub const MOST_MEMBERS: u32 = SEATS as u32;
/// Two stacks and a control: with fewer there is nothing to compare.
const LEAST_MEMBERS: u32 = 3;
/// Memory that is left to the system, Deadheat and its services.
const RESERVE: u64 = 1 << 30;
/// What a server may take under load: a JVM with the heap of its stack's manifest (`-Xmx512m`), and what it needs beside
/// the heap.
const PER_MEMBER: u64 = 700 << 20;

/// What limits how many servers can be alive together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Limits {
    /// Bytes of memory that are available; `None`: not known.
    pub(super) memory: Option<u64>,
    /// Connections that the database has free, and the largest pool of a stack; `None`: no database limits it.
    pub(super) connections: Option<(u32, u32)>,
}

/// How many members a heat has at most.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Capacity {
    pub(super) members: u32,
    /// Why it is less than usual, if it is.
    pub(super) reason: Option<String>,
}

impl Capacity {
    /// The capacity of heats that do what `plan` says.
    pub(super) fn new(plan: &HeatPlan, limits: Limits) -> Self {
        let usual = Self {
            members: MOST_MEMBERS,
            reason: None,
        };
        let restricted = [
            by_gap(plan),
            limits.memory.and_then(by_memory),
            limits.connections.and_then(by_connections),
        ];
        let lower = restricted.into_iter().flatten();
        let lowest = lower.min_by_key(|one| one.members).unwrap_or(usual);
        Self {
            members: lowest.members.max(LEAST_MEMBERS),
            ..lowest
        }
    }

    /// Seats for stacks: the others are the control's.
    pub(super) fn seats(&self) -> u32 {
        seats(self.members)
    }
}

/// Seats for stacks in heats of so many members: the control has one.
pub(super) fn seats(capacity: u32) -> u32 {
    capacity.saturating_sub(1).max(1)
}

/// How many heats it takes until every one of `stacks` has been in one: one stack, the anchor, is in all of them.
pub(super) fn heats_for_all(stacks: usize, capacity: u32) -> u32 {
    let others = u32::try_from(stacks.saturating_sub(1)).unwrap_or(u32::MAX);
    others.div_ceil((seats(capacity) - 1).max(1)).max(1)
}

fn by_gap(plan: &HeatPlan) -> Option<Capacity> {
    let mut most = (1..=MOST_MEMBERS).rev();
    let members = most.find(|members| !plan.is_too_slow_for(*members as usize))?;
    (members < MOST_MEMBERS).then(|| Capacity {
        members,
        reason: Some(format!(
            "With slices of {} ms, servers may close idle connections while more than {} others have their turns.",
            (plan.guard + plan.slice).as_millis(),
            members.saturating_sub(1),
        )),
    })
}

fn by_memory(available: u64) -> Option<Capacity> {
    let members = available.saturating_sub(RESERVE) / PER_MEMBER;
    let members = u32::try_from(members).unwrap_or(u32::MAX);
    (members < MOST_MEMBERS).then(|| Capacity {
        members,
        reason: Some(format!(
            "Memory is short: {} MiB are available, and each server may need {} MiB beside the {} MiB that are kept free.",
            available >> 20,
            PER_MEMBER >> 20,
            RESERVE >> 20,
        )),
    })
}

fn by_connections((free, pool): (u32, u32)) -> Option<Capacity> {
    // The control may be a stack's twin, which has a pool as well.
    let members = free.checked_div(pool)?;
    (members < MOST_MEMBERS).then(|| Capacity {
        members,
        reason: Some(format!(
            "The database has only {free} connections free, and each stack may open {pool}.",
        )),
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use deadheat_model::{Wait, heat::Rounds};

    use super::*;

    const MIB: u64 = 1 << 20;

    fn plan(slice_ms: u64) -> HeatPlan {
        HeatPlan {
            slice: Duration::from_millis(slice_ms),
            guard: Duration::from_millis(30),
            rounds: Rounds::Count { rounds: 1 },
            freeze: true,
            wait: Wait::Poll,
            memory_every: Duration::ZERO,
        }
    }

    fn of(slice_ms: u64, limits: Limits) -> (u32, Option<String>) {
        let found = Capacity::new(&plan(slice_ms), limits);
        (found.members, found.reason)
    }

    #[test]
    fn twelve_where_nothing_is_short() {
        assert_eq!(of(100, Limits::default()), (12, None));
        let enough = Limits {
            memory: Some((1024 + 12 * 700) * MIB),
            connections: Some((12 * 16, 16)),
        };
        assert_eq!(of(100, enough), (12, None));
        // Stacks that hold no connections need no room.
        let unpooled = Limits {
            connections: Some((3, 0)),
            ..Limits::default()
        };
        assert_eq!(of(100, unpooled), (12, None));
    }

    #[test]
    fn what_is_short_is_named() {
        let memory = |mib: u64| {
            let memory = Some(mib * MIB);
            of(
                100,
                Limits {
                    memory,
                    ..Limits::default()
                },
            )
        };
        let (members, reason) = memory(1024 + 5 * 700 + 699);
        assert_eq!(members, 5);
        assert_eq!(
            reason.unwrap(),
            "Memory is short: 5223 MiB are available, and each server may need 700 MiB beside the 1024 MiB that are kept free."
        );
        assert_eq!(memory(1024 + 1400).0, 3, "two stacks and a control");
        assert_eq!(memory(100).0, 3);
        let connections = Some((97, 16));
        let (members, reason) = of(
            100,
            Limits {
                connections,
                ..Limits::default()
            },
        );
        assert_eq!(members, 6);
        assert!(reason.unwrap().contains("97 connections free"));
        let (members, reason) = of(600, Limits::default());
        assert_eq!(members, 4, "3 × 630 ms are below 2 s, 4 × 630 ms are not");
        assert!(reason.unwrap().starts_with("With slices of 630 ms"));
        assert_eq!(of(5_000, Limits::default()).0, 3);
    }

    #[test]
    fn everybody_meets_the_anchor_after_so_many_heats() {
        // Stacks, members of a heat, heats.
        let table = [
            (1, 8, 1),
            (2, 3, 1),
            (7, 8, 1),
            (8, 8, 2),
            (13, 8, 2),
            (14, 8, 3),
            (19, 8, 3),
            (3, 3, 2),
            (6, 3, 5),
        ];
        for (stacks, capacity, heats) in table {
            assert_eq!(
                heats_for_all(stacks, capacity),
                heats,
                "{stacks} in {capacity}"
            );
        }
    }
}
