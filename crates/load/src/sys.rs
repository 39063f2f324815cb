//! System calls that the standard library lacks. The only module with `unsafe`.

use std::{io, mem, time::Duration};

/// The monotonic clock, in nanoseconds since some start. It never steps, and reading it is no system call.
#[inline]
pub(crate) fn monotonic_ns() -> u64 {
    clock_ns(libc::CLOCK_MONOTONIC)
}

/// CPU time that the calling thread has used.
pub(crate) fn thread_cpu_time() -> Duration {
    Duration::from_nanos(clock_ns(libc::CLOCK_THREAD_CPUTIME_ID))
}

#[inline]
fn clock_ns(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `time` is a valid, writable timespec for the length of the call. The call cannot fail: both clocks
    // always exist on Linux.
    unsafe { libc::clock_gettime(clock, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Restricts the calling thread to one CPU.
pub(crate) fn pin_current_thread(cpu: usize) -> io::Result<()> {
    if cpu >= libc::CPU_SETSIZE as usize {
        return Err(io::Error::from_raw_os_error(libc::EINVAL));
    }
    // SAFETY: cpu_set_t is an array of integers, for which all zeros is a value (the empty set).
    let mut set: libc::cpu_set_t = unsafe { mem::zeroed() };
    // SAFETY: `cpu` lies inside the set, as checked above.
    unsafe { libc::CPU_SET(cpu, &mut set) };
    // SAFETY: `set` is valid for reading over the size given; process 0 is the calling thread.
    match unsafe { libc::sched_setaffinity(0, mem::size_of_val(&set), &set) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// How many file descriptors the process may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DescriptorLimit {
    /// What holds.
    pub(crate) soft: u64,
    /// What the process may raise it to.
    pub(crate) hard: u64,
}

/// The process's limit of file descriptors.
pub(crate) fn descriptor_limit() -> io::Result<DescriptorLimit> {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: `limit` is a valid, writable rlimit for the length of the call.
    match unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit) } {
        0 => Ok(DescriptorLimit {
            soft: limit.rlim_cur,
            hard: limit.rlim_max,
        }),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Sets the soft limit to the hard one.
pub(crate) fn raise_descriptor_limit(limit: DescriptorLimit) -> io::Result<()> {
    let limit = libc::rlimit {
        rlim_cur: limit.hard,
        rlim_max: limit.hard,
    };
    // SAFETY: `limit` is a valid rlimit for the length of the call.
    match unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &limit) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_go_forward() {
        let (wall, cpu) = (monotonic_ns(), thread_cpu_time());
        let mut sum = 0u64;
        while thread_cpu_time() == cpu {
            sum = std::hint::black_box(sum + 1);
        }
        assert!(monotonic_ns() > wall);
    }

    #[test]
    fn an_impossible_cpu_is_an_error() {
        assert!(pin_current_thread(1 << 20).is_err());
        assert!(pin_current_thread(1023).is_err());
    }
}
