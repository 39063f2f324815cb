//! Clocks, CPUs and limits of the system.

use std::{fs::File, io, io::Read as _, num::NonZeroU64, time::Duration};

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

/// The time that the calling thread was ready to run and waited for a CPU: proc(5), `schedstat`. `None` if the kernel
/// does not report it. Allocates nothing.
pub(crate) fn thread_run_delay() -> Option<Duration> {
    let mut text = [0; 96];
    let mut file = File::open("/proc/thread-self/schedstat").ok()?;
    let length = file.read(&mut text).ok()?;
    run_delay(&text[..length])
}

/// The second value of `<time on the CPU> <time on a run queue> <timeslices>`; times are in nanoseconds. `None` if the
/// kernel does not count, which shows as a CPU time of 0.
fn run_delay(schedstat: &[u8]) -> Option<Duration> {
    let text = std::str::from_utf8(schedstat).ok()?;
    let mut fields = text.split(' ').map(str::parse::<u64>);
    let (ran, waited) = (fields.next()?.ok()?, fields.next()?.ok()?);
    (ran > 0).then(|| Duration::from_nanos(waited))
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
/// `PR_SET_TIMERSLACK`). If the system refuses, timers are less exact, which the send lag shows.
pub(crate) fn make_timers_exact() {
    let _ = set_current_timer_slack(NonZeroU64::new(1));
}

/// The limit of file descriptors of the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DescriptorLimit {
    /// The current limit.
    pub(crate) soft: u64,
    /// The limit up to which the process may raise it.
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
    use std::sync::atomic::{AtomicBool, Ordering};

    use rustix::thread::sched_getaffinity;

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
    fn a_run_delay_is_read_or_not_known() {
        let delay = |text: &str| run_delay(text.as_bytes());
        assert_eq!(delay("506411 77 1\n"), Some(Duration::from_nanos(77)));
        for text in ["", "5", "5 ", "5 x 1", "5 -1 1", "0 0 0\n"] {
            assert_eq!(delay(text), None, "{text:?}");
        }
    }

    #[test]
    fn whoever_shares_a_cpu_waits_for_it() {
        let cpus = sched_getaffinity(None).unwrap();
        let cpu = (0..CpuSet::MAX_CPU).find(|cpu| cpus.is_set(*cpu)).unwrap();
        let over = AtomicBool::new(false);
        // Both run all the time on one CPU, until one of them has waited for the other.
        let share = || {
            pin_current_thread(cpu).unwrap();
            let before = thread_run_delay();
            while !over.load(Ordering::Relaxed) {
                let waited = thread_run_delay().zip(before);
                // A kernel that does not tell has nothing to test.
                if waited.is_none_or(|(now, before)| now - before > Duration::from_millis(20)) {
                    over.store(true, Ordering::Relaxed);
                }
            }
        };
        std::thread::scope(|scope| {
            scope.spawn(share);
            scope.spawn(share);
        });
        assert!(over.into_inner());
    }

    #[test]
    fn an_impossible_cpu_is_an_error() {
        assert!(pin_current_thread(1 << 20).is_err());
        assert!(pin_current_thread(1023).is_err());
    }
}
