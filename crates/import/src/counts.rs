//! How many requests of a run had a right answer, any answer, or none.

use deadheat_model::imported::Run;

/// From this share of errors on, a rate is not one of right answers.
pub const MANY_ERRORS: f64 = 0.01;

/// Whether so large a share of a run's requests had no right answer that its rate is not one of right answers.
pub fn has_many_errors(run: &Run) -> bool {
    error_share(run).is_some_and(|share| share >= MANY_ERRORS)
}

/// Numbers of a run's requests, each of which its rate may be of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RequestCounts {
    /// Those with a right answer.
    pub right: f64,
    /// Those with any answer.
    pub answered: f64,
    /// All of them.
    pub sent: f64,
}

impl RequestCounts {
    /// Counts the requests of a run; `None`: they are not recorded, or there were none.
    pub fn new(run: &Run) -> Option<Self> {
        let figures = &run.figures;
        let answered = figures.complete? as f64;
        let wrong = figures.non_2xx.unwrap_or(0) as f64;
        let failed = failed(run) as f64;
        let (wrong, sent) = if run.counts_failed() {
            (wrong.max(failed), answered)
        } else {
            (wrong, answered + failed)
        };
        (sent > 0.0).then_some(Self {
            right: (answered - wrong).max(0.0),
            answered,
            sent,
        })
    }
}

/// Requests that failed. ab's answers of another length are not among them, because content may vary.
fn failed(run: &Run) -> u64 {
    let lengths = run.warnings.iter().find(|one| one.id == "lengths");
    let lengths = lengths.and_then(|one| one.evidence.get("answers"));
    let lengths = lengths.and_then(serde_json::Value::as_u64).unwrap_or(0);
    run.figures.failed.unwrap_or(0).saturating_sub(lengths)
}

/// Requests without a right answer, as a share of all; `None`: not recorded. A tool that prints errors only if there
/// are some had none if it prints none.
pub fn error_share(run: &Run) -> Option<f64> {
    let figures = &run.figures;
    let is_printed = figures.non_2xx.is_some() || figures.failed.is_some();
    let is_blind = run.warnings.iter().any(|one| one.id == "no-statuses");
    let counts = RequestCounts::new(run).filter(|_| is_printed || !is_blind)?;
    Some((counts.sent - counts.right) / counts.sent)
}
