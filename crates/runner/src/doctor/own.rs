//! Facts that the doctor measures itself.

use std::{
    net::UdpSocket,
    path::Path,
    time::{Duration, Instant},
};

use deadheat_model::machine::CpuSource;

use crate::process::{CpuGroup, is_root};

/// Facts about this process and machine that have to be measured.
#[derive(Clone, Debug)]
pub struct OwnFacts {
    /// Whether it runs as root.
    pub is_root: bool,
    /// Whether it was compiled without optimisation.
    pub debug_build: bool,
    /// How the CPU time of process trees is counted here.
    pub cpu_source: CpuSource,
    /// What reading the monotonic clock costs.
    pub clock_cost: Duration,
    /// The smallest step that the clock was seen to take; `None`: it never moved.
    pub clock_step: Option<Duration>,
    /// The shortest time of a datagram over loopback, from a socket to itself; `None` if none arrived.
    pub loopback: Option<Duration>,
    /// Bytes free where results are written; `None` where the system does not tell.
    pub free_bytes: Option<u64>,
}

impl OwnFacts {
    /// Tries everything: some milliseconds in all.
    pub(super) fn gather(results: &Path) -> Self {
        Self {
            is_root: is_root(),
            debug_build: cfg!(debug_assertions),
            cpu_source: CpuGroup::probe(),
            clock_cost: clock_cost(),
            clock_step: clock_step(),
            loopback: loopback(),
            free_bytes: free_bytes(results),
        }
    }
}

/// The cost of one reading of the clock, from the fastest of some batches: the one that was disturbed least.
fn clock_cost() -> Duration {
    const READINGS: u32 = 1000;
    let batch = |_| {
        let start = Instant::now();
        for _ in 1..READINGS {
            std::hint::black_box(Instant::now());
        }
        start.elapsed() / READINGS
    };
    (0..10).map(batch).min().unwrap_or_default()
}

fn clock_step() -> Option<Duration> {
    // A clock that ticks every few milliseconds is waited for a few times only.
    let steps = (0..20).filter_map(|_| {
        let start = Instant::now();
        (0..100_000)
            .map(|_| start.elapsed())
            .find(|step| !step.is_zero())
    });
    steps.min()
}

fn loopback() -> Option<Duration> {
    let socket = UdpSocket::bind(("127.0.0.1", 0)).ok()?;
    socket.connect(socket.local_addr().ok()?).ok()?;
    // Artificial delays (tc netem) are some milliseconds, so this is long enough.
    socket
        .set_read_timeout(Some(Duration::from_millis(500)))
        .ok()?;
    let mut best = None;
    for _ in 0..20 {
        let start = Instant::now();
        socket.send(b"?").ok()?;
        socket.recv(&mut [0]).ok()?;
        let took = start.elapsed();
        best = Some(best.map_or(took, |best: Duration| best.min(took)));
    }
    best
}

/// Free bytes where `folder` is, or where its nearest existing parent is.
fn free_bytes(folder: &Path) -> Option<u64> {
    let folder = std::path::absolute(folder).ok()?;
    let found = folder
        .ancestors()
        .find_map(|folder| rustix::fs::statvfs(folder).ok())?;
    Some(found.f_bavail.saturating_mul(found.f_frsize))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_is_not_there_yet_has_room() {
        let found = free_bytes(Path::new("/tmp/not-there/nor-this"));
        assert!(found.is_some_and(|bytes| bytes > 0));
    }

    #[test]
    fn the_clock_moves_and_loopback_answers() {
        assert!(clock_step().is_some_and(|step| step > Duration::ZERO));
        assert!(loopback().is_some_and(|time| time > Duration::ZERO));
    }
}
