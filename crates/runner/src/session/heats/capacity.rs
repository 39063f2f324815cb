//! How many servers a heat can have (what memory, the database and the servers' patience allow), and which rates they are
//! offered once its rounds have found their capacities.

use std::time::Duration;

use deadheat_model::{
    LoadPoint,
    heat::{HeatPlan, HeatRecord, Role, SliceFlag, SliceRecord},
    heats::SessionRecord,
    workload::{OfferedRate, OpenLoad},
};

use crate::{heat::Offer, services::postgres::SEATS};

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

/// The share of its capacity at which a stack is to be loaded at most …
const SHARE: f64 = 0.7;
/// … and the share of stacks of which that is to be true.
const MOST_STACKS: f64 = 0.75;

/// What is offered at the load at this place of the plan in a heat whose rounds have found `rounds`. `None`: nothing, because
/// it has no rate, or nobody has a capacity. Who has not even that capacity is not loaded.
pub(super) fn offer(record: &SessionRecord, load: usize, rounds: &HeatRecord) -> Option<Offer> {
    let planned = record.header.plan.loads.get(load)?;
    let places = 0..rounds.members.len();
    let capacities: Vec<Option<f64>> = places.map(|place| capacity(rounds, place)).collect();
    let per_second = match planned.point.open.as_ref()?.rate {
        OfferedRate::PerSecond(rate) => rate.into(),
        OfferedRate::Common => offered(record, load).or_else(|| {
            let members = rounds.members.iter().zip(&capacities);
            let stacks = members.filter(|(member, _)| member.role == Role::Member);
            common(stacks.filter_map(|(_, capacity)| *capacity).collect())
        })?,
    };
    let is_loaded = rounds.members.iter().zip(capacities);
    let is_loaded = is_loaded.map(|(member, capacity)| match member.role {
        Role::Ceiling => None,
        Role::Member | Role::Twin { .. } => capacity.map(|capacity| capacity >= per_second),
    });
    Some(Offer {
        per_second,
        is_loaded: is_loaded.collect(),
    })
}

/// What earlier heats have offered at this load, which stays.
fn offered(record: &SessionRecord, load: usize) -> Option<f64> {
    let members = record
        .complete_heats(load)
        .flat_map(|heat| heat.members.iter());
    members.filter_map(|one| one.offered_per_second).next()
}

/// The largest of 1, 2, 5, 10, 20, 50 … per second that most of these capacities can take.
fn common(mut capacities: Vec<f64>) -> Option<f64> {
    capacities.sort_by(|a, b| b.total_cmp(a));
    let most = (MOST_STACKS * capacities.len() as f64).ceil() as usize;
    let least = capacities.get(most.checked_sub(1)?)?;
    let below = SHARE * least;
    let power = 10_f64.powf(below.log10().floor());
    let steps = [5.0, 2.0, 1.0].map(|step| step * power);
    let rate = steps.into_iter().find(|rate| *rate <= below)?;
    (rate >= 1.0).then_some(rate)
}

/// What the member at this place answered per second in the slices that mean something; `None` without any answer, or if it
/// has failed.
fn capacity(heat: &HeatRecord, place: usize) -> Option<f64> {
    if heat.members[place].failure.is_some() {
        return None;
    }
    let own = |slice: &&SliceRecord| {
        slice.member as usize == place && !slice.flags.contains(&SliceFlag::Suspended)
    };
    let slices = heat.rounds.iter().flatten().filter(own);
    let (answers, time) = slices.fold((0, Duration::ZERO), |(answers, time), slice| {
        (answers + slice.tally.answers(), time + slice.window)
    });
    (answers > 0 && !time.is_zero()).then(|| answers as f64 / time.as_secs_f64())
}

/// The open loop at `rate` in the heats of `closed`.
pub(super) fn at_rate(closed: &LoadPoint, rate: OfferedRate) -> LoadPoint {
    let id = match rate {
        OfferedRate::Common => format!("{}-rate", closed.id),
        OfferedRate::PerSecond(rate) => format!("{}-rate-{rate}", closed.id),
    };
    LoadPoint {
        id,
        open: Some(OpenLoad {
            capacity_of: closed.id.clone(),
            rate,
        }),
        ..closed.clone()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use deadheat_model::{Wait, heat::Rounds, heats::MeasuredHeat, session::Phase};

    use super::*;
    use crate::session::fixtures::{failure, heat, load, record};

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

    fn session(rate: OfferedRate) -> SessionRecord {
        let closed = load(&["a", "b"]);
        let mut open = closed.clone();
        open.point = at_rate(&closed.point, rate);
        record(vec![closed, open])
    }

    fn rounds() -> HeatRecord {
        // 1,000 and 400 per second over both rounds.
        heat(
            &["a", "b", "~null-server"],
            &[[1_500, 300, 9_000], [500, 500, 9_000]],
        )
    }

    #[test]
    fn who_cannot_take_a_rate_takes_part_and_is_not_loaded() {
        let offer = offer(&session(OfferedRate::PerSecond(600)), 1, &rounds()).unwrap();
        assert_eq!(offer.per_second, 600.0);
        assert_eq!(offer.is_loaded, [Some(true), Some(false), None]);
        let mut failed = rounds();
        failed.members[0].failure = Some(failure(Phase::Load, Some(1)));
        let of = super::offer(&session(OfferedRate::PerSecond(400)), 1, &failed).unwrap();
        assert_eq!(of.is_loaded, [None, Some(true), None]);
        assert_eq!(
            super::offer(&session(OfferedRate::Common), 0, &rounds()),
            None
        );
    }

    #[test]
    fn a_session_has_one_common_rate_that_its_first_heat_chose() {
        let mut session = session(OfferedRate::Common);
        let first = offer(&session, 1, &rounds()).unwrap();
        assert_eq!(first.per_second, 200.0, "below 70 % of 400");
        let mut at_rate = rounds();
        at_rate.members[1].offered_per_second = Some(200.0);
        session.heats.push(MeasuredHeat {
            load: 1,
            heat: at_rate,
        });
        let faster = heat(&["a", "b"], &[[90_000, 80_000]]);
        assert_eq!(offer(&session, 1, &faster).unwrap().per_second, 200.0);
    }

    #[test]
    fn the_common_rate_is_one_that_three_quarters_can_take() {
        let cases: [(&[f64], Option<f64>); 8] = [
            (&[10_000.0], Some(5_000.0)),
            (&[7_143.0, 1e6], Some(5_000.0)),
            (&[7_142.0, 1e6], Some(2_000.0)),
            (&[100.0, 3_000.0, 3_000.0, 3_000.0], Some(2_000.0)),
            (&[100.0, 100.0, 3_000.0, 3_000.0], Some(50.0)),
            (&[1.5], Some(1.0)),
            (&[1.4], None),
            (&[], None),
        ];
        for (capacities, rate) in cases {
            assert_eq!(common(capacities.to_vec()), rate, "{capacities:?}");
        }
    }
}
