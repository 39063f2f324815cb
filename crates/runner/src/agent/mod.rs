//! Other hosts: an agent on each, which the coordinator (this process) reaches by a launcher of the user's site.
//!
//! ```text
//! coordinator: Agents → Agent ── launcher (ssh HOST …) ── deadheat agent: serve → deadheat_load::run
//!                             orders →   frames on standard input and output   ← answers
//! ```
//!
//! There is no port, no daemon and no secret. An agent ends when its input ends, or when it hears nothing for some
//! seconds, and the coordinator takes an agent for lost by the same rule.

mod agents;
mod examine;
#[cfg(test)]
mod faults;
mod frame;
mod launcher;
mod message;
mod patience;
mod plausible;
mod remote;
mod serve;
mod slices;

pub use agents::Agents;
pub use examine::{Examined, Examinee};
pub use launcher::{Binary, LOCAL, Launcher, LauncherError};
pub use remote::AgentError;
pub use serve::{ServeError, Serving, serve};

/// The monotonic clock, in nanoseconds.
fn monotonic_ns() -> u64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}
