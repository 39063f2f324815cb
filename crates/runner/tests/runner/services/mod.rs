//! The services, as processes.

mod null;
mod postgres;
mod postgres_failures;
mod upstream;
mod upstream_jitter;

use std::path::PathBuf;

use deadheat_runner::process::Supervision;

/// The hidden commands, in this crate's test binary.
pub(crate) fn supervision() -> Supervision {
    Supervision::by(PathBuf::from(env!("CARGO_BIN_EXE_runner-child")))
}
