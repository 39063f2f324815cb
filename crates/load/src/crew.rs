//! The worker threads: set up first, started together, waited for without a lock on their side.

use std::{
    sync::{
        atomic::AtomicBool,
        mpsc::{self, Receiver, RecvTimeoutError, SyncSender},
    },
    thread::{self, Scope, ScopedJoinHandle},
    time::Duration,
};

use deadheat_model::Interval;

use crate::{
    LoadError,
    intervals::Intervals,
    plan::Plan,
    poller::Events,
    recorder::{Message, Outlet, room},
    schedule::Timeline,
    sys,
    worker::Worker,
};

/// Says that a worker is through, however its thread ends.
struct Through(SyncSender<Message>);

impl Drop for Through {
    fn drop(&mut self) {
        // Nobody listens any more when the load was given up.
        let _ = self.0.send(Message::Through);
    }
}

/// A worker that was set up and has loaded, or failed at it; `None`: it could not be set up.
type Outcome<'env> = Result<Option<Worker<'env>>, LoadError>;

/// All workers of a load, on their threads (named `load-<n>`).
pub(crate) struct Crew<'scope, 'env> {
    threads: Vec<ScopedJoinHandle<'scope, Outcome<'env>>>,
    starts: Vec<mpsc::Sender<Timeline>>,
    messages: Receiver<Message>,
    intervals: Intervals,
    through: usize,
}

impl<'scope, 'env> Crew<'scope, 'env> {
    /// Starts the threads and waits until each is set up, or one cannot be.
    pub(crate) fn assemble(
        scope: &'scope Scope<'scope, 'env>,
        plan: &'env Plan<'env>,
        stop: &'env AtomicBool,
    ) -> Result<Self, LoadError> {
        let (ready, readiness) = mpsc::channel();
        let (tell, messages) = mpsc::sync_channel(room(plan.cpus.len()));
        let mut crew = Self {
            threads: Vec::new(),
            starts: Vec::new(),
            messages,
            intervals: Intervals::default(),
            through: 0,
        };
        for (index, cpu) in plan.cpus.iter().copied().enumerate() {
            let (start, started) = mpsc::channel();
            let (ready, tell) = (ready.clone(), tell.clone());
            let outlet = plan.interval.map(|_| {
                let (outlet, give_back) = Outlet::new(index, tell.clone(), plan.arrivals.is_some());
                crew.intervals.add_worker(give_back);
                outlet
            });
            let body = move || {
                let through = Through(tell);
                // Nobody listens any more when another worker could not be set up.
                let mut worker = match set_up(index, cpu, plan, stop, outlet) {
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
                let mut events = Events::new();
                if let Ok(timeline) = started.recv() {
                    worker.run(timeline, &mut events)?;
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
        drop((ready, tell));
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

    /// Waits until `instant`, or until all workers are through; whole intervals go to `on_interval` meanwhile.
    pub(crate) fn wait_until(&mut self, instant: u64, on_interval: &mut dyn FnMut(Box<Interval>)) {
        while self.through < self.threads.len() {
            let now = sys::monotonic_ns();
            if now >= instant {
                return;
            }
            match self
                .messages
                .recv_timeout(Duration::from_nanos(instant - now))
            {
                Ok(Message::Through) => self.through += 1,
                Ok(Message::Interval(worker, part)) => {
                    self.intervals.join(worker, part, on_interval);
                }
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return,
            }
        }
        self.intervals.flush(on_interval);
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
    outlet: Option<Outlet>,
) -> Result<Worker<'env>, LoadError> {
    if let Some(cpu) = cpu {
        let failed = |source| LoadError::Pin {
            worker: index,
            cpu,
            source,
        };
        sys::pin_current_thread(cpu).map_err(failed)?;
    }
    Worker::new(index, plan, stop, outlet)
}
