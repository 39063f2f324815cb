//! System calls that the standard library lacks: the only module of xtask with `unsafe`.

use std::{
    io, mem,
    os::{
        fd::{AsRawFd, FromRawFd, OwnedFd},
        unix::process::CommandExt,
    },
    process::Command,
    time::Duration,
};

/// What a child and the children that it waited for used.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Usage {
    /// The status as wait(2) gives it.
    status: libc::c_int,
    /// CPU time in user space.
    pub(crate) user: Duration,
    /// CPU time in the kernel.
    pub(crate) system: Duration,
    /// The largest resident set, of the child or of a child of it.
    pub(crate) peak_bytes: u64,
}

impl Usage {
    /// How it ended, unless that was with exit status 0.
    pub(crate) fn failure(&self) -> Option<String> {
        match self.status {
            0 => None,
            status if libc::WIFSIGNALED(status) => {
                Some(format!("ended by signal {}", libc::WTERMSIG(status)))
            }
            status => Some(format!("exit status {}", libc::WEXITSTATUS(status))),
        }
    }
}

/// Keeps a command's process on one CPU with all of its threads, and ends it when the thread that started it ends.
///
/// With this the child is made by fork(2) and not by vfork(2). That matters: a program's peak of resident memory
/// begins with that of the process that becomes it, and after vfork(2) that would be all of xtask's.
pub(crate) fn confine(command: &mut Command, cpu: usize) -> io::Result<()> {
    if cpu >= libc::CPU_SETSIZE as usize {
        return Err(io::Error::from_raw_os_error(libc::EINVAL));
    }
    // SAFETY: cpu_set_t is an array of integers, for which all zeros is a value (the empty set).
    let mut set: libc::cpu_set_t = unsafe { mem::zeroed() };
    // SAFETY: `cpu` lies inside the set, as checked above.
    unsafe { libc::CPU_SET(cpu, &mut set) };
    let prepare = move || {
        // SAFETY: `set` is valid for reading over the size given; process 0 is the calling thread, the child's only
        // one.
        if unsafe { libc::sched_setaffinity(0, mem::size_of_val(&set), &set) } != 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: prctl(2) with this option takes a number and touches no memory.
        if unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) } != 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(())
    };
    // SAFETY: between fork and exec the closure makes two system calls, which are safe there; it allocates nothing
    // (an error out of errno holds a number) and takes no lock.
    unsafe { command.pre_exec(prepare) };
    Ok(())
}

/// Waits until a child of this process has ended; kills it when the time is up first. The second value says whether it
/// had to.
pub(crate) fn wait_for(pid: u32, at_most: Duration) -> io::Result<(Usage, bool)> {
    let in_time = has_ended(pid, at_most)?;
    if !in_time {
        kill(pid, libc::SIGKILL)?;
    }
    Ok((reap(pid)?, !in_time))
}

/// Whether a child ends within a time; it stays to be reaped.
pub(crate) fn has_ended(pid: u32, within: Duration) -> io::Result<bool> {
    // SAFETY: pidfd_open(2) takes two numbers and touches no memory.
    let fd = unsafe { libc::syscall(libc::SYS_pidfd_open, pid as libc::pid_t, 0) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the call has succeeded, so that this is a descriptor that nobody else owns.
    let fd = unsafe { OwnedFd::from_raw_fd(fd as libc::c_int) };
    let mut wanted = libc::pollfd {
        fd: fd.as_raw_fd(),
        events: libc::POLLIN,
        revents: 0,
    };
    let milliseconds = i32::try_from(within.as_millis()).unwrap_or(i32::MAX);
    loop {
        // SAFETY: `wanted` is one valid, writable pollfd.
        match unsafe { libc::poll(&mut wanted, 1, milliseconds) } {
            -1 => {
                let error = io::Error::last_os_error();
                // `interrupt` ends the child; waiting anew costs at most the same time again.
                if error.kind() != io::ErrorKind::Interrupted {
                    return Err(error);
                }
            }
            ready => return Ok(ready > 0),
        }
    }
}

/// Sends a signal to a child that has not been reaped.
pub(crate) fn kill(pid: u32, signal: libc::c_int) -> io::Result<()> {
    // SAFETY: kill(2) takes two numbers and touches no memory.
    match unsafe { libc::kill(pid as libc::pid_t, signal) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Makes orphaned descendants of this process its children: prctl(2), PR_SET_CHILD_SUBREAPER.
pub(crate) fn become_subreaper() -> io::Result<()> {
    // SAFETY: prctl(2) with this option takes a number and touches no memory.
    match unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// CPU time of a process with all its threads so far, those included that have ended.
pub(crate) fn cpu_time(pid: u32) -> io::Result<Duration> {
    let mut clock = 0;
    // SAFETY: `clock` is valid and writable for the length of the call.
    match unsafe { libc::clock_getcpuclockid(pid as libc::pid_t, &mut clock) } {
        0 => {}
        error => return Err(io::Error::from_raw_os_error(error)),
    }
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `time` is valid and writable for the length of the call.
    match unsafe { libc::clock_gettime(clock, &mut time) } {
        0 => Ok(Duration::new(time.tv_sec as u64, time.tv_nsec as u32)),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Waits for a child and takes what it used.
fn reap(pid: u32) -> io::Result<Usage> {
    let mut status = 0;
    // SAFETY: rusage consists of integers, for which all zeros is a value.
    let mut usage: libc::rusage = unsafe { mem::zeroed() };
    loop {
        // SAFETY: both pointers are valid and writable for the length of the call.
        if unsafe { libc::wait4(pid as libc::pid_t, &mut status, 0, &mut usage) } >= 0 {
            break;
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
    let time = |value: libc::timeval| {
        Duration::from_secs(value.tv_sec as u64) + Duration::from_micros(value.tv_usec as u64)
    };
    Ok(Usage {
        status,
        user: time(usage.ru_utime),
        system: time(usage.ru_stime),
        // In KiB on Linux: getrusage(2).
        peak_bytes: usage.ru_maxrss as u64 * 1024,
    })
}

/// Raises this process's limit of file descriptors as far as it may, for its children; what it is then.
pub(crate) fn raise_descriptor_limit() -> io::Result<u64> {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: `limit` is a valid, writable rlimit for the length of the call.
    if unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit) } != 0 {
        return Err(io::Error::last_os_error());
    }
    limit.rlim_cur = limit.rlim_max;
    // SAFETY: `limit` is a valid rlimit for the length of the call.
    match unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &limit) } {
        0 => Ok(limit.rlim_max),
        _ => Err(io::Error::last_os_error()),
    }
}

/// The length of a tick, the unit of CPU time in /proc.
pub(crate) fn tick() -> Duration {
    // SAFETY: sysconf(3) takes a number and touches no memory.
    let per_second = unsafe { libc::sysconf(libc::_SC_CLK_TCK) };
    Duration::from_secs(1) / u32::try_from(per_second).unwrap_or(100).max(1)
}

#[cfg(test)]
mod tests {
    use std::process::Stdio;

    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", script]).stdout(Stdio::null());
        command
    }

    fn run(script: &str, at_most: Duration) -> (Usage, bool) {
        let mut command = shell(script);
        confine(&mut command, crate::peers::machine::usable_cpus()[0]).unwrap();
        let pid = command.spawn().unwrap().id();
        wait_for(pid, at_most).unwrap()
    }

    #[test]
    fn cpu_time_grows_while_a_process_works() {
        let before = cpu_time(std::process::id()).unwrap();
        let until = std::time::Instant::now() + Duration::from_millis(5);
        while std::time::Instant::now() < until {}
        assert!(cpu_time(std::process::id()).unwrap() > before);
    }

    #[test]
    fn what_a_childs_children_use_is_counted() {
        let count = "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done";
        let (none, _) = run("true", Duration::from_secs(60));
        let (used, ended) = run(&format!("( {count} ); true"), Duration::from_secs(60));
        assert!(!ended);
        assert_eq!(used.failure(), None);
        assert!(used.user + used.system > none.user + none.system);
        assert!(used.peak_bytes > 0);
    }

    #[test]
    fn a_child_that_does_not_end_is_killed() {
        let (usage, ended) = run("exec sleep 600", Duration::from_millis(20));
        assert!(ended);
        assert_eq!(usage.failure().unwrap(), "ended by signal 9");
    }

    #[test]
    fn an_exit_status_is_told() {
        let (usage, _) = run("exit 3", Duration::from_secs(60));
        assert_eq!(usage.failure().unwrap(), "exit status 3");
    }

    #[test]
    fn a_child_runs_on_the_cpu_given_alone() {
        let cpu = *crate::peers::machine::usable_cpus().last().unwrap();
        let mut command = Command::new("/bin/grep");
        command.args(["Cpus_allowed_list", "/proc/self/status"]);
        confine(&mut command, cpu).unwrap();
        let output = command.output().unwrap();
        let shown = String::from_utf8(output.stdout).unwrap();
        assert_eq!(shown.split_whitespace().last().unwrap(), cpu.to_string());
    }

    #[test]
    fn an_impossible_cpu_is_an_error() {
        assert!(confine(&mut shell("true"), 1 << 20).is_err());
    }
}
