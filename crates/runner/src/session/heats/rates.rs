//! What is offered to the members of a heat once its rounds have found their capacities.

use std::time::Duration;

use deadheat_model::{
    LoadPoint,
    heat::{HeatRecord, Role, SliceFlag, SliceRecord},
    heats::SessionRecord,
    workload::{OfferedRate, OpenLoad},
};

use crate::heat::Offer;

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
    use deadheat_model::{heats::MeasuredHeat, session::Phase};

    use super::at_rate;
    use super::*;
    use crate::session::fixtures::{failure, heat, load, record};

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
