//! Freezing a process tree, and thawing it: by its control group, else by SIGSTOP and SIGCONT.
//!
//! Deadheat writes to the group's files itself. Asking the supervisor would cost two switches between processes more.

use std::{
    fs::{File, OpenOptions},
    io,
    os::{
        fd::{AsFd, OwnedFd},
        unix::fs::FileExt,
    },
    thread,
    time::{Duration, Instant},
};

use deadheat_model::heat::Freezing;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use super::{
    cgroup::Groups,
    group::{Group, Hierarchy},
    procfs::{descendants, thread_states},
};

/// How long a tree may take until all of it is frozen. A process that waits for a disk freezes when that has answered, and
/// on a busy machine each thread freezes when it has its turn. It only ends a broken heat.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long the files are read again at once. The kernel would tell of the end, too, but at most every 10 ms
/// (kernel/cgroup/cgroup.c, `CGROUP_FILE_NOTIFY_MIN_INTV`).
const ATTENTION: Duration = Duration::from_millis(1);
/// After that, how long to wait between two looks.
const PAUSE: Duration = Duration::from_micros(100);

/// Why a process tree is not frozen, or not thawed.
#[derive(Debug, thiserror::Error)]
#[error("freezing {name}: {source}")]
pub struct FreezeError {
    name: String,
    source: io::Error,
}

/// Freezes one process tree and thaws it.
#[derive(Debug)]
pub(super) struct Freezer {
    name: String,
    supervisor: u32,
    groups: Groups,
    patience: Duration,
    method: FreezeMethod,
    freezing: Freezing,
}

/// The method of freezing a tree.
#[derive(Debug)]
enum FreezeMethod {
    /// cgroup v2: `cgroup.freeze`, and `cgroup.events`, which reports completion.
    V2 { freeze: File, events: File },
    /// cgroup v1: `freezer.state`.
    V1 { state: File },
    /// SIGSTOP, with the processes that were stopped.
    Signals(Vec<Stopped>),
}

/// A stopped process. Its descriptor never refers to another process.
#[derive(Debug)]
struct Stopped {
    pid: u32,
    descriptor: OwnedFd,
}

impl Freezer {
    /// Chooses the method for the tree of `supervisor`, whose control groups are `groups`.
    pub(super) fn new(name: &str, supervisor: u32, groups: &Groups) -> Self {
        let (method, freezing) = match groups.freezer.as_ref().map(open) {
            Some(Ok(opened)) => opened,
            Some(Err(error)) => by_signals(format!("opening the control group's files: {error}")),
            None => by_signals("no control group could be made that freezes".to_owned()),
        };
        Self {
            name: name.to_owned(),
            supervisor,
            groups: groups.clone(),
            patience: PATIENCE,
            method,
            freezing,
        }
    }

    /// The method in use.
    pub(super) fn freezing(&self) -> &Freezing {
        &self.freezing
    }

    /// Freezes the tree, and waits until all of it is frozen. If its control group fails, signals are used from then
    /// on.
    pub(super) fn freeze(&mut self) -> Result<(), FreezeError> {
        let until = Instant::now() + self.patience;
        let frozen = match &mut self.method {
            FreezeMethod::V2 { freeze, events } => {
                let written = freeze.write_at(b"1", 0).map(drop);
                written.and_then(|()| wait(until, || says(events, "frozen 1")))
            }
            FreezeMethod::V1 { state } => {
                let written = state.write_at(b"FROZEN", 0).map(drop);
                // Reading the file makes the kernel check again.
                written.and_then(|()| wait(until, || says(state, "FROZEN")))
            }
            FreezeMethod::Signals(stopped) => {
                let frozen = stop_all(stopped, until, || living(&self.groups, self.supervisor));
                return frozen.map_err(|error| self.failed(error));
            }
        };
        match frozen {
            Ok(()) => Ok(()),
            // The group has been removed, so its processes have ended.
            Err(error) if is_gone(&error) => Ok(()),
            Err(error) => {
                self.groups.thaw();
                (self.method, self.freezing) =
                    by_signals(format!("freezing the control group: {error}"));
                self.freeze()
            }
        }
    }

    /// Thaws the tree. Does nothing if it is not frozen.
    pub(super) fn thaw(&mut self) -> Result<(), FreezeError> {
        let thawed = match &mut self.method {
            FreezeMethod::V2 { freeze, .. } => freeze.write_at(b"0", 0).map(drop),
            FreezeMethod::V1 { state } => state.write_at(b"THAWED", 0).map(drop),
            FreezeMethod::Signals(stopped) => {
                // Continue children first, so that a parent that checks for stopped children finds none.
                for process in stopped.drain(..).rev() {
                    let _ = process.signal(Signal::CONT);
                }
                Ok(())
            }
        };
        match thawed {
            Err(error) if !is_gone(&error) => Err(self.failed(error)),
            _ => Ok(()),
        }
    }

    /// Kills the processes that are still stopped by signals, because nothing would continue them.
    pub(super) fn abandon(&mut self) {
        if let FreezeMethod::Signals(stopped) = &mut self.method {
            for process in stopped.drain(..) {
                let _ = process.signal(Signal::KILL);
            }
        }
    }

    fn failed(&self, source: io::Error) -> FreezeError {
        let name = self.name.clone();
        FreezeError { name, source }
    }
}

fn by_signals(reason: String) -> (FreezeMethod, Freezing) {
    (
        FreezeMethod::Signals(Vec::new()),
        Freezing::Signals { reason },
    )
}

/// Opens the files that freeze a group.
fn open(group: &Group) -> io::Result<(FreezeMethod, Freezing)> {
    let open = |name| {
        let mut options = OpenOptions::new();
        options.read(true).write(true).open(group.file(name))
    };
    match group.hierarchy() {
        Hierarchy::V2 => {
            let freeze = open("cgroup.freeze")?;
            let events = File::open(group.file("cgroup.events"))?;
            Ok((FreezeMethod::V2 { freeze, events }, Freezing::CgroupV2))
        }
        Hierarchy::Freezer => {
            let state = open("freezer.state")?;
            Ok((FreezeMethod::V1 { state }, Freezing::CgroupV1))
        }
        Hierarchy::Cpuacct => Err(io::ErrorKind::Unsupported.into()),
    }
}

/// Whether the error means that the group has been removed.
fn is_gone(error: &io::Error) -> bool {
    error.raw_os_error() == Some(libc::ENODEV)
}

/// Whether one of the file's lines is `line`.
fn says(file: &File, line: &str) -> io::Result<bool> {
    let mut bytes = [0; 256];
    let length = file.read_at(&mut bytes, 0)?;
    let text = String::from_utf8_lossy(&bytes[..length]);
    Ok(text.lines().any(|found| found == line))
}

/// Waits until `is_done`, at most until `until`.
fn wait(until: Instant, mut is_done: impl FnMut() -> io::Result<bool>) -> io::Result<()> {
    let begun = Instant::now();
    while !is_done()? {
        let now = Instant::now();
        if now >= until {
            let what = format!("not all of it was frozen within {:?}", until - begun);
            return Err(io::Error::new(io::ErrorKind::TimedOut, what));
        }
        if now - begun < ATTENTION {
            thread::yield_now()
        } else {
            thread::sleep(PAUSE)
        }
    }
    Ok(())
}

/// The processes of a tree. Without a group that lists them, parents come before their children.
fn living(groups: &Groups, supervisor: u32) -> Vec<u32> {
    groups.processes().unwrap_or_else(|| {
        let all = descendants(supervisor).into_iter();
        all.map(|stat| stat.pid).collect()
    })
}

/// Stops all processes of a tree. They may fork meanwhile, so the search repeats until it finds no new process.
fn stop_all(
    stopped: &mut Vec<Stopped>,
    until: Instant,
    mut living: impl FnMut() -> Vec<u32>,
) -> io::Result<()> {
    wait(until, || {
        // Checked before searching for others, because a process that still runs may fork after the search.
        let mut is_whole = stopped.iter().all(|one| is_stopped(one.pid));
        for pid in living() {
            if !stopped.iter().any(|one| one.pid == pid) {
                // A process that exits in between needs no signal.
                if let Some(process) = Stopped::stop(pid)? {
                    is_whole = false;
                    stopped.push(process);
                }
            }
        }
        Ok(is_whole)
    })
}

/// Whether no thread of a process executes its program: each is stopped, has exited, or waits in the kernel for a
/// device and stops after that.
fn is_stopped(pid: u32) -> bool {
    thread_states(pid)
        .iter()
        .all(|state| matches!(state, b'T' | b't' | b'Z' | b'X' | b'D'))
}

impl Stopped {
    /// Stops a process; `None` if it has exited.
    fn stop(pid: u32) -> io::Result<Option<Self>> {
        let Some(number) = i32::try_from(pid).ok().and_then(Pid::from_raw) else {
            return Ok(None);
        };
        let opened = pidfd_open(number, PidfdFlags::empty()).and_then(|descriptor| {
            pidfd_send_signal(descriptor.as_fd(), Signal::STOP).map(|()| descriptor)
        });
        match opened {
            Ok(descriptor) => Ok(Some(Self { pid, descriptor })),
            Err(rustix::io::Errno::SRCH | rustix::io::Errno::INVAL) => Ok(None),
            Err(error) => Err(io::Error::new(
                io::Error::from(error).kind(),
                format!("stopping process {pid}: {error}"),
            )),
        }
    }

    fn signal(&self, signal: Signal) -> io::Result<()> {
        Ok(pidfd_send_signal(self.descriptor.as_fd(), signal)?)
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, process::Command};

    use super::*;

    /// A child that is killed in the end.
    struct Child(std::process::Child);

    impl Drop for Child {
        fn drop(&mut self) {
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }

    #[test]
    fn a_group_that_does_not_freeze_is_thawed_and_signals_are_taken_which_is_said() {
        let sleep = Child(Command::new("sleep").arg("300").spawn().unwrap());
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str| folder.path().join(name);
        fs::write(file("cgroup.procs"), sleep.0.id().to_string()).unwrap();
        fs::write(file("cgroup.freeze"), "0").unwrap();
        fs::write(file("cgroup.events"), "populated 1\nfrozen 0\n").unwrap();
        let groups = Groups {
            cpu: None,
            freezer: Some(Group::at(folder.path(), Hierarchy::V2)),
        };
        let mut freezer = Freezer::new("a server", 0, &groups);
        assert_eq!(freezer.freezing(), &Freezing::CgroupV2);
        freezer.patience = Duration::from_millis(20);
        freezer.freeze().unwrap();
        let Freezing::Signals { reason } = freezer.freezing() else {
            panic!("{:?}", freezer.freezing());
        };
        assert!(
            reason.starts_with("freezing the control group: not all of it was frozen within"),
            "{reason}"
        );
        assert_eq!(fs::read_to_string(file("cgroup.freeze")).unwrap(), "0");
        assert_eq!(thread_states(sleep.0.id()), [b'T']);
        freezer.thaw().unwrap();
        while thread_states(sleep.0.id()) == [b'T'] {
            thread::yield_now();
        }
    }

    #[test]
    fn a_group_whose_files_cannot_be_opened_is_no_way_to_freeze() {
        let groups = Groups {
            cpu: None,
            freezer: Some(Group::at("/nowhere".as_ref(), Hierarchy::Freezer)),
        };
        let freezer = Freezer::new("a server", 0, &groups);
        let Freezing::Signals { reason } = freezer.freezing() else {
            panic!("{:?}", freezer.freezing());
        };
        assert!(
            reason.starts_with("opening the control group's files: No such file"),
            "{reason}"
        );
    }
}
