//! How long the end of a tree may take, and what is deleted after it.

use std::{
    fs, io,
    path::Path,
    time::{Duration, Instant},
};

/// SIGKILL works at once except in uninterruptible sleep.
pub(super) const KILL_PATIENCE: Duration = Duration::from_secs(10);

/// Deletes a folder. Other trees may still write into it: when Deadheat was killed, they all end at the same time.
pub(super) fn delete(folder: &Path) -> io::Result<()> {
    let until = Instant::now() + KILL_PATIENCE;
    loop {
        match fs::remove_dir_all(folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(_) if Instant::now() < until => std::thread::sleep(Duration::from_millis(20)),
            ended => return ended,
        }
    }
}
