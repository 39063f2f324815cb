//! A file that one process at a time may write: flock(2), which ends with the process, however that ends.

use std::{
    fs::{self, File, TryLockError},
    os::unix::fs::MetadataExt,
    path::Path,
    thread,
    time::{Duration, Instant},
};

/// How long a lock may be held by a process that is about to be gone: one that was killed has it for a moment more.
const LAST_MOMENT: Duration = Duration::from_secs(1);

/// Locks `file`, which is at `path`; who holds it, in words, when that is another one. On a file system without locks
/// nobody holds it: a session there is worth more than none, and the user is told what to take care of.
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
