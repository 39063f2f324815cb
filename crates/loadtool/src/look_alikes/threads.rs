//! As many worker threads as another tool was asked for.

use deadheat_runner::session::describe_machine;

use super::wanted::with;

/// Has `load` use so many threads, but no more than there are connections.
pub(super) fn use_threads(load: &mut Vec<String>, threads: u32, connections: u32) {
    with(load, "--threads", threads.min(connections).to_string());
}

/// The most threads that have a CPU each, up to `wanted`.
pub(super) fn at_most(wanted: u32) -> u32 {
    let cpus = u32::try_from(describe_machine().cpus.len()).unwrap_or(u32::MAX);
    wanted.min(cpus).max(1)
}
