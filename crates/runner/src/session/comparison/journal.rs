//! A comparison's files, written and read back as a session's are.

use std::path::Path;

use deadheat_model::comparison::{ComparisonEntry, ComparisonRecord, SCHEMA};

use crate::session::{
    JournalError,
    heats::HEATS_FILE,
    journal::{read_entries_of, read_header_as},
};

/// The header's file name. It differs from a session's, so that nothing takes the one for the other.
pub const HEADER_FILE: &str = "comparison.json";

/// Reads a comparison back. A last line without its end, left by a kill, is no heat.
///
/// # Errors
/// When a file is missing, is not one of a comparison, or is of another version.
pub fn read_comparison(folder: &Path) -> Result<ComparisonRecord, JournalError> {
    let mut record = ComparisonRecord {
        header: read_header_as(folder, HEADER_FILE, SCHEMA)?,
        heats: Vec::new(),
        end: None,
    };
    for entry in read_entries_of(folder, HEATS_FILE)? {
        match entry {
            ComparisonEntry::Heat(heat) => record.heats.push(*heat),
            ComparisonEntry::End { reason, .. } => record.end = Some(reason),
        }
    }
    Ok(record)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_version_is_refused_with_a_sentence() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(HEADER_FILE), "{\"schema\": 1}").unwrap();
        let error = read_comparison(folder.path()).unwrap_err().to_string();
        assert!(
            error.contains("has format 1, this deadheat reads 2"),
            "{error}"
        );
    }
}
