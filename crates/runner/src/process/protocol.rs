//! What Deadheat and a supervisor say to each other: what to start, what happens to it, and when to end it.

use std::{fs, path::PathBuf, time::Duration};

use serde::{Deserialize, Serialize};

use super::cgroup::Groups;

/// A user to run as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct User {
    /// The user's number.
    pub uid: u32,
    /// The group's number.
    pub gid: u32,
}

/// A child to start.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spawn {
    /// What it is called in messages.
    pub name: String,
    /// The program; a relative path with a slash is taken from `cwd`.
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<String>,
    /// Environment beside the few variables that every child inherits from Deadheat.
    pub env: Vec<(String, String)>,
    /// The working folder.
    pub cwd: PathBuf,
    /// The CPUs that the tree is pinned to.
    pub cpus: Option<Vec<usize>>,
    /// The file that takes standard output and standard error (appended). Of much output, beginning and end are kept.
    pub log: PathBuf,
    /// Another user to run as; needs root.
    pub user: Option<User>,
    /// The signal that asks it to end.
    pub stop_signal: i32,
    /// How long it may take to end before SIGKILL. `None`: it is asked to end and never killed, also when Deadheat is,
    /// because it would leave something broken (dpkg).
    #[serde(with = "deadheat_model::seconds::option")]
    pub grace: Option<Duration>,
    /// A folder that is deleted when the tree is gone, also when Deadheat was killed.
    pub remove_after: Option<PathBuf>,
}

impl Spawn {
    /// Where the program is: a relative path with a slash counts from the working folder.
    pub(super) fn resolved_program(&self) -> PathBuf {
        let has_folder = self.program.components().count() > 1;
        if self.program.is_relative() && has_folder {
            let joined = self.cwd.join(&self.program);
            // Only the path is wanted here; a missing file is reported by the start itself.
            return fs::canonicalize(joined.parent().unwrap_or(&joined))
                .map(|folder| folder.join(joined.file_name().unwrap_or_default()))
                .unwrap_or(joined);
        }
        self.program.clone()
    }
}

/// How the end of a tree went.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stopped {
    /// The main process was still there after the grace period.
    pub ignored_signal: bool,
    /// Processes that the main one left behind.
    pub left_behind: u32,
    /// Processes that had to be ended with SIGKILL.
    pub killed: u32,
    /// Processes that are still there, by number and name; empty when there is none.
    #[serde(default)]
    pub survivors: String,
}

/// What asks a supervisor to end its tree, a byte and the end of the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Word {
    /// With the grace that the child was started with.
    Stop = b's' as isize,
    /// With little grace.
    Hurry = b'h' as isize,
}

/// What the supervisor says, one JSON value a line.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub(super) enum Status {
    /// Before there is a child that could be in them.
    Grouped(Groups),
    Started {
        pid: u32,
    },
    NotStarted {
        reason: String,
    },
    Exited {
        how: String,
    },
    Stopped(Stopped),
    /// What its listener says in the end when the supervisor ended without a last word; what became of the tree.
    #[serde(skip)]
    Lost {
        rest: String,
    },
}
