//! A session's files: written so that a kill at any moment loses at most the trial in flight, and read back.

use std::{
    fs::{File, OpenOptions},
    io::{self, Write},
    path::{Path, PathBuf},
};

use deadheat_model::{
    JournalEntry, SessionHeader, SessionRecord,
    session::{Resumption, SCHEMA},
};
use serde::{Serialize, de::DeserializeOwned};

use super::lock;
use crate::files;

/// The header's file name.
pub const HEADER_FILE: &str = "session.json";
/// The trials' file name.
pub const TRIALS_FILE: &str = "trials.jsonl";

/// Why a session's files could not be written or read.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// Writing failed.
    #[error(
        "writing {path}: {source}; trials finished before are safe in the session's folder \
         (free some space, or choose another folder with --results)"
    )]
    Write {
        /// The file.
        path: PathBuf,
        /// What happened.
        source: io::Error,
    },
    /// Reading failed.
    #[error("reading {path}: {source}; is {folder} the folder of a session?")]
    Read {
        /// The file.
        path: PathBuf,
        /// The session's folder.
        folder: PathBuf,
        /// What happened.
        source: io::Error,
    },
    /// What was read is not a record.
    #[error(
        "reading {path}, line {line}: {reason}; the file was changed or written by another version"
    )]
    Malformed {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong.
        reason: String,
    },
    /// Another process writes this session.
    #[error("writing {path}: {holder} writes this session; wait for it, or end it with Ctrl-C")]
    Held {
        /// The file.
        path: PathBuf,
        /// Who.
        holder: String,
    },
    /// The files are of another version of the format.
    #[error(
        "{path} has format {found}, this deadheat reads {reads}; use the deadheat that wrote it"
    )]
    Schema {
        /// The file.
        path: PathBuf,
        /// The version found.
        found: u64,
        /// The version that is read.
        reads: u32,
    },
}

/// A session's folder, open for writing by this process alone.
#[derive(Debug)]
pub struct Journal {
    folder: PathBuf,
    path: PathBuf,
    file: File,
}

impl Journal {
    /// Makes an empty journal in `folder`. It comes before the header: where there is a header, there is a journal.
    ///
    /// # Errors
    /// When it cannot be written, or another process writes it.
    pub fn claim(folder: &Path) -> Result<Self, JournalError> {
        Self::claim_as(folder, TRIALS_FILE)
    }

    /// The same, in a file of this name.
    pub(super) fn claim_as(folder: &Path, name: &str) -> Result<Self, JournalError> {
        let options = &mut OpenOptions::new();
        Self::open(folder, name, options.create(true).append(true))
    }

    /// Opens the journal of a session that is to go on.
    ///
    /// # Errors
    /// When it is not there or cannot be written, or another process writes it.
    pub fn reopen(folder: &Path) -> Result<Self, JournalError> {
        Self::reopen_as(folder, TRIALS_FILE)
    }

    /// The same, in a file of this name.
    pub(super) fn reopen_as(folder: &Path, name: &str) -> Result<Self, JournalError> {
        Self::open(folder, name, OpenOptions::new().append(true).read(true))
    }

    fn open(folder: &Path, name: &str, options: &OpenOptions) -> Result<Self, JournalError> {
        let path = folder.join(name);
        let failed = |source| JournalError::Write {
            path: path.clone(),
            source,
        };
        let file = options.open(&path).map_err(failed)?;
        if let Some(holder) = lock::exclusively(&file, &path) {
            return Err(JournalError::Held { path, holder });
        }
        Ok(Self {
            folder: folder.to_owned(),
            path,
            file,
        })
    }

    /// Writes the header, whole or not at all.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn begin(&self, header: &SessionHeader) -> Result<(), JournalError> {
        self.begin_as(HEADER_FILE, header)
    }

    /// The same, of any header, in a file of this name.
    pub(super) fn begin_as(&self, name: &str, header: &impl Serialize) -> Result<(), JournalError> {
        let path = self.folder.join(name);
        let failed = |path: &Path, source| JournalError::Write {
            path: path.to_owned(),
            source,
        };
        let text =
            serde_json::to_vec_pretty(header).map_err(|error| failed(&path, error.into()))?;
        // The journal's name is on the disk before the header's.
        sync_folder(&self.folder).map_err(|error| failed(&self.folder, error))?;
        files::write_whole(&path, &text).map_err(|error| failed(&path, error))?;
        sync_folder(&self.folder).map_err(|error| failed(&self.folder, error))
    }

    /// Cuts off a last line that a kill left unfinished, and nothing else.
    ///
    /// # Errors
    /// When the file cannot be read or cut.
    pub fn cut_unfinished_line(&mut self) -> Result<(), JournalError> {
        let failed = |source| JournalError::Write {
            path: self.path.clone(),
            source,
        };
        let bytes = files::read(&self.path, LONGEST).map_err(failed)?;
        let whole = bytes.iter().rposition(|byte| *byte == b'\n');
        let whole = whole.map_or(0, |end| end + 1);
        if whole < bytes.len() {
            self.file.set_len(whole as u64).map_err(failed)?;
            self.file.sync_data().map_err(failed)?;
        }
        Ok(())
    }

    /// Appends an entry and waits until it is on the disk.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn append(&mut self, entry: &impl Serialize) -> Result<(), JournalError> {
        self.try_append(entry)
            .map_err(|source| JournalError::Write {
                path: self.path.clone(),
                source,
            })
    }

    fn try_append(&mut self, entry: &impl Serialize) -> io::Result<()> {
        // One write for the whole line: a kill leaves all of it or a beginning without its end of line.
        let mut line = serde_json::to_vec(entry)?;
        line.push(b'\n');
        self.file.write_all(&line)?;
        self.file.sync_data()
    }
}

/// Waits until the names of the files in `folder` are on the disk.
pub(super) fn sync_folder(folder: &Path) -> io::Result<()> {
    match File::open(folder)?.sync_all() {
        // Some file systems cannot do that for a folder (fsync(2)).
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(()),
        synced => synced,
    }
}

/// The most that is read of a file of a session. The longest ones have tens of megabytes.
const LONGEST: u64 = 4 << 30;

/// Reads a session back. A last line without its end, left by a kill, is no trial.
///
/// # Errors
/// When a file is missing, is not what [`Journal`] writes, or is of another version.
pub fn read_session(folder: &Path) -> Result<SessionRecord, JournalError> {
    let header = read_header(folder)?;
    let mut boot = header.boot.clone();
    let mut record = SessionRecord {
        header,
        trials: Vec::new(),
        end: None,
        resumed: Vec::new(),
    };
    for entry in read_entries(folder)? {
        match entry {
            JournalEntry::Trial(trial) => record.trials.push(*trial),
            JournalEntry::Resumed {
                at,
                boot: now,
                live,
            } => {
                record.end = None;
                record.resumed.push(Resumption {
                    at,
                    rebooted: boot.is_some() && now.is_some() && boot != now,
                    trials_before: record.trials.len(),
                    live,
                });
                boot = now;
            }
            JournalEntry::End { reason, .. } => record.end = Some(reason),
        }
    }
    Ok(record)
}

/// Reads what was known before a session's first trial.
///
/// # Errors
/// When the file is missing, is not what [`Journal`] writes, or is of another version.
pub fn read_header(folder: &Path) -> Result<SessionHeader, JournalError> {
    read_header_as(folder, HEADER_FILE, SCHEMA)
}

/// The same, of any header, in a file of this name and in this version of its format.
pub(super) fn read_header_as<H: DeserializeOwned>(
    folder: &Path,
    name: &str,
    schema: u32,
) -> Result<H, JournalError> {
    let path = folder.join(name);
    let text = read_text(folder, &path)?;
    let value: serde_json::Value =
        serde_json::from_str(&text).map_err(|error| malformed(&path, error.line(), &error))?;
    let found = value["schema"].as_u64().unwrap_or(0);
    if found != u64::from(schema) {
        return Err(JournalError::Schema {
            path,
            found,
            reads: schema,
        });
    }
    serde_json::from_value(value).map_err(|error| malformed(&path, 1, &error))
}

/// Reads a journal's entries. A last line without its end, left by a kill, is none.
pub(super) fn read_entries<E: DeserializeOwned>(folder: &Path) -> Result<Vec<E>, JournalError> {
    read_entries_of(folder, TRIALS_FILE)
}

/// The same, of the journal in a file of this name.
pub(super) fn read_entries_of<E: DeserializeOwned>(
    folder: &Path,
    name: &str,
) -> Result<Vec<E>, JournalError> {
    let path = folder.join(name);
    let text = read_text(folder, &path)?;
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    let entry = |(index, line)| {
        serde_json::from_str(line).map_err(|error| malformed(&path, index + 1, &error))
    };
    whole.lines().enumerate().map(entry).collect()
}

fn malformed(path: &Path, line: usize, error: &serde_json::Error) -> JournalError {
    JournalError::Malformed {
        path: path.to_owned(),
        line,
        reason: error.to_string(),
    }
}

fn read_text(folder: &Path, path: &Path) -> Result<String, JournalError> {
    files::read(path, LONGEST)
        .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
        .map_err(|source| JournalError::Read {
            path: path.to_owned(),
            folder: folder.to_owned(),
            source,
        })
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeMap, fs};

    use deadheat_model::{
        Cell, Plan, TargetId, TrialOutcome, TrialRecord,
        machine::Machine,
        plan::{Controls, Pinning},
        session::EndReason,
        trial::{Phase, TrialFailure},
    };

    use super::*;

    fn header() -> SessionHeader {
        SessionHeader {
            schema: SCHEMA,
            id: "s".to_owned(),
            deadheat: "0".to_owned(),
            commit: None,
            started: "2026-11-21T00:00:00Z".to_owned(),
            arguments: Vec::new(),
            machine: Machine::default(),
            findings: Vec::new(),
            plan: Plan {
                seed: 1,
                blocks: 3,
                targets: Vec::new(),
                workloads: Vec::new(),
                cells: Vec::new(),
                controls: Controls::default(),
                noise_bound: None,
                pinning: Pinning::Off { cpus: vec![0] },
                budget_seconds: None,
                estimate: std::time::Duration::ZERO,
                choice: None,
            },
            targets: Vec::new(),
            postgres: None,
            published: Vec::new(),
            definitions: BTreeMap::new(),
            boot: Some("one".to_owned()),
            live: false,
            environment: Vec::new(),
        }
    }

    fn trial(block: u32) -> JournalEntry {
        JournalEntry::Trial(Box::new(TrialRecord {
            block,
            position: 0,
            attempt: 0,
            cell: Cell {
                target: TargetId::new("a", None),
                workload: "plaintext".to_owned(),
                point: "c50".to_owned(),
            },
            started: "2026-11-21T00:00:00Z".to_owned(),
            command: Vec::new(),
            port: 1,
            warm_up: std::time::Duration::ZERO,
            offered_per_second: None,
            outcome: TrialOutcome::Failed(TrialFailure {
                phase: Phase::Start,
                reason: "a\nb".to_owned(),
                log_tail: Vec::new(),
                load: None,
            }),
        }))
    }

    fn begun(folder: &Path) -> Journal {
        let journal = Journal::claim(folder).unwrap();
        journal.begin(&header()).unwrap();
        journal
    }

    #[test]
    fn what_is_written_is_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let mut journal = begun(folder.path());
        journal.append(&trial(0)).unwrap();
        let end = JournalEntry::End {
            reason: EndReason::Budget,
            at: "2026-11-21T00:00:00Z".to_owned(),
        };
        journal.append(&end).unwrap();
        let record = read_session(folder.path()).unwrap();
        assert_eq!(record.header, header());
        assert_eq!(
            (record.trials.len(), record.end),
            (1, Some(EndReason::Budget))
        );
    }

    #[test]
    fn a_kill_at_any_byte_loses_at_most_the_last_trial() {
        let folder = tempfile::tempdir().unwrap();
        let mut journal = begun(folder.path());
        journal.append(&trial(0)).unwrap();
        journal.append(&trial(1)).unwrap();
        let path = folder.path().join(TRIALS_FILE);
        let whole = fs::read(&path).unwrap();
        let first = whole.iter().position(|byte| *byte == b'\n').unwrap();
        for cut in 0..whole.len() {
            fs::write(&path, &whole[..cut]).unwrap();
            let record = read_session(folder.path()).unwrap();
            assert_eq!(
                record.trials.len(),
                usize::from(cut > first),
                "cut at byte {cut}"
            );
            assert_eq!(record.end, None);
        }
    }

    #[test]
    fn a_changed_line_and_another_version_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let mut journal = begun(folder.path());
        journal.append(&trial(0)).unwrap();
        let path = folder.path().join(TRIALS_FILE);
        fs::write(&path, "{}\n").unwrap();
        let error = read_session(folder.path()).unwrap_err().to_string();
        assert!(error.contains("trials.jsonl, line 1"), "{error}");
        let mut other = serde_json::to_value(header()).unwrap();
        other["schema"] = 99.into();
        fs::write(folder.path().join(HEADER_FILE), other.to_string()).unwrap();
        let error = read_session(folder.path()).unwrap_err().to_string();
        assert!(error.contains("format 99"), "{error}");
    }

    #[test]
    fn a_full_disk_is_told_with_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let mut journal = begun(folder.path());
        journal.file = OpenOptions::new().append(true).open("/dev/full").unwrap();
        let error = journal.append(&trial(0)).unwrap_err().to_string();
        assert!(
            error.contains("trials.jsonl") && error.contains("--results"),
            "{error}"
        );
    }

    #[test]
    fn a_session_is_written_by_one_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let first = begun(folder.path());
        let error = Journal::reopen(folder.path()).unwrap_err().to_string();
        let pid = format!("process {}", std::process::id());
        assert!(
            error.contains("trials.jsonl") && error.contains(&pid),
            "{error}"
        );
        drop(first);
        Journal::reopen(folder.path()).unwrap();
    }

    #[test]
    fn only_an_unfinished_line_is_cut_off() {
        let folder = tempfile::tempdir().unwrap();
        let mut journal = begun(folder.path());
        journal.append(&trial(0)).unwrap();
        journal.append(&trial(1)).unwrap();
        drop(journal);
        let path = folder.path().join(TRIALS_FILE);
        let whole = fs::read(&path).unwrap();
        let first = 1 + whole.iter().position(|byte| *byte == b'\n').unwrap();
        for cut in 0..=whole.len() {
            fs::write(&path, &whole[..cut]).unwrap();
            let mut journal = Journal::reopen(folder.path()).unwrap();
            journal.cut_unfinished_line().unwrap();
            let left = match cut {
                cut if cut < first => 0,
                cut if cut < whole.len() => first,
                all => all,
            };
            assert_eq!(fs::read(&path).unwrap(), whole[..left], "cut at byte {cut}");
            let boot = if cut % 2 == 0 { "one" } else { "two" };
            let entry = JournalEntry::Resumed {
                at: "2026-11-21T00:00:00Z".to_owned(),
                boot: Some(boot.to_owned()),
                live: cut % 3 == 0,
            };
            journal.append(&entry).unwrap();
            journal.append(&trial(1)).unwrap();
            let record = read_session(folder.path()).unwrap();
            let before = record.resumed[0].trials_before;
            assert_eq!(record.trials.len(), before + 1, "cut at byte {cut}");
            assert_eq!(record.resumed.len(), 1);
            assert_eq!(record.resumed[0].rebooted, boot == "two");
            assert_eq!(record.resumed[0].live, cut % 3 == 0);
        }
    }
}
