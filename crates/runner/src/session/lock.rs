//! A file that one process at a time may write: flock(2), which ends with the process, however that ends.

use std::{
    fs::{self, File, TryLockError},
    io,
    os::unix::fs::MetadataExt,
    thread,
    time::{Duration, Instant},
};

/// How long a lock may be held by a process that is about to be gone: one that was killed has it for a moment more.
const LAST_MOMENT: Duration = Duration::from_secs(1);

/// Locks `file`; who holds it, in words, when that is another one.
///
/// # Errors
/// When the file's system knows no locks.
pub(super) fn exclusively(file: &File) -> io::Result<Option<String>> {
    let until = Instant::now() + LAST_MOMENT;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(None),
            Err(TryLockError::Error(error)) => return Err(error),
            Err(TryLockError::WouldBlock) if Instant::now() < until => {
                thread::sleep(Duration::from_millis(20));
            }
            Err(TryLockError::WouldBlock) => {
                let holder = holder(file).map(|pid| format!("process {pid}"));
                return Ok(Some(holder.unwrap_or_else(|| "another process".to_owned())));
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
    use super::*;

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
