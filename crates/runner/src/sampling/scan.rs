//! Which processes are looked at when a measurement begins and when it ends.

use std::time::Duration;

use super::pace::{Stopwatch, is_affordable};
use crate::process::{Snapshot, read_stat};

/// What to look at. Both ends of a measurement need the same, or processes would seem to begin or end in between.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Scan {
    /// All processes that can be seen.
    All,
    /// Deadheat with everything that it started, and these threads of the kernel, which serve interrupts. What other
    /// programs do is then known from the CPUs' time alone.
    Ours(Vec<u32>),
}

impl Scan {
    /// All processes if a look at them takes little of a measurement of such a length, ours otherwise. This looks at
    /// all of them, so it must come before the measurement.
    pub(super) fn within(measure: Duration) -> Self {
        let watch = Stopwatch::start();
        let all = Snapshot::take();
        // Once at each end.
        Self::affordable(watch.cpu() * 2, measure, &all)
    }

    fn affordable(cost: Duration, measure: Duration, all: &Snapshot) -> Self {
        if is_affordable(cost, measure) || Snapshot::of(std::process::id()).is_none() {
            return Self::All;
        }
        let threads = all.all().filter(|stat| stat.serves_interrupts);
        Self::Ours(threads.map(|stat| stat.pid).collect())
    }

    /// Looks.
    pub(super) fn take(&self) -> Snapshot {
        match self {
            Scan::All => Snapshot::take(),
            Scan::Ours(threads) => {
                let ours = Snapshot::of(std::process::id()).unwrap_or_default();
                let threads = threads.iter().filter_map(|pid| read_stat(*pid));
                ours.all().copied().chain(threads).collect()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use deadheat_testkit::not_tested;

    use super::*;

    #[test]
    fn a_machine_with_so_many_processes_that_looking_at_all_would_disturb_is_not_scanned() {
        let (all, look) = (Snapshot::take(), Duration::from_millis(50));
        let of = |seconds| Scan::affordable(2 * look, Duration::from_secs(seconds), &all);
        assert_eq!(of(20), Scan::All);
        assert!(matches!(of(4), Scan::Ours(_)));
    }

    #[test]
    fn what_deadheat_started_is_looked_at_with_the_named_threads_of_the_kernel() {
        let own = std::process::id();
        let outsider = read_stat(own).unwrap().parent;
        let found = |threads: Vec<u32>| {
            let ours = Scan::Ours(threads).take();
            [own, outsider].map(|pid| ours.find(pid).is_some())
        };
        if Snapshot::of(own).is_none() {
            not_tested("lists of children", "this kernel keeps none");
            return;
        }
        assert_eq!(found(Vec::new()), [true, false]);
        assert_eq!(found(vec![outsider]), [true, true]);
    }
}
