//! Fetches a stack's dependencies and builds the stack.

use std::{
    collections::BTreeSet,
    fs::{self, File, TryLockError},
    io,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use deadheat_model::session::{BuildRecord, Phase, StackFailure};

use super::{
    Host, Inspection, Unavailable, apt,
    command::{CommandError, Task, in_shell, run},
    network_errors::{NetworkError, find_network_error},
    stamp,
};
use crate::{manifest::Stack, process::log_tail};

/// The default time limit of a command. A first build of a large framework takes some minutes.
pub const DEFAULT_COMMAND_LIMIT: Duration = Duration::from_secs(15 * 60);
/// The number of log lines that a failure shows.
const TAIL_LINES: usize = 20;
/// The interval at which the lock of another Deadheat is checked.
const LOCK_ATTENTION: Duration = Duration::from_millis(100);
/// Makes compilers ignore the user's settings that would change what is built: of `go env -w` (an empty variable does not, and
/// `GOENV=off` would hide where modules are kept), a `go.work` and `rustflags` of Cargo's `config.toml`.
const WITHOUT_USER_SETTINGS: [(&str, &str); 4] = [
    ("GOFLAGS", "-buildvcs=false"),
    ("GOAMD64", "v1"),
    ("GOWORK", "off"),
    ("RUSTFLAGS", ""),
];

/// Progress of preparing a stack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BuildProgress {
    /// Waiting for another Deadheat that prepares the same stack.
    Waiting {
        /// The lock file that the other Deadheat holds.
        lock: PathBuf,
    },
    /// The dependencies are fetched already.
    AlreadyFetched,
    /// A command starts.
    Running {
        /// Fetch or build.
        phase: Phase,
        /// The command line.
        command: String,
    },
}

/// Why a stack was not fetched or built.
#[derive(Clone, Debug, PartialEq)]
pub enum NotPrepared {
    /// Its dependencies cannot be reached from here.
    Unavailable(Unavailable),
    /// A command failed, or its output is wrong.
    Failed(StackFailure),
}

impl From<StackFailure> for NotPrepared {
    fn from(failure: StackFailure) -> Self {
        Self::Failed(failure)
    }
}

/// Fetches and builds stacks.
#[derive(Clone, Copy, Debug)]
pub struct Builder<'a> {
    /// The machine.
    pub host: &'a Host<'a>,
    /// The folder for `<stack>.fetch.log` and `<stack>.build.log`.
    pub logs: &'a Path,
    /// The time limit of each command.
    pub limit: Duration,
}

impl Builder<'_> {
    /// Fetches the dependencies of `stack`, unless they are fetched already. Returns whether a command was run.
    ///
    /// # Errors
    /// When a registry cannot be reached, or a command fails, takes too long or is interrupted.
    pub fn fetch(
        &self,
        stack: &Stack,
        inspection: &Inspection,
        tell: &mut dyn FnMut(BuildProgress),
    ) -> Result<bool, NotPrepared> {
        let work = self.begin(stack, tell)?;
        work.fetch(inspection, tell)
    }

    /// Fetches and builds `stack`.
    ///
    /// # Errors
    /// When a registry cannot be reached; when a command fails, takes too long or is interrupted; or when an artefact
    /// is missing afterwards.
    pub fn build(
        &self,
        stack: &Stack,
        inspection: &Inspection,
        tell: &mut dyn FnMut(BuildProgress),
    ) -> Result<BuildRecord, NotPrepared> {
        let work = self.begin(stack, tell)?;
        let started = Instant::now();
        let has_fetched = work.fetch(inspection, tell)?;
        Ok(work.build(has_fetched.then_some(started), tell)?)
    }

    /// Takes the stack's lock. Creates the lock's folder and the logs' folder.
    fn begin<'w>(
        &'w self,
        stack: &'w Stack,
        tell: &mut dyn FnMut(BuildProgress),
    ) -> Result<Work<'w>, StackFailure> {
        let id = &stack.manifest.id;
        let folder = stamp::folder(stack);
        for folder in [folder.as_path(), self.logs] {
            fs::create_dir_all(folder).map_err(|error| {
                let folder = folder.display();
                failure(
                    Phase::Fetch,
                    format!("preparing {id}: making the folder {folder}: {error}"),
                )
            })?;
        }
        let path = folder.join("lock");
        let lock = self.lock(&path, tell).map_err(|error| {
            let path = path.display();
            failure(
                Phase::Fetch,
                format!("preparing {id}: locking {path}: {error}"),
            )
        })?;
        Ok(Work {
            builder: self,
            stack,
            _lock: lock,
        })
    }

    fn lock(&self, path: &Path, tell: &mut dyn FnMut(BuildProgress)) -> io::Result<File> {
        let file = File::options().create(true).append(true).open(path)?;
        let mut told = false;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(file),
                // The file system has no locks. A build without a lock is better than no build.
                Err(TryLockError::Error(error)) => {
                    tracing::warn!(
                        "locking {}: {error}; this file system seems to have no locks, so make sure that no other \
                         deadheat builds this stack",
                        path.display()
                    );
                    return Ok(file);
                }
                Err(TryLockError::WouldBlock) => {}
            }
            if self.host.interrupted() {
                let reason = "interrupted while another deadheat held it";
                return Err(io::Error::new(io::ErrorKind::Interrupted, reason));
            }
            if !told {
                let lock = path.to_owned();
                tell(BuildProgress::Waiting { lock });
                told = true;
            }
            thread::sleep(LOCK_ATTENTION);
        }
    }
}

/// A stack that is locked against other preparations.
struct Work<'w> {
    builder: &'w Builder<'w>,
    stack: &'w Stack,
    /// Released when the file is closed.
    _lock: File,
}

impl Work<'_> {
    fn fetch(
        &self,
        inspection: &Inspection,
        tell: &mut dyn FnMut(BuildProgress),
    ) -> Result<bool, NotPrepared> {
        let commands = &self.stack.manifest.build.fetch;
        if commands.is_empty() {
            return Ok(false);
        }
        let fingerprint = || {
            stamp::fingerprint(self.stack, inspection).map_err(|error| {
                let id = &self.stack.manifest.id;
                failure(
                    Phase::Fetch,
                    format!("reading the lock files of {id}: {error}"),
                )
            })
        };
        if stamp::is_fetched(self.stack, &fingerprint()?) {
            tell(BuildProgress::AlreadyFetched);
            return Ok(false);
        }
        stamp::forget_fetched(self.stack);
        self.run(Phase::Fetch, commands, tell)
            .map_err(|stopped| self.not_fetched(stopped))?;
        // Compute it again, because a fetch may write lock files.
        stamp::note_fetched(self.stack, &fingerprint()?)
            .map_err(|error| failure(Phase::Fetch, self.cannot_note(&error)))?;
        Ok(true)
    }

    /// Builds the stack, unless the fetch has built it. `fetch_started` is the time at which a fetch started just now.
    fn build(
        &self,
        fetch_started: Option<Instant>,
        tell: &mut dyn FnMut(BuildProgress),
    ) -> Result<BuildRecord, StackFailure> {
        let build = &self.stack.manifest.build;
        let incremental = stamp::is_built(self.stack);
        let built_since = fetch_started.filter(|_| build.fetch_builds);
        let started = built_since.unwrap_or_else(Instant::now);
        let steps: &[Vec<String>] = match built_since {
            Some(_) => &[],
            None => &build.steps,
        };
        if let Err(CommandFailure { failure, .. }) = self.run(Phase::Build, steps, tell) {
            // The build may have failed because a fetched file was deleted from a cache elsewhere.
            if !self.builder.host.interrupted() {
                stamp::forget_fetched(self.stack);
            }
            return Err(failure);
        }
        let seconds = match build.steps.len() {
            0 => 0.0,
            _ => started.elapsed().as_secs_f64(),
        };
        let artefact_bytes =
            artefact_bytes(&self.stack.dir, &build.artefacts).map_err(|error| {
                let id = &self.stack.manifest.id;
                let reason = format!("building {id}: looking at what was built: {error}; check `artefacts` in stack.toml");
                failure(Phase::Build, reason)
            })?;
        stamp::note_built(self.stack)
            .map_err(|error| failure(Phase::Build, self.cannot_note(&error)))?;
        Ok(BuildRecord {
            seconds,
            incremental,
            artefact_bytes,
        })
    }

    fn run(
        &self,
        phase: Phase,
        commands: &[Vec<String>],
        tell: &mut dyn FnMut(BuildProgress),
    ) -> Result<(), CommandFailure> {
        if commands.is_empty() {
            return Ok(());
        }
        let id = &self.stack.manifest.id;
        let verb = if phase == Phase::Fetch {
            "fetch"
        } else {
            "build"
        };
        let log = self.builder.logs.join(format!("{id}.{verb}.log"));
        fs::write(&log, "").map_err(|error| {
            let reason = format!("{} {id}: writing {}: {error}", gerund(phase), log.display());
            CommandFailure {
                failure: failure(phase, reason),
                unreachable: None,
            }
        })?;
        for command in commands {
            tell(BuildProgress::Running {
                phase,
                command: in_shell(command),
            });
            let mut task = Task::new(command, &self.stack.dir, &log, self.builder.limit);
            // A fetch needs the user's settings, which say where packages come from.
            if phase == Phase::Build {
                task.env = &WITHOUT_USER_SETTINGS;
            }
            run(self.builder.host, &task).map_err(|error| CommandFailure {
                failure: self.failed(phase, &error, &log),
                unreachable: what_was_unreachable(&error, &log),
            })?;
        }
        Ok(())
    }

    /// Converts a failed fetch. A network error says nothing about the stack, which is then unavailable.
    fn not_fetched(&self, stopped: CommandFailure) -> NotPrepared {
        let CommandFailure {
            failure,
            unreachable: Some(NetworkError { said, host }),
        } = stopped
        else {
            return NotPrepared::Failed(stopped.failure);
        };
        let manifest = &self.stack.manifest;
        let registry = host.as_ref().or(manifest.build.registry.as_ref());
        let registry = registry.map_or("its package registry", String::as_str);
        NotPrepared::Unavailable(Unavailable {
            reason: format!("{registry} cannot be reached ({said}): {}", failure.reason),
            remedy: format!("deadheat setup --stack {}", manifest.id),
        })
    }

    fn failed(&self, phase: Phase, error: &CommandError, log: &Path) -> StackFailure {
        let id = &self.stack.manifest.id;
        let reason = format!(
            "{} {id}: {error}; the log is {}{}",
            gerund(phase),
            log.display(),
            self.missing_packages(error)
        );
        StackFailure {
            log_tail: log_tail(log, TAIL_LINES),
            ..failure(phase, reason)
        }
    }

    /// The likely cause of a failure: Debian packages that the manifest names and that are not installed.
    fn missing_packages(&self, error: &CommandError) -> String {
        let host = self.builder.host;
        let own_fault = matches!(
            error,
            CommandError::Failed { .. } | CommandError::NotFound { .. }
        );
        if !own_fault || !apt::is_here(host) {
            return String::new();
        }
        let missing = apt::missing(host, &self.stack.manifest.build.apt);
        if missing.is_empty() {
            return String::new();
        }
        let command = in_shell(&apt::install_by_hand(host, &missing));
        format!(
            "; {} not installed: {command}",
            missing.join(", ") + if missing.len() == 1 { " is" } else { " are" }
        )
    }

    fn cannot_note(&self, error: &io::Error) -> String {
        let folder = stamp::folder(self.stack);
        let id = &self.stack.manifest.id;
        format!("preparing {id}: writing to {}: {error}", folder.display())
    }
}

/// A failed command.
struct CommandFailure {
    failure: StackFailure,
    /// The network error that caused the failure, if any.
    unreachable: Option<NetworkError>,
}

/// The network error of the last command in `log`, if it failed because of that.
fn what_was_unreachable(error: &CommandError, log: &Path) -> Option<NetworkError> {
    let (CommandError::Failed { command, .. } | CommandError::TimedOut { command, .. }) = error
    else {
        return None;
    };
    let lines = log_tail(log, usize::MAX);
    let heading = format!("$ {command}");
    let own = lines.rsplitn(2, |line| *line == heading).next()?;
    find_network_error(own.iter().map(String::as_str))
}

fn gerund(phase: Phase) -> &'static str {
    if phase == Phase::Fetch {
        "fetching what is needed for"
    } else {
        "building"
    }
}

fn failure(phase: Phase, reason: String) -> StackFailure {
    StackFailure {
        phase,
        reason,
        log_tail: Vec::new(),
        load: None,
    }
}

/// The size in bytes of `artefacts`, which are files and folders in `dir`, with everything in them.
///
/// A file with several names (hard links, overlapping artefacts) counts once. A symbolic link counts its target if that
/// is in `dir` too, and nothing otherwise. For example, a virtual environment's link to the system's Python counts
/// nothing.
///
/// # Errors
/// When an artefact, or a file in it, does not exist or cannot be read. The error contains the path.
pub fn artefact_bytes(dir: &Path, artefacts: &[String]) -> io::Result<u64> {
    let mut usage = DiskUsage {
        root: dir.canonicalize().map_err(|error| named(dir, &error))?,
        seen: BTreeSet::new(),
        bytes: 0,
    };
    for artefact in artefacts {
        usage.add(&dir.join(artefact))?;
    }
    Ok(usage.bytes)
}

struct DiskUsage {
    root: PathBuf,
    /// The device and inode of each counted file.
    seen: BTreeSet<(u64, u64)>,
    bytes: u64,
}

impl DiskUsage {
    fn add(&mut self, path: &Path) -> io::Result<()> {
        let metadata = fs::symlink_metadata(path).map_err(|error| named(path, &error))?;
        if metadata.is_symlink() {
            // A broken link counts nothing.
            let target = path.canonicalize().ok();
            return match target.filter(|target| target.starts_with(&self.root)) {
                Some(target) => self.add(&target),
                None => Ok(()),
            };
        }
        if !self.seen.insert((metadata.dev(), metadata.ino())) {
            return Ok(());
        }
        if metadata.is_dir() {
            for entry in fs::read_dir(path).map_err(|error| named(path, &error))? {
                self.add(&entry.map_err(|error| named(path, &error))?.path())?;
            }
        } else if metadata.is_file() {
            self.bytes += metadata.len();
        }
        Ok(())
    }
}

fn named(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}
