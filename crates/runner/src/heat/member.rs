//! The interfaces of a heat's members, its clocks and its machine. Members may stay frozen after a heat, for the next
//! heat at another load.

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
    process::read_stat,
    sampling::{CpuClock, Tree, interrupt_threads},
    session::server::Server,
};

/// A member of a heat. The heat calls [`Member::start`] first and [`Member::stop`] last, and sends load only between
/// [`Member::open`] and [`Member::stop`].
pub trait Member: Send {
    /// Starts a server and waits until it is ready, or thaws the one that an earlier heat kept. `None`: the user asked
    /// to stop meanwhile.
    ///
    /// # Errors
    /// When it does not become ready.
    fn start(&mut self) -> Result<Option<Started>, StackFailure>;

    /// Checks the answers. Returns the number of checks that passed. A failure is reported under `phase`.
    ///
    /// # Errors
    /// What was wrong, or that the user asked to stop meanwhile.
    fn verify(&mut self, phase: Phase) -> Result<u32, StackFailure>;

    /// Checks that the database has all writes that the load's answers acknowledged. The server is frozen, so it cannot
    /// catch up, unless it has failed. Returns the number of writes; `None` if the workload does not write or writes cannot
    /// be compared.
    ///
    /// # Errors
    /// The lost writes.
    fn check_written(&mut self) -> Result<Option<u64>, StackFailure> {
        Ok(None)
    }

    /// Opens the connections of the load and closes those of an earlier one. Nothing is sent yet. `per_second` is the
    /// rate of an open loop; `None` uses the load point's schedule.
    ///
    /// # Errors
    /// When the load cannot be set up.
    fn open(&mut self, per_second: Option<f64>) -> Result<(), StackFailure>;

    /// Loads the member for `guard`, which does not count, then for `length`, which counts. Then waits for the requests
    /// in flight. Calls `on_edge` at the edges of the counted part.
    ///
    /// # Errors
    /// When there was no load. Failed requests are part of the result.
    fn slice(
        &mut self,
        guard: Duration,
        length: Duration,
        on_edge: &mut dyn FnMut(SliceEvent),
    ) -> Result<MeasuredSlice, StackFailure>;

    /// Checks after the warm-up that the services behind the member received one request for each answer.
    ///
    /// # Errors
    /// What was wrong.
    fn settle(&mut self) -> Result<(), StackFailure>;

    /// Freezes the whole server. Returns when all its processes are frozen.
    ///
    /// # Errors
    /// Why some processes still run.
    fn freeze(&mut self) -> Result<(), StackFailure>;

    /// Thaws the server.
    ///
    /// # Errors
    /// Why it is still frozen.
    fn thaw(&mut self) -> Result<(), StackFailure>;

    /// The names of the load's request groups; empty without groups.
    fn routes(&self) -> Vec<String> {
        Vec::new()
    }

    /// The compression of its answers in the last check; `None` if they are not compressed.
    fn compression(&self) -> Option<Compression> {
        None
    }

    /// The method of freezing the member.
    fn freezing(&mut self) -> Freezing;

    /// The PSS (proportional set size) of its process tree in bytes, frozen or not; `None` if it cannot be read.
    fn memory(&mut self) -> Option<u64>;

    /// The CPU time, user and system, of its process tree since the start; `None` if it cannot be read.
    fn cpu(&mut self) -> Option<Duration>;

    /// How its main process ended ("exited with status 1"); `None` if that does not become known within `patience`.
    fn exit(&mut self, patience: Duration) -> Option<String>;

    /// A failure of the member, with the end of its log.
    fn failure(&mut self, phase: Phase, reason: String) -> StackFailure;

    /// Closes the connections and stops the server with everything that it started. Does nothing if the member is not
    /// running.
    ///
    /// # Errors
    /// When it did not end cleanly. The reason names processes that still run because they could not be killed.
    fn stop(&mut self) -> Result<(), StackFailure>;

    /// Closes the connections and leaves the server frozen for the next heat.
    fn keep(&mut self);

    /// [`Member::stop`] with a grace period of a third of a second. The result is ignored.
    fn stop_soon(&mut self);
}

/// A server that has become ready.
#[derive(Clone, Debug)]
pub struct Started {
    /// The server's command; empty if it was running already.
    pub command: Vec<String>,
    /// The time from the process's start to its first correct answer; `None` if it was running already.
    pub ready: Option<Duration>,
    /// The source of its CPU time; `None` if its processes are unknown.
    pub cpu_source: Option<CpuSource>,
    /// The number of loads that the server served before.
    pub loads_before: u32,
}

/// The measurements of a slice.
#[derive(Clone, Debug, Default)]
pub struct MeasuredSlice {
    /// The result of the load generator.
    pub result: SliceResult,
    /// The CPU time of the server's process tree in the counted part; `None` if it could not be read.
    pub cpu: Option<CpuUsed>,
}

/// The clocks and the CPU statistics of the machine. Tests replace them.
pub trait Environment {
    /// The current time.
    fn now(&self) -> Moment;

    /// The CPU time used on the machine so far; `None` if the system does not report it.
    fn work(&self) -> Option<Work>;

    /// Waits for `time`.
    fn pause(&self, time: Duration);
}

/// A moment on two clocks with different origins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment {
    /// The monotonic clock, which does not count while the machine is suspended (clock_gettime(2), `CLOCK_MONOTONIC`).
    pub awake: Duration,
    /// The clock that also counts while the machine is suspended (`CLOCK_BOOTTIME`).
    pub all: Duration,
}

impl Moment {
    /// The time since `earlier`, without suspended time.
    pub fn since(&self, earlier: &Self) -> Duration {
        self.awake.saturating_sub(earlier.awake)
    }

    /// The time that the machine was suspended since `earlier`.
    pub(crate) fn slept_since(&self, earlier: &Self) -> Duration {
        let all = self.all.saturating_sub(earlier.all);
        all.saturating_sub(self.since(earlier))
    }
}

/// CPU time on the CPUs that server and generator use, since the machine started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Time taken by the hypervisor.
    pub steal: Duration,
    /// Busy time of all programs.
    pub busy: Duration,
    /// The part of the busy time that the kernel spent on interrupts and counted for no process.
    pub interrupts: Duration,
    /// CPU time of Deadheat and its services.
    pub own: Duration,
    /// The number of CPUs.
    pub cpus: u32,
}

/// The clocks and CPUs of this machine.
#[derive(Clone, Debug, Default)]
pub struct ThisMachine {
    /// The CPUs that server and generator use; empty means all.
    pub cpus: Vec<usize>,
    /// The process trees of services that work for the members (PostgreSQL).
    pub(crate) services: Vec<Tree>,
    /// The kernel's threads for the interrupts of these CPUs. Empty: it is not known for how many packets they work.
    pub(crate) interrupt_threads: Vec<u32>,
}

impl ThisMachine {
    /// This machine with the CPUs that server and generator use, and the services that work for the members.
    pub(crate) fn new(cpus: Vec<usize>, services: Vec<Tree>) -> Self {
        Self {
            interrupt_threads: interrupt_threads(&cpus),
            cpus,
            services,
        }
    }
}

impl Environment for ThisMachine {
    fn now(&self) -> Moment {
        Moment {
            awake: read(ClockId::Monotonic),
            all: read(ClockId::Boottime),
        }
    }

    fn work(&self) -> Option<Work> {
        let clock = CpuClock::now();
        let services = self.services.iter().map(Tree::cpu);
        let own = read(ClockId::ProcessCPUTime) + services.sum::<Option<Duration>>()?;
        let threads = self.interrupt_threads.iter();
        let threads = threads.filter_map(|thread| Some(read_stat(*thread)?.cpu_ticks));
        let threads = (!self.interrupt_threads.is_empty()).then(|| threads.sum::<u64>());
        let [steal, busy, interrupts] = clock.busy_times(&self.cpus, threads)?;
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

/// Identifies one of the servers that run together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    /// The stack and its variant.
    pub(crate) target: TargetId,
    /// Whether it is the twin of another server with the same target.
    pub(crate) is_twin: bool,
}

/// A server between two heats.
pub(super) struct KeptServer {
    pub(super) identity: Identity,
    /// The seat that it was started with: its number among the servers that run together.
    pub(super) seat: usize,
    /// The number of loads that it has served.
    pub(super) loads: u32,
    pub(super) server: Server,
    pub(super) tree: Tree,
}

/// Servers between two heats. A member takes its server at its start and returns it when it is kept.
#[derive(Default)]
pub struct KeptServers {
    servers: Mutex<Vec<KeptServer>>,
}

impl KeptServers {
    /// The seat of a server; `None` if it is not kept.
    pub(crate) fn seat(&self, identity: &Identity) -> Option<usize> {
        let servers = self.servers();
        let mut all = servers.iter();
        let own = all.find(|kept| kept.identity == *identity)?;
        Some(own.seat)
    }

    /// Stops all servers except `than`. Errors are ignored.
    pub(crate) fn stop_others(&self, than: &[Identity]) {
        let is_other = |kept: &mut KeptServer| !than.contains(&kept.identity);
        let others: Vec<KeptServer> = self.servers().extract_if(.., is_other).collect();
        std::thread::scope(|scope| {
            for kept in others {
                scope.spawn(|| kept.server.stop_soon());
            }
        });
    }

    pub(super) fn take(&self, identity: &Identity) -> Option<KeptServer> {
        let mut servers = self.servers();
        let place = servers.iter().position(|kept| kept.identity == *identity)?;
        Some(servers.swap_remove(place))
    }

    pub(super) fn leave(&self, kept: KeptServer) {
        self.servers().push(kept);
    }

    fn servers(&self) -> MutexGuard<'_, Vec<KeptServer>> {
        self.servers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::{
        io::{BufRead, BufReader},
        process::{Command, Stdio},
    };

    use super::*;

    #[test]
    fn the_work_of_a_service_without_a_control_group_is_deadheats_own() {
        // It works in a child, says so, and ends when its input does.
        let work = "(i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done); echo; read line";
        let mut service = Command::new("sh")
            .args(["-c", work])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut output = BufReader::new(service.stdout.take().unwrap());
        output.read_line(&mut String::new()).unwrap();
        let tree = Tree::without_group(service.id());
        let used = tree.cpu().unwrap();
        let without = ThisMachine::default().work().unwrap().own;
        let machine = ThisMachine::new(Vec::new(), vec![tree]);
        let own = machine.work().unwrap().own;
        drop(service.stdin.take());
        service.wait().unwrap();
        assert!(
            !used.is_zero() && own >= without + used,
            "{own:?} {without:?}"
        );
    }

    #[test]
    fn the_clocks_go_on_and_this_process_works() {
        let machine = ThisMachine::default();
        let (before, first) = (machine.now(), machine.work().unwrap());
        let mut now = first;
        // Wait until the kernel's tick-based counters have changed too.
        while now.busy == first.busy || now.own == first.own {
            now = machine.work().unwrap();
        }
        assert!(now.own > first.own && now.busy > first.busy);
        let after = machine.now();
        assert!(after.awake > before.awake);
        assert!(after.slept_since(&before) < Duration::from_secs(1));
    }
}
