//! A comparison's files: written so that a kill at any moment loses at most the trial in flight, and read back.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write},
    path::{Path, PathBuf},
};

use deadheat_model::comparison::{ComparisonEntry, ComparisonHeader, ComparisonRecord, SCHEMA};

use crate::session::{JournalError, TRIALS_FILE, write_whole};

/// The header's file name. It differs from a session's, so that nothing takes the one for the other.
pub const HEADER_FILE: &str = "comparison.json";

/// A comparison's folder, open for writing.
#[derive(Debug)]
pub(super) struct Journal {
    path: PathBuf,
    file: File,
}

impl Journal {
    /// Writes the header and begins an empty journal in `folder`.
    pub(super) fn begin(folder: &Path, header: &ComparisonHeader) -> Result<Self, JournalError> {
        let header_path = folder.join(HEADER_FILE);
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |source| JournalError::Write { path, source }
        };
        let text = serde_json::to_vec_pretty(header).map_err(io::Error::from);
        text.and_then(|text| write_whole(&header_path, &text))
            .map_err(failed(&header_path))?;
        let path = folder.join(TRIALS_FILE);
        let file = OpenOptions::new().create(true).append(true).open(&path);
        let file = file.map_err(failed(&path))?;
        File::open(folder)
            .and_then(|folder| folder.sync_all())
            .map_err(failed(folder))?;
        Ok(Self { path, file })
    }

    /// Appends an entry and waits until it is on the disk.
    pub(super) fn append(&mut self, entry: &ComparisonEntry) -> Result<(), JournalError> {
        let mut write = || {
            // One write for the whole line: a kill leaves all of it or a beginning without its end of line.
            let mut line = serde_json::to_vec(entry)?;
            line.push(b'\n');
            self.file.write_all(&line)?;
            self.file.sync_data()
        };
        write().map_err(|source| JournalError::Write {
            path: self.path.clone(),
            source,
        })
    }
}

/// Reads a comparison back. A last line without its end, left by a kill, is no trial.
///
/// # Errors
/// When a file is missing, is not one of a comparison, or is of another version.
pub fn read_comparison(folder: &Path) -> Result<ComparisonRecord, JournalError> {
    let path = folder.join(HEADER_FILE);
    let malformed = |path: &Path, line: usize, error: &serde_json::Error| JournalError::Malformed {
        path: path.to_owned(),
        line,
        reason: error.to_string(),
    };
    let text = text_of(folder, &path)?;
    let value: serde_json::Value =
        serde_json::from_str(&text).map_err(|error| malformed(&path, error.line(), &error))?;
    let found = value["schema"].as_u64().unwrap_or(0);
    if found != u64::from(SCHEMA) {
        return Err(JournalError::Schema { path, found });
    }
    let mut record = ComparisonRecord {
        header: serde_json::from_value(value).map_err(|error| malformed(&path, 1, &error))?,
        trials: Vec::new(),
        end: None,
    };
    let path = folder.join(TRIALS_FILE);
    let text = text_of(folder, &path)?;
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    for (index, line) in whole.lines().enumerate() {
        match serde_json::from_str(line).map_err(|error| malformed(&path, index + 1, &error))? {
            ComparisonEntry::Trial(trial) => record.trials.push(*trial),
            ComparisonEntry::End { reason, .. } => record.end = Some(reason),
        }
    }
    Ok(record)
}

fn text_of(folder: &Path, path: &Path) -> Result<String, JournalError> {
    let bytes = fs::read(path).map_err(|source| JournalError::Read {
        path: path.to_owned(),
        folder: folder.to_owned(),
        source,
    })?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
