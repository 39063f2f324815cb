//! The load generator: a [`LoadSpec`] in, an [`Observation`] out. It knows no stack, no report and no statistics.
//!
//! ```text
//! run, Session → Plan (checked spec, encoded requests, quota) → WorkerPool (threads) → Worker (event loop) × CPUs
//!          Worker: Connection → HttpConnection → http1::AnswerReader or http2::Client → verify::Examiner → Recorder
//! ```
//!
//! A [`Session`] loads in slices and holds its connections in between; [`run`] is one slice with the spec's own end.
//!
//! Schedule, stop rule and protocol are values: `schedule` turns the first two into instants and a quota, `http1` and
//! `http2` are the only modules that know the bytes of the third, and there is one loop.

#![forbid(unsafe_code)]

mod browser;
mod connection;
mod deadlines;
mod error;
mod http1;
mod http2;
mod http_connection;
mod plan;
mod random;
mod recorder;
mod routes;
mod schedule;
mod socket;
mod stream;
mod sys;
mod template;
mod tls;
mod tunnel;
mod verify;
mod worker;
mod worker_pool;

use std::{
    fmt,
    sync::{Arc, atomic::AtomicBool},
    thread::{self, JoinHandle},
    time::Duration,
};

use deadheat_model::{
    Interval, LoadSpec, Observation, Schedule, SliceEvent, SliceResult, StopRule,
};

pub use crate::{
    error::{LoadError, ProxyError, RequestError, ScheduleError, TemplateError},
    routes::spread,
    tls::{OfferError, any_certificate, can_offer, why as why_tls_failed},
};
use crate::{plan::Plan, worker_pool::WorkerPool};

/// What a load may ask for at most, and at least. Code that makes a spec can check it against the same values as
/// [`run`](crate::run) does.
pub mod limits {
    use std::time::Duration;

    /// The most connections. Linux allows a process 1,048,576 open files, unless `fs.nr_open` is raised.
    pub const MAX_CONNECTIONS: u32 = 1_000_000;
    /// The most worker threads that are not pinned to CPUs.
    pub const MAX_THREADS: u32 = 1_024;
    /// The deepest pipeline: deeper ones only wait in the sockets' buffers.
    pub const MAX_PIPELINED: u32 = 1_024;
    /// The most streams of HTTP/2 on a connection: servers allow 100 to 250 as a rule.
    pub const MAX_STREAMS: u32 = 1_000;
    /// What is said of a number of streams out of these bounds.
    pub const STREAMS: &str = "a connection has 1 to 1,000 streams";
    /// The most redirects in a row: a chain that is longer has no end, as a rule.
    pub const MAX_REDIRECTS: u32 = 100;
    /// The highest rate of an open loop, per second: beyond it a nanosecond cannot tell two requests apart.
    pub const MAX_PER_SECOND: f64 = 1e9;
    /// The narrowest bins of the time series.
    pub(crate) const MIN_BIN: Duration = Duration::from_millis(1);
    /// The shortest interval: each costs a worker some 100 µs.
    pub const MIN_INTERVAL: Duration = Duration::from_millis(10);
}

/// What fuzzing asks of the parsers: each function takes any bytes, and panics when a law does not hold for them.
#[cfg(fuzzing)]
#[doc(hidden)]
pub mod fuzzing {
    pub use super::{
        http1::fuzzing::{answer, chunked, head},
        http2::fuzzing::conversation,
    };
}

/// What a load reports while it runs.
#[derive(Clone, Debug, PartialEq)]
pub enum LoadEvent {
    /// The first requests are about to go out. Everything is allocated and all threads run. The load's time begins when
    /// the listener returns.
    Started,
    /// An instant of it. The measurement is what is counted.
    Slice(SliceEvent),
    /// An interval is over. Intervals come in order, and only where the spec asks for them.
    Interval(Box<Interval>),
}

/// Whether a load of `spec` could be started: everything that [`run`] looks at before its first request, short of the
/// threads and their CPUs.
///
/// # Errors
///
/// Those of [`run`].
pub fn check(spec: &LoadSpec) -> Result<(), LoadError> {
    Plan::new(spec)?.ensure_descriptors()
}

/// Sets the process's soft limit of file descriptors to its hard one. A load does so when it needs that; who starts
/// servers does it before the first of them, because they inherit it and are all to have the same.
///
/// # Errors
///
/// When the kernel refuses.
pub fn raise_descriptor_limit() -> std::io::Result<()> {
    sys::raise_descriptor_limit(sys::descriptor_limit())
}

/// Loads a server as `spec` says.
///
/// `on_event` is called on the calling thread at each instant, and the thread sleeps in between. A load that is
/// stopped in its warm-up has no measurement: counting neither starts nor ends, and the observation's `window` is
/// zero. Setting `stop` ends the load within some 10 ms; the observation is as complete as any other, over the
/// window that was measured.
///
/// The worker threads are named `load-0`, `load-1` and so on.
///
/// # Errors
///
/// When the load could not be started: nothing was sent then. A request that fails is no error; it is counted.
pub fn run(
    spec: &LoadSpec,
    on_event: &mut dyn FnMut(LoadEvent),
    stop: &AtomicBool,
) -> Result<Observation, LoadError> {
    let plan = Plan::new(spec)?;
    plan.ensure_descriptors()?;
    thread::scope(|scope| {
        let mut pool = WorkerPool::assemble(&plan, |named, line| {
            let work = || worker_pool::work(&plan, stop, line);
            named.spawn_scoped(scope, work).map(drop)
        })?;
        on_event(LoadEvent::Started);
        let whole = pool.slice(None, plan.warm_up, plan.length(), false, on_event)?;
        Ok(whole.observation)
    })
}

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
    /// When requests are sent in each slice.
    schedule: Schedule,
    /// Number of slices so far.
    slices: u64,
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
    /// Those of [`run`](run), and a spec that ends after a number of requests.
    pub fn open(spec: LoadSpec, stop: Arc<AtomicBool>) -> Result<Self, LoadError> {
        if matches!(spec.stop, StopRule::Count { .. }) {
            return Err(LoadError::Session {
                problem: "its slices end by time, not after a number of requests",
            });
        }
        let spec = LoadSpec {
            interval: None,
            ..spec
        };
        let mut plan = Plan::new(&spec)?;
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
            schedule: spec.schedule,
            slices: 0,
            pool: Some(pool),
            threads,
        })
    }

    /// Loads for a slice, then stops sending, waits at most as long as the spec's drain until nothing is in flight,
    /// and holds the connections.
    ///
    /// `on_event` is called on this thread at each instant. In a slice that is interrupted in its guard the counting
    /// neither starts nor ends, and `measured` is empty.
    ///
    /// # Errors
    ///
    /// If a worker could not continue. The session is then unusable. A request that fails is not an error.
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
        let (guard, length) = (slice.guard, Some(slice.length));
        let arrivals = self
            .plan
            .arrivals_of_slice(&self.schedule, self.slices, guard);
        if self.slices > 0 {
            self.plan.taking.reset();
        }
        self.slices += 1;
        pool.slice(arrivals.as_ref(), guard, length, true, &mut on_instant)
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
