//! Deadheat's side of a supervised child: start it, ask after it, stop it.

use std::{
    fs,
    io::{BufRead, BufReader, Write},
    path::PathBuf,
    process::{Child, ChildStdin, Command, Stdio},
    sync::mpsc::{Receiver, RecvTimeoutError, channel},
    time::{Duration, Instant},
};

use serde::{Deserialize, Serialize};

use super::{CpuGroup, log_tail, sys, tree::descendants};

/// How a supervisor is started: the deadheat binary with its hidden command.
#[derive(Clone, Debug)]
pub struct Supervision {
    /// The binary.
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<String>,
}

impl Supervision {
    /// The hidden command's name.
    pub const COMMAND: &str = "__supervise";

    /// Supervision by `program` under the usual command.
    pub fn by(program: impl Into<PathBuf>) -> Self {
        Self {
            program: program.into(),
            args: vec![Self::COMMAND.to_owned()],
        }
    }
}

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
    /// Environment beside Deadheat's own.
    pub env: Vec<(String, String)>,
    /// The working folder.
    pub cwd: PathBuf,
    /// The CPUs that the tree is pinned to.
    pub cpus: Option<Vec<usize>>,
    /// The file that takes standard output and standard error (appended).
    pub log: PathBuf,
    /// Another user to run as; needs root.
    pub user: Option<User>,
    /// The signal that asks it to end.
    pub stop_signal: i32,
    /// How long it may take to end before SIGKILL.
    #[serde(with = "deadheat_model::seconds")]
    pub grace: Duration,
    /// A folder that is deleted when the tree is gone, also when Deadheat was killed.
    pub remove_after: Option<PathBuf>,
}

/// Why a child could not be started or stopped.
#[derive(Debug, thiserror::Error)]
pub enum ProcessError {
    /// The supervisor could not be started or spoken to.
    #[error(
        "starting a supervisor for {name} with `{program}`: {source}; check that the deadheat binary is still there"
    )]
    Supervisor {
        /// The child's name.
        name: String,
        /// The supervisor's program.
        program: String,
        /// What happened.
        source: std::io::Error,
    },
    /// The supervisor could not start the child.
    #[error("starting {name}: {reason}")]
    Start {
        /// The child's name.
        name: String,
        /// What was attempted and what happened.
        reason: String,
    },
    /// The supervisor ended without a word.
    #[error(
        "the supervisor of {name} ended unexpectedly; what it supervised may still run (see `ps`)"
    )]
    Lost {
        /// The child's name.
        name: String,
    },
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
}

/// What the supervisor says, one JSON value a line.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub(super) enum Status {
    Started { pid: u32, group: Option<CpuGroup> },
    NotStarted { reason: String },
    Exited { how: String },
    Stopped(Stopped),
}

/// A child with its supervisor. Dropping it stops it.
#[derive(Debug)]
pub struct Supervised {
    name: String,
    supervisor: Child,
    lifeline: Option<ChildStdin>,
    statuses: Receiver<Status>,
    pid: u32,
    group: Option<CpuGroup>,
    exit: Option<String>,
    stopped: Option<Stopped>,
    patience: Duration,
    log: PathBuf,
}

impl Supervised {
    /// Starts `spec` under a supervisor of its own.
    ///
    /// # Errors
    /// When the supervisor or the child cannot be started.
    pub fn spawn(supervision: &Supervision, spec: &Spawn) -> Result<Self, ProcessError> {
        let broken = |source| ProcessError::Supervisor {
            name: spec.name.clone(),
            program: supervision.program.display().to_string(),
            source,
        };
        let mut supervisor = Command::new(&supervision.program)
            .args(&supervision.args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .map_err(broken)?;
        // Both were asked for three lines above.
        let mut lifeline = supervisor.stdin.take().expect("piped standard input");
        let output = supervisor.stdout.take().expect("piped standard output");
        let statuses = read_statuses(output);
        let mut line = serde_json::to_vec(spec).map_err(|error| broken(error.into()))?;
        line.push(b'\n');
        lifeline.write_all(&line).map_err(broken)?;
        let mut own = Self {
            name: spec.name.clone(),
            supervisor,
            lifeline: Some(lifeline),
            statuses,
            pid: 0,
            group: None,
            exit: None,
            stopped: None,
            patience: spec.grace + Duration::from_secs(20),
            log: spec.log.clone(),
        };
        match own.statuses.recv() {
            Ok(Status::Started { pid, group }) => {
                own.pid = pid;
                own.group = group;
                Ok(own)
            }
            Ok(Status::NotStarted { reason }) => Err(ProcessError::Start {
                name: own.name.clone(),
                reason,
            }),
            _ => Err(own.lost()),
        }
    }

    /// The main process.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// The supervisor, whose descendants are the child's tree.
    pub fn supervisor_pid(&self) -> u32 {
        self.supervisor.id()
    }

    /// The tree's control group, where there is one.
    pub fn group(&self) -> Option<&CpuGroup> {
        self.group.as_ref()
    }

    /// How the main process ended, if it has ("exited with status 1").
    pub fn exit(&mut self) -> Option<String> {
        self.wait_exit(Duration::ZERO)
    }

    /// Waits at most `timeout` for the main process's end.
    pub fn wait_exit(&mut self, timeout: Duration) -> Option<String> {
        let until = Instant::now() + timeout;
        while self.exit.is_none() {
            let left = until.saturating_duration_since(Instant::now());
            match self.statuses.recv_timeout(left) {
                Ok(Status::Exited { how }) => self.exit = Some(how),
                Ok(_) => {}
                Err(RecvTimeoutError::Timeout) => break,
                Err(RecvTimeoutError::Disconnected) => {
                    self.exit = Some("lost its supervisor".to_owned());
                }
            }
        }
        self.exit.clone()
    }

    /// The last lines of its output.
    pub fn log_tail(&self, lines: usize) -> Vec<String> {
        log_tail(&self.log, lines)
    }

    /// Ends the whole tree: the stop signal, the grace period, SIGKILL. Calling it again returns the same answer.
    ///
    /// # Errors
    /// When the supervisor does not answer in time.
    pub fn stop(&mut self) -> Result<Stopped, ProcessError> {
        if let Some(stopped) = &self.stopped {
            return Ok(stopped.clone());
        }
        if let Some(mut lifeline) = self.lifeline.take() {
            // Should it not be there any more, the wait below says so.
            let _ = lifeline.write_all(b"stop\n");
        }
        let until = Instant::now() + self.patience;
        let stopped = loop {
            let left = until.saturating_duration_since(Instant::now());
            match self.statuses.recv_timeout(left) {
                Ok(Status::Stopped(stopped)) => break stopped,
                Ok(Status::Exited { how }) => self.exit = Some(how),
                Ok(_) => {}
                Err(_) => return Err(self.lost()),
            }
        };
        // It has said its last word, so this returns at once.
        let _ = self.supervisor.wait();
        self.stopped = Some(stopped.clone());
        Ok(stopped)
    }

    fn lost(&mut self) -> ProcessError {
        // The tree first: without its supervisor nobody could tell any more what belongs to it.
        for stat in descendants(self.supervisor.id()) {
            sys::kill(stat.pid, libc::SIGKILL);
        }
        let _ = self.supervisor.kill();
        let _ = self.supervisor.wait();
        self.stopped = Some(Stopped::default());
        ProcessError::Lost {
            name: self.name.clone(),
        }
    }
}

impl Drop for Supervised {
    fn drop(&mut self) {
        if let Err(error) = self.stop() {
            tracing::warn!("{error}");
        }
    }
}

/// Reads the supervisor's lines in a thread of its own, so that asking never blocks.
fn read_statuses(output: impl std::io::Read + Send + 'static) -> Receiver<Status> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            let Ok(status) = serde_json::from_str(&line) else {
                continue;
            };
            if sender.send(status).is_err() {
                break;
            }
        }
    });
    receiver
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
