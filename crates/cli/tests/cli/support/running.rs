//! A `deadheat` that runs.

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::atomic::{AtomicU32, Ordering},
    thread,
    time::{Duration, Instant},
};

use rustix::process::Signal;

use super::{Ended, processes};

/// The file for events, below the root folder.
pub const EVENTS: &str = "events";
/// The socket of a program that takes ports, below the root folder.
pub const THIEF: &str = "thief";
/// The folder for temporary files, below the root folder.
pub const TEMPORARY: &str = "tmp";
/// Longer than any command takes, a first build of a Go stack included.
const LONGEST: Duration = Duration::from_secs(300);
/// How long after Deadheat's own end the last supervisor may still be about to end.
const LAST_MOMENT: Duration = Duration::from_secs(15);

/// A `deadheat` that runs. What it writes goes to files: a pipe would be held open by whatever it leaves behind.
pub struct Running {
    shown: String,
    root: PathBuf,
    child: Child,
    started: Instant,
    stdout: PathBuf,
    stderr: PathBuf,
}

/// The command, in `root` and marked as its test's.
pub fn command(root: &Path, args: &str) -> Command {
    command_of(Path::new(env!("CARGO_BIN_EXE_deadheat")), root, args)
}

/// The same with another file of the program.
pub fn command_of(program: &Path, root: &Path, args: &str) -> Command {
    prepared(Command::new(program), root, args)
}

/// The same, where no file may become longer than so many blocks of 512 bytes: writing on fails as on a full disk.
pub fn short_of_space(root: &Path, blocks: u32, args: &str) -> Command {
    let mut command = Command::new("sh");
    let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" \"$@\"");
    command.args(["-c", &script, env!("CARGO_BIN_EXE_deadheat")]);
    prepared(command, root, args)
}

/// A shell's script that ends with the first command that fails.
pub fn script(root: &Path, script: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-e", "-c", script]);
    prepared(command, root, "")
}

fn prepared(mut command: Command, root: &Path, args: &str) -> Command {
    // `cargo xtask test` says how to build what is not measured.
    for name in ["CARGO_HOME", "MAVEN_OPTS"] {
        let quick = std::env::var_os(format!("DEADHEAT_TEST_{name}"));
        command.envs(quick.map(|value| (name, value)));
    }
    command
        .args(args.split_whitespace())
        .current_dir(root)
        .env(processes::MARK, root)
        .env("TMPDIR", root.join(TEMPORARY))
        .env("DEADHEAT_TEST_EVENTS", root.join(EVENTS))
        .env("DEADHEAT_TEST_THIEF", root.join(THIEF))
        // What is part of deadheat is unpacked there, if it is.
        .env("XDG_DATA_HOME", root.join("data"))
        .env_remove("DEADHEAT_ROOT")
        .env_remove("DEADHEAT_CONFIG")
        .env_remove("NO_COLOR")
        .stdin(Stdio::null());
    command
}

impl Running {
    pub(super) fn start(root: &Path, args: &str) -> Self {
        Self::start_command(root, command(root, args), args)
    }

    /// Starts a command that was made by [`command`].
    pub fn start_command(root: &Path, mut command: Command, args: &str) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let shown = format!("`deadheat {args}` in {}", root.display());
        let (stdout, stderr) = (
            root.join(format!("{number}.out")),
            root.join(format!("{number}.err")),
        );
        let file = |path: &Path| File::create(path).expect("making a file for the output");
        let child = command.stdout(file(&stdout)).stderr(file(&stderr)).spawn();
        Self {
            child: child.unwrap_or_else(|error| panic!("starting {shown}: {error}")),
            shown,
            root: root.to_owned(),
            started: Instant::now(),
            stdout,
            stderr,
        }
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    pub fn signal(&self, signal: Signal) {
        processes::signal(self.pid(), signal);
    }

    /// What it has told on standard error so far.
    pub fn told(&self) -> String {
        fs::read_to_string(&self.stderr).unwrap_or_default()
    }

    /// Whether it has ended.
    pub fn has_ended(&mut self) -> bool {
        self.child
            .try_wait()
            .expect("asking after deadheat")
            .is_some()
    }

    /// Waits for its end and asserts that it left no process behind.
    #[track_caller]
    pub fn wait(self) -> Ended {
        self.wait_leaving(LAST_MOMENT)
    }

    /// Waits for its end and asserts that `patience` later no process is left.
    #[track_caller]
    pub fn wait_leaving(self, patience: Duration) -> Ended {
        let root = self.root.clone();
        let ended = self.wait_alone();
        if let Err(left) = processes::wait_until_none(patience, || processes::marked(&root)) {
            panic!(
                "{patience:?} after its end, these processes were left behind: {left:#?}\n{ended}"
            );
        }
        ended
    }

    /// Waits for its end alone.
    #[track_caller]
    pub fn wait_alone(mut self) -> Ended {
        let status = loop {
            if let Some(status) = self.child.try_wait().expect("waiting for deadheat") {
                break Some(status);
            }
            if self.started.elapsed() > LONGEST {
                break None;
            }
            thread::sleep(Duration::from_millis(2));
        };
        let read = |path: &Path| {
            let bytes = fs::read(path).expect("reading what deadheat wrote");
            String::from_utf8(bytes).expect("deadheat writes UTF-8")
        };
        let ended = Ended {
            shown: self.shown.clone(),
            status,
            stdout: read(&self.stdout),
            stderr: read(&self.stderr),
        };
        assert!(status.is_some(), "still running after {LONGEST:?}: {ended}");
        ended
    }
}
