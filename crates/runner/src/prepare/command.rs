//! Runs commands until they exit, reach their time limit, or the session is interrupted.

use std::{
    env,
    fs::{self, OpenOptions},
    io::Write,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

use crate::process::{ProcessError, Spawn, Supervised, Supervision, environment, is_root};

/// The interval at which a running command checks for an interrupt.
const ATTENTION: Duration = Duration::from_millis(100);
/// The time from SIGTERM to SIGKILL.
const GRACE: Duration = Duration::from_secs(2);
/// The time limit of a command line that the user typed.
const LINE_LIMIT: Duration = Duration::from_secs(60 * 60);
/// The supervisor's description of a successful exit.
const SUCCESS: &str = "exited with status 0";

/// A command to run to its end.
pub(super) struct Task<'t> {
    /// Program and arguments.
    pub command: &'t [String],
    /// The working folder.
    pub dir: &'t Path,
    /// The log file, to which the output is appended.
    pub log: &'t Path,
    /// The time limit, after which the command is stopped.
    pub limit: Duration,
    /// Whether the command changes the system and must not be killed halfway. It gets Ctrl-C's signal, is waited for,
    /// and is never killed.
    pub finishes: bool,
    /// Whether the command itself is logged before its output.
    pub heading: bool,
    /// Whether the command inherits the whole environment, like a command that the user types. Builds only inherit a
    /// few variables.
    pub inherits_all: bool,
    /// Variables that are set besides, which no build inherits.
    pub env: &'t [(&'t str, &'t str)],
}

impl<'t> Task<'t> {
    /// A task for `command` in `dir` that may be killed and has a heading in the log.
    pub fn new(command: &'t [String], dir: &'t Path, log: &'t Path, limit: Duration) -> Self {
        Self {
            command,
            dir,
            log,
            limit,
            finishes: false,
            heading: true,
            inherits_all: false,
            env: &[],
        }
    }
}

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
pub enum CommandError {
    /// The program is not on the PATH.
    #[error("`{command}` cannot be run: {program} is not on the PATH, or not executable")]
    NotFound {
        /// The command.
        command: String,
        /// Its program.
        program: String,
    },
    /// It could not be started.
    #[error("`{command}` cannot be run: {source}")]
    Start {
        /// The command.
        command: String,
        /// Why.
        source: ProcessError,
    },
    /// Its log file could not be written or read.
    #[error("`{command}` cannot be run, because its output cannot go to {} ({source})", log.display())]
    Log {
        /// The command.
        command: String,
        /// The file.
        log: PathBuf,
        /// What happened.
        source: std::io::Error,
    },
    /// The exit status is not 0.
    #[error("`{command}` {how}")]
    Failed {
        /// The command.
        command: String,
        /// "exited with status 1".
        how: String,
    },
    /// The command reached its time limit and was stopped.
    #[error("`{command}` was ended because it took longer than {}", humantime::format_duration(*.limit))]
    TimedOut {
        /// The command.
        command: String,
        /// The time limit.
        limit: Duration,
    },
    /// The command, or a process that it started, still runs.
    #[error("`{command}` may still be at work: {source}")]
    NotEnded {
        /// The command.
        command: String,
        /// Why.
        source: ProcessError,
    },
    /// The command was stopped because the session was interrupted.
    #[error("`{command}` was interrupted")]
    Interrupted {
        /// The command.
        command: String,
    },
}

/// Runs `task` to its end. No process of it is left afterwards, unless the error is [`CommandError::NotEnded`].
pub(super) fn run(host: &Host<'_>, task: &Task<'_>) -> Result<(), CommandError> {
    let command = in_shell(task.command);
    if host.interrupted() {
        return Err(CommandError::Interrupted { command });
    }
    let spec = spawn_spec(host, task)?;
    let mut child = match Supervised::spawn(&host.supervision, &spec) {
        Ok(child) => child,
        // The supervisor was killed before it reported the start.
        Err(source @ ProcessError::Lost { .. }) => {
            return Err(CommandError::NotEnded { command, source });
        }
        Err(source) => return Err(CommandError::Start { command, source }),
    };
    let started = Instant::now();
    let outcome = loop {
        let left = task.limit.saturating_sub(started.elapsed());
        match child.wait_exit(left.min(ATTENTION)) {
            Some(how) if how == SUCCESS => break Ok(()),
            Some(how) => break Err(CommandError::Failed { command, how }),
            None if host.interrupted() => break Err(CommandError::Interrupted { command }),
            None if left.is_zero() => {
                let limit = task.limit;
                break Err(CommandError::TimedOut { command, limit });
            }
            None => {}
        }
    };
    if task.finishes && child.exit().is_none() {
        tracing::warn!(
            "waiting for the end of `{}`, which must not be killed",
            in_shell(task.command)
        );
    }
    // Stop the tree even after success, because a daemon that a build left behind would disturb the measurement.
    match child.stop() {
        Ok(_) => outcome,
        Err(source) => {
            let command = in_shell(task.command);
            Err(CommandError::NotEnded { command, source })
        }
    }
}

/// Runs a command line that the user typed in a shell in `dir`, with Deadheat's whole environment. Its output is
/// appended to `log`.
///
/// # Errors
/// When it does not exit with status 0 in time.
pub fn run_line(host: &Host<'_>, line: &str, dir: &Path, log: &Path) -> Result<(), CommandError> {
    let command = ["sh", "-c", line].map(str::to_owned);
    let task = Task {
        inherits_all: true,
        ..Task::new(&command, dir, log, LINE_LIMIT)
    };
    run(host, &task)
}

/// Runs `command` in `dir`. Returns its standard output and standard error, and how it ended.
pub(super) fn output(
    host: &Host<'_>,
    command: &[String],
    dir: &Path,
    limit: Duration,
) -> (String, Result<(), CommandError>) {
    let log = match tempfile::NamedTempFile::new() {
        Ok(log) => log,
        Err(source) => {
            let error = CommandError::Log {
                command: in_shell(command),
                log: std::env::temp_dir(),
                source,
            };
            return (String::new(), Err(error));
        }
    };
    let task = Task {
        heading: false,
        ..Task::new(command, dir, log.path(), limit)
    };
    let outcome = run(host, &task);
    let text = fs::read(log.path()).unwrap_or_default();
    (String::from_utf8_lossy(&text).into_owned(), outcome)
}

/// What makes tools speak English.
const IN_ENGLISH: [(&str, &str); 2] = [("LC_ALL", "C.UTF-8"), ("DOTNET_CLI_UI_LANGUAGE", "en")];

fn spawn_spec(host: &Host<'_>, task: &Task<'_>) -> Result<Spawn, CommandError> {
    let command = || in_shell(task.command);
    let (program, args) = task
        .command
        .split_first()
        .ok_or_else(|| CommandError::NotFound {
            command: String::new(),
            program: "an empty command".to_owned(),
        })?;
    let Some(found) = host.find(program, task.dir) else {
        return Err(CommandError::NotFound {
            command: command(),
            program: program.clone(),
        });
    };
    write_heading(task).map_err(|source| CommandError::Log {
        command: command(),
        log: task.log.to_owned(),
        source,
    })?;
    let mut env = if task.inherits_all {
        environment::whole()
    } else {
        environment::inherited(&[&environment::OF_BUILDS])
    };
    env.retain(|(name, _)| name != "PATH");
    env.push(("PATH".to_owned(), host.path.clone()));
    if !task.inherits_all {
        // Their messages are read.
        env.retain(|(name, _)| !name.starts_with("LC_") && !name.starts_with("LANG"));
        env.extend(IN_ENGLISH.map(|(name, value)| (name.to_owned(), value.to_owned())));
    }
    let own = task.env.iter();
    env.extend(own.map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
    Ok(Spawn {
        name: format!("`{}`", command()),
        program: found,
        args: args.to_vec(),
        env,
        cwd: task.dir.to_owned(),
        cpus: None,
        log: task.log.to_owned(),
        user: None,
        stop_signal: if task.finishes {
            libc::SIGINT
        } else {
            libc::SIGTERM
        },
        grace: (!task.finishes).then_some(GRACE),
        unhurried: false,
        remove_after: None,
    })
}

/// Writes the command to its log, which may contain the output of several commands.
fn write_heading(task: &Task<'_>) -> std::io::Result<()> {
    let mut log = OpenOptions::new()
        .append(true)
        .create(true)
        .open(task.log)?;
    if task.heading {
        writeln!(log, "$ {}", in_shell(task.command))?;
    }
    Ok(())
}

/// `command` as a shell command line, with quotes.
pub fn in_shell(command: &[String]) -> String {
    let words: Vec<String> = command.iter().map(|word| quoted(word)).collect();
    words.join(" ")
}

fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,@+%^".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// The folders where Debian installs servers such as nginx. They are not on the PATH of ordinary users, who can run
/// these programs nevertheless.
const SYSTEM_PROGRAMS: [&str; 3] = ["/usr/local/sbin", "/usr/sbin", "/sbin"];

/// The PATH for the programs of stacks: Deadheat's own, followed by the folders of system programs.
pub fn search_path() -> String {
    with_system_programs(&env::var("PATH").unwrap_or_default())
}

fn with_system_programs(path: &str) -> String {
    let is_new = |folder: &&str| !path.split(':').any(|there| there == *folder);
    let ours = Some(path).filter(|path| !path.is_empty());
    let all = ours
        .into_iter()
        .chain(SYSTEM_PROGRAMS.into_iter().filter(is_new));
    all.collect::<Vec<_>>().join(":")
}

/// The environment of commands on this machine: the PATH, the user, and the supervision.
#[derive(Clone, Debug)]
pub struct Host<'a> {
    /// The PATH for looking up programs, which commands inherit.
    pub path: String,
    /// Whether the user is root.
    pub root: bool,
    /// The user's home folder, if any.
    pub home: Option<PathBuf>,
    /// The root of the file system; another folder in tests.
    pub system: PathBuf,
    /// How supervisors of commands are started.
    pub supervision: Supervision,
    /// Set when the user interrupts Deadheat.
    pub interrupt: &'a AtomicBool,
}

impl<'a> Host<'a> {
    /// This machine.
    pub fn here(supervision: Supervision, interrupt: &'a AtomicBool) -> Self {
        Self {
            path: search_path(),
            root: is_root(),
            home: env::var_os("HOME").map(PathBuf::from),
            system: PathBuf::from("/"),
            supervision,
            interrupt,
        }
    }

    /// The path of `program`. A name is looked up on the PATH; a path with a slash is resolved from `dir`.
    pub fn find(&self, program: &str, dir: &Path) -> Option<PathBuf> {
        if program.contains('/') {
            return Some(dir.join(program)).filter(|path| is_executable(path));
        }
        if program.is_empty() {
            return None;
        }
        // A relative folder on the PATH is resolved from the working folder, as in execvp(3).
        env::split_paths(&self.path)
            .map(|folder| dir.join(folder).join(program))
            .find(|path| is_executable(path))
    }

    /// Whether the user has interrupted Deadheat.
    pub fn interrupted(&self) -> bool {
        self.interrupt.load(Ordering::Relaxed)
    }
}

fn is_executable(path: &Path) -> bool {
    fs::metadata(path)
        .is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_written_as_a_shell_would_read_them() {
        let cases: [(&[&str], &str); 3] = [
            (
                &["go", "build", "-o", "out/server", "."],
                "go build -o out/server .",
            ),
            (&["sh", "-c", "exit 1"], "sh -c 'exit 1'"),
            (&["echo", "it's", ""], r"echo 'it'\''s' ''"),
        ];
        for (words, expected) in cases {
            let command: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            assert_eq!(in_shell(&command), expected);
        }
    }

    #[test]
    fn the_folders_of_system_programs_come_last_and_once() {
        let cases = [
            ("/a:/b", "/a:/b:/usr/local/sbin:/usr/sbin:/sbin"),
            ("/usr/sbin:/a", "/usr/sbin:/a:/usr/local/sbin:/sbin"),
            ("", "/usr/local/sbin:/usr/sbin:/sbin"),
        ];
        for (path, expected) in cases {
            assert_eq!(with_system_programs(path), expected, "{path}");
        }
    }
}
