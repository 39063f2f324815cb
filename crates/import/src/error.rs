//! What can be wrong with a report.

use deadheat_model::imported::{SourceLine, Tool};

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
        place: SourceLine,
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
    /// A file is too long to be read.
    #[error("{file}: it has more than {most} lines; pass the part with the reports")]
    TooLong {
        /// The file.
        file: String,
        /// The maximum.
        most: usize,
    },
    /// A published table cannot be made of the runs.
    #[error("making a published table: {0}")]
    NoTable(String),
}

/// Why a report cannot be read, and on which line.
#[derive(Debug)]
pub(crate) struct Damage {
    pub(crate) line: usize,
    pub(crate) what: String,
    /// Whether the report is whole, and of a tool or in a layout that is not read: the other reports of the file are.
    pub(crate) is_foreign: bool,
}

/// Damage on a line.
pub(crate) fn damage<T>(line: usize, what: impl Into<String>) -> Result<T, Damage> {
    Err(Damage {
        line,
        what: what.into(),
        is_foreign: false,
    })
}

/// A report of a tool, or in a layout, that is not read.
pub(crate) fn foreign<T>(line: usize, tool: &str) -> Result<T, Damage> {
    Err(Damage {
        line,
        what: format!("a report of {tool}, which is not read"),
        is_foreign: true,
    })
}
