//! The system calls that the standard library does not have.
#![allow(unsafe_code)]

use std::{
    io, mem,
    os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd},
};

/// Clock ticks, as `/proc` counts CPU time, as a duration.
pub fn ticks(count: u64) -> std::time::Duration {
    // SAFETY: sysconf takes a plain number and has no preconditions.
    let per_second = unsafe { libc::sysconf(libc::_SC_CLK_TCK) }.max(1) as u64;
    std::time::Duration::from_secs(count / per_second)
        + std::time::Duration::from_nanos(count % per_second * 1_000_000_000 / per_second)
}

/// Whether this process runs as root.
pub fn is_root() -> bool {
    // SAFETY: geteuid has no preconditions and cannot fail.
    unsafe { libc::geteuid() == 0 }
}

/// The CPUs that this process may use, ascending.
pub fn usable_cpus() -> Vec<usize> {
    // SAFETY: an all-zero cpu_set_t is a valid, empty set.
    let mut set: libc::cpu_set_t = unsafe { mem::zeroed() };
    // SAFETY: the pointer is to a live set of the given size; 0 is the calling thread.
    let result = unsafe { libc::sched_getaffinity(0, mem::size_of_val(&set), &mut set) };
    if result != 0 {
        return (0..std::thread::available_parallelism().map_or(1, usize::from)).collect();
    }
    (0..libc::CPU_SETSIZE as usize)
        // SAFETY: the index is below CPU_SETSIZE.
        .filter(|cpu| unsafe { libc::CPU_ISSET(*cpu, &set) })
        .collect()
}

/// Pins the calling thread, and what it starts from now on, to `cpus`.
pub fn pin_current_thread(cpus: &[usize]) -> io::Result<()> {
    set_affinity(&cpu_set(cpus))
}

/// Pins every thread of `processes` to `cpus`. One that has ended meanwhile needs no CPU.
pub fn pin_threads_of(processes: &[u32], cpus: &[usize]) {
    let set = cpu_set(cpus);
    for process in processes {
        let tasks = std::fs::read_dir(format!("/proc/{process}/task"));
        let names = tasks.into_iter().flatten().flatten();
        for thread in names.filter_map(|task| task.file_name().to_str()?.parse().ok()) {
            // SAFETY: the pointer is to a live set of the given size; the thread is one of this session's own.
            unsafe { libc::sched_setaffinity(thread, mem::size_of_val(&set), &set) };
        }
    }
}

/// The set of these CPUs, made before a fork (making it may not be interrupted by one).
pub(super) fn cpu_set(cpus: &[usize]) -> libc::cpu_set_t {
    // SAFETY: an all-zero cpu_set_t is a valid, empty set.
    let mut set: libc::cpu_set_t = unsafe { mem::zeroed() };
    for cpu in cpus.iter().filter(|cpu| **cpu < libc::CPU_SETSIZE as usize) {
        // SAFETY: the index is below CPU_SETSIZE.
        unsafe { libc::CPU_SET(*cpu, &mut set) };
    }
    set
}

/// Pins the calling thread. Async-signal-safe: one system call.
pub(super) fn set_affinity(set: &libc::cpu_set_t) -> io::Result<()> {
    // SAFETY: the pointer is to a live set of the given size; 0 is the calling thread.
    check(unsafe { libc::sched_setaffinity(0, mem::size_of_val(set), set) })
}

/// Becomes another user for good. Async-signal-safe: three system calls.
pub(super) fn become_user(uid: u32, gid: u32) -> io::Result<()> {
    // SAFETY: an empty group list needs no pointer; the other calls take plain numbers.
    check(unsafe { libc::setgroups(0, std::ptr::null()) })?;
    // SAFETY: as above.
    check(unsafe { libc::setgid(gid) })?;
    // SAFETY: as above.
    check(unsafe { libc::setuid(uid) })
}

/// Takes every signal again: the supervisor's own mask would go on into the program that is run, which would then never
/// see the signal that asks it to end. Async-signal-safe: it changes a local set and makes one system call.
pub(super) fn unblock_signals() -> io::Result<()> {
    // SAFETY: sigemptyset initialises the set before anything reads it.
    let mut none: libc::sigset_t = unsafe { mem::zeroed() };
    // SAFETY: the pointer is to a live set.
    unsafe { libc::sigemptyset(&mut none) };
    // SAFETY: the set is initialised; the old mask is not wanted.
    check(unsafe { libc::sigprocmask(libc::SIG_SETMASK, &none, std::ptr::null_mut()) })
}

/// Asks the kernel to kill this process when its parent ends. Async-signal-safe: one system call.
pub(super) fn die_with_parent() -> io::Result<()> {
    // SAFETY: takes plain numbers.
    check(unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) })
}

/// Orphans among this process's descendants become its children.
pub(super) fn become_subreaper() -> io::Result<()> {
    // SAFETY: takes plain numbers.
    check(unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1) })
}

/// Leaves the terminal's session, so that Ctrl-C there reaches Deadheat alone.
pub(super) fn new_session() {
    // SAFETY: no preconditions; it fails only for a group leader, which then keeps its session.
    unsafe { libc::setsid() };
}

/// Writes `bytes` to a descriptor at once. Async-signal-safe: one system call.
pub(super) fn write_raw(fd: RawFd, bytes: &[u8]) -> io::Result<()> {
    // SAFETY: the pointer and length are of a live slice.
    let written = unsafe { libc::write(fd, bytes.as_ptr().cast(), bytes.len()) };
    if written == bytes.len() as isize {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

/// Sends a signal; `false` when there is no such process (any more).
pub(super) fn kill(pid: u32, signal: i32) -> bool {
    // SAFETY: takes plain numbers; the pid is of a descendant that was just seen.
    unsafe { libc::kill(pid as libc::pid_t, signal) == 0 }
}

/// Takes one ended child, if there is one: its pid and how it ended.
pub(super) fn reap() -> Option<(u32, String)> {
    let mut status = 0;
    // SAFETY: the pointer is to a live int; -1 with WNOHANG asks for any ended child.
    let pid = unsafe { libc::waitpid(-1, &mut status, libc::WNOHANG) };
    if pid <= 0 {
        return None;
    }
    let how = if libc::WIFSIGNALED(status) {
        format!("was ended by {}", signal_name(libc::WTERMSIG(status)))
    } else {
        format!("exited with status {}", libc::WEXITSTATUS(status))
    };
    Some((pid as u32, how))
}

/// A signal's name, for messages.
pub(super) fn signal_name(signal: i32) -> String {
    let name = match signal {
        libc::SIGABRT => "SIGABRT",
        libc::SIGBUS => "SIGBUS",
        libc::SIGHUP => "SIGHUP",
        libc::SIGILL => "SIGILL",
        libc::SIGINT => "SIGINT",
        libc::SIGKILL => "SIGKILL",
        libc::SIGPIPE => "SIGPIPE",
        libc::SIGQUIT => "SIGQUIT",
        libc::SIGSEGV => "SIGSEGV",
        libc::SIGTERM => "SIGTERM",
        other => return format!("signal {other}"),
    };
    name.to_owned()
}

/// Signals that this process takes from a descriptor instead of being interrupted by them.
pub(super) struct Signals(OwnedFd);

impl Signals {
    /// Blocks `signals` in this thread and opens a descriptor that becomes readable when one has come.
    pub(super) fn block(signals: &[i32]) -> io::Result<Self> {
        // SAFETY: sigemptyset initialises the set before anything reads it.
        let mut set: libc::sigset_t = unsafe { mem::zeroed() };
        // SAFETY: the pointer is to a live set.
        unsafe { libc::sigemptyset(&mut set) };
        for signal in signals {
            // SAFETY: the pointer is to an initialised set.
            unsafe { libc::sigaddset(&mut set, *signal) };
        }
        // SAFETY: the set is initialised; the old mask is not wanted.
        check(unsafe { libc::sigprocmask(libc::SIG_BLOCK, &set, std::ptr::null_mut()) })?;
        // SAFETY: the set is initialised; -1 asks for a new descriptor.
        let fd = unsafe { libc::signalfd(-1, &set, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK) };
        check(fd)?;
        // SAFETY: the descriptor was just made and nobody else owns it.
        Ok(Self(unsafe { OwnedFd::from_raw_fd(fd) }))
    }

    /// The signals that have come.
    pub(super) fn take(&self) -> Vec<i32> {
        let mut taken = Vec::new();
        loop {
            // SAFETY: an all-zero signalfd_siginfo is valid; the kernel overwrites it.
            let mut info: libc::signalfd_siginfo = unsafe { mem::zeroed() };
            let size = mem::size_of_val(&info);
            // SAFETY: the pointer and size are of a live structure.
            let read = unsafe { libc::read(self.0.as_raw_fd(), (&raw mut info).cast(), size) };
            if read != size as isize {
                return taken;
            }
            taken.push(info.ssi_signo as i32);
        }
    }
}

/// Waits until `input` is readable or closed, a signal has come, or the time is up. Whether `input` is ready.
pub(super) fn wait(input: RawFd, signals: &Signals, timeout: Option<std::time::Duration>) -> bool {
    let watch = |fd| libc::pollfd {
        fd,
        events: libc::POLLIN,
        revents: 0,
    };
    // A negative descriptor is left out by poll(2).
    let mut fds = [watch(input), watch(signals.0.as_raw_fd())];
    let timeout_ms = timeout.map_or(-1, |time| time.as_millis().min(60_000) as i32);
    // SAFETY: the pointer and count are of a live array.
    let ready = unsafe { libc::poll(fds.as_mut_ptr(), fds.len() as libc::nfds_t, timeout_ms) };
    ready > 0 && fds[0].revents != 0
}

fn check(result: libc::c_int) -> io::Result<()> {
    if result < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(())
    }
}
