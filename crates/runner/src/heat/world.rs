//! The clocks and the machine, as a heat sees them.

use std::time::Duration;

/// The clocks and the machine.
pub trait World {
    /// What time it is.
    fn now(&self) -> Moment;

    /// What the machine has done so far; `None` where it does not tell.
    fn work(&self) -> Option<Work>;

    /// Lets so much time go by.
    fn pause(&self, time: Duration);
}

/// A moment on two clocks, each since a moment of its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment {
    /// The monotonic clock, which stands still while the machine sleeps (clock_gettime(2), `CLOCK_MONOTONIC`).
    pub awake: Duration,
    /// The one that counts on (`CLOCK_BOOTTIME`).
    pub all: Duration,
}

impl Moment {
    /// Time awake since `earlier`.
    pub fn since(&self, earlier: &Self) -> Duration {
        self.awake.saturating_sub(earlier.awake)
    }

    /// How long the machine slept between `earlier` and this.
    pub(crate) fn slept_since(&self, earlier: &Self) -> Duration {
        let all = self.all.saturating_sub(earlier.all);
        all.saturating_sub(self.since(earlier))
    }
}

/// CPU time on the CPUs that server and generator use, since the machine started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Taken by the hypervisor.
    pub steal: Duration,
    /// Busy, for any program.
    pub busy: Duration,
    /// The part of that which went into interrupts.
    pub interrupts: Duration,
    /// What Deadheat and its services used.
    pub own: Duration,
    /// So many CPUs.
    pub cpus: u32,
}
