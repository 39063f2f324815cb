//! What ends a session. A stack or a service that fails does not; it is a result.

use std::{io, path::PathBuf};

use super::JournalError;

/// What ends a session.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// The session's folder could not be made.
    #[error("making the session's folder {path}: {source}; choose another one with --results")]
    Folder {
        /// The folder.
        path: PathBuf,
        /// What happened.
        source: io::Error,
    },
    /// The certificate for TLS could not be made.
    #[error(
        "making a certificate for servers that are asked over TLS: {0}; free some space in the folder for temporary files"
    )]
    Certificate(io::Error),
    /// A record could not be kept, so going on would lose heats.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// Deadheat could not keep itself off the server's CPUs.
    #[error("pinning Deadheat to the generator's CPUs: {0}; try --pinning off")]
    Pinning(io::Error),
    /// A heat was planned in a way that cannot be run.
    #[error(transparent)]
    Heat(#[from] crate::heat::HeatError),
    /// What was to be measured next is not in the plan.
    #[error("measuring a heat that is not in the session's plan: {0}; please report this as a bug")]
    Unplanned(String),
    /// Another host cannot be reached.
    #[error("reaching the other hosts: {0}")]
    Host(#[from] crate::agent::AgentError),
    /// What reaches other hosts is no command for that.
    #[error("reaching the other hosts: {0}")]
    Launcher(#[from] crate::agent::LauncherError),
    /// The user asked to stop while stacks were prepared.
    #[error("interrupted before anything was measured, so nothing is recorded")]
    Interrupted,
}
