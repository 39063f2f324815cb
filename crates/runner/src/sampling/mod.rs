//! What a server's process tree uses while it is measured, taken from outside it and outside its CPUs.

mod counters;
mod memory;
mod noise;
mod pace;
mod pressure;
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

pub(crate) use self::noise::CpuClock;
pub use self::pace::INTERVAL;
use self::{
    counters::Counters,
    memory::pss_bytes,
    pace::{Stopwatch, pause, thread_cpu},
    pressure::PressureClock,
    switches::Switches,
};
use crate::process::{CpuGroup, Snapshot, Supervised, descendants};

/// Samples one process tree during one measurement.
pub struct Sampler {
    tree: Tree,
    pss_idle: u64,
    /// CPU time that the sample of the idle server took.
    cost: Duration,
    pinning: Pinning,
    begun: Option<Begun>,
}

/// A process tree: the supervisor whose descendants it is, and its control group.
#[derive(Clone, Debug)]
struct Tree {
    supervisor: u32,
    group: Option<CpuGroup>,
}

impl Tree {
    /// Its processes. A control group knows its own; without one, all of the machine have to be looked at.
    fn processes(&self) -> Vec<u32> {
        let group = self.group.as_ref();
        let members = group.and_then(|group| group.processes().ok());
        members.unwrap_or_else(|| {
            let stats = descendants(self.supervisor).into_iter();
            stats.map(|stat| stat.pid).collect()
        })
    }
}

struct Begun {
    at: Instant,
    counters: Counters,
    clock: CpuClock,
    pressure: Option<PressureClock>,
    series: Arc<Mutex<Series>>,
    stop: Sender<()>,
    thread: JoinHandle<Duration>,
    /// CPU time that beginning took.
    cost: Duration,
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
    generator: Switches,
    /// When the last sample ended, and how long a pause it needs.
    rests: Option<(Instant, Duration)>,
}

impl Series {
    /// Looks at memory and threads; how long a pause that needs.
    fn sample(&mut self, tree: &Tree) -> Duration {
        let watch = Stopwatch::start();
        let processes = tree.processes();
        if let Some(pss) = pss_bytes(&processes) {
            self.pss_sum += pss;
            self.pss_peak = self.pss_peak.max(pss);
            self.samples += 1;
        }
        self.look_at_threads(&processes);
        let rest = pause(watch.cpu());
        self.rests = Some((Instant::now(), rest));
        rest
    }

    fn look_at_threads(&mut self, processes: &[u32]) {
        self.processes = self.processes.max(processes.len() as u32);
        self.threads = self.threads.max(self.switches.update(processes));
        let own = [std::process::id()];
        let is_worker: fn(&str) -> bool = |name| name.starts_with("load-");
        self.generator.update_named(&own, is_worker);
    }

    /// Whether the pause after the last sample is over.
    fn is_rested(&self) -> bool {
        self.rests
            .is_none_or(|(since, rest)| since.elapsed() >= rest)
    }
}

impl Sampler {
    /// Prepares to sample `server`, which has just become ready, and takes its idle memory.
    pub fn new(server: &Supervised, pinning: &Pinning) -> Self {
        let tree = Tree {
            supervisor: server.supervisor_pid(),
            group: server.group().cloned(),
        };
        let watch = Stopwatch::start();
        let pss_idle = pss_bytes(&tree.processes()).unwrap_or(0);
        Self {
            pss_idle,
            cost: watch.cpu(),
            tree,
            pinning: pinning.clone(),
            begun: None,
        }
    }

    /// The measurement begins.
    pub fn begin(&mut self) {
        let watch = Stopwatch::start();
        let mut series = Series::default();
        series.look_at_threads(&self.tree.processes());
        series.switches.forget_the_past();
        series.generator.forget_the_past();
        let series = Arc::new(Mutex::new(series));
        let (stop, stopped) = channel();
        let (shared, tree) = (Arc::clone(&series), self.tree.clone());
        // The first sample will be no cheaper than that of the idle server.
        let mut rest = pause(self.cost);
        let thread = std::thread::spawn(move || {
            while stopped.recv_timeout(rest) == Err(RecvTimeoutError::Timeout) {
                rest = lock(&shared).sample(&tree);
            }
            thread_cpu()
        });
        let processes = Snapshot::take();
        self.begun = Some(Begun {
            at: Instant::now(),
            counters: Counters::read(&self.tree, &processes),
            clock: CpuClock::read(&processes),
            pressure: PressureClock::read(),
            series,
            stop,
            thread,
            cost: watch.cpu(),
        });
    }

    /// The measurement has ended: what was used since [`Sampler::begin`]; `None` if that was never called.
    pub fn end(&mut self) -> Option<(Resources, Noise)> {
        let begun = self.begun.take()?;
        let watch = Stopwatch::start();
        let processes = Snapshot::take();
        let used = Counters::read(&self.tree, &processes).since(&begun.counters);
        let span = begun.at.elapsed();
        let noise = CpuClock::read(&processes).noise_since(&begun.clock, &self.pinning, used.cpu);
        let pressure = PressureClock::read()
            .zip(begun.pressure)
            .map(|(now, then)| now.since(&then));
        // The thread may have ended by a panic only, and then its samples so far still count.
        let _ = begun.stop.send(());
        let sampling = begun.thread.join().unwrap_or_default();
        let mut series = lock(&begun.series);
        if series.is_rested() {
            series.sample(&self.tree);
        } else {
            series.look_at_threads(&self.tree.processes());
        }
        let (voluntary_switches, involuntary_switches) = series.switches.totals();
        let generator = &series.generator;
        let noise = Noise {
            pressure,
            generator_involuntary_switches: (!generator.is_empty()).then(|| generator.totals().1),
            sampler_cpu_seconds: Some((begun.cost + sampling + watch.cpu()).as_secs_f64()),
            ..noise
        };
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
            clock: CpuClock::read(&Snapshot::take()),
        }
    }

    /// The measurement has ended. What the server itself used is among what other programs used.
    pub fn end(self) -> Noise {
        let pinning = Pinning::Off { cpus: Vec::new() };
        CpuClock::read(&Snapshot::take()).noise_since(&self.clock, &pinning, Duration::ZERO)
    }
}

fn lock(series: &Mutex<Series>) -> std::sync::MutexGuard<'_, Series> {
    series.lock().unwrap_or_else(PoisonError::into_inner)
}
