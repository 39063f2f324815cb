//! What a server's process tree uses while it is measured, taken from outside it and outside its CPUs.

mod counters;
mod course;
mod memory;
mod noise;
mod pace;
mod pressure;
mod scan;
mod switches;
#[cfg(test)]
mod tests;

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{RecvTimeoutError, Sender, channel},
    },
    thread::{Builder, JoinHandle},
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
    course::Course,
    memory::pss_bytes,
    pace::{Spent, Stopwatch, expected, is_affordable},
    pressure::PressureClock,
    scan::Scan,
    switches::Switches,
};
use crate::process::{CpuGroup, Snapshot, Supervised};

/// Samples one process tree during one measurement.
pub struct Sampler {
    tree: Tree,
    scan: Scan,
    pss_idle: Option<u64>,
    /// CPU time that the sample of the idle server took.
    cost: Duration,
    /// How many processes it had then.
    idle_processes: usize,
    /// CPU time that it takes to look at one thread.
    look: Duration,
    /// How long the measurement is to be.
    measure: Duration,
    pinning: Pinning,
    /// The CPUs that this server is pinned to, if not to all of its side.
    serving: Option<Vec<usize>>,
    begun: Option<Begun>,
}

/// A process tree: the supervisor whose descendants it is, and its control group.
#[derive(Clone, Debug)]
pub(crate) struct Tree {
    supervisor: u32,
    group: Option<CpuGroup>,
}

impl Tree {
    /// The tree of a server.
    pub(crate) fn of(server: &Supervised) -> Self {
        Self {
            supervisor: server.supervisor_pid(),
            group: server.group().cloned(),
        }
    }

    /// How its CPU time is taken.
    pub(crate) fn cpu_source(&self) -> CpuSource {
        let group = self.group.as_ref();
        group.map_or(CpuSource::Proc, CpuGroup::source)
    }

    /// CPU time, user and system, that the tree has used since its start; `None` where its control group does not tell.
    pub(crate) fn cpu(&self) -> Option<Duration> {
        match &self.group {
            Some(_) => self.group_cpu(),
            None => Some(Counters::read(self, &self.snapshot()).cpu),
        }
    }

    /// Its PSS in bytes; `None` when it cannot be read.
    pub(crate) fn pss_bytes(&self) -> Option<u64> {
        let group = self.group.as_ref();
        let known = group.and_then(|group| group.processes().ok());
        let processes = known.unwrap_or_else(|| {
            let all = self.snapshot().descendants(self.supervisor);
            all.into_iter().map(|stat| stat.pid).collect()
        });
        pss_bytes(&processes)
    }

    /// Its processes and their CPU time. A control group knows its own; without one, the kernel's lists of
    /// children have to be followed.
    fn look(&self) -> Look {
        let at = Instant::now();
        let group = self.group.as_ref();
        let known = group.and_then(|group| Some((self.group_cpu()?, group.processes().ok()?)));
        let (cpu, processes) = known.unwrap_or_else(|| {
            let all = self.snapshot();
            let processes = all.descendants(self.supervisor).into_iter();
            let processes = processes.map(|stat| stat.pid).collect();
            (Counters::read(self, &all).cpu, processes)
        });
        Look { at, cpu, processes }
    }

    /// Its supervisor with its processes. This is read within measured time, on the generator's CPUs, so the processes of
    /// others are read only where the kernel keeps no lists of children.
    fn snapshot(&self) -> Snapshot {
        Snapshot::of(self.supervisor).unwrap_or_else(Snapshot::take)
    }

    /// Its CPU time as its control group counts it, if it has one.
    fn group_cpu(&self) -> Option<Duration> {
        self.group.as_ref()?.read_cpu().ok()
    }
}

/// A look at a process tree.
struct Look {
    at: Instant,
    /// CPU time that the tree has used from its start to then.
    cpu: Duration,
    processes: Vec<u32>,
}

struct Begun {
    at: Instant,
    counters: Counters,
    clock: CpuClock,
    pressure: Option<PressureClock>,
    series: Arc<Mutex<Series>>,
    stop: Sender<()>,
    /// `None`: the system had no thread to give; there is one sample then, at the end.
    thread: Option<JoinHandle<()>>,
    /// CPU time that beginning took on the thread that began.
    cost: Duration,
}

/// What the sampling thread gathers.
#[derive(Debug)]
struct Series {
    course: Course,
    pss_sum: u64,
    pss_peak: Option<u64>,
    /// Samples that could read PSS.
    samples: u32,
    processes: u32,
    threads: u32,
    switches: Switches,
    generator: Switches,
    /// Whether context switches are counted: looking at every thread is dear where there are hundreds.
    counts_switches: bool,
    /// When the last sample ended.
    last: Option<Instant>,
    /// CPU time that the samples took, without that of the beginning.
    cost: Duration,
}

impl Series {
    /// Nothing yet, of a course that begins, of a tree that has so many threads.
    fn new(course: Course, threads: u32, counts_switches: bool) -> Self {
        Self {
            course,
            pss_sum: 0,
            pss_peak: None,
            samples: 0,
            processes: 0,
            threads,
            switches: Switches::default(),
            generator: Switches::default(),
            counts_switches,
            last: None,
            cost: Duration::ZERO,
        }
    }

    /// Looks at CPU time, memory and threads; what that took.
    fn sample(&mut self, tree: &Tree) -> Duration {
        let watch = Stopwatch::start();
        self.take(&tree.look());
        let cost = watch.cpu();
        self.cost += cost;
        cost
    }

    /// A sample of what was just looked at, with memory and threads as they are now.
    fn take(&mut self, look: &Look) {
        let pss = pss_bytes(&look.processes);
        if let Some(pss) = pss {
            self.pss_sum += pss;
            self.samples += 1;
        }
        self.pss_peak = self.pss_peak.max(pss);
        self.course.add(look.at, look.cpu, pss);
        self.look_at(&look.processes);
        self.last = Some(Instant::now());
    }

    fn look_at(&mut self, processes: &[u32]) {
        self.processes = self.processes.max(processes.len() as u32);
        if self.counts_switches {
            self.threads = self.threads.max(self.switches.update(processes));
        }
        let own = [std::process::id()];
        let is_worker: fn(&str) -> bool = |name| name.starts_with("load-");
        self.generator.update_named(&own, is_worker);
    }

    /// Whether the last sample is so recent that another would say the same.
    fn is_fresh(&self) -> bool {
        self.last.is_some_and(|last| last.elapsed() < INTERVAL)
    }
}

impl Sampler {
    /// Prepares to sample `server`, which has just become ready, over a measurement of such a length, and takes its idle
    /// memory.
    pub fn new(server: &Supervised, pinning: &Pinning, measure: Duration) -> Self {
        Self::of(Tree::of(server), pinning, measure)
    }

    fn of(tree: Tree, pinning: &Pinning, measure: Duration) -> Self {
        let watch = Stopwatch::start();
        let Look { processes, .. } = tree.look();
        let pss_idle = pss_bytes(&processes);
        let memory = watch.cpu();
        let threads = Switches::default().update(&processes);
        let cost = watch.cpu();
        Self {
            pss_idle,
            scan: Scan::within(measure),
            cost,
            idle_processes: processes.len(),
            look: cost.saturating_sub(memory) / threads.max(1),
            measure,
            tree,
            pinning: pinning.clone(),
            serving: None,
            begun: None,
        }
    }

    /// Says which CPUs of its side the server is pinned to: those that it may not use say nothing of what it has left.
    pub fn serving_on(mut self, cpus: Option<Vec<usize>>) -> Self {
        self.serving = cpus;
        self
    }

    /// The measurement begins.
    pub fn begin(&mut self) {
        let (at, watch) = (Instant::now(), Stopwatch::start());
        // This takes a while, so that what can be read at once comes after it.
        let processes = self.scan.take();
        let counters = Counters::read(&self.tree, &processes);
        let counted_from = Instant::now();
        let clock = CpuClock::read(&processes).with_server(&counters);
        let pressure = PressureClock::read();
        let tree = processes.descendants(self.tree.supervisor);
        let threads = tree.iter().map(|stat| stat.threads).sum();
        let counts_switches = is_affordable(self.look.saturating_mul(threads), self.measure);
        let course = Course::new(counted_from, counters.cpu);
        let mut series = Series::new(course, threads, counts_switches);
        let tree: Vec<u32> = tree.iter().map(|stat| stat.pid).collect();
        series.look_at(&tree);
        series.switches.forget_the_past();
        series.generator.forget_the_past();
        let series = Arc::new(Mutex::new(series));
        let (stop, stopped) = channel();
        // A server may have made most of its processes since it was idle: one for each request that waits.
        let expected_first = expected(self.cost, self.idle_processes, tree.len());
        let (shared, tree) = (Arc::clone(&series), self.tree.clone());
        let cost = watch.cpu();
        let mut spent = Spent {
            total: cost,
            last: expected_first,
        };
        let sample = move || {
            while stopped.recv_timeout(spent.pause(at.elapsed())) == Err(RecvTimeoutError::Timeout)
            {
                spent.add(lock(&shared).sample(&tree));
            }
        };
        let thread = Builder::new().name("sampler".to_owned()).spawn(sample);
        if let Err(error) = &thread {
            tracing::warn!(
                "starting a thread to sample the server's memory: {error}; it is sampled once"
            );
        }
        self.begun = Some(Begun {
            at: counted_from,
            counters,
            clock,
            pressure,
            series,
            stop,
            thread: thread.ok(),
            cost,
        });
    }

    /// The measurement has ended: what was used since [`Sampler::begin`]; `None` if that was never called.
    pub fn end(&mut self) -> Option<(Resources, Noise)> {
        let begun = self.begun.take()?;
        // What can be read at once comes first: the load is over, and looking at processes takes a while.
        let (ended, clock, group_cpu) = (Instant::now(), CpuClock::now(), self.tree.group_cpu());
        let processes = self.scan.take();
        let counters = Counters::of(self.tree.supervisor, &processes, group_cpu);
        let used = counters.since(&begun.counters);
        let span = ended.saturating_duration_since(begun.at);
        let noise = clock
            .with_processes(&processes)
            .with_server(&counters)
            .noise_since(
                &begun.clock,
                &self.pinning,
                self.serving.as_deref(),
                used.cpu,
            );
        let pressure = PressureClock::read()
            .zip(begun.pressure)
            .map(|(now, then)| now.since(&then));
        // The thread may have ended by a panic only, and then its samples so far still count.
        let _ = begun.stop.send(());
        let _ = begun.thread.map(JoinHandle::join);
        let mut series = lock(&begun.series);
        // What follows costs the measurement nothing more: its time is over, and what it counts is read.
        let cost = begun.cost + series.cost;
        let Look { processes, .. } = self.tree.look();
        if series.is_fresh() {
            series.look_at(&processes);
        } else {
            // Of memory as it is now, and of CPU time as it was counted: when the load had just ended.
            series.take(&Look {
                at: ended,
                cpu: begun.counters.cpu + used.cpu,
                processes,
            });
        }
        let switches = series.counts_switches.then(|| series.switches.totals());
        let generator = &series.generator;
        let noise = Noise {
            pressure,
            generator_involuntary_switches: (!generator.is_empty()).then(|| generator.totals().1),
            sampler_cpu_seconds: Some(cost.as_secs_f64()),
            ..noise
        };
        let resources = Resources {
            cpu_source: self.tree.cpu_source(),
            cpu_seconds: used.cpu.as_secs_f64(),
            span_seconds: span.as_secs_f64(),
            pss_idle_bytes: self.pss_idle,
            pss_mean_bytes: series.pss_sum.checked_div(series.samples.into()),
            pss_peak_bytes: series.pss_peak,
            samples: series.samples,
            processes: series.processes,
            threads: series.threads,
            voluntary_switches: switches.map(|(voluntary, _)| voluntary),
            involuntary_switches: switches.map(|(_, involuntary)| involuntary),
            minor_faults: used.minor_faults,
            major_faults: used.major_faults,
            series: Some(series.course.series()),
        };
        Some((resources, noise))
    }
}

fn lock(series: &Mutex<Series>) -> std::sync::MutexGuard<'_, Series> {
    series.lock().unwrap_or_else(PoisonError::into_inner)
}
