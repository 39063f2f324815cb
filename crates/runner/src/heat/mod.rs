//! Heats: servers that are alive at the same time and are loaded in turn, a slice at a time, while the others are
//! frozen.
//!
//! ```text
//! run → each member: start → verify → warm up until it is steady → freeze
//!     → a round that does not count, or several of what compiles while it runs
//!     → rounds: thaw one, a slice of load (guard, counted part, drain), freeze; then the next
//!     → for each rate, each member: thaw → one long slice at this rate → freeze
//!     → each member: thaw → verify; then stop all → a HeatRecord of the rounds, and one of each rate
//! ```
//!
//! [`run`] decides what happens when, and what a failure means. It reaches servers by [`Member`] and the machine by
//! [`Environment`], so that its rules are tested without either.

mod engine;
#[cfg(test)]
mod fakes;
mod load;
mod member;
mod member_state;
mod server;
#[cfg(test)]
mod tests;
mod url;
mod warm_up;

pub(crate) use engine::{AFTER_A_FREEZE, COMING_TO, LONGEST_LEAD_IN, lead_in_rounds};
pub use engine::{Entry, EqualWork, Heat, HeatError, Offer, run, run_told};
pub use load::{Generator, Hosts};
pub(crate) use member::Identity;
pub use member::{
    Environment, KeptServers, MeasuredSlice, Member, Moment, Started, ThisMachine, Work,
};
pub(crate) use member_state::suited;
pub use server::ServerMember;
pub(crate) use server::{KeptAt, Startable, Verified};
pub use url::UrlMember;
pub use warm_up::WarmUps;
