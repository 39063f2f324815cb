//! From a session's records to what they say: verdicts, intervals, ranks.
//!
//! Pure functions without input or output; this crate knows no format. Every number of
//! [`standings`](standings::standings) can be computed again from the record alone.

pub mod capacity;
pub mod comparison;
pub mod heats;
pub mod interval;
pub mod sequential;
pub mod standings;
pub mod steering;
pub mod uneven;
