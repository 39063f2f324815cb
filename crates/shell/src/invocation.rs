//! This call of deadheat: its arguments, its own binary, a seed, the folder that it was called in, and the signals that end it.

use std::{
    env,
    ffi::OsString,
    fs, io,
    path::{Path, PathBuf},
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use deadheat_runner::{
    process::{OWN_PROGRAM, Supervision},
    secret::without_password,
};
use signal_hook::{
    consts::{SIGHUP, SIGINT, SIGTERM},
    iterator::Signals,
    low_level,
};

use crate::exit::{self, CommandFailure};

static LINE: OnceLock<Vec<OsString>> = OnceLock::new();

/// Sets the command line, including the options from `deadheat.toml`. Later calls are ignored.
pub fn set_command_line(line: Vec<OsString>) {
    let _ = LINE.set(line);
}

/// The program and its arguments, including the options from `deadheat.toml`.
fn line() -> Vec<OsString> {
    let typed = || env::args_os().collect();
    LINE.get().cloned().unwrap_or_else(typed)
}

/// Deadheat's own arguments, as they may be recorded.
pub fn arguments() -> Vec<String> {
    line()
        .into_iter()
        .skip(1)
        .map(|argument| without_password(&argument.to_string_lossy()))
        .collect()
}

/// How children are supervised: by this very binary, even if its file is replaced while it runs.
pub fn supervision() -> Supervision {
    Supervision::by(OWN_PROGRAM)
}

/// A seed from the standard library's own randomness; it is recorded, so that the order can be repeated.
pub fn random_seed() -> u64 {
    use std::hash::{BuildHasher, RandomState};
    // Short enough to be typed again.
    RandomState::new().hash_one(std::process::id()) % 1_000_000_000
}

/// The folder in which Deadheat was started.
///
/// # Errors
/// When it is gone, or may not be seen.
pub fn current_folder() -> Result<PathBuf, CommandFailure> {
    env::current_dir().map_err(|error| {
        CommandFailure::usage(format!(
            "finding the current folder: {error}; change to one that exists"
        ))
    })
}

/// A path as the user would type it from here.
pub fn from_here(path: &Path) -> &Path {
    let current = env::current_dir().unwrap_or_default();
    path.strip_prefix(&current).unwrap_or(path)
}

/// The text of [`from_here`], for messages.
pub fn shown(path: &Path) -> String {
    from_here(path).display().to_string()
}

/// Signals so soon after one that counts repeat it, and do not mean that the user is impatient. `timeout` signals the
/// process and then its process group; `make` and `npm` pass on a Ctrl-C that the terminal has sent to all of them.
const REPEATED: Duration = Duration::from_millis(500);

/// Whether SIGHUP is ignored, as under nohup(1) (proc(5), `SigIgn`).
pub fn ignores_hangups() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    ignored.is_some_and(|mask| mask & 1 << (SIGHUP - 1) != 0)
}

/// A flag that the first SIGINT, SIGTERM or SIGHUP sets, which asks for an orderly end. A later one ends the process at once,
/// and the supervisors then end what runs. A SIGHUP that was ignored when the process began stays ignored.
pub fn on_signals() -> io::Result<Arc<AtomicBool>> {
    let flag = Arc::new(AtomicBool::new(false));
    let asked = Arc::clone(&flag);
    let hangup = (!ignores_hangups()).then_some(SIGHUP);
    let mut signals = Signals::new([SIGINT, SIGTERM].into_iter().chain(hangup))?;
    let listen = move || {
        let mut last: Option<Instant> = None;
        for _ in signals.forever() {
            if last.is_some_and(|last| last.elapsed() < REPEATED) {
                continue;
            }
            if asked.swap(true, Ordering::SeqCst) {
                low_level::exit(exit::INTERRUPTED.into());
            }
            last = Some(Instant::now());
        }
    };
    thread::Builder::new()
        .name("signals".to_owned())
        .spawn(listen)?;
    Ok(flag)
}
