//! The services that a session needs in addition to the stacks: a seeded PostgreSQL, an upstream that answers slowly,
//! and a null server, which only answers.
//!
//! Each has its own supervisor, listens on loopback only, and leaves nothing behind.

pub mod null;
pub mod postgres;
pub mod upstream;

use std::{fmt, io, path::Path};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::process::log_tail;

pub use postgres::{
    Access, LoggedStatements, Mirror, Places, Postgres, PostgresOptions, Served, Source,
};
pub use upstream::Upstream;

/// The number of log lines in a message.
const TAIL_LINES: usize = 12;

/// A service could not be started, queried or stopped.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{attempt}: {problem}; {advice}{}", Tail(log_tail))]
pub struct ServiceError {
    /// What was attempted, on what ("starting PostgreSQL 15.18 from /usr/lib/postgresql/15/bin on port 40123").
    pub attempt: String,
    /// What happened instead.
    pub problem: String,
    /// What to do next.
    pub advice: String,
    /// The last lines of the service's log; empty without a log.
    pub log_tail: Vec<String>,
}

impl ServiceError {
    /// An error without a log.
    pub(crate) fn new(
        attempt: impl Into<String>,
        problem: impl fmt::Display,
        advice: impl Into<String>,
    ) -> Self {
        Self {
            attempt: attempt.into(),
            problem: problem.to_string(),
            advice: advice.into(),
            log_tail: Vec::new(),
        }
    }

    /// Adds the end of the log at `path`.
    fn with_log(mut self, path: &Path) -> Self {
        self.log_tail = log_tail(path, TAIL_LINES);
        self
    }

    /// The error without log lines, for records that store these in a separate field.
    pub fn summary(&self) -> String {
        format!("{}: {}; {}", self.attempt, self.problem, self.advice)
    }
}

/// The log's end, on lines of its own below the message.
struct Tail<'a>(&'a [String]);

impl fmt::Display for Tail<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.0.is_empty() {
            f.write_str("\nits log ends with:")?;
        }
        self.0.iter().try_for_each(|line| write!(f, "\n  {line}"))
    }
}

/// Raises the number of files that this process may have open as far as the system allows.
fn raise_open_files() -> io::Result<()> {
    let maximum = getrlimit(Resource::Nofile).maximum;
    let most = Rlimit {
        current: maximum,
        maximum,
    };
    Ok(setrlimit(Resource::Nofile, most)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_log_follows_the_message_and_the_summary_leaves_it_out() {
        let log = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(log.path(), "one\ntwo\n").unwrap();
        let error = ServiceError::new("starting it on port 1", "it ended", "look at its log");
        let summary = "starting it on port 1: it ended; look at its log";
        assert_eq!(error.to_string(), summary);
        let error = error.with_log(log.path());
        assert_eq!(error.summary(), summary);
        let whole = format!("{summary}\nits log ends with:\n  one\n  two");
        assert_eq!(error.to_string(), whole);
    }
}
