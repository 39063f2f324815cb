//! This machine, as a heat sees it.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

use super::{Moment, Work, World};
use crate::{process::CpuGroup, sampling::CpuClock};

/// This machine.
#[derive(Clone, Debug, Default)]
pub struct Machine {
    /// The CPUs that server and generator use; none: all.
    pub cpus: Vec<usize>,
    /// The control groups of services that work for the members (PostgreSQL).
    pub services: Vec<CpuGroup>,
}

impl World for Machine {
    fn now(&self) -> Moment {
        Moment {
            awake: read(ClockId::Monotonic),
            all: read(ClockId::Boottime),
        }
    }

    fn work(&self) -> Option<Work> {
        let clock = CpuClock::now();
        let services = self.services.iter().filter_map(|one| one.read_cpu().ok());
        let own = read(ClockId::ProcessCPUTime) + services.sum::<Duration>();
        let [steal, busy, interrupts] = clock.busy_times(&self.cpus)?;
        Some(Work {
            steal,
            busy,
            interrupts,
            own,
            cpus: match self.cpus.len() {
                0 => std::thread::available_parallelism().map_or(1, usize::from),
                some => some,
            } as u32,
        })
    }

    fn pause(&self, time: Duration) {
        std::thread::sleep(time);
    }
}

fn read(clock: ClockId) -> Duration {
    Duration::try_from(clock_gettime(clock)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clocks_go_on_and_this_process_works() {
        let machine = Machine::default();
        let (before, first) = (machine.now(), machine.work().unwrap());
        let mut now = first;
        // Until the kernel's ticks have seen it, too.
        while now.busy == first.busy || now.own == first.own {
            now = machine.work().unwrap();
        }
        assert!(now.own > first.own && now.busy > first.busy);
        let after = machine.now();
        assert!(after.awake > before.awake);
        assert!(after.slept_since(&before) < Duration::from_secs(1));
    }
}
