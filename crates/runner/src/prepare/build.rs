//! Fetches what a stack depends on, and builds it.

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
    network_errors::{Unreachable, unreachable},
    stamp,
};
use crate::{manifest::Stack, process::log_tail};

/// What a command may take unless somebody says otherwise: a first build of a large framework takes some minutes.
pub const DEFAULT_COMMAND_LIMIT: Duration = Duration::from_secs(15 * 60);
/// Lines of the log that a failure shows.
const TAIL_LINES: usize = 20;
/// How often we look whether another Deadheat has finished.
const LOCK_ATTENTION: Duration = Duration::from_millis(100);

/// What happens while a stack is prepared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BuildProgress {
    /// Another Deadheat prepares the same stack; this one waits.
    Waiting {
        /// The file that the other one holds.
        lock: PathBuf,
    },
    /// What a fetch would bring is here already.
    AlreadyFetched,
    /// A command begins.
    Running {
        /// Fetch or build.
        phase: Phase,
        /// The command, as one would type it.
        command: String,
    },
}

/// Why a stack is not fetched, or not built.
#[derive(Clone, Debug, PartialEq)]
pub enum NotPrepared {
    /// What it depends on cannot be reached from here.
    Unavailable(Unavailable),
    /// A command failed, or what it made is wrong.
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
    /// What each command may take.
    pub limit: Duration,
}

impl Builder<'_> {
    /// Brings what `stack` depends on, unless it is here already. Whether something was done.
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
    /// When a registry cannot be reached, or a command fails, takes too long or is interrupted, or what it should have made is not there.
    pub fn build(
        &self,
        stack: &Stack,
        inspection: &Inspection,
        tell: &mut dyn FnMut(BuildProgress),
    ) -> Result<BuildRecord, NotPrepared> {
        let work = self.begin(stack, tell)?;
        work.fetch(inspection, tell)?;
        Ok(work.build(tell)?)
    }

    /// Takes the stack's lock; its folder and that of the logs are there afterwards.
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
                // A file system without locks: a build there is worth more than none.
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

/// A stack that nobody else prepares meanwhile.
struct Work<'w> {
    builder: &'w Builder<'w>,
    stack: &'w Stack,
    /// Given back when it is closed.
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
        // Again, because a fetch may write lock files.
        stamp::note_fetched(self.stack, &fingerprint()?)
            .map_err(|error| failure(Phase::Fetch, self.cannot_note(&error)))?;
        Ok(true)
    }

    fn build(&self, tell: &mut dyn FnMut(BuildProgress)) -> Result<BuildRecord, StackFailure> {
        let build = &self.stack.manifest.build;
        let incremental = stamp::is_built(self.stack);
        let started = Instant::now();
        if let Err(Stopped { failure, .. }) = self.run(Phase::Build, &build.steps, tell) {
            // It may have failed because something fetched has gone from a cache that we do not see.
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
    ) -> Result<(), Stopped> {
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
            Stopped {
                failure: failure(phase, reason),
                unreachable: None,
            }
        })?;
        for command in commands {
            tell(BuildProgress::Running {
                phase,
                command: in_shell(command),
            });
            let task = Task::new(command, &self.stack.dir, &log, self.builder.limit);
            run(self.builder.host, &task).map_err(|error| Stopped {
                failure: self.failed(phase, &error, &log),
                unreachable: what_was_unreachable(&error, &log),
            })?;
        }
        Ok(())
    }

    /// A fetch that the network kept from its registry says nothing of the stack.
    fn not_fetched(&self, stopped: Stopped) -> NotPrepared {
        let Stopped {
            failure,
            unreachable: Some(Unreachable { said, host }),
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

    /// A failure's likely cause: Debian packages that the manifest names and that are not installed.
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

/// A command that did not do what it should.
struct Stopped {
    failure: StackFailure,
    /// What it said of the network, if that is why.
    unreachable: Option<Unreachable>,
}

/// What the last command in `log` said of the network, if it ended because of that.
fn what_was_unreachable(error: &CommandError, log: &Path) -> Option<Unreachable> {
    let (CommandError::Failed { command, .. } | CommandError::TimedOut { command, .. }) = error
    else {
        return None;
    };
    let lines = log_tail(log, usize::MAX);
    let heading = format!("$ {command}");
    let own = lines.rsplitn(2, |line| *line == heading).next()?;
    unreachable(own.iter().map(String::as_str))
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

/// Bytes of `artefacts`, files and folders in `dir`, all that is in them included.
///
/// A file under several names (hard links, overlapping artefacts) counts once. A symbolic link counts what it leads to
/// when that is in `dir` too, and nothing otherwise: a virtual environment's link to the system's Python deploys none.
///
/// # Errors
/// When an artefact, or something in it, is not there or cannot be read; the error says what.
pub fn artefact_bytes(dir: &Path, artefacts: &[String]) -> io::Result<u64> {
    let mut walk = Walk {
        root: dir.canonicalize().map_err(|error| named(dir, &error))?,
        seen: BTreeSet::new(),
        bytes: 0,
    };
    for artefact in artefacts {
        walk.add(&dir.join(artefact))?;
    }
    Ok(walk.bytes)
}

struct Walk {
    root: PathBuf,
    /// Device and inode of what was counted.
    seen: BTreeSet<(u64, u64)>,
    bytes: u64,
}

impl Walk {
    fn add(&mut self, path: &Path) -> io::Result<()> {
        let metadata = fs::symlink_metadata(path).map_err(|error| named(path, &error))?;
        if metadata.is_symlink() {
            // A link that leads nowhere deploys nothing.
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
