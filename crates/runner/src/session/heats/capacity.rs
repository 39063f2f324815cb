//! The number of servers that a heat can have, as limited by memory, by the database and by the servers' timeouts; and
//! the rates that are offered once the rounds have found the servers' capacities.

use std::time::Duration;

use deadheat_model::{
    LoadPoint, WorkloadManifest,
    heat::{HeatPlan, HeatRecord, Role, SliceFlag, SliceRecord},
    heats::{PlannedLoad, SessionRecord},
    workload::{OfferedRate, OpenLoad},
};

use crate::{heat::Offer, services::postgres::SEATS};

/// The maximum number of members of a heat, including a control. With slices of 100 ms, twelve members keep the gap
/// between two slices of a member below [`deadheat_model::heat::LONGEST_GAP`]. More members mean fewer heats until each
/// stack has been in one, and less time for starts and warm-ups.
pub const MAX_MEMBERS: u32 = SEATS as u32;
/// Two stacks and a control. Fewer cannot be compared.
const MIN_MEMBERS: u32 = 3;
/// Memory in bytes that is reserved for the system, Deadheat and its services.
const RESERVE: u64 = 1 << 30;
/// The assumed memory of a server under load in bytes: a JVM with the heap of its stack's manifest (`-Xmx512m`) and its
/// other memory.
const PER_MEMBER: u64 = 700 << 20;

/// The limits of the number of servers that can run together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Limits {
    /// Available memory in bytes; `None` if unknown.
    pub(super) memory: Option<u64>,
    /// The number of free database connections, and the largest pool of a stack; `None` without a database.
    pub(super) connections: Option<(u32, u32)>,
}

/// The maximum number of members of a heat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Capacity {
    pub(super) members: u32,
    /// The reason why it is lower than usual; `None` if it is not.
    pub(super) reason: Option<String>,
}

impl Capacity {
    /// The capacity of heats with this plan.
    pub(super) fn new(plan: &HeatPlan, limits: Limits) -> Self {
        let usual = Self {
            members: MAX_MEMBERS,
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
            members: lowest.members.max(MIN_MEMBERS),
            ..lowest
        }
    }

    /// The capacity of heats with this plan at a workload. Without the database, its connections are no limit.
    pub(super) fn at(workload: &WorkloadManifest, plan: &HeatPlan, limits: Limits) -> Self {
        let needs_database = workload.oracle.needs_database();
        let connections = limits.connections.filter(|_| needs_database);
        let limits = Limits {
            connections,
            ..limits
        };
        Self::new(plan, limits)
    }

    /// The number of seats for stacks; the rest is for the control.
    pub(super) fn seats(&self) -> u32 {
        seats(self.members)
    }
}

/// The number of seats for stacks in heats of `capacity` members, of which one is the control.
pub(super) fn seats(capacity: u32) -> u32 {
    capacity.saturating_sub(1).max(1)
}

/// The number of heats until each of `stacks` has been in one. One stack, the anchor, is in all of them.
pub(super) fn heats_for_all(stacks: usize, capacity: u32) -> u32 {
    let others = u32::try_from(stacks.saturating_sub(1)).unwrap_or(u32::MAX);
    others.div_ceil((seats(capacity) - 1).max(1)).max(1)
}

/// Why a heat of a load has no room for its servers any more, in a line; `None` if it has. Free memory is never quite the
/// same, so half of the reserve counts as well.
pub(super) fn lost_room(
    load: &PlannedLoad,
    workload: &WorkloadManifest,
    limits: Limits,
) -> Option<String> {
    let and_a_control = load.targets.len() as u32 + 1;
    let needed = load.capacity.min(and_a_control);
    let with_reserve = Limits {
        memory: limits.memory.map(|bytes| bytes + RESERVE / 2),
        ..limits
    };
    if Capacity::at(workload, &load.heat, with_reserve).members >= needed {
        return None;
    }
    let now = Capacity::at(workload, &load.heat, limits);
    Some(format!(
        "{}: a heat has {needed} servers, and there is room for {} now. {}",
        load.name(),
        now.members,
        now.reason.unwrap_or_default()
    ))
}

fn by_gap(plan: &HeatPlan) -> Option<Capacity> {
    let mut most = (1..=MAX_MEMBERS).rev();
    let members = most.find(|members| !plan.is_too_slow_for(*members as usize))?;
    (members < MAX_MEMBERS).then(|| Capacity {
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
    (members < MAX_MEMBERS).then(|| Capacity {
        members,
        reason: Some(format!(
            "Memory is short: {} MiB are available, and each server may need {} MiB. {} MiB are kept free.",
            available >> 20,
            PER_MEMBER >> 20,
            RESERVE >> 20,
        )),
    })
}

fn by_connections((free, pool): (u32, u32)) -> Option<Capacity> {
    // The control may be the twin of a stack, which has a pool as well.
    let members = free.checked_div(pool)?;
    (members < MAX_MEMBERS).then(|| Capacity {
        members,
        reason: Some(format!(
            "The database has only {free} connections free, and each stack may open {pool}.",
        )),
    })
}

/// The maximum load of a stack as a share of its capacity.
const SHARE: f64 = 0.7;
/// The share of stacks for which [`SHARE`] must hold.
const MAX_STACKS: f64 = 0.75;

/// The rate to offer at load number `load` of the plan in a heat whose rounds found `rounds`. `None` if the load has no
/// rate, or if no member has a capacity. Members whose capacity is lower than the rate are not loaded.
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

/// The rate that earlier heats offered at this load, which must stay the same; `None` if there was no such heat.
fn offered(record: &SessionRecord, load: usize) -> Option<f64> {
    let members = record
        .complete_heats(load)
        .flat_map(|heat| heat.members.iter());
    members.filter_map(|one| one.offered_per_second).next()
}

/// The highest rate of 1, 2, 5, 10, 20, 50 … per second that most of these capacities sustain; `None` without one.
fn common(mut capacities: Vec<f64>) -> Option<f64> {
    capacities.sort_by(|a, b| b.total_cmp(a));
    let most = (MAX_STACKS * capacities.len() as f64).ceil() as usize;
    let least = capacities.get(most.checked_sub(1)?)?;
    let below = SHARE * least;
    let power = 10_f64.powf(below.log10().floor());
    let steps = [5.0, 2.0, 1.0].map(|step| step * power);
    let rate = steps.into_iter().find(|rate| *rate <= below)?;
    (rate >= 1.0).then_some(rate)
}

/// The throughput of the member at this place over its valid slices; `None` if it gave no answer or failed.
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

    use deadheat_model::{
        Wait, heat::Rounds, heats::MeasuredHeat, session::Phase, workload::Oracle,
    };

    use super::*;
    use crate::session::fixtures::{failure, heat, load, record, workload};

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
        // Stacks without a pool are not limited by the database.
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
            "Memory is short: 5223 MiB are available, and each server may need 700 MiB. 1024 MiB are kept free."
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
    fn a_session_goes_on_if_its_heats_have_room() {
        // With a control, six servers.
        let load = load(&["a", "b", "c", "d", "e"]);
        let of = |oracle, mib: u64, connections| {
            let workload = workload("plaintext", oracle).manifest;
            let limits = Limits {
                memory: Some(mib * MIB),
                connections: Some((connections, 16)),
            };
            lost_room(&load, &workload, limits)
        };
        assert_eq!(of(Oracle::Users, 1024 + 6 * 700, 6 * 16), None);
        assert_eq!(
            of(Oracle::Users, 512 + 6 * 700, 6 * 16),
            None,
            "somewhat less"
        );
        let memory = of(Oracle::Users, 511 + 6 * 700, 6 * 16).unwrap();
        let told = "plaintext:c50: a heat has 6 servers, and there is room for 5 now. Memory is short: 4711 MiB";
        assert!(memory.starts_with(told), "{memory}");
        let connections = of(Oracle::Users, 1024 + 6 * 700, 6 * 16 - 1).unwrap();
        assert!(
            connections.contains("only 95 connections free"),
            "{connections}"
        );
        // A workload without the database needs none.
        assert_eq!(of(Oracle::Relayed, 1024 + 6 * 700, 0), None);
    }

    #[test]
    fn everybody_meets_the_anchor_after_so_many_heats() {
        // Columns: stacks, members of a heat, heats.
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
