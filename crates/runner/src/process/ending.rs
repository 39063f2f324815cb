//! How long the end of a tree may take, and what is deleted after it.

use std::{
    fs, io,
    path::Path,
    time::{Duration, Instant},
};

/// SIGKILL works at once except in uninterruptible sleep.
pub(super) const KILL_PATIENCE: Duration = Duration::from_secs(10);

/// How long a folder stays because processes work in it.
const WORK_PATIENCE: Duration = Duration::from_secs(30);
const PAUSE: Duration = Duration::from_millis(20);

/// Deletes a folder. Other trees may still write into it: when Deadheat was killed, they all end at the same time. Those
/// that have their working folder in it end first, because without their files they could not end in order.
pub(super) fn delete(folder: &Path) -> io::Result<()> {
    let until = Instant::now() + WORK_PATIENCE;
    while is_worked_in(folder) && Instant::now() < until {
        std::thread::sleep(PAUSE);
    }
    let until = Instant::now() + KILL_PATIENCE;
    loop {
        match fs::remove_dir_all(folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(_) if Instant::now() < until => std::thread::sleep(PAUSE),
            ended => return ended,
        }
    }
}

/// Whether a process has its working folder in `folder`.
fn is_worked_in(folder: &Path) -> bool {
    let Ok(folder) = folder.canonicalize() else {
        return false;
    };
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let mut places = processes.filter_map(|process| fs::read_link(process.path().join("cwd")).ok());
    places.any(|place| place.starts_with(&folder))
}
