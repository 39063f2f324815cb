//! What a heat asks of one of its members, of the clocks and of the machine. Members may be left frozen when a heat is over,
//! for the heat that follows at another load.

use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use deadheat_model::{
    SliceEvent, SliceResult, TargetId,
    heat::{Compression, CpuUsed, Freezing},
    machine::CpuSource,
    session::{Phase, StackFailure},
};
use rustix::time::{ClockId, clock_gettime};

use crate::{
    process::CpuGroup,
    sampling::{CpuClock, Tree},
    session::server::Server,
};

/// A member of a heat, from its start to its stop. The heat calls [`Member::start`] first and [`Member::stop`] last, and
/// sends load between [`Member::open`] and [`Member::stop`] alone.
pub trait Member: Send {
    /// Starts a server and waits until it is ready, or lets the one go on that an earlier heat has kept for it. `None`: the
    /// user asked to stop meanwhile.
    ///
    /// # Errors
    /// When it does not come up.
    fn start(&mut self) -> Result<Option<Started>, StackFailure>;

    /// Checks its answers; how many checks passed. `phase` is what a failure names.
    ///
    /// # Errors
    /// What was wrong.
    fn verify(&mut self, phase: Phase) -> Result<u32, StackFailure>;

    /// Checks that what its load was told to have been written is there, while it is frozen: it has no time to catch up. How many
    /// writes these are; `None` where it writes nothing, or they cannot be compared.
    ///
    /// # Errors
    /// What is lost.
    fn check_written(&mut self) -> Result<Option<u64>, StackFailure> {
        Ok(None)
    }

    /// Opens the connections of its load, which sends nothing yet; those of an earlier load are closed. `per_second` is the
    /// rate of an open loop; `None`: as its load point says.
    ///
    /// # Errors
    /// When the load cannot be set up.
    fn open(&mut self, per_second: Option<f64>) -> Result<(), StackFailure>;

    /// Loads it: for `guard`, which does not count, then for `length`, which does; then waits for what is in flight.
    /// Tells at the counted part's edges.
    ///
    /// # Errors
    /// When there was no load. That requests failed is no error but an observation.
    fn slice(
        &mut self,
        guard: Duration,
        length: Duration,
        on_edge: &mut dyn FnMut(SliceEvent),
    ) -> Result<MeasuredSlice, StackFailure>;

    /// Checks what its warm-up left behind: that the services behind it were asked as often as it answered.
    ///
    /// # Errors
    /// What was wrong.
    fn settle(&mut self) -> Result<(), StackFailure>;

    /// Freezes the whole server, until all of it is.
    ///
    /// # Errors
    /// Why parts of it go on.
    fn freeze(&mut self) -> Result<(), StackFailure>;

    /// Lets the server go on.
    ///
    /// # Errors
    /// Why it does not.
    fn thaw(&mut self) -> Result<(), StackFailure>;

    /// What the groups of its load are called; empty if it has none.
    fn routes(&self) -> Vec<String> {
        Vec::new()
    }

    /// How much shorter compression makes its answers, as its last check saw it; `None` where they are not compressed.
    fn compression(&self) -> Option<Compression> {
        None
    }

    /// How it is frozen.
    fn freezing(&mut self) -> Freezing;

    /// The PSS of its process tree in bytes, frozen or not; `None` when it cannot be read.
    fn memory(&mut self) -> Option<u64>;

    /// CPU time, user and system, that its process tree has used since its start; `None` when it cannot be read.
    fn cpu(&mut self) -> Option<Duration>;

    /// How its main process ended ("exited with status 1"), if that becomes known within `patience`.
    fn exit(&mut self, patience: Duration) -> Option<String>;

    /// A failure of it, with the end of its log.
    fn failure(&mut self, phase: Phase, reason: String) -> StackFailure;

    /// Closes its connections and ends the server with everything that it started. One that never started, or is
    /// stopped already, needs nothing.
    ///
    /// # Errors
    /// When it did not end as it should. The reason names the processes that still run, if any could not be killed.
    fn stop(&mut self) -> Result<(), StackFailure>;

    /// Closes its connections and leaves the server frozen for the next heat.
    fn keep(&mut self);

    /// The same as [`Member::stop`] in a third of a second, however it ends.
    fn stop_soon(&mut self);
}

/// A server that has become ready.
#[derive(Clone, Debug)]
pub struct Started {
    /// Its command; empty when it runs already.
    pub command: Vec<String>,
    /// From the process's start to its first correct answer; `None` when it runs already.
    pub ready: Option<Duration>,
    /// How its CPU time is taken; `None` where its processes are not known.
    pub cpu_source: Option<CpuSource>,
    /// The loads that it has served before.
    pub loads_before: u32,
}

/// What was seen of a slice.
#[derive(Clone, Debug, Default)]
pub struct MeasuredSlice {
    /// What the load found.
    pub result: SliceResult,
    /// CPU time of the server's process tree in the counted part; `None` where it could not be read.
    pub cpu: Option<CpuUsed>,
}

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

/// Which of the servers that are alive together it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    /// What runs.
    pub(crate) target: TargetId,
    /// Whether it is the second one of its kind.
    pub(crate) is_twin: bool,
}

/// A server between two heats.
pub(super) struct Kept {
    pub(super) identity: Identity,
    /// Its number among those that are alive together, under which it was started.
    pub(super) seat: usize,
    /// Loads that it has served.
    pub(super) loads: u32,
    pub(super) server: Server,
    pub(super) tree: Tree,
}

/// The servers between two heats. Members take theirs when they start, and leave it when they are kept.
#[derive(Default)]
pub struct KeptServers {
    servers: Mutex<Vec<Kept>>,
}

impl KeptServers {
    /// The seat of this one, if it is there.
    pub(crate) fn seat(&self, identity: &Identity) -> Option<usize> {
        let servers = self.servers();
        let mut all = servers.iter();
        let own = all.find(|kept| kept.identity == *identity)?;
        Some(own.seat)
    }

    /// Ends all but these. How they end is not looked at.
    pub(crate) fn stop_others(&self, than: &[Identity]) {
        let is_other = |kept: &mut Kept| !than.contains(&kept.identity);
        let others: Vec<Kept> = self.servers().extract_if(.., is_other).collect();
        std::thread::scope(|scope| {
            for kept in others {
                scope.spawn(|| kept.server.stop_soon());
            }
        });
    }

    pub(super) fn take(&self, identity: &Identity) -> Option<Kept> {
        let mut servers = self.servers();
        let place = servers.iter().position(|kept| kept.identity == *identity)?;
        Some(servers.swap_remove(place))
    }

    pub(super) fn leave(&self, kept: Kept) {
        self.servers().push(kept);
    }

    fn servers(&self) -> MutexGuard<'_, Vec<Kept>> {
        self.servers.lock().unwrap_or_else(PoisonError::into_inner)
    }
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
