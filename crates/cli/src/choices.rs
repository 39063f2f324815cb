//! What a session is for, and whether response times are measured.

use clap::ValueEnum;
use deadheat_model::choice::Purpose;
use deadheat_runner::session::LatencyMode;

use crate::args::RunArgs;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LatencyArg {
    /// If the budget has room for it
    Auto,
    /// Whatever it takes
    On,
    /// Never
    Off,
}

/// What the session is for.
pub(crate) fn purpose(args: &RunArgs) -> Purpose {
    match (args.quick, args.publish) {
        (true, _) => Purpose::FirstLook,
        (_, true) => Purpose::Publication,
        (false, false) => Purpose::Usual,
    }
}

/// Whether there is latency in it.
pub(crate) fn latency(args: &RunArgs) -> LatencyMode {
    match (args.latency, purpose(args)) {
        (Some(LatencyArg::Auto), _) => LatencyMode::Auto,
        (Some(LatencyArg::On), _) | (None, Purpose::Publication) => LatencyMode::On,
        (Some(LatencyArg::Off), _) | (None, Purpose::FirstLook) => LatencyMode::Off,
        (None, Purpose::Usual | Purpose::Repetition) => LatencyMode::Auto,
    }
}
