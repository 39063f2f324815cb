//! Clocks, CPUs and limits of the system.

use std::{io, num::NonZeroU64, time::Duration};

use rustix::{
    process::{Resource, Rlimit, getrlimit, setrlimit},
    thread::{CpuSet, sched_setaffinity, set_current_timer_slack},
    time::{ClockId, clock_gettime},
};

/// The monotonic clock, in nanoseconds since some start. It never steps, and reading it is no system call.
#[inline]
pub(crate) fn monotonic_ns() -> u64 {
    clock_ns(ClockId::Monotonic)
}

/// CPU time that the calling thread has used.
pub(crate) fn thread_cpu_time() -> Duration {
    Duration::from_nanos(clock_ns(ClockId::ThreadCPUTime))
}

#[inline]
fn clock_ns(clock: ClockId) -> u64 {
    let time = clock_gettime(clock);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Restricts the calling thread to one CPU.
pub(crate) fn pin_current_thread(cpu: usize) -> io::Result<()> {
    if cpu >= CpuSet::MAX_CPU {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let mut set = CpuSet::new();
    set.set(cpu);
    Ok(sched_setaffinity(None, &set)?)
}

/// Lets the calling thread's timers fire when they are due, instead of up to 50 µs later (prctl(2),
/// `PR_SET_TIMERSLACK`). Where the system refuses, timers are only less exact, which the send lag then shows.
pub(crate) fn make_timers_exact() {
    let _ = set_current_timer_slack(NonZeroU64::new(1));
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
pub(crate) fn descriptor_limit() -> DescriptorLimit {
    let limit = getrlimit(Resource::Nofile);
    DescriptorLimit {
        soft: limit.current.unwrap_or(u64::MAX),
        hard: limit.maximum.unwrap_or(u64::MAX),
    }
}

/// Sets the soft limit to the hard one.
pub(crate) fn raise_descriptor_limit(limit: DescriptorLimit) -> io::Result<()> {
    let limit = Rlimit {
        current: Some(limit.hard),
        maximum: Some(limit.hard),
    };
    Ok(setrlimit(Resource::Nofile, limit)?)
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
