//! The files of a session of heats, read back.

use std::path::Path;

use deadheat_model::heats::{JournalEntry, Resumption, SCHEMA, SessionHeader, SessionRecord};

use crate::session::{
    JournalError,
    journal::{HEADER_FILE, read_entries_of, read_header_as},
};

/// The heats' file name.
pub const HEATS_FILE: &str = "heats.jsonl";

/// Reads a session back. A last line without its end, left by a kill, is no heat.
///
/// # Errors
/// When a file is missing, is not what a session of heats writes, or is of another version.
pub fn read_session(folder: &Path) -> Result<SessionRecord, JournalError> {
    let header = read_header(folder)?;
    let mut boot = header.boot.clone();
    let mut record = SessionRecord {
        header,
        heats: Vec::new(),
        resumed: Vec::new(),
        end: None,
    };
    for entry in read_entries_of(folder, HEATS_FILE)? {
        match entry {
            JournalEntry::Heat(heat) => record.heats.push(*heat),
            JournalEntry::Resumed {
                at,
                boot: now,
                live,
            } => {
                record.end = None;
                record.resumed.push(Resumption {
                    at,
                    rebooted: boot.is_some() && now.is_some() && boot != now,
                    heats_before: record.begun() as usize,
                    live,
                });
                boot = now;
            }
            JournalEntry::End { reason, .. } => record.end = Some(reason),
        }
    }
    record.check().map_err(|error| JournalError::Malformed {
        path: folder.join(HEATS_FILE),
        line: 1,
        reason: error.to_string(),
    })?;
    Ok(record)
}

/// Reads what was known before a session's first heat.
pub(super) fn read_header(folder: &Path) -> Result<SessionHeader, JournalError> {
    read_header_as(folder, HEADER_FILE, SCHEMA)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_of_another_version_is_refused_with_a_sentence() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(HEADER_FILE), "{\"schema\": 2}").unwrap();
        let error = read_session(folder.path()).unwrap_err().to_string();
        assert!(
            error.contains("has format 2, this deadheat reads 3; use the deadheat that wrote it"),
            "{error}"
        );
    }
}
