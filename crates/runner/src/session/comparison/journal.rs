//! A comparison's files, written and read back as a session's are.

use std::path::Path;

use deadheat_model::comparison::{ComparisonEntry, ComparisonRecord, SCHEMA};

use crate::session::{
    JournalError,
    journal::{read_entries, read_header_as},
};

/// The header's file name. It differs from a session's, so that nothing takes the one for the other.
pub const HEADER_FILE: &str = "comparison.json";

/// Reads a comparison back. A last line without its end, left by a kill, is no trial.
///
/// # Errors
/// When a file is missing, is not one of a comparison, or is of another version.
pub fn read_comparison(folder: &Path) -> Result<ComparisonRecord, JournalError> {
    let mut record = ComparisonRecord {
        header: read_header_as(folder, HEADER_FILE, SCHEMA)?,
        trials: Vec::new(),
        end: None,
    };
    for entry in read_entries(folder)? {
        match entry {
            ComparisonEntry::Trial(trial) => record.trials.push(*trial),
            ComparisonEntry::End { reason, .. } => record.end = Some(reason),
        }
    }
    Ok(record)
}
