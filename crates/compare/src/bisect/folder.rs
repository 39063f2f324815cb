//! The folder of a search, `results/bisect-<time>/`: its record, the logs of builds, and a session's folder for each
//! comparison.

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};

use deadheat_model::{
    bisect::{BisectRecord, SCHEMA},
    record,
};
use deadheat_runner::{files, session::exclusively};
use deadheat_shell::exit::Failure;

/// The record's file.
pub const RECORD: &str = "bisect.json";
/// The file that is locked while a process works on the search. The record's own file is replaced after each question.
const LOCK: &str = "lock";

/// The record of the search in a folder, and the folder's whole path.
pub(super) fn read(folder: &Path) -> Result<(PathBuf, BisectRecord), Failure> {
    let file = folder.join(RECORD);
    let failed = |error: String| {
        Failure::usage(format!(
            "reading {}: {error}; a search has its folder in results/, with a name like bisect-20261121-090807",
            file.display()
        ))
    };
    let path = std::path::absolute(folder).map_err(|error| failed(error.to_string()))?;
    let text = files::read_text(&file).map_err(|error| failed(error.to_string()))?;
    let record: BisectRecord =
        record::read(text.as_bytes()).map_err(|error| failed(error.to_string()))?;
    if record.schema != SCHEMA {
        return Err(failed(format!(
            "it has version {} of the format, and this deadheat has {SCHEMA}",
            record.schema
        )));
    }
    if record.commits.is_empty() {
        return Err(failed("it has no commits".to_owned()));
    }
    Ok((path, record))
}

/// The folder of a search, locked: no other process continues the search until this is dropped.
#[derive(Debug)]
pub(super) struct Folder {
    path: PathBuf,
    _lock: File,
}

impl Folder {
    /// Makes a new folder in `results`, for a search that began at this time (RFC 3339).
    pub(super) fn create(results: &Path, started: &str) -> Result<Self, Failure> {
        let failed = |path: &Path, error: io::Error| {
            Failure::no_result(format!(
                "making the folder {}: {error}; choose another one with --results",
                path.display()
            ))
        };
        let results = std::path::absolute(results).map_err(|error| failed(results, error))?;
        fs::create_dir_all(&results).map_err(|error| failed(&results, error))?;
        // 2026-11-21T09:08:07Z → 20261121-090807
        let time = started.replace(['-', ':', 'Z'], "").replace('T', "-");
        let names = (1..1000).map(|number| match number {
            1 => format!("bisect-{time}"),
            _ => format!("bisect-{time}-{number}"),
        });
        for path in names.map(|name| results.join(name)) {
            match fs::create_dir(&path) {
                Ok(()) => return Self::lock(path),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(failed(&path, error)),
            }
        }
        Err(failed(&results, io::ErrorKind::AlreadyExists.into()))
    }

    /// Opens the folder of a search to continue it, with its record.
    pub(super) fn open(path: &Path) -> Result<(Self, BisectRecord), Failure> {
        // Before there is a lock in a folder that is no search's.
        let (path, _) = read(path)?;
        let folder = Self::lock(path)?;
        let (_, record) = read(&folder.path)?;
        Ok((folder, record))
    }

    fn lock(path: PathBuf) -> Result<Self, Failure> {
        let file = path.join(LOCK);
        let lock = File::options().create(true).append(true).open(&file);
        let lock = lock
            .map_err(|error| Failure::no_result(format!("writing {}: {error}", file.display())))?;
        if let Some(holder) = exclusively(&lock, &file) {
            return Err(Failure::usage(format!(
                "going on with {}: {holder} is at work on it; wait for its end",
                path.display()
            )));
        }
        fs::create_dir_all(path.join("logs"))
            .map_err(|error| Failure::no_result(format!("writing {}: {error}", path.display())))?;
        Ok(Self { path, _lock: lock })
    }

    /// Writes the record, whole or not at all.
    pub(super) fn save(&self, record: &BisectRecord) -> Result<(), Failure> {
        let file = self.path.join(RECORD);
        let failed = |error: String| {
            Failure::no_result(format!(
                "writing {}: {error}; is the disk full?",
                file.display()
            ))
        };
        let text =
            serde_json::to_string_pretty(record).map_err(|error| failed(error.to_string()))?;
        files::write_whole(&file, (text + "\n").as_bytes())
            .map_err(|error| failed(error.to_string()))
    }

    /// The path of the folder.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The log of a commit's build.
    pub(super) fn build_log(&self, short: &str) -> PathBuf {
        self.path.join("logs").join(format!("{short}.build.log"))
    }
}
