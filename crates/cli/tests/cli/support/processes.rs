//! Which processes there are. Every process of a test has the test's root folder in its environment, and is found by
//! that, never by its name.

use std::{
    collections::BTreeMap,
    fs,
    path::Path,
    time::{Duration, Instant},
};

use deadheat_runner::process::{descendants, read_stat};
use rustix::process::{Pid, Signal, kill_process};

/// The variable that marks them.
pub const MARK: &str = "DEADHEAT_TEST_ROOT";

/// Living processes by their pid, with their command lines.
pub type Processes = BTreeMap<u32, String>;

/// Processes that come from a test with this root folder.
pub fn marked(root: &Path) -> Processes {
    let mark = format!("{MARK}={}", root.display());
    pids()
        .filter(|pid| {
            // One that is gone meanwhile, or is a zombie, has no environment.
            let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            environment
                .split(|byte| *byte == 0)
                .any(|variable| variable == mark.as_bytes())
        })
        .map(|pid| (pid, command_line(pid)))
        .collect()
}

/// All processes.
pub fn all() -> Processes {
    pids().map(|pid| (pid, command_line(pid))).collect()
}

fn pids() -> impl Iterator<Item = u32> {
    let entries = fs::read_dir("/proc").expect("listing /proc");
    let entries = entries.flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// `root` and everything below it, also what has overwritten its environment (PostgreSQL does, for its titles).
pub fn tree(root: u32) -> Processes {
    let below = descendants(root);
    let pids = below.iter().map(|stat| stat.pid).chain([root]);
    pids.map(|pid| (pid, command_line(pid))).collect()
}

/// Those that still live. A pid is not given again so soon.
pub fn living(processes: &Processes) -> Processes {
    let lives = |pid: u32| read_stat(pid).is_some_and(|stat| stat.state != b'Z');
    let living = processes.iter().filter(|(pid, _)| lives(**pid));
    living
        .map(|(pid, command)| (*pid, command.clone()))
        .collect()
}

/// The longest pause between two looks at all processes, which take a few milliseconds of CPU time each.
const LONGEST_PAUSE: Duration = Duration::from_millis(40);

/// Waits until `look` finds no process any more; what was left is the error.
pub fn wait_until_none(patience: Duration, look: impl Fn() -> Processes) -> Result<(), Processes> {
    let until = Instant::now() + patience;
    let mut pause = Duration::from_millis(2);
    loop {
        let left = look();
        if left.is_empty() {
            return Ok(());
        }
        if Instant::now() > until {
            return Err(left);
        }
        std::thread::sleep(pause);
        pause = LONGEST_PAUSE.min(2 * pause);
    }
}

/// Sends a signal; one that is gone has got it.
pub fn signal(pid: u32, signal: Signal) {
    if let Some(pid) = Pid::from_raw(pid as i32) {
        let _ = kill_process(pid, signal);
    }
}

fn command_line(pid: u32) -> String {
    let bytes = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    String::from_utf8_lossy(&bytes)
        .replace('\0', " ")
        .trim()
        .to_owned()
}
