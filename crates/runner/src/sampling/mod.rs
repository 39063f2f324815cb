//! What a server's process tree uses while it is measured, taken from outside it and outside its CPUs.

mod counters;
mod memory;
mod noise;
mod switches;

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{RecvTimeoutError, Sender, channel},
    },
    thread::JoinHandle,
    time::{Duration, Instant},
};

use deadheat_model::{
    plan::Pinning,
    trial::{CpuSource, Noise, Resources},
};

use self::{counters::Counters, memory::tree_memory, noise::CpuClock, switches::Switches};
use crate::process::{CpuGroup, Supervised};

/// How often memory, threads and context switches are looked at. Reading PSS walks the page tables of every
/// process of the tree, so more often would be a load of its own.
pub const INTERVAL: Duration = Duration::from_millis(250);

/// Samples one process tree during one measurement.
pub struct Sampler {
    tree: Tree,
    pss_idle: u64,
    pinning: Pinning,
    begun: Option<Begun>,
}

/// A process tree: the supervisor whose descendants it is, and its control group.
#[derive(Clone, Debug)]
struct Tree {
    supervisor: u32,
    group: Option<CpuGroup>,
}

struct Begun {
    at: Instant,
    counters: Counters,
    clock: CpuClock,
    series: Arc<Mutex<Series>>,
    stop: Sender<()>,
    thread: JoinHandle<()>,
}

/// What the sampling thread gathers.
#[derive(Debug, Default)]
struct Series {
    pss_sum: u64,
    pss_peak: u64,
    samples: u32,
    processes: u32,
    threads: u32,
    switches: Switches,
}

impl Series {
    fn sample(&mut self, supervisor: u32) {
        let memory = tree_memory(supervisor);
        if memory.processes > 0 {
            self.pss_sum += memory.pss_bytes;
            self.pss_peak = self.pss_peak.max(memory.pss_bytes);
            self.samples += 1;
        }
        self.processes = self.processes.max(memory.processes);
        self.threads = self.threads.max(memory.threads);
        self.switches.update(supervisor);
    }
}

impl Sampler {
    /// Prepares to sample `server`, which has just become ready, and takes its idle memory.
    pub fn new(server: &Supervised, pinning: &Pinning) -> Self {
        let tree = Tree {
            supervisor: server.supervisor_pid(),
            group: server.group().cloned(),
        };
        Self {
            pss_idle: tree_memory(tree.supervisor).pss_bytes,
            tree,
            pinning: pinning.clone(),
            begun: None,
        }
    }

    /// The measurement begins.
    pub fn begin(&mut self) {
        let mut series = Series::default();
        series.sample(self.tree.supervisor);
        series.switches.forget_the_past();
        let series = Arc::new(Mutex::new(series));
        let (stop, stopped) = channel();
        let (shared, supervisor) = (Arc::clone(&series), self.tree.supervisor);
        let thread = std::thread::spawn(move || {
            while stopped.recv_timeout(INTERVAL) == Err(RecvTimeoutError::Timeout) {
                lock(&shared).sample(supervisor);
            }
        });
        self.begun = Some(Begun {
            at: Instant::now(),
            counters: Counters::read(&self.tree),
            clock: CpuClock::read(),
            series,
            stop,
            thread,
        });
    }

    /// The measurement has ended: what was used since [`Sampler::begin`]; `None` if that was never called.
    pub fn end(&mut self) -> Option<(Resources, Noise)> {
        let begun = self.begun.take()?;
        let used = Counters::read(&self.tree).since(&begun.counters);
        let span = begun.at.elapsed();
        let noise = CpuClock::read().noise_since(&begun.clock, &self.pinning, used.cpu);
        // The thread may have ended by a panic only, and then its samples so far still count.
        let _ = begun.stop.send(());
        let _ = begun.thread.join();
        let mut series = lock(&begun.series);
        series.sample(self.tree.supervisor);
        let (voluntary_switches, involuntary_switches) = series.switches.totals();
        let resources = Resources {
            cpu_source: self
                .tree
                .group
                .as_ref()
                .map_or(CpuSource::Proc, CpuGroup::source),
            cpu_seconds: used.cpu.as_secs_f64(),
            span_seconds: span.as_secs_f64(),
            pss_idle_bytes: self.pss_idle,
            pss_mean_bytes: series.pss_sum / u64::from(series.samples.max(1)),
            pss_peak_bytes: series.pss_peak,
            samples: series.samples,
            processes: series.processes,
            threads: series.threads,
            voluntary_switches,
            involuntary_switches,
            minor_faults: used.minor_faults,
            major_faults: used.major_faults,
        };
        Some((resources, noise))
    }
}

/// What the machine did meanwhile, where the server is none of Deadheat's processes.
pub struct Surroundings {
    clock: CpuClock,
}

impl Surroundings {
    /// The measurement begins.
    pub fn begin() -> Self {
        Self {
            clock: CpuClock::read(),
        }
    }

    /// The measurement has ended. What the server itself used is among what other programs used.
    pub fn end(self) -> Noise {
        let pinning = Pinning::Off { cpus: Vec::new() };
        CpuClock::read().noise_since(&self.clock, &pinning, Duration::ZERO)
    }
}

fn lock(series: &Mutex<Series>) -> std::sync::MutexGuard<'_, Series> {
    series.lock().unwrap_or_else(PoisonError::into_inner)
}
