//! How the program ends: the exit status is part of the interface.

use std::process::ExitCode;

use deadheat_runner::session::ResumeError;

/// The exit status after Ctrl-C, as shells give it to SIGINT.
pub(crate) const INTERRUPTED: u8 = 130;

/// The exit status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// All is well.
    Fine,
    /// A check or a threshold failed, or a stack did.
    Failed,
    /// The command was used wrongly.
    Usage,
    /// No result: nothing could be measured or written, or no verdict was reached.
    NoResult,
    /// A signal ended the work before it was complete.
    Interrupted,
    /// The exit status that another tool would have, where `deadheat as` takes its place.
    OfTool(u8),
}

impl Exit {
    fn status(self) -> u8 {
        match self {
            Exit::Fine => 0,
            Exit::Failed => 1,
            Exit::Usage => 2,
            Exit::NoResult => 3,
            Exit::Interrupted => INTERRUPTED,
            Exit::OfTool(status) => status,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(exit.status())
    }
}

/// Why a command could not do its work, and the exit status that follows.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct CommandFailure {
    message: String,
    exit: Exit,
}

impl CommandFailure {
    /// Wrong arguments, manifests or folders: something that the user can put right.
    pub fn usage(message: impl ToString) -> Self {
        Self {
            message: message.to_string(),
            exit: Exit::Usage,
        }
    }

    /// The command was correct, but produced no result (status 3).
    pub fn no_result(message: impl ToString) -> Self {
        Self {
            message: message.to_string(),
            exit: Exit::NoResult,
        }
    }

    /// Somebody stopped it before there was anything.
    pub fn interrupted(message: impl ToString) -> Self {
        Self {
            message: message.to_string(),
            exit: Exit::Interrupted,
        }
    }

    /// A session could not be resumed.
    pub fn resuming(error: ResumeError) -> Self {
        match error {
            ResumeError::Session(error) => Self::no_result(error),
            other => Self::usage(other),
        }
    }

    /// Adds a line to the message.
    pub fn and(mut self, line: &str) -> Self {
        self.message = format!("{}\n{line}", self.message);
        self
    }

    /// Replaces the exit status.
    pub fn with(mut self, exit: Exit) -> Self {
        self.exit = exit;
        self
    }

    /// The exit status.
    pub fn exit(&self) -> Exit {
        self.exit
    }
}
