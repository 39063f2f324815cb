//! Sessions that were never measured, of stacks whose true speeds are known: what the analysis finds in them shows how
//! often it is wrong, and how many blocks find which difference.
//!
//! A [`Design`] says what is measured and in which order, a [`Machine`] on what; each seed gives one session of the two
//! ([`Simulation`]), as a [`SessionRecord`](deadheat_model::SessionRecord) that `deadheat_stats::analyse` takes as it
//! takes a real one. The statistics' tests and `cargo xtask power` share this code.

pub mod heats;
pub mod machine;
pub mod power;
mod record;
pub mod recorded;
pub mod session;

pub use machine::{Drift, Machine, Noise, Tails};
pub use power::{Share, share};
pub use recorded::Recorded;
pub use session::{Design, Order, Simulation};
