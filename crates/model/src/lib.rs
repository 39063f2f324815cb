//! The values that Deadheat's crates exchange: manifests, plans, loads, observations, sessions and events.
//!
//! This crate does no I/O and makes no decisions. Recorded values can be serialised; [`heats`] has the file formats.

pub mod bisect;
pub mod bytes;
pub mod capacity;
pub mod change;
pub mod comparison;
pub mod event;
pub mod failure;
pub mod figure;
pub mod heat;
pub mod heats;
pub mod histogram;
pub mod imported;
pub mod interval;
pub mod load;
pub mod machine;
pub mod observation;
pub mod plan;
pub mod published;
pub mod record;
pub mod redact;
pub mod seconds;
pub mod session;
pub mod stack;
pub mod stack_protocol;
pub mod warning;
pub mod workload;

pub use event::Event;
pub use failure::{Failure, FailureCounts};
pub use heat::HeatRecord;
pub use histogram::{CountHistogram, LatencyHistogram};
pub use interval::{Interval, LoadPhase, SliceEvent, SliceResult};
pub use load::{Exchange, LoadSpec, Schedule, StopRule, Wait};
pub use observation::{LoadFault, Observation, Tally};
pub use plan::Cell;
pub use published::{PublishedDocument, RepeatedTable};
pub use record::LoadRecord;
pub use stack::{StackManifest, TargetId};
pub use stack_protocol::{Protocols, StackProtocol};
pub use warning::Warning;
pub use workload::{LoadPoint, WorkloadManifest};
