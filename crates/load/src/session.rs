//! A load in slices. Between two slices connections stay open, and waiting uses no CPU time.

use std::{
    fmt,
    sync::{Arc, atomic::AtomicBool},
    thread::JoinHandle,
    time::Duration,
};

use deadheat_model::{LoadSpec, SliceEvent, SliceResult, StopRule};

use crate::{
    LoadError, LoadEvent,
    plan::Plan,
    worker_pool::{self, WorkerPool},
};

/// One stretch of load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slice {
    /// Load at first that does not count.
    pub guard: Duration,
    /// Load that counts.
    pub length: Duration,
}

/// A load whose connections outlive its slices.
///
/// Between two slices nothing is in flight, the worker threads are blocked, and no timeout runs. The next slice finishes
/// connections that were still being made, and at its start replaces those that the server has closed meanwhile, which fails
/// no request. One that is closed later fails the request that meets it, as in any load.
///
/// The spec's schedule holds in each slice anew: a ramp spreads the first requests of each, and an open loop's intended
/// starts count from the slice's start, with other random ones in each slice. The guard takes the place of the spec's
/// warm-up and the slice's length that of its stop rule and limit; its `interval` is not looked at.
pub struct Session {
    plan: Arc<Plan>,
    /// Dropped before the threads are waited for: they end when nobody gives orders any more.
    pool: Option<WorkerPool>,
    threads: Vec<JoinHandle<()>>,
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session").finish_non_exhaustive()
    }
}

impl Session {
    /// Checks the spec and starts the worker threads, which allocate all they need. Sends nothing, and makes no
    /// connection. Setting `stop` ends a slice within some 10 ms.
    ///
    /// # Errors
    ///
    /// Those of [`run`](crate::run), and a spec that ends after a number of requests.
    pub fn open(spec: LoadSpec, stop: Arc<AtomicBool>) -> Result<Self, LoadError> {
        if matches!(spec.stop, StopRule::Count { .. }) {
            return Err(LoadError::Session {
                problem: "its slices end by time, not after a number of requests",
            });
        }
        let mut plan = Plan::new(&LoadSpec {
            interval: None,
            ..spec
        })?;
        plan.to_their_end = true;
        plan.ensure_descriptors()?;
        let plan = Arc::new(plan);
        let mut threads = Vec::new();
        let pool = WorkerPool::assemble(&plan, |named, line| {
            let (plan, stop) = (Arc::clone(&plan), Arc::clone(&stop));
            threads.push(named.spawn(move || worker_pool::work(&plan, &stop, line))?);
            Ok(())
        })?;
        Ok(Self {
            plan,
            pool: Some(pool),
            threads,
        })
    }

    /// Loads for a slice, then stops sending, waits at most as long as the spec's cool-down until nothing is in flight,
    /// and holds the connections.
    ///
    /// `on_event` is called on this thread at each instant. In a slice that is interrupted in its guard the counting
    /// neither starts nor ends, and `measured` is empty.
    ///
    /// # Errors
    ///
    /// When a worker could not go on. The session is of no use then; a request that fails is no error.
    pub fn slice(
        &mut self,
        slice: Slice,
        on_event: &mut dyn FnMut(SliceEvent),
    ) -> Result<SliceResult, LoadError> {
        let pool = self.pool.as_mut().ok_or(LoadError::Gone { worker: 0 })?;
        let mut on_instant = |event| {
            if let LoadEvent::Slice(instant) = event {
                on_event(instant);
            }
        };
        let length = Some(slice.length);
        pool.slice(&self.plan, slice.guard, length, true, &mut on_instant)
    }

    /// Closes all connections and ends the threads. Dropping the session does the same.
    pub fn close(self) {}
}

impl Drop for Session {
    fn drop(&mut self) {
        self.pool = None;
        for thread in self.threads.drain(..) {
            // A worker's panic has been told of by the slice that met it.
            let _ = thread.join();
        }
    }
}
