//! What can go wrong while a report is written.

/// A report could not be written.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// The page's template does not fit the view.
    #[error("filling the page's template: {0:#}")]
    Template(#[from] minijinja::Error),
    /// A value has no JSON form.
    #[error("writing the report as JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// A histogram could not be written into HdrHistogram's log.
    #[error("writing the HdrHistogram log: {reason}")]
    HdrLog {
        /// What happened.
        reason: String,
    },
    /// A card could not be drawn.
    #[error("drawing the card: {reason}")]
    Card {
        /// What happened.
        reason: String,
    },
    /// A card was asked for of a load point that the session does not have.
    #[error(
        "the session has no closed loop of a workload `{asked}`; it has {}",
        if known.is_empty() { "none".to_owned() } else { known.join(", ") }
    )]
    NoSuchWorkload {
        /// What was asked for.
        asked: String,
        /// What there is.
        known: Vec<String>,
    },
}
