//! Ctrl-C: ends every process that xtask has started, and those that its children left behind.
#![allow(clippy::print_stdout)]

use std::{
    collections::HashSet,
    fs, io,
    sync::atomic::{AtomicI32, Ordering},
    thread,
    time::{Duration, Instant},
};

use signal_hook::{
    consts::{SIGHUP, SIGINT, SIGKILL, SIGTERM},
    iterator::Signals,
    low_level,
};

use crate::sys;

/// The first signal that asked xtask to end; 0 if there was none.
static SIGNAL: AtomicI32 = AtomicI32::new(0);

/// How often the list of children is read while they are ended: one that ends may leave children of its own to xtask.
const SWEEP: Duration = Duration::from_millis(50);

/// When each child gets its second SIGTERM: the first one asks a session to stop in order, the second one ends it.
const SECOND: Duration = Duration::from_secs(2);

/// When children that are still there are killed.
const KILL: Duration = Duration::from_secs(5);

/// When xtask stops waiting and names what is left. A supervisor waits for a package installation, which must not be
/// killed half-way.
const GIVE_UP: Duration = Duration::from_secs(60);

/// Whether a signal has asked xtask to end.
pub(crate) fn is_interrupted() -> bool {
    SIGNAL.load(Ordering::SeqCst) != 0
}

/// The exit status after an interrupt, as shells report it: 128 + the signal. None if there was no signal.
pub(crate) fn exit_status() -> Option<u8> {
    let signal = SIGNAL.load(Ordering::SeqCst);
    (signal != 0).then(|| u8::try_from(128 + signal).unwrap_or(1))
}

/// From now on, SIGINT, SIGTERM and SIGHUP end all child processes, and no step starts any more. Descendants whose
/// parent has ended become children of this process (prctl(2), PR_SET_CHILD_SUBREAPER), so none is missed.
///
/// # Errors
/// If the handler cannot be installed.
pub(crate) fn end_children_on_signals() -> io::Result<()> {
    sys::become_subreaper()?;
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP])?;
    let listen = move || {
        if let Some(signal) = signals.forever().next() {
            SIGNAL.store(signal, Ordering::SeqCst);
            println!("\ninterrupted: ending what is running");
            // A step that did not see the signal may start one more.
            loop {
                end_children();
                thread::sleep(SWEEP);
            }
        }
    };
    thread::Builder::new()
        .name("signals".to_owned())
        .spawn(listen)?;
    Ok(())
}

/// Ends all children of this process. If one cannot be ended, exits and names it.
pub(crate) fn end_children() {
    let started = Instant::now();
    let mut asked_once = HashSet::new();
    let mut asked_twice = HashSet::new();
    loop {
        let children = children();
        if children.is_empty() {
            return;
        }
        let elapsed = started.elapsed();
        if elapsed > GIVE_UP {
            for child in children {
                println!("still running: process {} ({})", child.pid, child.command);
            }
            low_level::exit(exit_status().unwrap_or(1).into());
        }
        for child in children {
            let signal = if asked_once.insert(child.pid) {
                if !is_interrupted() {
                    println!("left behind: process {} ({})", child.pid, child.command);
                }
                Some(SIGTERM)
            } else if child.is_supervisor() {
                // It ends its tree in order as soon as its own parent has ended.
                None
            } else if elapsed > KILL {
                Some(SIGKILL)
            } else {
                (elapsed > SECOND && asked_twice.insert(child.pid)).then_some(SIGTERM)
            };
            if let Some(signal) = signal {
                // It may have ended since the list was read.
                let _ = sys::kill(child.pid, signal);
            }
        }
        thread::sleep(SWEEP);
    }
}

/// A child of this process that has not ended.
struct Child {
    pid: u32,
    /// Its arguments, separated by blanks.
    command: String,
}

impl Child {
    /// Whether it is Deadheat's supervisor of another process.
    fn is_supervisor(&self) -> bool {
        self.command.split(' ').nth(1) == Some("__supervise")
    }
}

/// The children of this process that have not ended. From /proc/PID/stat (proc_pid_stat(5)), because not every kernel
/// has /proc/PID/task/TID/children.
fn children() -> Vec<Child> {
    let own = std::process::id();
    let numbered = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = numbered.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter_map(|pid: u32| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        let (state, parent) = state_and_parent(&stat)?;
        if parent != own || state == "Z" {
            return None;
        }
        let command = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
        let command = String::from_utf8_lossy(&command).replace('\0', " ");
        let command = command.trim_end().to_owned();
        Some(Child { pid, command })
    })
    .collect()
}

/// State and parent in the text of /proc/PID/stat. The program's name before them may contain blanks and parentheses.
fn state_and_parent(stat: &str) -> Option<(&str, u32)> {
    let mut fields = stat.rsplit_once(") ")?.1.split(' ');
    Some((fields.next()?, fields.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_parentheses_does_not_hide_the_parent() {
        let stat = "12 (a) R (b) S 7 12 12 0";
        assert_eq!(state_and_parent(stat), Some(("S", 7)));
    }

    #[test]
    fn only_supervisors_are_left_to_end_by_themselves() {
        let child = |command: &str| Child {
            pid: 1,
            command: command.to_owned(),
        };
        assert!(child("target/debug/deadheat __supervise").is_supervisor());
        assert!(!child("cargo test __supervise").is_supervisor());
    }
}
