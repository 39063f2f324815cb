//! Sessions that were never measured, of stacks whose true speeds are known: what the analysis finds in them shows how
//! often it is wrong, and how many heats find which difference. The statistics' tests and `cargo xtask power` share this
//! code.

pub mod heats;
pub mod recorded;
mod share;

pub use recorded::Recorded;
pub use share::{Share, share};
