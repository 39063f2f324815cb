//! The load generator: a [`LoadSpec`] in, an [`Observation`] out. It knows no stack, no report and no statistics.
//!
//! ```text
//! run, Session → Plan (checked spec, encoded requests, quota) → Crew (threads) → Worker (event loop) × CPUs
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
pub mod limits;
mod plan;
mod poller;
mod random;
mod recorder;
mod routes;
mod schedule;
mod session;
mod socket;
mod stream;
mod sys;
mod template;
mod tls;
mod tunnel;
mod verify;
mod worker;
mod worker_pool;

/// What fuzzing asks of the parsers: each function takes any bytes, and panics when a law does not hold for them.
#[cfg(fuzzing)]
#[doc(hidden)]
pub mod fuzzing {
    pub use crate::{
        http1::fuzzing::{answer, chunked, head},
        http2::fuzzing::conversation,
    };
}

use std::{sync::atomic::AtomicBool, thread};

use deadheat_model::{Interval, LoadSpec, Observation, SliceEvent};

pub use error::LoadError;
pub use session::{Session, Slice};
pub use tls::{OfferError, any_certificate, can_offer, why as why_tls_failed};

use plan::Plan;
use worker_pool::WorkerPool;

/// What a load tells while it goes on.
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
        let whole = pool.slice(&plan, plan.warm_up, plan.length(), false, on_event)?;
        Ok(whole.observation)
    })
}
