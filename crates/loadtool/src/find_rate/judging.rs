//! Whether a look holds.

use deadheat_model::{
    LoadRecord, Observation, Warning, capacity::LookOutcome, fault::TRANSPORT_FAILURES, figure,
};

use crate::{analysis::analyse, thresholds::Threshold};

/// What became of a look.
#[derive(Debug)]
pub(super) struct Judged {
    pub(super) outcome: LookOutcome,
    /// Why it did not hold, or was discarded.
    pub(super) why: Option<String>,
    /// The figure of each condition.
    pub(super) values: Vec<Option<f64>>,
}

/// A server has fallen behind if the requests without an answer have grown by more than this share of those that were
/// due …
const BEHIND: f64 = 0.01;
/// … and by more than chance does: so many standard deviations of a queue that neither grows nor shrinks.
const DEVIATIONS: f64 = 2.0;

/// Judges a look.
///
/// A look that holds while the generator is at its limit holds: its delays are in the response times, so without them it
/// would hold as well. One that does not hold then is discarded.
pub(super) fn judge(record: &LoadRecord, conditions: &[Threshold]) -> Judged {
    let found = &record.observation;
    let values = conditions.iter().map(|condition| condition.value(found));
    let values: Vec<Option<f64>> = values.collect();
    let Some(why) = broken(found, conditions, &values) else {
        return Judged {
            outcome: LookOutcome::Held,
            why: None,
            values,
        };
    };
    let analysis = analyse(record);
    let (outcome, why) = if analysis.verdict.generator_was_limit() {
        let limit = analysis.verdict.warnings.first().map(Warning::in_full);
        (LookOutcome::Discarded, limit.unwrap_or(why))
    } else {
        (LookOutcome::Failed, why)
    };
    Judged {
        outcome,
        why: Some(why),
        values,
    }
}

/// The first thing that does not hold.
fn broken(found: &Observation, conditions: &[Threshold], values: &[Option<f64>]) -> Option<String> {
    for (condition, value) in conditions.iter().zip(values) {
        let figure = condition.described().figure;
        match value {
            None => return Some(format!("{figure} is not known: nothing was answered")),
            Some(value) if !condition.holds(*value) => {
                return Some(format!("{figure} was {}", condition.shown(*value)));
            }
            Some(_) => {}
        }
    }
    let ended = found.measured.ended();
    let failed = found.measured.failed.total() as f64 / ended.max(1) as f64;
    let is_of_errors = conditions.iter().any(Threshold::is_of_errors);
    if ended == 0 {
        return Some("no request ended".to_owned());
    }
    if failed > TRANSPORT_FAILURES && !is_of_errors {
        return Some(format!(
            "{} of the requests failed",
            figure::percent(failed)
        ));
    }
    let grown = behind(found)?;
    Some(format!(
        "the server fell behind: at the end {} more of the requests due had no answer than at the start",
        figure::percent(grown)
    ))
}

/// By which share of the requests due those without an answer have grown, if that is more than chance.
fn behind(found: &Observation) -> Option<f64> {
    let open = found.open.as_ref().filter(|open| open.offered > 0)?;
    let due = open.offered as f64;
    let at_start = found.measured.carried_in + found.backlog_before().unwrap_or_default();
    let at_end = found.measured.in_flight + open.unsent;
    let grown = at_end.saturating_sub(at_start) as f64 / due;
    let chance = DEVIATIONS * (2.0 / due).sqrt();
    (grown > BEHIND + chance).then_some(grown)
}

#[cfg(test)]
mod tests {
    use deadheat_model::{Failure, observation::OpenLoop};

    use super::*;

    /// 10,000 requests that were due and answered within 5 ms.
    fn well() -> Observation {
        let mut open = OpenLoop {
            offered: 10_000,
            ..OpenLoop::default()
        };
        for _ in 0..10_000 {
            open.response_time.record_ns(5_000_000);
        }
        let mut found = Observation {
            open: Some(open),
            ..Observation::default()
        };
        found.measured.issued = 10_000;
        found.measured.succeeded = 10_000;
        found
    }

    fn broken_by(found: &Observation, condition: &str) -> Option<String> {
        let conditions = [condition.parse::<Threshold>().unwrap()];
        let values = [conditions[0].value(found)];
        broken(found, &conditions, &values)
    }

    #[test]
    fn a_look_holds_if_the_condition_does_and_nearly_nothing_fails() {
        assert_eq!(broken_by(&well(), "p99<50ms"), None);
        let why = broken_by(&well(), "p99<4ms").unwrap();
        assert!(why.starts_with("p99 was 5"), "{why}");
        let mut failing = well();
        failing.measured.failed[Failure::WrongStatus] = 20;
        let why = broken_by(&failing, "p99<50ms").unwrap();
        assert!(why.contains("0.2 % of the requests failed"), "{why}");
        // A condition on errors replaces the built-in bound.
        assert_eq!(broken_by(&failing, "errors<1%"), None);
        assert!(broken_by(&failing, "errors<0.1%").is_some());
        assert!(broken_by(&Observation::default(), "p99<1s").is_some());
    }

    #[test]
    fn a_server_that_falls_behind_does_not_hold_however_quick_its_answers_were() {
        let mut behind = well();
        if let Some(open) = &mut behind.open {
            open.unsent = 900;
        }
        behind.measured.issued -= 900;
        behind.measured.succeeded -= 900;
        let why = broken_by(&behind, "errors<1%").unwrap();
        assert!(why.contains("fell behind"), "{why}");
        // As many as at the start: a slow server, not an overloaded one.
        behind.measured.carried_in = 900;
        assert_eq!(broken_by(&behind, "errors<1%"), None);
    }
}
