//! The rates of open loops: a function of the plan and of the first block's trials, so that they stay the same for the
//! rest of the session, also when it is interrupted and goes on.

use deadheat_model::{
    Cell, SessionRecord, TrialOutcome,
    fault::TRANSPORT_FAILURES,
    workload::{OfferedRate, OpenLoad},
};

use super::remaining::void;

/// The rate, in requests per second, at which `cell` is loaded in the open loop `open`, rounded down: a share of the own
/// capacity to three significant digits, so that it is the share that its name says, and the rate common to all to two.
///
/// # Errors
/// Why the capacity that it is a share of is not known.
pub(super) fn rate(session: &SessionRecord, cell: &Cell, open: &OpenLoad) -> Result<f64, String> {
    let at = |target| Cell {
        target,
        workload: cell.workload.clone(),
        point: open.capacity_of.clone(),
    };
    let (capacity, percent, digits) = match open.rate {
        OfferedRate::OfOwnCapacity(percent) => {
            (capacity(session, &at(cell.target.clone()))?, percent, 3)
        }
        OfferedRate::OfSlowestCapacity(percent) => {
            let targets = session.header.plan.targets.iter().cloned();
            let known = targets.filter_map(|target| capacity(session, &at(target)).ok());
            let slowest = known.min_by(f64::total_cmp).ok_or_else(|| {
                format!(
                    "no stack has a capacity at {} {}: the trials of the first block failed",
                    cell.workload, open.capacity_of
                )
            })?;
            (slowest, percent, 2)
        }
    };
    Ok(rounded_down(capacity * f64::from(percent) / 100.0, digits))
}

/// The throughput of the closed loop's trial in the first block. A rate is a setting and no result: where all attempts
/// are void, that of the last one will do, since a disturbance is no reason to call a stack's open loops failed. Wrong
/// answers are: of them a server may give any number.
fn capacity(session: &SessionRecord, cell: &Cell) -> Result<f64, String> {
    let all = || {
        let trials = session.trials.iter();
        trials.filter(|trial| trial.block == 0 && trial.cell == *cell)
    };
    let counts = all().rfind(|trial| void(&session.header, trial).is_none());
    let counts = counts.or_else(|| all().next_back());
    let unknown = |why: &str| {
        Err(format!(
            "its rate is a share of its capacity at {}, which is not known: {why}",
            cell.point
        ))
    };
    let Some(trial) = counts else {
        return unknown("the first block has no trial of it");
    };
    match &trial.outcome {
        TrialOutcome::Measured(measured) if !trial.has_failed(TRANSPORT_FAILURES) => {
            Ok(measured.load.throughput())
        }
        _ => unknown("its trial of the first block failed"),
    }
}

/// Rounds down to so many significant digits.
pub(super) fn rounded_down(rate: f64, digits: i32) -> f64 {
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
        Failure, TrialRecord,
        load::Arrivals,
        plan::{Controls, Twin},
    };

    use super::*;
    use crate::session::fixture::{Fixture, cell};

    fn open(rate: OfferedRate) -> OpenLoad {
        OpenLoad {
            capacity_of: "c50".to_owned(),
            rate,
            arrivals: Arrivals::Poisson,
        }
    }

    fn at(target: &str, per_second: u64) -> TrialRecord {
        Fixture::answering(&cell(target, "c50"), 0, per_second)
    }

    fn session(trials: Vec<TrialRecord>) -> SessionRecord {
        let mut session = Fixture::with_open(["a", "b", "c"]);
        session.record.trials = trials;
        session.record
    }

    const OWN: OfferedRate = OfferedRate::OfOwnCapacity(90);
    const SLOWEST: OfferedRate = OfferedRate::OfSlowestCapacity(70);

    #[test]
    fn a_share_of_the_own_capacity_in_the_first_block() {
        let mut later = at("a", 9000);
        later.block = 1;
        let session = session(vec![at("a", 1234), at("b", 10), later]);
        let own = |target| rate(&session, &cell(target, "c50-open-90"), &open(OWN));
        assert_eq!(own("a"), Ok(1110.0), "1110.6, rounded down");
        assert_eq!(own("b"), Ok(9.0));
    }

    #[test]
    fn the_slowest_stack_with_a_capacity_decides_for_all_and_controls_do_not() {
        let mut session = session(vec![
            at("a", 5000),
            at("b", 1000),
            Fixture::failed(&cell("c", "c50"), 0),
            at("~null-server", 90_000),
            at("~aa-twin", 100),
        ]);
        session.header.plan.controls = Controls {
            null_server: Some(Controls::null_server_id()),
            twin: Some(Twin {
                name: Controls::twin_id(),
                of: cell("a", "").target,
            }),
        };
        for target in ["a", "b", "c", "~aa-twin"] {
            let common = rate(&session, &cell(target, "c50-open-common"), &open(SLOWEST));
            assert_eq!(common, Ok(700.0), "{target}");
        }
    }

    #[test]
    fn a_repetition_decides_and_a_void_trial_does_where_there_is_none() {
        let mut disturbed = at("a", 50);
        if let TrialOutcome::Measured(measured) = &mut disturbed.outcome {
            measured.noise.other_cpu_seconds = 1e6;
        }
        let mut trials = vec![disturbed.clone()];
        let of = |trials: &[TrialRecord]| {
            let session = session(trials.to_vec());
            rate(&session, &cell("a", "c50-open-90"), &open(OWN))
        };
        assert_eq!(of(&trials), Ok(45.0));
        trials.push(at("a", 100));
        assert_eq!(of(&trials), Ok(90.0));
        disturbed.attempt = 2;
        trials.push(disturbed);
        assert_eq!(of(&trials), Ok(90.0));
        assert!(
            of(&[])
                .unwrap_err()
                .contains("the first block has no trial of it")
        );
    }

    #[test]
    fn what_is_not_known_is_told_with_its_reason() {
        let failed = session(vec![Fixture::failed(&cell("a", "c50"), 0), at("b", 0)]);
        let own = |target| rate(&failed, &cell(target, "c50-open-90"), &open(OWN)).unwrap_err();
        assert!(
            own("a").contains("at c50, which is not known: its trial of the first block failed")
        );
        assert!(own("b").contains("its trial of the first block failed"));
        let common = rate(&failed, &cell("b", "c50-open-common"), &open(SLOWEST));
        assert!(
            common
                .unwrap_err()
                .starts_with("no stack has a capacity at plaintext c50")
        );
    }

    #[test]
    fn what_answers_wrongly_has_no_capacity() {
        let rates = |kind, count| {
            let mut bad = at("b", 1000);
            Fixture::fail(&mut bad, kind, count);
            let session = session(vec![at("a", 5000), bad]);
            let own = rate(&session, &cell("b", "c50-open-90"), &open(OWN));
            let common = rate(&session, &cell("a", "c50-open-common"), &open(SLOWEST));
            (own.ok(), common)
        };
        for (kind, count) in [(Failure::WrongContent, 1), (Failure::Reset, 2)] {
            assert_eq!(rates(kind, count), (None, Ok(3500.0)), "{count} {kind:?}");
        }
        assert_eq!(rates(Failure::Reset, 1), (Some(900.0), Ok(700.0)));
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
