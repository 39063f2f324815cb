//! Deadheat's side of a supervised child: start it, ask after it, stop it.

use std::{
    fs,
    io::{self, BufRead, BufReader, Write},
    path::PathBuf,
    process::{Child, ChildStdin, Command, ExitStatus, Stdio},
    sync::{
        Once,
        mpsc::{Receiver, channel},
    },
    time::{Duration, Instant},
};

use deadheat_model::heat::Freezing;
use serde::{Deserialize, Serialize};

use super::{
    CpuGroup,
    cgroup::Groups,
    freeze::{FreezeError, Freezer},
    group::{KILL_PATIENCE, delete, describe_all, end_abandoned},
    log_tail,
    procfs::descendants,
    sys,
};
use crate::secret::without_password;

/// How long a supervisor may take for its last word beside the child's grace. It only ends what hangs: a supervisor that writes
/// a log waits as long as a disk that others fill makes it wait.
const ANSWER_PATIENCE: Duration = Duration::from_secs(60);

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
    /// Whether it has all of that time also when somebody waits and when Deadheat was killed, and what it started has it,
    /// too, because SIGKILL would leave shared memory behind. What is left of that in the end is deleted.
    pub unhurried: bool,
    /// A folder that is deleted when the tree is gone, also when Deadheat was killed.
    pub remove_after: Option<PathBuf>,
}

impl Spawn {
    /// The command as it may be shown.
    fn shown(&self) -> String {
        let program = self.program.display().to_string();
        let arguments = self.args.iter().map(|argument| without_password(argument));
        [program]
            .into_iter()
            .chain(arguments)
            .collect::<Vec<_>>()
            .join(" ")
    }
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
        source: io::Error,
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
    #[error("the supervisor of {name} {how}; {rest}")]
    Lost {
        /// The child's name.
        name: String,
        /// How it ended: "ended unexpectedly (signal: 9 (SIGKILL))".
        how: String,
        /// What became of the tree.
        rest: String,
    },
    /// Processes of the tree could not be ended.
    #[error("ending {name}: these processes still run and cannot be killed: {survivors}")]
    Survived {
        /// The child's name.
        name: String,
        /// The processes.
        survivors: String,
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
    /// With the grace that the child was started with, and the folder is not deleted.
    Keep = b'k' as isize,
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

/// The supervisor's last word, or what its listener says instead.
#[derive(Debug)]
enum End {
    NotStarted(String),
    Stopped(Stopped),
    Lost {
        rest: String,
        /// Whether it was killed here, because it did not answer in time.
        gave_up: bool,
    },
}

/// A child with its supervisor. Dropping it stops it.
#[derive(Debug)]
pub struct Supervised {
    name: String,
    supervisor: Child,
    lifeline: ChildStdin,
    statuses: Receiver<Status>,
    pid: u32,
    groups: Groups,
    /// Made when it is first asked for.
    freezer: Option<Freezer>,
    exit: Option<String>,
    end: Option<End>,
    /// How long an end may take; `None`: as long as it does.
    patience: Option<Duration>,
    log: PathBuf,
}

impl Supervised {
    /// Starts `spec` under a supervisor of its own.
    ///
    /// # Errors
    /// When the supervisor or the child cannot be started.
    pub fn spawn(supervision: &Supervision, spec: &Spawn) -> Result<Self, ProcessError> {
        static ABANDONED: Once = Once::new();
        ABANDONED.call_once(|| end_abandoned(KILL_PATIENCE));
        let broken = |source| ProcessError::Supervisor {
            name: spec.name.clone(),
            program: supervision.program.display().to_string(),
            source,
        };
        let mut line = serde_json::to_vec(spec).map_err(|error| broken(error.into()))?;
        line.push(b'\n');
        let mut supervisor = Command::new(&supervision.program)
            .args(&supervision.args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .map_err(broken)?;
        // Both were asked for three lines above.
        let lifeline = supervisor.stdin.take().expect("piped standard input");
        let output = supervisor.stdout.take().expect("piped standard output");
        let mut own = Self {
            name: spec.name.clone(),
            supervisor,
            lifeline,
            statuses: read_statuses(output, spec.remove_after.clone()),
            pid: 0,
            groups: Groups::default(),
            freezer: None,
            exit: None,
            end: None,
            patience: spec.grace.map(|grace| grace + ANSWER_PATIENCE),
            log: spec.log.clone(),
        };
        let written = own.lifeline.write_all(&line);
        while own.pid == 0 && own.end.is_none() {
            own.listen(None);
        }
        if own.end.is_none() {
            tracing::info!("{} starts: {}", own.name, spec.shown());
            tracing::debug!(
                "{}: process {}, in {}, log {}",
                own.name,
                own.pid,
                spec.cwd.display(),
                own.log.display()
            );
            return Ok(own);
        }
        let exit = own.supervisor.wait();
        written.map_err(broken)?;
        own.outcome(exit).map(|_| own)
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
        self.groups.cpu.as_ref()
    }

    /// How the tree is frozen.
    pub fn freezing(&mut self) -> &Freezing {
        self.freezer().freezing()
    }

    /// Freezes the whole tree and waits until all of it is, so that nothing of it runs before [`Supervised::thaw`].
    /// Whoever ends meanwhile, nothing of it stays behind: the end of a tree thaws it.
    ///
    /// # Errors
    /// When parts of it could not be frozen. Those that could are.
    pub fn freeze(&mut self) -> Result<(), FreezeError> {
        self.freezer().freeze()
    }

    /// Lets the tree go on.
    ///
    /// # Errors
    /// When its control group cannot be written to.
    pub fn thaw(&mut self) -> Result<(), FreezeError> {
        self.freezer().thaw()
    }

    fn freezer(&mut self) -> &mut Freezer {
        self.freezer
            .get_or_insert_with(|| Freezer::new(&self.name, self.supervisor.id(), &self.groups))
    }

    /// How the main process ended, if it has ("exited with status 1").
    pub fn exit(&mut self) -> Option<String> {
        self.wait_exit(Duration::ZERO)
    }

    /// Waits at most `timeout` for the main process's end.
    pub fn wait_exit(&mut self, timeout: Duration) -> Option<String> {
        let until = Instant::now() + timeout;
        while self.exit.is_none() && self.listen(Some(until)) {}
        self.exit.clone()
    }

    /// Waits for the supervisor's next word, at most until `until`, and takes note of it. Whether one came.
    fn listen(&mut self, until: Option<Instant>) -> bool {
        let status = match until {
            Some(until) => {
                let left = until.saturating_duration_since(Instant::now());
                self.statuses.recv_timeout(left)
            }
            None => self.statuses.recv().map_err(Into::into),
        };
        match status {
            Ok(Status::Grouped(groups)) => self.groups = groups,
            Ok(Status::Started { pid }) => self.pid = pid,
            Ok(Status::NotStarted { reason }) => self.end = Some(End::NotStarted(reason)),
            Ok(Status::Exited { how }) => self.exit = Some(how),
            Ok(Status::Stopped(stopped)) => self.end = Some(End::Stopped(stopped)),
            Ok(Status::Lost { rest }) => {
                self.exit.get_or_insert("lost its supervisor".to_owned());
                self.freezer.iter_mut().for_each(Freezer::abandon);
                self.end = Some(End::Lost {
                    rest,
                    gave_up: false,
                });
            }
            Err(_) => return false,
        }
        true
    }

    /// The last lines of its output.
    pub fn log_tail(&self, lines: usize) -> Vec<String> {
        log_tail(&self.log, lines)
    }

    /// Ends the whole tree: the stop signal, the grace period, SIGKILL. Calling it again returns the same answer.
    ///
    /// # Errors
    /// When something of it is left, or the supervisor ended or does not answer in time.
    pub fn stop(&mut self) -> Result<Stopped, ProcessError> {
        self.end_by(Word::Stop)
    }

    /// The same with a third of a second of grace at most, for somebody who waits.
    ///
    /// # Errors
    /// Those of [`Supervised::stop`].
    pub fn stop_soon(&mut self) -> Result<Stopped, ProcessError> {
        self.end_by(Word::Hurry)
    }

    /// [`Supervised::stop`], but the folder that would be deleted stays.
    ///
    /// # Errors
    /// Those of [`Supervised::stop`].
    pub(super) fn stop_and_keep(&mut self) -> Result<Stopped, ProcessError> {
        self.end_by(Word::Keep)
    }

    fn end_by(&mut self, word: Word) -> Result<Stopped, ProcessError> {
        if self.end.is_none() {
            tracing::debug!("{} is asked to end", self.name);
            // Should nobody read it any more, the wait below says so.
            let _ = self.lifeline.write_all(&[word as u8, b'\n']);
            let until = self.patience.map(|patience| Instant::now() + patience);
            while self.end.is_none() && self.listen(until) {}
        }
        if self.end.is_none() {
            // Its descendants first: without it nobody could tell any more what belongs to it.
            for stat in descendants(self.supervisor.id()) {
                let _ = sys::kill(stat.pid, libc::SIGKILL);
            }
            let _ = self.supervisor.kill();
            while self.end.is_none() && self.listen(None) {}
            if let Some(End::Lost { gave_up, .. }) = &mut self.end {
                *gave_up = true;
            }
        }
        // It has said its last word, or was killed, so this returns at once.
        let exit = self.supervisor.wait();
        self.outcome(exit)
    }

    /// How it ended; `exit` is the supervisor's.
    fn outcome(&self, exit: io::Result<ExitStatus>) -> Result<Stopped, ProcessError> {
        let name = self.name.clone();
        match &self.end {
            Some(End::Stopped(stopped)) if stopped.survivors.is_empty() => Ok(stopped.clone()),
            Some(End::Stopped(stopped)) => Err(ProcessError::Survived {
                name,
                survivors: stopped.survivors.clone(),
            }),
            Some(End::NotStarted(reason)) => Err(ProcessError::Start {
                name,
                reason: reason.clone(),
            }),
            Some(End::Lost { rest, gave_up }) => Err(ProcessError::Lost {
                name,
                how: match exit {
                    _ if *gave_up => {
                        let patience = self.patience.unwrap_or_default();
                        format!("did not answer for {} s and was killed", patience.as_secs())
                    }
                    Ok(status) => format!("ended unexpectedly ({status})"),
                    Err(error) => format!("ended unexpectedly ({error})"),
                },
                rest: rest.clone(),
            }),
            None => Err(ProcessError::Lost {
                name,
                how: "is gone".to_owned(),
                rest: UNKNOWN_REST.to_owned(),
            }),
        }
    }
}

impl Drop for Supervised {
    fn drop(&mut self) {
        if self.end.is_none()
            && let Err(error) = self.stop()
        {
            tracing::warn!("{error}");
        }
    }
}

/// What is known of a tree without a control group when its supervisor is gone.
const UNKNOWN_REST: &str = "its child processes may still run (see `ps`)";

/// Reads the supervisor's lines in a thread of its own, so that asking never blocks. When they end without a last word,
/// the supervisor was killed: what is left is then ended here, by its control group, without anybody's asking.
fn read_statuses(
    output: impl io::Read + Send + 'static,
    remove_after: Option<PathBuf>,
) -> Receiver<Status> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let mut groups = Groups::default();
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            let Ok(status) = serde_json::from_str(&line) else {
                continue;
            };
            let is_last = matches!(status, Status::Stopped(_) | Status::NotStarted { .. });
            if let Status::Grouped(own) = &status {
                groups = own.clone();
            }
            // Also when nobody listens any more: what is below must be done.
            let _ = sender.send(status);
            if is_last {
                return;
            }
        }
        let rest = match groups.end(KILL_PATIENCE) {
            None => UNKNOWN_REST.to_owned(),
            Some(left) if left.is_empty() => "its child processes were killed".to_owned(),
            Some(left) => format!(
                "these processes still run and cannot be killed: {}",
                describe_all(&left)
            ),
        };
        if let Some(folder) = remove_after {
            let _ = delete(&folder);
        }
        let _ = sender.send(Status::Lost { rest });
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

#[cfg(test)]
mod tests;
