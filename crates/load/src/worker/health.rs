//! What a worker uses of its CPU while it measures.

use std::time::Duration;

use deadheat_model::observation::WorkerHealth;

use crate::sys;

/// A look at the connections in vain takes less. In a longer one something else had the CPU, and what the thread did
/// not use must not be taken off what it used.
const LONGEST_LOOK: u64 = 50_000;

/// What the thread uses in the measurement. Except for `polled`, nothing is known before its end.
#[derive(Debug, Default)]
pub(super) struct Health {
    /// What stood at its start, while it lasts.
    begun: Option<Begun>,
    cpu_time: Duration,
    /// Nanoseconds spent on looking in vain.
    polled: u64,
    run_delay: Option<Duration>,
    /// Its length in nanoseconds.
    wall: u64,
}

/// What stood at the measurement's start.
#[derive(Debug)]
struct Begun {
    cpu_time: Duration,
    run_delay: Option<Duration>,
    at: u64,
}

impl Health {
    /// The measurement begins.
    pub(super) fn begin(&mut self, now: u64) {
        self.begun = Some(Begun {
            cpu_time: sys::thread_cpu_time(),
            run_delay: sys::thread_run_delay(),
            at: now,
        });
    }

    /// Nothing was to be done, and the thread looked for so long whether that was still so.
    #[inline]
    pub(super) fn looked_in_vain(&mut self, nanoseconds: u64) {
        if self.begun.is_some() {
            self.polled += nanoseconds.min(LONGEST_LOOK);
        }
    }

    /// The measurement is over.
    pub(super) fn end(&mut self, now: u64) {
        if let Some(begun) = self.begun.take() {
            self.cpu_time = sys::thread_cpu_time().saturating_sub(begun.cpu_time);
            let delays = sys::thread_run_delay().zip(begun.run_delay);
            self.run_delay = delays.map(|(now, before)| now.saturating_sub(before));
            self.wall = now - begun.at;
        }
    }

    /// Of a worker on `cpu`.
    pub(super) fn seen(&self, cpu: Option<usize>) -> WorkerHealth {
        WorkerHealth {
            cpu,
            cpu_time: self.cpu_time,
            polled: Duration::from_nanos(self.polled),
            run_delay: self.run_delay,
            wall: Duration::from_nanos(self.wall),
        }
    }
}
