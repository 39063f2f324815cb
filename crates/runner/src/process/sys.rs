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

/// Takes every signal again, as a program expects when it starts. It would inherit the supervisor's own mask, and that
/// Ctrl-C is ignored where Deadheat was started in the background of a script: then it would never see the signal that
/// asks it to end. Async-signal-safe: it changes a local set and makes system calls.
pub(super) fn take_signals() -> io::Result<()> {
    for number in [libc::SIGHUP, libc::SIGINT, libc::SIGQUIT, libc::SIGTERM] {
        // SAFETY: takes plain numbers; no handler of this process is given.
        if unsafe { libc::signal(number, libc::SIG_DFL) } == libc::SIG_ERR {
            return Err(io::Error::last_os_error());
        }
    }
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

/// Sends a signal.
///
/// # Errors
/// When there is no such process (any more), or it is another user's (sudo's are root's).
pub(super) fn kill(pid: u32, signal: i32) -> io::Result<()> {
    // SAFETY: takes plain numbers; the pid is of a process of a tree that was just seen.
    check(unsafe { libc::kill(pid as libc::pid_t, signal) })
}

/// A child process that has ended.
pub(super) struct EndedChild {
    pub(super) pid: u32,
    /// How, in words.
    pub(super) how: String,
    /// Whether a signal ended it.
    pub(super) by_signal: bool,
}

/// Takes one ended child, if there is one.
pub(super) fn reap() -> Option<EndedChild> {
    let mut status = 0;
    // SAFETY: the pointer is to a live int; -1 with WNOHANG asks for any ended child.
    let pid = unsafe { libc::waitpid(-1, &mut status, libc::WNOHANG) };
    if pid <= 0 {
        return None;
    }
    let by_signal = libc::WIFSIGNALED(status);
    let how = if by_signal {
        format!("was ended by {}", signal_name(libc::WTERMSIG(status)))
    } else {
        format!("exited with status {}", libc::WEXITSTATUS(status))
    };
    Some(EndedChild {
        pid: pid as u32,
        how,
        by_signal,
    })
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

/// Waits until one of `inputs` is readable or closed, a signal has come, or the time is up. Which of them are ready; a
/// negative one never is.
pub(super) fn wait<const N: usize>(
    inputs: [RawFd; N],
    signals: &Signals,
    timeout: Option<std::time::Duration>,
) -> [bool; N] {
    let watch = |fd| libc::pollfd {
        fd,
        events: libc::POLLIN,
        revents: 0,
    };
    let mut fds: Vec<libc::pollfd> = inputs.into_iter().map(watch).collect();
    fds.push(watch(signals.0.as_raw_fd()));
    let timeout_ms = timeout.map_or(-1, |time| time.as_millis().min(60_000) as i32);
    // SAFETY: the pointer and count are of a live array.
    unsafe { libc::poll(fds.as_mut_ptr(), fds.len() as libc::nfds_t, timeout_ms) };
    std::array::from_fn(|index| fds[index].revents != 0)
}

/// Makes the reading end of a pipe one that never waits, and has the pipe hold `bytes` where the system allows that.
pub(super) fn make_log_pipe(pipe: RawFd, bytes: usize) -> io::Result<()> {
    // SAFETY: takes plain numbers; a pipe that may not be larger only fills earlier.
    unsafe { libc::fcntl(pipe, libc::F_SETPIPE_SZ, bytes as libc::c_int) };
    // SAFETY: takes plain numbers.
    check(unsafe { libc::fcntl(pipe, libc::F_SETFL, libc::O_NONBLOCK) })
}

/// The number of files that a child may open: `wanted`, or what the system allows if that is less.
pub(super) fn open_files(wanted: u64) -> io::Result<libc::rlimit> {
    // SAFETY: an all-zero rlimit is valid.
    let mut limit: libc::rlimit = unsafe { mem::zeroed() };
    // SAFETY: the pointer is to a live structure.
    check(unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit) })?;
    limit.rlim_cur = limit.rlim_max.min(wanted);
    Ok(limit)
}

/// Sets the number of files that this process may open. Async-signal-safe: one system call.
pub(super) fn set_open_files(limit: &libc::rlimit) -> io::Result<()> {
    // SAFETY: the pointer is to a live structure.
    check(unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, limit) })
}

fn check(result: libc::c_int) -> io::Result<()> {
    if result < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(())
    }
}
