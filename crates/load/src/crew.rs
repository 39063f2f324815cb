//! The worker threads: set up first, started together, waited for without a lock on their side.

use std::{
    sync::{
        atomic::{AtomicBool, AtomicUsize, Ordering},
        mpsc,
    },
    thread::{self, Scope, ScopedJoinHandle, Thread},
    time::Duration,
};

use crate::{LoadError, plan::Plan, schedule::Timeline, sys, worker::Worker};

/// Who waits for the workers, and how many of them are through.
pub(crate) struct Finish {
    through: AtomicUsize,
    waiting: Thread,
}

impl Finish {
    /// The calling thread is the one that waits.
    pub(crate) fn new() -> Self {
        Self {
            through: AtomicUsize::new(0),
            waiting: thread::current(),
        }
    }
}

/// Says that a worker is through, however its thread ends.
struct Through<'a>(&'a Finish);

impl Drop for Through<'_> {
    fn drop(&mut self) {
        self.0.through.fetch_add(1, Ordering::Release);
        self.0.waiting.unpark();
    }
}

/// A worker that was set up and has loaded, or failed at it; `None`: it could not be set up.
type Outcome<'env> = Result<Option<Worker<'env>>, LoadError>;

/// All workers of a load, on their threads (named `load-<n>`).
pub(crate) struct Crew<'scope, 'env> {
    threads: Vec<ScopedJoinHandle<'scope, Outcome<'env>>>,
    starts: Vec<mpsc::Sender<Timeline>>,
    finish: &'env Finish,
}

impl<'scope, 'env> Crew<'scope, 'env> {
    /// Starts the threads and waits until each is set up, or one cannot be.
    pub(crate) fn assemble(
        scope: &'scope Scope<'scope, 'env>,
        plan: &'env Plan<'env>,
        stop: &'env AtomicBool,
        finish: &'env Finish,
    ) -> Result<Self, LoadError> {
        let (ready, readiness) = mpsc::channel();
        let mut crew = Self {
            threads: Vec::new(),
            starts: Vec::new(),
            finish,
        };
        for (index, cpu) in plan.cpus.iter().copied().enumerate() {
            let (start, started) = mpsc::channel();
            let ready = ready.clone();
            let body = move || {
                let through = Through(finish);
                // Nobody listens any more when another worker could not be set up.
                let mut worker = match set_up(index, cpu, plan, stop) {
                    Ok(worker) => {
                        let _ = ready.send(Ok(()));
                        drop(ready);
                        worker
                    }
                    Err(error) => {
                        let _ = ready.send(Err(error));
                        return Ok(None);
                    }
                };
                if let Ok(timeline) = started.recv() {
                    worker.run(timeline)?;
                    drop(through);
                    // Stays as it is until the measurement's end has been noted: closing connections would show
                    // in the server's figures.
                    let _ = started.recv();
                }
                Ok(Some(worker))
            };
            let thread = thread::Builder::new().name(format!("load-{index}"));
            let thread = thread.spawn_scoped(scope, body);
            let spawned = thread.map_err(|source| LoadError::Spawn {
                worker: index,
                source,
            })?;
            crew.threads.push(spawned);
            crew.starts.push(start);
        }
        drop(ready);
        // Dropping the crew hangs up, and the workers that are ready go home.
        readiness.iter().collect::<Result<(), LoadError>>()?;
        Ok(crew)
    }

    /// Lets all workers begin.
    pub(crate) fn start(&self, timeline: Timeline) {
        for start in &self.starts {
            // Each worker is there and listens, or the crew would not have assembled.
            let _ = start.send(timeline);
        }
    }

    /// Sleeps until `instant`, or until all workers are through; whether they are.
    pub(crate) fn sleep_until(&self, instant: u64) -> bool {
        loop {
            if self.finish.through.load(Ordering::Acquire) == self.threads.len() {
                return true;
            }
            let now = sys::monotonic_ns();
            if now >= instant {
                return false;
            }
            thread::park_timeout(Duration::from_nanos(instant - now));
        }
    }

    /// Lets the workers go home. A worker's panic goes on here.
    pub(crate) fn join(self) -> Result<Vec<Worker<'env>>, LoadError> {
        drop(self.starts);
        let outcomes = self
            .threads
            .into_iter()
            .filter_map(|thread| match thread.join() {
                Ok(outcome) => outcome.transpose(),
                Err(panic) => std::panic::resume_unwind(panic),
            });
        outcomes.collect()
    }
}

fn set_up<'env>(
    index: usize,
    cpu: Option<usize>,
    plan: &'env Plan<'env>,
    stop: &'env AtomicBool,
) -> Result<Worker<'env>, LoadError> {
    if let Some(cpu) = cpu {
        let failed = |source| LoadError::Pin {
            worker: index,
            cpu,
            source,
        };
        sys::pin_current_thread(cpu).map_err(failed)?;
    }
    Worker::new(index, plan, stop)
}
