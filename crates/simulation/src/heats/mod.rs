//! Heats that were never run: members of known speeds on a machine whose noise is as it was measured, and what the
//! statistics of heats find in them.
//!
//! [`Field`] says who runs and on what; each seed gives one session of it. [`evidence()`] counts how often the intervals
//! and verdicts are wrong, [`verdicts`] how often they find what is there.

pub mod evidence;
pub mod field;
pub mod power;

pub use self::evidence::{GateEvidence, gate};
pub use evidence::{Evidence, SequentialEvidence, evidence, sequential_evidence, verdicts};
pub use field::{Disturbances, Field, Member, Processes, SimulatedMachine};
