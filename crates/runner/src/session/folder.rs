//! A session's folder: `results/<time>-<seed>/`, with the logs below it.

use std::{
    fs::{self, File, TryLockError},
    io,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant, SystemTime},
};

use super::{SessionError, SessionOptions, servers::ANSWER_FILE};
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

    /// The folder of a session that is resumed.
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

/// Waits until the names of the files in `folder` are on the disk.
pub(super) fn sync_folder(folder: &Path) -> io::Result<()> {
    match File::open(folder)?.sync_all() {
        // Some file systems cannot do that for a folder (fsync(2)).
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(()),
        synced => synced,
    }
}

/// How long a lock may be held by a process that is about to be gone: one that was killed has it for a moment more.
const LAST_MOMENT: Duration = Duration::from_secs(1);

/// Locks `file` at `path` until this process ends, however it ends (flock(2)). Returns the process that holds the lock,
/// in words, if it is another one. On a file system without locks, it returns `None`: the session can run, and the user
/// gets a warning.
pub fn exclusively(file: &File, path: &Path) -> Option<String> {
    let until = Instant::now() + LAST_MOMENT;
    loop {
        match file.try_lock() {
            Ok(()) => return None,
            Err(TryLockError::Error(error)) => {
                tracing::warn!(
                    "locking {}: {error}; this file system seems to have no locks, so make sure that no other deadheat \
                     resumes this session, or choose a folder on another disk with --results",
                    path.display()
                );
                return None;
            }
            Err(TryLockError::WouldBlock) if Instant::now() < until => {
                thread::sleep(Duration::from_millis(20));
            }
            Err(TryLockError::WouldBlock) => {
                let holder = holder(file).map(|pid| format!("process {pid}"));
                return Some(holder.unwrap_or_else(|| "another process".to_owned()));
            }
        }
    }
}

/// The process that holds the lock, from `/proc/locks` (proc_locks(5)); `None` when it is in another container.
fn holder(file: &File) -> Option<u32> {
    let inode = file.metadata().ok()?.ino().to_string();
    let locks = fs::read_to_string("/proc/locks").ok()?;
    locks.lines().find_map(|line| pid_of(line, &inode))
}

/// The process of a line such as `1: FLOCK  ADVISORY  WRITE 1234 08:01:5678 0 EOF`, if it is about this inode. Devices
/// are not compared: some file systems show another one here than stat(2) does.
fn pid_of(line: &str, inode: &str) -> Option<u32> {
    let mut words = line.split_whitespace().skip(1);
    if words.next() != Some("FLOCK") {
        return None;
    }
    let pid = words.nth(2)?.parse().ok().filter(|pid| *pid > 0)?;
    let (_, own) = words.next()?.rsplit_once(':')?;
    (own == inode).then_some(pid)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::OpenOptionsExt;

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

    #[test]
    fn a_file_that_cannot_be_locked_is_held_by_nobody() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, "").unwrap();
        // A descriptor that flock(2) refuses, as it does on a file system without locks.
        let mut options = File::options();
        let file = options.read(true).custom_flags(libc::O_PATH).open(&path);
        let file = file.unwrap();
        assert!(matches!(file.try_lock(), Err(TryLockError::Error(_))));
        assert_eq!(exclusively(&file, &path), None);
    }

    #[test]
    fn the_holder_is_found_among_other_locks() {
        let line = "2: FLOCK  ADVISORY  WRITE 1234 08:01:5678 0 EOF";
        assert_eq!(pid_of(line, "5678"), Some(1234));
        assert_eq!(pid_of(line, "678"), None);
        assert_eq!(
            pid_of("2: -> FLOCK  ADVISORY  WRITE 9 08:01:5678 0 EOF", "5678"),
            None
        );
        assert_eq!(
            pid_of("1: POSIX  ADVISORY  WRITE 9 08:01:5678 0 EOF", "5678"),
            None
        );
        assert_eq!(
            pid_of("1: FLOCK  ADVISORY  WRITE 0 08:01:5678 0 EOF", "5678"),
            None
        );
        assert_eq!(pid_of("", "5678"), None);
    }
}
