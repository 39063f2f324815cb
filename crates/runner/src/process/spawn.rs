//! The parent's side of a supervised child: starts it, observes it and stops it.

use std::{
    fs,
    io::{self, BufRead, BufReader, Write},
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
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

/// The time that a supervisor may take to report the end, in addition to the child's grace period. Only a hung
/// supervisor exceeds it: one that writes a log may wait for a slow disk.
const ANSWER_PATIENCE: Duration = Duration::from_secs(60);

/// The program that runs, even if its file has been replaced since its start (proc_pid_exe(5)).
pub const OWN_PROGRAM: &str = "/proc/self/exe";

/// A command without arguments. Lists of processes show the program that runs by its name.
pub(super) fn command(program: &Path) -> Command {
    let mut command = Command::new(program);
    if program == Path::new(OWN_PROGRAM) {
        command.arg0("deadheat");
    }
    command
}

/// The command that starts a supervisor: the deadheat binary with its hidden subcommand.
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
    /// The child's name in messages.
    pub name: String,
    /// The program; a relative path with a slash is taken from `cwd`.
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<String>,
    /// Environment variables, in addition to the few that every child inherits from Deadheat.
    pub env: Vec<(String, String)>,
    /// The working folder.
    pub cwd: PathBuf,
    /// The CPUs that the tree is pinned to.
    pub cpus: Option<Vec<usize>>,
    /// The file that standard output and standard error are appended to. Of a long output, only the beginning and the
    /// end are kept.
    pub log: PathBuf,
    /// Another user to run as; needs root.
    pub user: Option<User>,
    /// The signal that asks the child to end.
    pub stop_signal: i32,
    /// The time between the stop signal and SIGKILL. `None`: the child is never killed, even if Deadheat is, because
    /// that would leave something broken (dpkg).
    #[serde(with = "deadheat_model::seconds::option")]
    pub grace: Option<Duration>,
    /// Whether the child and its descendants always get the full grace period, even if somebody waits or Deadheat was
    /// killed. SIGKILL would leave shared memory behind. Any that is left in the end is deleted.
    pub unhurried: bool,
    /// A folder that is deleted when the process tree has ended, even if Deadheat was killed.
    pub remove_after: Option<PathBuf>,
}

impl Spawn {
    /// The command for messages.
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
    /// The supervisor could not be started or did not take its order.
    #[error(
        "starting a supervisor for {name} with `{program}`: {source}; check the limits of processes and of memory"
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
    /// The supervisor ended without reporting how the tree ended.
    #[error("the supervisor of {name} {how}; {rest}")]
    Lost {
        /// The child's name.
        name: String,
        /// How it ended: "ended unexpectedly (signal: 9 (SIGKILL))".
        how: String,
        /// What happened to the tree.
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

/// How a process tree ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stopped {
    /// The main process was still running after the grace period.
    pub ignored_signal: bool,
    /// The number of processes that the main process left behind.
    pub left_behind: u32,
    /// The number of processes that had to be killed with SIGKILL.
    pub killed: u32,
    /// The processes that still run, by id and name; empty if there are no such processes.
    #[serde(default)]
    pub survivors: String,
}

/// A command that makes a supervisor end its tree. It is sent as one byte and a newline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StopCommand {
    /// With the grace period that the child was started with.
    Stop = b's' as isize,
    /// With a short grace period.
    Hurry = b'h' as isize,
    /// With the full grace period, and without deleting the folder.
    Keep = b'k' as isize,
}

/// A message of the supervisor: one JSON value per line.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub(super) enum Status {
    /// The tree's control groups, sent before the child starts.
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
    /// The supervisor ended without a report. This value comes from the thread that reads its messages; `rest` says
    /// what happened to the tree.
    #[serde(skip)]
    Lost {
        rest: String,
    },
}

/// How the tree ended: the supervisor's last message, or the reader's substitute.
#[derive(Debug)]
enum End {
    NotStarted(String),
    Stopped(Stopped),
    Lost {
        rest: String,
        /// Whether Deadheat killed the supervisor because it did not answer in time.
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
    /// Created on first use.
    freezer: Option<Freezer>,
    exit: Option<String>,
    end: Option<End>,
    /// The maximum time until the tree has ended; `None` is unlimited.
    patience: Option<Duration>,
    log: PathBuf,
}

impl Supervised {
    /// Starts `spec` under a new supervisor.
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
        let mut supervisor = command(&supervision.program)
            .args(&supervision.args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .map_err(broken)?;
        // Both pipes were requested above.
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

    /// The tree's control group; `None` without control groups.
    pub fn group(&self) -> Option<&CpuGroup> {
        self.groups.cpu.as_ref()
    }

    /// How the tree is frozen.
    pub fn freezing(&mut self) -> &Freezing {
        self.freezer().freezing()
    }

    /// Freezes the whole tree and waits until all of it is frozen, so that nothing of it runs before
    /// [`Supervised::thaw`]. Stopping the tree also thaws it, so no process is left frozen.
    ///
    /// # Errors
    /// When parts of it could not be frozen. The other parts are frozen.
    pub fn freeze(&mut self) -> Result<(), FreezeError> {
        self.freezer().freeze()
    }

    /// Thaws the tree.
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

    /// How the main process ended ("exited with status 1"); `None` while it runs.
    pub fn exit(&mut self) -> Option<String> {
        self.wait_exit(Duration::ZERO)
    }

    /// Waits at most `timeout` for the main process's end.
    pub fn wait_exit(&mut self, timeout: Duration) -> Option<String> {
        let until = Instant::now() + timeout;
        while self.exit.is_none() && self.listen(Some(until)) {}
        self.exit.clone()
    }

    /// Waits for the supervisor's next message, at most until `until`, and records it. Returns whether one arrived.
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

    /// Ends the whole tree: the stop signal, the grace period, SIGKILL. Another call returns the same result.
    ///
    /// # Errors
    /// When processes of it still run, or the supervisor ended or does not answer in time.
    pub fn stop(&mut self) -> Result<Stopped, ProcessError> {
        self.end_by(StopCommand::Stop)
    }

    /// [`Supervised::stop`] with a grace period of at most a third of a second, when somebody waits.
    ///
    /// # Errors
    /// Those of [`Supervised::stop`].
    pub fn stop_soon(&mut self) -> Result<Stopped, ProcessError> {
        self.end_by(StopCommand::Hurry)
    }

    /// [`Supervised::stop`] without deleting the folder [`Spawn::remove_after`].
    ///
    /// # Errors
    /// Those of [`Supervised::stop`].
    pub(super) fn stop_and_keep(&mut self) -> Result<Stopped, ProcessError> {
        self.end_by(StopCommand::Keep)
    }

    fn end_by(&mut self, word: StopCommand) -> Result<Stopped, ProcessError> {
        if self.end.is_none() {
            tracing::debug!("{} is asked to end", self.name);
            // If the supervisor has ended, the wait below reports it.
            let _ = self.lifeline.write_all(&[word as u8, b'\n']);
            let until = self.patience.map(|patience| Instant::now() + patience);
            while self.end.is_none() && self.listen(until) {}
        }
        if self.end.is_none() {
            // Kill its descendants first, because without the supervisor they cannot be identified any more.
            for stat in descendants(self.supervisor.id()) {
                let _ = sys::kill(stat.pid, libc::SIGKILL);
            }
            let _ = self.supervisor.kill();
            while self.end.is_none() && self.listen(None) {}
            if let Some(End::Lost { gave_up, .. }) = &mut self.end {
                *gave_up = true;
            }
        }
        // The supervisor has reported the end or was killed, so this returns at once.
        let exit = self.supervisor.wait();
        self.outcome(exit)
    }

    /// How the tree ended. `exit` is the supervisor's exit status.
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

/// The remains of a tree without a control group after its supervisor was killed, for messages.
const UNKNOWN_REST: &str = "its child processes may still run (see `ps`)";

/// Reads the supervisor's messages in a thread, so that queries never block. If they end without a report of the end,
/// the supervisor was killed; then this thread ends the tree by its control group.
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
            // Ignore a closed channel: the rest of the loop must still run.
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
    /// The path of the program. A relative path with a slash is resolved from the working folder.
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
