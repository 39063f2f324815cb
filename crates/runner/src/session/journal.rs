//! Writes and reads the lines of a journal, and the header before it. A kill at any time loses at most what is being
//! written.

use std::{
    fs::{File, OpenOptions},
    io::{self, BufRead, BufReader, Read as _, Seek as _, SeekFrom, Write},
    path::{Path, PathBuf},
};

use deadheat_model::record::{self, Record};
use flate2::read::MultiGzDecoder;
use serde::{Deserialize, Serialize};

use super::folder::{exclusively, sync_folder};
use crate::files;

/// The header's file name.
pub const HEADER_FILE: &str = "session.json";

/// Why a session's files could not be written or read.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// Writing failed.
    #[error(
        "writing {path}: {source}; heats finished before are safe in the session's folder \
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
        /// The process.
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
    /// Creates an empty journal of this name in `folder`. It is created before the header, so every header has a
    /// journal.
    ///
    /// # Errors
    /// When it cannot be written, or another process writes it.
    pub(super) fn claim_as(folder: &Path, name: &str) -> Result<Self, JournalError> {
        let options = &mut OpenOptions::new();
        Self::open(folder, name, options.create(true).append(true))
    }

    /// Opens the journal of this name of a session that is resumed.
    ///
    /// # Errors
    /// When it does not exist or cannot be written, or another process writes it.
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
        if let Some(holder) = exclusively(&file, &path) {
            return Err(JournalError::Held { path, holder });
        }
        Ok(Self {
            folder: folder.to_owned(),
            path,
            file,
        })
    }

    /// Writes a header to a file of this name atomically.
    ///
    /// # Errors
    /// When it cannot be written.
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

    /// Removes an unfinished last line, which a kill leaves.
    ///
    /// # Errors
    /// When the file cannot be read or truncated.
    pub(crate) fn cut_unfinished_line(&mut self) -> Result<(), JournalError> {
        let failed = |source| JournalError::Write {
            path: self.path.clone(),
            source,
        };
        let length = self.file.metadata().map_err(failed)?.len();
        let whole = last_end(&self.path, length).map_err(failed)?;
        if whole < length {
            self.file.set_len(whole).map_err(failed)?;
            self.file.sync_data().map_err(failed)?;
        }
        Ok(())
    }

    /// Removes the last line, which is a complete one.
    ///
    /// # Errors
    /// When the file cannot be read or truncated.
    pub(super) fn cut_last_line(&mut self) -> Result<(), JournalError> {
        let failed = |source| JournalError::Write {
            path: self.path.clone(),
            source,
        };
        let length = self.file.metadata().map_err(failed)?.len();
        // Without its end, it is an unfinished one.
        let without_end = length.saturating_sub(1);
        self.file.set_len(without_end).map_err(failed)?;
        self.cut_unfinished_line()
    }

    /// Appends entries that belong together and waits until they are on the disk.
    ///
    /// # Errors
    /// When they cannot be written.
    pub fn append<E: Serialize>(
        &mut self,
        entries: impl IntoIterator<Item = E>,
    ) -> Result<(), JournalError> {
        self.try_append(entries)
            .map_err(|source| JournalError::Write {
                path: self.path.clone(),
                source,
            })
    }

    fn try_append<E: Serialize>(&mut self, entries: impl IntoIterator<Item = E>) -> io::Result<()> {
        // One write for all lines, so that a kill leaves all of them, or a prefix without a line end if the disk is
        // slow.
        let mut lines = Vec::new();
        for entry in entries {
            serde_json::to_writer(&mut lines, &entry)?;
            lines.push(b'\n');
        }
        self.file.write_all(&lines)?;
        self.file.sync_data()
    }
}

/// The position after the last complete line of a file, searched from the end.
fn last_end(path: &Path, length: u64) -> io::Result<u64> {
    let mut file = files::open(path)?;
    let mut piece = vec![0; PIECE];
    let mut end = length;
    while end > 0 {
        if length - end > LONGEST_ENTRY {
            return Err(too_long("its last line", LONGEST_ENTRY));
        }
        let begin = end.saturating_sub(PIECE as u64);
        file.seek(SeekFrom::Start(begin))?;
        let piece = &mut piece[..usize::try_from(end - begin).unwrap_or(PIECE)];
        file.read_exact(piece)?;
        if let Some(at) = piece.iter().rposition(|byte| *byte == b'\n') {
            return Ok(begin + at as u64 + 1);
        }
        end = begin;
    }
    Ok(0)
}

const PIECE: usize = 64 * 1024;

/// The maximum length of a header in bytes. The longest ones have some hundred kilobytes.
const LONGEST_HEADER: u64 = 16 << 20;
/// The maximum length of an entry, which is one heat, in bytes. The longest ones have some megabytes.
const LONGEST_ENTRY: u64 = 64 << 20;
/// The maximum length of all entries in bytes, because they are kept in memory. The longest sessions have some hundred
/// megabytes.
const LONGEST: u64 = 1 << 30;

fn too_long(what: &str, most: u64) -> io::Error {
    let most = most >> 20;
    io::Error::other(format!(
        "{what} is longer than {most} MiB, which is the most that is read"
    ))
}

/// Reads a header from a file of this name. It must have this version of the format.
///
/// # Errors
/// When the file is missing, is not what [`Journal`] writes, or is of another version.
pub(super) fn read_header_as<H: Record>(
    folder: &Path,
    name: &str,
    schema: u32,
) -> Result<H, JournalError> {
    /// The field with the version of the format.
    #[derive(Deserialize)]
    struct Version {
        #[serde(default)]
        schema: u64,
    }
    let path = folder.join(name);
    let text =
        files::read(&path, LONGEST_HEADER).map_err(|source| not_read(folder, &path, source))?;
    let version: Version =
        serde_json::from_slice(&text).map_err(|error| malformed(&path, error.line(), &error))?;
    let found = version.schema;
    if found != u64::from(schema) {
        return Err(JournalError::Schema {
            path,
            found,
            reads: schema,
        });
    }
    record::read(&text).map_err(|error| malformed(&path, error.line(), &error))
}

/// Reads the entries of the journal `name`, or of `name.gz` (kept sessions are compressed). Skips an unfinished last
/// line, which a kill leaves.
pub(super) fn read_entries_of<E: Record>(
    folder: &Path,
    name: &str,
) -> Result<Vec<E>, JournalError> {
    let (plain, zipped) = (folder.join(name), folder.join(format!("{name}.gz")));
    let is_zipped = !plain.exists() && zipped.exists();
    let path = if is_zipped { zipped } else { plain };
    let failed = |source| not_read(folder, &path, source);
    let file = files::open(&path).map_err(failed)?;
    let mut reader: Box<dyn BufRead> = if is_zipped {
        Box::new(BufReader::new(MultiGzDecoder::new(file)))
    } else {
        Box::new(BufReader::new(file))
    };
    let mut entries = Vec::new();
    let (mut line, mut all) = (Vec::new(), 0);
    loop {
        line.clear();
        let mut bounded = reader.by_ref().take(LONGEST_ENTRY + 1);
        let length = bounded.read_until(b'\n', &mut line).map_err(failed)? as u64;
        all += length;
        if length > LONGEST_ENTRY {
            return Err(failed(too_long("a line", LONGEST_ENTRY)));
        }
        if all > LONGEST {
            return Err(failed(too_long("it", LONGEST)));
        }
        if line.pop() != Some(b'\n') {
            return Ok(entries);
        }
        let number = entries.len() + 1;
        let entry = record::read(&line);
        entries.push(entry.map_err(|error| malformed(&path, number, &error))?);
    }
}

fn malformed(path: &Path, line: usize, error: &serde_json::Error) -> JournalError {
    JournalError::Malformed {
        path: path.to_owned(),
        line,
        reason: error.to_string(),
    }
}

fn not_read(folder: &Path, path: &Path, source: io::Error) -> JournalError {
    JournalError::Read {
        path: path.to_owned(),
        folder: folder.to_owned(),
        source,
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use serde_json::{Value, json};

    use super::*;

    const NAME: &str = "heats.jsonl";

    fn header() -> Value {
        json!({ "schema": 7, "id": "s" })
    }

    fn begun(folder: &Path) -> Journal {
        let journal = Journal::claim_as(folder, NAME).unwrap();
        journal.begin_as(HEADER_FILE, &header()).unwrap();
        journal
    }

    fn entry(number: u32) -> Value {
        json!({ "heat": number, "reason": "a\nb" })
    }

    fn read(folder: &Path) -> Result<Vec<Value>, JournalError> {
        read_entries_of(folder, NAME)
    }

    #[test]
    fn what_is_written_is_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let mut journal = begun(folder.path());
        journal.append([entry(0)]).unwrap();
        journal.append([entry(1)]).unwrap();
        assert_eq!(read(folder.path()).unwrap(), [entry(0), entry(1)]);
        let found: Value = read_header_as(folder.path(), HEADER_FILE, 7).unwrap();
        assert_eq!(found, header());
    }

    #[test]
    fn a_kill_at_any_byte_loses_at_most_the_last_entry() {
        let folder = tempfile::tempdir().unwrap();
        let mut journal = begun(folder.path());
        journal.append([entry(0)]).unwrap();
        journal.append([entry(1)]).unwrap();
        let path = folder.path().join(NAME);
        let whole = fs::read(&path).unwrap();
        let first = whole.iter().position(|byte| *byte == b'\n').unwrap();
        for cut in 0..whole.len() {
            fs::write(&path, &whole[..cut]).unwrap();
            let found = read(folder.path()).unwrap();
            assert_eq!(found.len(), usize::from(cut > first), "cut at byte {cut}");
        }
    }

    #[test]
    fn a_journal_that_was_compressed_is_read_as_well() {
        let folder = tempfile::tempdir().unwrap();
        let mut journal = begun(folder.path());
        journal.append([entry(0)]).unwrap();
        journal.append([entry(1)]).unwrap();
        let path = folder.path().join(NAME);
        let zipped = File::create(folder.path().join("heats.jsonl.gz")).unwrap();
        let mut zipped = flate2::write::GzEncoder::new(zipped, flate2::Compression::best());
        zipped.write_all(&fs::read(&path).unwrap()).unwrap();
        zipped.finish().unwrap();
        fs::remove_file(&path).unwrap();
        assert_eq!(read(folder.path()).unwrap(), [entry(0), entry(1)]);
    }

    #[test]
    fn a_changed_line_and_another_version_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let mut journal = begun(folder.path());
        journal.append([entry(0)]).unwrap();
        fs::write(folder.path().join(NAME), "{\n").unwrap();
        let error = read(folder.path()).unwrap_err().to_string();
        assert!(error.contains("heats.jsonl, line 1"), "{error}");
        let error = read_header_as::<Value>(folder.path(), HEADER_FILE, 8).unwrap_err();
        assert!(error.to_string().contains("has format 7"), "{error}");
    }

    /// A sparse file takes no room on the disk, and would take its whole length in memory.
    #[test]
    fn a_line_or_a_header_without_end_is_refused_before_it_fills_the_memory() {
        let folder = tempfile::tempdir().unwrap();
        let mut journal = begun(folder.path());
        journal.append([entry(0)]).unwrap();
        journal.file.set_len(3 << 30).unwrap();
        let error = read(folder.path()).unwrap_err().to_string();
        assert!(error.contains("longer than 64 MiB"), "{error}");
        let error = journal.cut_unfinished_line().unwrap_err().to_string();
        assert!(error.contains("longer than 64 MiB"), "{error}");
        let header = File::create(folder.path().join(HEADER_FILE)).unwrap();
        header.set_len(3 << 30).unwrap();
        let error = read_header_as::<Value>(folder.path(), HEADER_FILE, 7).unwrap_err();
        assert!(error.to_string().contains("longer than 16 MiB"), "{error}");
    }

    #[test]
    fn a_full_disk_is_told_with_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let mut journal = begun(folder.path());
        journal.file = OpenOptions::new().append(true).open("/dev/full").unwrap();
        let error = journal.append([entry(0)]).unwrap_err().to_string();
        assert!(
            error.contains("heats.jsonl") && error.contains("--results"),
            "{error}"
        );
    }

    #[test]
    fn a_session_is_written_by_one_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let first = begun(folder.path());
        let again = || Journal::reopen_as(folder.path(), NAME);
        let error = again().unwrap_err().to_string();
        let pid = format!("process {}", std::process::id());
        assert!(
            error.contains("heats.jsonl") && error.contains(&pid),
            "{error}"
        );
        drop(first);
        again().unwrap();
    }

    #[test]
    fn only_an_unfinished_line_is_cut_off() {
        let folder = tempfile::tempdir().unwrap();
        let mut journal = begun(folder.path());
        journal.append([entry(0)]).unwrap();
        journal.append([entry(1)]).unwrap();
        drop(journal);
        let path = folder.path().join(NAME);
        let whole = fs::read(&path).unwrap();
        let first = 1 + whole.iter().position(|byte| *byte == b'\n').unwrap();
        for cut in 0..=whole.len() {
            fs::write(&path, &whole[..cut]).unwrap();
            let mut journal = Journal::reopen_as(folder.path(), NAME).unwrap();
            journal.cut_unfinished_line().unwrap();
            let left = match cut {
                cut if cut < first => 0,
                cut if cut < whole.len() => first,
                all => all,
            };
            assert_eq!(fs::read(&path).unwrap(), whole[..left], "cut at byte {cut}");
            journal.append([entry(2)]).unwrap();
            assert_eq!(read(folder.path()).unwrap().last(), Some(&entry(2)));
        }
    }
}
