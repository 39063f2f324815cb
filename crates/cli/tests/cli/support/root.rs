//! A root folder of a test's own.

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::Command,
    sync::OnceLock,
    time::Duration,
};

use deadheat_model::heats::EndReason;
use deadheat_runner::session::heats::read_session;
use rustix::process::Signal;
use tempfile::TempDir;

use super::{
    Ended, Fake, Recorded, Running, eventually, fake, processes,
    recorded::{has_figures, journal_lines},
    running,
};

/// The workload of the fake stacks: as the project's own, with few connections and every answer compared.
pub(crate) const PLAINTEXT: &str = r#"id = "plaintext"
description = "A constant text"
method = "GET"
path = "/plaintext"
content-type = "text/plain"
content-sample = 1

[oracle]
kind = "text"
body = "Hello, World!"

[[point]]
id = "c4"
connections = 4

[[point]]
id = "c1"
connections = 1

[[point]]
id = "c2"
connections = 2
"#;

/// A session of two short heats, unless a test says otherwise.
const QUICK: [(&str, &str); 10] = [
    ("--heats", "2"),
    ("--whole-budget", ""),
    ("--heat-time", "300ms"),
    ("--slice", "40ms"),
    ("--guard", "5ms"),
    ("--warm-up", "50ms"),
    ("--start-timeout", "20s"),
    ("--seed", "1"),
    ("--rate", "none"),
    // With a CPU to itself, the generator would poll, and other tests would have to do without that CPU.
    ("--pinning", "off"),
];

/// Longer heats, for tests that need figures from a session that ends by itself: even on a busy machine, some of their
/// rounds have answers from every stack.
pub const MANY_ROUNDS: &str = "--heat-time 1s";

/// A folder with stacks, workloads and results, which is gone in the end with everything that runs there.
pub struct Root {
    folder: TempDir,
}

impl Root {
    /// With these stacks, and plaintext as the only workload.
    pub fn with(stacks: &[Fake]) -> Self {
        // PostgreSQL runs as another user than root, and must get to its folder.
        let everybody = fs::Permissions::from_mode(0o755);
        let folder = tempfile::Builder::new()
            .prefix("deadheat-test-")
            .permissions(everybody)
            .tempdir();
        let root = Self {
            folder: folder.expect("making a temporary folder"),
        };
        fs::create_dir(root.path().join(running::TEMPORARY))
            .expect("making a folder for temporary files");
        root.write("workloads/plaintext.toml", PLAINTEXT);
        fs::create_dir_all(root.path().join("stacks")).expect("making the folder of stacks");
        for stack in stacks {
            root.write(
                &format!("stacks/{}/stack.toml", stack.id),
                &stack.manifest(),
            );
            root.write(&format!("stacks/{}/server.py", stack.id), fake::SERVER);
        }
        root
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Writes a file; its path is below this folder.
    pub fn write(&self, path: &str, text: &str) {
        let path = self.path().join(path);
        let parent = path.parent().expect("a path below the root");
        fs::create_dir_all(parent)
            .and_then(|()| fs::write(&path, text))
            .unwrap_or_else(|error| {
                panic!("writing {}: {error}", path.display());
            });
    }

    /// Writes a shell script that can be executed, in one step: the one before may be about to be started.
    pub fn write_program(&self, path: &str, script: &str) {
        self.write("new", &format!("#!/bin/sh\n{script}\n"));
        let new = self.path().join("new");
        let place = self.path().join(path);
        let folder = place.parent().expect("a path below the root");
        fs::create_dir_all(folder)
            .and_then(|()| fs::set_permissions(&new, fs::Permissions::from_mode(0o755)))
            .and_then(|()| fs::rename(&new, &place))
            .unwrap_or_else(|error| panic!("making {path} executable: {error}"));
    }

    /// Copies one of the project's own workloads.
    pub fn copy_workload(&self, id: &str) {
        let path = project().join(format!("workloads/{id}.toml"));
        let text = fs::read_to_string(&path)
            .unwrap_or_else(|error| panic!("reading {}: {error}", path.display()));
        self.write(&format!("workloads/{id}.toml"), &text);
    }

    /// Runs git in it.
    #[track_caller]
    pub fn git(&self, arguments: &str) {
        let output = Command::new("git")
            .current_dir(self.path())
            .args(["-c", "user.name=t", "-c", "user.email=t@example.invalid"])
            .args(arguments.split_whitespace())
            .output()
            .expect("running git");
        assert!(output.status.success(), "git {arguments}: {output:?}");
    }

    /// Runs `deadheat` in this folder to its end; `args` are separated by blanks. Whatever it does, no process may be left behind.
    #[track_caller]
    pub fn deadheat(&self, args: &str) -> Ended {
        self.start(args).wait()
    }

    /// Runs a quick session, with these options, to its end.
    #[track_caller]
    pub fn run(&self, options: &str) -> Ended {
        self.start_run(options).wait()
    }

    /// Starts `deadheat` in this folder.
    pub fn start(&self, args: &str) -> Running {
        Running::start(self.path(), args)
    }

    /// Starts a quick session, with these options.
    pub fn start_run(&self, options: &str) -> Running {
        let given: Vec<&str> = options.split_whitespace().collect();
        let usual = QUICK.iter().filter(|(name, _)| !given.contains(name));
        let usual: Vec<String> = usual
            .map(|(name, value)| format!("{name} {value}").trim_end().to_owned())
            .collect();
        self.start(&format!("run {} {options}", usual.join(" ")))
    }

    /// The folders of its sessions, the first one first.
    pub fn sessions(&self) -> Vec<PathBuf> {
        let Ok(entries) = fs::read_dir(self.path().join("results")) else {
            return Vec::new();
        };
        let mut folders: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        folders.sort();
        folders
    }

    /// The folder of its only session.
    #[track_caller]
    pub fn session_folder(&self) -> PathBuf {
        let sessions = self.sessions();
        assert_eq!(
            sessions.len(),
            1,
            "there should be one session: {sessions:?}"
        );
        sessions[0].clone()
    }

    /// Waits until the journal of its only session has at least `count` lines.
    #[track_caller]
    pub fn wait_for_lines(&self, count: usize) {
        eventually(&format!("{count} lines in the journal"), || {
            let folder = self.sessions().pop()?;
            (journal_lines(&folder) >= count).then_some(())
        });
    }

    /// Waits until its only session has figures of all stacks. On a busy machine its first heats may have none, because their
    /// slices take a few milliseconds.
    #[track_caller]
    pub fn wait_for_figures(&self) {
        // To analyse a record takes longer than to read it, and only a new heat brings new figures.
        let mut analysed = 0;
        eventually("a heat with figures", || {
            let folder = self.sessions().pop()?;
            let lines = journal_lines(&folder);
            if lines == analysed {
                return None;
            }
            let record = read_session(&folder).ok()?;
            analysed = lines;
            has_figures(&record).then_some(())
        });
    }

    /// With a session of these stacks that was interrupted as soon as it had figures.
    #[track_caller]
    pub fn interrupted(stacks: &[Fake], options: &str) -> Self {
        let root = Self::with(stacks);
        let running = root.start_run(options);
        root.wait_for_figures();
        running.signal(Signal::INT);
        running.wait().exits(0);
        assert_eq!(root.session().record.end, Some(EndReason::Interrupted));
        root
    }

    /// With a session of one stack that was interrupted as soon as it had figures, and the session's folder. It is measured
    /// once for all tests, which get copies.
    #[track_caller]
    pub fn measured() -> (Self, String) {
        static FILES: OnceLock<Vec<(PathBuf, Vec<u8>)>> = OnceLock::new();
        let stack = [Fake::good("fake-one")];
        let files = FILES.get_or_init(|| {
            let root = Self::interrupted(&stack, "--heats 50");
            let mut files = Vec::new();
            read_files(root.path(), Path::new("results"), &mut files);
            files
        });
        let root = Self::with(&stack);
        for (path, bytes) in files {
            let path = root.path().join(path);
            let parent = path.parent().expect("a path below the root");
            fs::create_dir_all(parent)
                .and_then(|()| fs::write(&path, bytes))
                .expect("copying the session");
        }
        let folder = root.session_folder().display().to_string();
        (root, folder)
    }

    /// Its only session, read back.
    #[track_caller]
    pub fn session(&self) -> Recorded {
        Recorded::read(&self.session_folder())
    }

    /// The processes that have told of `event` (see `fake_server.py`), in order.
    pub fn told(&self, event: &str) -> Vec<u32> {
        let text = fs::read_to_string(self.path().join(running::EVENTS)).unwrap_or_default();
        let pairs = text.lines().filter_map(|line| line.split_once(' '));
        pairs
            .filter(|(what, _)| *what == event)
            .filter_map(|(_, pid)| pid.parse().ok())
            .collect()
    }

    /// Waits until `event` was told of so many times.
    #[track_caller]
    pub fn wait_for(&self, event: &str, times: usize) {
        eventually(&format!("event `{event}`, {times} times"), || {
            (self.told(event).len() >= times).then_some(())
        });
    }

    /// What Deadheat has in the folder for temporary files.
    pub fn temporary(&self) -> Vec<PathBuf> {
        let entries =
            fs::read_dir(self.path().join(running::TEMPORARY)).expect("listing temporary files");
        entries.flatten().map(|entry| entry.path()).collect()
    }

    /// Asserts that nothing of this test runs any more after `patience`.
    #[track_caller]
    pub fn assert_nothing_runs(&self, patience: Duration, after: &str) {
        if let Err(left) = processes::wait_until_none(patience, || processes::marked(self.path())) {
            panic!("{patience:?} after {after}, these processes were left behind: {left:#?}");
        }
    }
}

impl Drop for Root {
    fn drop(&mut self) {
        // Only after a failed assertion is there anything left.
        for pid in processes::marked(self.path()).into_keys() {
            processes::signal(pid, Signal::KILL);
        }
    }
}

/// All files in a folder below `root`, with their paths below `root`.
fn read_files(root: &Path, folder: &Path, files: &mut Vec<(PathBuf, Vec<u8>)>) {
    let entries = fs::read_dir(root.join(folder)).expect("listing a folder");
    for entry in entries.flatten() {
        let path = folder.join(entry.file_name());
        if entry.path().is_dir() {
            read_files(root, &path, files);
        } else {
            let bytes = fs::read(entry.path()).expect("reading a file");
            files.push((path, bytes));
        }
    }
}

/// The three runs of ab that `import` has as an example, and the same of a server at another port.
pub fn two_reports() -> [String; 2] {
    let path = "crates/import/tests/import/reports/ab-three.txt";
    let report = fs::read_to_string(project().join(path)).expect("reading a report");
    let other = report.replace(" 18977\n", " 18978\n");
    assert_ne!(report, other);
    [report, other]
}

/// The project's own folder.
pub fn project() -> PathBuf {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    own.join("../..")
        .canonicalize()
        .expect("the project's folder")
}
