//! A session's folder: `results/<time>-<seed>/`, with the logs below it.

use std::{
    fs, io,
    path::{Path, PathBuf},
    time::SystemTime,
};

use super::{SessionError, SessionOptions, ceiling::ANSWER_FILE, journal::sync_folder};
use crate::{embedded, files::UNFINISHED, git, verify::Fixtures};

/// A session's folder.
#[derive(Debug)]
pub struct SessionFolder {
    path: PathBuf,
    id: String,
    started: String,
}

impl SessionFolder {
    /// Makes a new folder in `results`, with `logs` in it.
    ///
    /// # Errors
    /// When it cannot be made.
    pub(super) fn create(results: &Path, seed: u64) -> Result<Self, SessionError> {
        let started = now();
        // 2026-11-21T09:08:07Z → 20261121-090807: sorts by time and needs no quoting.
        let time = started.replace(['-', ':', 'Z'], "").replace('T', "-");
        let name = format!("{time}-{seed:x}");
        let results = std::path::absolute(results).unwrap_or_else(|_| results.to_owned());
        let failed = |path: &Path, source| SessionError::Folder {
            path: path.to_owned(),
            source,
        };
        // If that is not possible, making a folder in it says why.
        let _ = fs::create_dir_all(&results);
        let mut id = name.clone();
        let mut number = 1;
        // A folder has one session: another one of the same second and seed gets a number.
        let path = loop {
            let path = results.join(&id);
            match fs::create_dir(&path) {
                Ok(()) => break path,
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && number < 1000 => {
                    number += 1;
                    id = format!("{name}-{number}");
                }
                Err(error) => return Err(failed(&path, error)),
            }
        };
        fs::create_dir(path.join("logs")).map_err(|error| failed(&path, error))?;
        // A session that is safe on the disk is found again only if its folder's name is, and that of `results`. A folder
        // that may not be read cannot be synced.
        for folder in results.ancestors().take(2) {
            let _ = sync_folder(folder);
        }
        Ok(Self { path, id, started })
    }

    /// The folder of a session that goes on.
    ///
    /// # Errors
    /// When the folder for logs is gone and cannot be made.
    pub(super) fn new(path: &Path, id: &str, started: &str) -> Result<Self, SessionError> {
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let logs = path.join("logs");
        fs::create_dir_all(&logs).map_err(|source| SessionError::Folder { path: logs, source })?;
        Ok(Self {
            path,
            id: id.to_owned(),
            started: started.to_owned(),
        })
    }

    /// Deletes what a killed process left behind of what it would have deleted itself.
    pub(super) fn remove_remains(&self) {
        let _ = fs::remove_file(self.path.join(ANSWER_FILE));
        Fixtures::remove(&self.path);
        for entry in fs::read_dir(&self.path).into_iter().flatten().flatten() {
            let name = entry.file_name();
            if name.as_encoded_bytes().starts_with(UNFINISHED.as_bytes()) {
                let _ = fs::remove_file(entry.path());
            }
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn id(&self) -> &str {
        &self.id
    }

    pub(super) fn started(&self) -> &str {
        &self.started
    }

    /// The log of `what`.
    pub(super) fn log(&self, what: &str) -> PathBuf {
        self.logs().join(format!("{what}.log"))
    }

    pub(super) fn logs(&self) -> PathBuf {
        self.path.join("logs")
    }
}

/// The time, in UTC to the second (RFC 3339).
pub(super) fn now() -> String {
    humantime::format_rfc3339_seconds(SystemTime::now()).to_string()
}

/// The commit of the stacks' sources, with `-dirty` when there are changes. A stack as it was at another revision lies
/// in no checkout, and has its commit in its name.
pub fn commit_of(options: &SessionOptions) -> Option<String> {
    let mut targets = options.targets.iter();
    targets.find_map(|target| commit_at(&target.stack.dir))
}

/// The checksum of the embedded files that stacks of the session come from; `None`: none of them does.
pub fn embedded_of(options: &SessionOptions) -> Option<String> {
    let mut targets = options.targets.iter();
    targets.find_map(|target| embedded::checksum_at(&target.stack.dir))
}

/// The commit that a folder is at, with `-dirty` when there are changes; `None` in no checkout. Of embedded files, the one
/// that they are from.
fn commit_at(folder: &Path) -> Option<String> {
    // Somebody's home may be a repository.
    if let Some(commit) = embedded::commit_at(folder) {
        return commit;
    }
    let git = |arguments: &[&str]| {
        let text = String::from_utf8(git::ask(folder, arguments)?).ok()?;
        Some(text.trim().to_owned())
    };
    let commit = git(&["rev-parse", "HEAD"])?;
    let changed = git(&["status", "--porcelain", "--untracked-files=no", ":/"])?;
    Some(if changed.is_empty() {
        commit
    } else {
        format!("{commit}-dirty")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_sessions_never_share_a_folder() {
        let results = tempfile::tempdir().unwrap();
        let folders: Vec<SessionFolder> = (0..3)
            .map(|_| SessionFolder::create(&results.path().join("results"), 7).unwrap())
            .collect();
        let ids: std::collections::BTreeSet<&str> = folders.iter().map(SessionFolder::id).collect();
        assert_eq!(ids.len(), 3);
        assert!(folders.iter().all(|folder| folder.logs().is_dir()));
    }
}
