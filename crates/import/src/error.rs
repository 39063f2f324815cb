//! What can be wrong with a report.

use deadheat_model::imported::{Place, Tool};

/// Why a file was not imported.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum ImportError {
    /// A report is damaged: no figure of it can be used.
    #[error(
        "{}:{}: reading a report of {}: {what}. Nothing was imported; paste the whole report, or remove it",
        place.file,
        place.line,
        tool.name()
    )]
    Damaged {
        /// The line.
        place: Place,
        /// The tool that printed the report.
        tool: Tool,
        /// What was found or is missing.
        what: String,
    },
    /// There is no report.
    #[error("{file}: found no report of ab, wrk, wrk2, hey, oha, h2load, k6 or vegeta{hint}")]
    Nothing {
        /// The file.
        file: String,
        /// What may be the reason; begins with a punctuation mark, or is empty.
        hint: String,
    },
    /// A published table cannot be made of the runs.
    #[error("making a published table: {0}")]
    NoTable(String),
}

/// What is wrong with a report, and on which line.
#[derive(Debug)]
pub(crate) struct Damage {
    pub(crate) line: usize,
    pub(crate) what: String,
}

/// Damage on a line.
pub(crate) fn damage<T>(line: usize, what: impl Into<String>) -> Result<T, Damage> {
    Err(Damage {
        line,
        what: what.into(),
    })
}
