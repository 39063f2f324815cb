//! The rates of open loops: shares of what closed loops have found so far.

use std::time::Duration;

use deadheat_model::{
    TargetId,
    heat::{HeatRecord, Role, SliceFlag, SliceRecord},
    heats::{PlannedLoad, SessionRecord},
    workload::OfferedRate,
};

use super::roster::Participant;

/// The rate at which `one` is loaded at `load`, in requests per second; `None` in a closed loop. Rounded down: a share of
/// the own capacity to three significant digits, so that it is the share that its name says, and the rate common to all
/// to two.
///
/// # Errors
/// Why the capacity that it is a share of is not known.
pub(super) fn rate(
    record: &SessionRecord,
    load: &PlannedLoad,
    one: &Participant,
) -> Result<Option<f64>, String> {
    let Some(open) = &load.point.open else {
        return Ok(None);
    };
    let loads = &record.header.plan.loads;
    let closed = loads
        .iter()
        .position(|other| other.workload == load.workload && other.point.id == open.capacity_of);
    let heats = || {
        closed
            .into_iter()
            .flat_map(|load| record.complete_heats(load))
    };
    let unknown = |who: &str| {
        format!(
            "the rate of {} is a share of the capacity of {who} at {}, which is not known",
            load.name(),
            open.capacity_of
        )
    };
    let (capacity, percent, digits) = match open.rate {
        OfferedRate::OfOwnCapacity(percent) => {
            let own = capacity(heats(), Who::of(one));
            let own = own.ok_or_else(|| unknown(&one.target.to_string()))?;
            (own, percent, 3)
        }
        OfferedRate::OfSlowestCapacity(percent) => {
            let targets = load.targets.iter();
            let known = targets.filter_map(|target| capacity(heats(), Who::Stack(target)));
            let slowest = known.min_by(f64::total_cmp);
            (slowest.ok_or_else(|| unknown("any stack"))?, percent, 2)
        }
    };
    let rate = rounded_down(capacity * f64::from(percent) / 100.0, digits);
    Ok(Some(rate))
}

/// Whose capacity it is.
#[derive(Clone, Copy)]
enum Who<'a> {
    Stack(&'a TargetId),
    Ceiling,
}

impl<'a> Who<'a> {
    /// A twin has its original's.
    fn of(one: &'a Participant) -> Self {
        match one.role {
            Role::Ceiling => Self::Ceiling,
            Role::Member | Role::Twin { .. } => Self::Stack(&one.target),
        }
    }

    fn is(self, target: &TargetId, role: Role) -> bool {
        match self {
            Self::Stack(own) => role == Role::Member && own == target,
            Self::Ceiling => role == Role::Ceiling,
        }
    }
}

/// What somebody answered per second in all slices of these heats; `None` without any answer.
fn capacity<'a>(heats: impl Iterator<Item = &'a HeatRecord>, who: Who<'_>) -> Option<f64> {
    let slices = heats.flat_map(|heat| counted(heat, who));
    let (answers, time) = slices.fold((0, Duration::ZERO), |(answers, time), slice| {
        (answers + slice.tally.answers(), time + slice.window)
    });
    (answers > 0 && !time.is_zero()).then(|| answers as f64 / time.as_secs_f64())
}

/// The slices of somebody in a heat that mean something.
fn counted<'a>(heat: &'a HeatRecord, who: Who<'_>) -> Vec<&'a SliceRecord> {
    let mut members = heat.members.iter();
    let Some(place) = members.position(|one| who.is(&one.target, one.role)) else {
        return Vec::new();
    };
    let failure = heat.members[place].failure.as_ref();
    let void_from = failure.and_then(|failure| failure.void_from);
    let rounds = heat.rounds.iter().zip(0_u32..);
    rounds
        .filter(|(_, round)| void_from.is_none_or(|void| *round < void))
        .flat_map(|(slices, _)| slices)
        .filter(|slice| slice.member as usize == place)
        .filter(|slice| !slice.flags.contains(&SliceFlag::Suspended))
        .collect()
}

/// Rounds down to so many significant digits.
fn rounded_down(rate: f64, digits: i32) -> f64 {
    let unit = rate.log10().floor() as i32 + 1 - digits;
    // By a whole power of ten both ways: a tenth is no binary fraction.
    match u32::try_from(unit) {
        Ok(_) => (rate / 10_f64.powi(unit)).floor() * 10_f64.powi(unit),
        Err(_) => (rate * 10_f64.powi(-unit)).floor() / 10_f64.powi(-unit),
    }
}

#[cfg(test)]
mod tests {
    use deadheat_model::{
        heat::HeatEnd, heats::MeasuredHeat, load::Arrivals, stack_failure::Phase,
        workload::OpenLoad,
    };

    use super::*;
    use crate::session::heats::fixture::{failure, heat, load, record};

    /// Closed heats of `a` and `b` and the null server with these throughputs, a slice of each in each round.
    fn session(rounds: &[[u64; 3]]) -> SessionRecord {
        let closed = load(&["a", "b", "c"]);
        let open = |id: &str, rate| {
            let mut open = load(&["a", "b", "c"]);
            open.point.id = id.to_owned();
            open.point.open = Some(OpenLoad {
                capacity_of: "c50".to_owned(),
                rate,
                arrivals: Arrivals::Poisson,
            });
            open
        };
        let loads = vec![
            closed,
            open("own", OfferedRate::OfOwnCapacity(90)),
            open("common", OfferedRate::OfSlowestCapacity(70)),
        ];
        let mut record = record(loads);
        record.heats.push(MeasuredHeat {
            load: 0,
            heat: heat(&["a", "b", "~null-server"], rounds),
        });
        record
    }

    fn of(
        record: &SessionRecord,
        load: usize,
        name: &str,
        role: Role,
    ) -> Result<Option<f64>, String> {
        let one = Participant {
            target: TargetId::new(name, None),
            role,
        };
        rate(record, &record.header.plan.loads[load], &one)
    }

    const ROUNDS: [[u64; 3]; 3] = [[1_234, 500, 9_000], [2_000, 1, 9_000], [1, 500, 9_000]];

    #[test]
    fn a_share_of_what_all_slices_answered() {
        let record = session(&ROUNDS);
        let own = |name, role| of(&record, 1, name, role);
        // 90 % of the mean of 1,234, 2,000 and 1.
        assert_eq!(own("a", Role::Member), Ok(Some(970.0)));
        assert_eq!(own("a", Role::Twin { of: 0 }), Ok(Some(970.0)));
        assert_eq!(own("b", Role::Member), Ok(Some(300.0)));
        assert_eq!(own("~null-server", Role::Ceiling), Ok(Some(8_100.0)));
        assert!(own("c", Role::Member).unwrap_err().contains("of c at c50"));
        assert_eq!(of(&record, 0, "a", Role::Member), Ok(None), "closed");
    }

    #[test]
    fn the_slowest_stack_decides_for_all() {
        let record = session(&ROUNDS);
        for name in ["a", "b", "c"] {
            assert_eq!(of(&record, 2, name, Role::Member), Ok(Some(230.0)));
        }
    }

    #[test]
    fn what_means_nothing_is_no_capacity() {
        let mut record = session(&ROUNDS);
        record.heats[0].heat.members[0].failure = Some(failure(Phase::Load, Some(1)));
        let own = |record: &SessionRecord, name| of(record, 1, name, Role::Member);
        assert_eq!(
            own(&record, "a"),
            Ok(Some(1_110.0)),
            "the first round alone"
        );
        record.heats[0].heat.members[0].failure = Some(failure(Phase::Load, Some(0)));
        assert!(own(&record, "a").is_err());
        record.heats[0].heat.rounds[1][1].flags = vec![SliceFlag::Suspended];
        assert_eq!(own(&record, "b"), Ok(Some(450.0)));
        record.heats[0].heat.end = HeatEnd::Interrupted;
        assert!(own(&record, "b").is_err());
    }

    #[test]
    fn significant_digits_never_more_than_asked() {
        for (rate, two, three) in [
            (123_456.0, 120_000.0, 123_000.0),
            (1999.9, 1900.0, 1990.0),
            (1000.0, 1000.0, 1000.0),
            (999.0, 990.0, 999.0),
            (99.9, 99.0, 99.9),
            (10.0, 10.0, 10.0),
            (2.95, 2.9, 2.95),
            (0.37, 0.37, 0.37),
            (0.0371, 0.037, 0.0371),
        ] {
            assert_eq!(rounded_down(rate, 2), two, "{rate}");
            assert_eq!(rounded_down(rate, 3), three, "{rate}");
        }
    }
}
