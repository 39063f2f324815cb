//! What is shown while a load goes on.

use deadheat_load::LoadEvent;
use deadheat_model::LoadSpec;

/// How a load is shown while it goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// A view that fills the terminal.
    Terminal,
    /// A line for each interval.
    Lines,
    /// Nothing.
    Silent,
}

/// Shows a load while it goes on, on standard error.
pub(crate) struct Live {}

impl Live {
    /// Begins to show a load of `target`, a URL.
    pub(crate) fn start(_mode: Mode, _spec: &LoadSpec, _target: &str) -> Self {
        Self {}
    }

    /// Shows what has happened.
    pub(crate) fn on(&mut self, _event: &LoadEvent) {}

    /// Leaves the terminal as it was. Dropping does the same.
    pub(crate) fn finish(self) {}
}
