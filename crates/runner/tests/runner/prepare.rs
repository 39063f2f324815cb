//! Preparing stacks: toolchains, lock files, builds and setup, with fake programs in a temporary folder.

mod artefacts;
mod build;
mod fetch;
mod inspect;
mod locked;
mod setup;
mod toolchain;
mod unreachable;

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    sync::atomic::AtomicBool,
    time::Duration,
};

use deadheat_model::session::StackFailure;
use deadheat_runner::{
    manifest::Stack,
    prepare::{BuildProgress, Builder, Host, Inspection, NotPrepared, inspect},
    process::Supervision,
};

/// A machine of our own: its programs, its root folder and a stack.
struct Workshop {
    folder: tempfile::TempDir,
    interrupt: AtomicBool,
    /// What is on the PATH after our own programs.
    more_path: &'static str,
    root: bool,
    limit: Duration,
}

impl Workshop {
    /// A machine with a shell and the usual small programs.
    fn new() -> Self {
        Self::with_path(":/usr/bin:/bin")
    }

    /// A machine on which only our own programs are found, so that nothing real can be installed or deleted.
    fn sealed() -> Self {
        Self::with_path("")
    }

    fn with_path(more_path: &'static str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in ["bin", "stack", "logs", "system"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        Self {
            folder,
            interrupt: AtomicBool::new(false),
            more_path,
            root: true,
            // Maven alone takes several seconds of CPU time to begin.
            limit: Duration::from_secs(120),
        }
    }

    fn path(&self, relative: &str) -> PathBuf {
        self.folder.path().join(relative)
    }

    /// Puts a shell script on the PATH.
    fn program(&self, name: &str, script: &str) -> &Self {
        let path = self.path("bin").join(name);
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        self
    }

    /// Puts apt on the PATH, and a dpkg that knows `installed`.
    fn debian(&self, installed: &[&str]) -> &Self {
        let lines: Vec<String> = installed
            .iter()
            .map(|name| format!("echo '{name} installed'"))
            .collect();
        self.program("apt-get", "exit 0");
        // It knows every package but those whose names end in `+`.
        self.program("apt-cache", "case $2 in *+) ;; *) echo \"$2\" ;; esac");
        self.program(
            "dpkg-query",
            &format!("{}\necho 'gone not-installed'\nexit 1", lines.join("\n")),
        )
    }

    fn file(&self, relative: &str, text: &str) -> &Self {
        let path = self.path(relative);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        self
    }

    fn text(&self, relative: &str) -> String {
        fs::read_to_string(self.path(relative)).unwrap_or_default()
    }

    fn host(&self) -> Host<'_> {
        Host {
            path: format!("{}{}", self.path("bin").display(), self.more_path),
            root: self.root,
            home: Some(self.path("home")),
            system: self.path("system"),
            supervision: Supervision::by(env!("CARGO_BIN_EXE_runner-child")),
            interrupt: &self.interrupt,
        }
    }

    /// The stack in `stack/`, called "toy"; `more` is added to its manifest.
    fn stack(&self, more: &str) -> Stack {
        let text = format!(
            "id = \"toy\"\nlanguage = \"Toy\"\nframework = \"toys\"\nclass = \"platform\"\nruntime = \"native\"\n\
             database = {{ io = \"async\", layer = \"raw\", driver = \"d\", pool = 16 }}\nrun = {{ command = [\"out/server\"] }}\n{more}"
        );
        Stack {
            dir: self.path("stack"),
            manifest: toml::from_str(&text).unwrap(),
            added: None,
        }
    }

    fn inspect(&self, stack: &Stack) -> Inspection {
        inspect(&self.host(), stack)
    }

    /// Runs `work` with a builder; what it returns, and what happened meanwhile.
    fn with_builder<T>(
        &self,
        work: impl FnOnce(&Builder<'_>, &mut dyn FnMut(BuildProgress)) -> T,
    ) -> (T, Vec<BuildProgress>) {
        let (host, logs) = (self.host(), self.path("logs"));
        let builder = Builder {
            host: &host,
            logs: &logs,
            limit: self.limit,
        };
        let mut told = Vec::new();
        let result = work(&builder, &mut |progress| told.push(progress));
        (result, told)
    }
}

/// The failure, of a stack whose registry was not asked in vain.
fn failed(why: NotPrepared) -> StackFailure {
    match why {
        NotPrepared::Failed(failure) => failure,
        NotPrepared::Unavailable(unavailable) => panic!("{unavailable:?}"),
    }
}

/// Whether the process whose number stands in the file `pid` still runs.
fn runs(pid: &Path) -> bool {
    let text = fs::read_to_string(pid).unwrap();
    let stat = fs::read_to_string(format!("/proc/{}/stat", text.trim()));
    // A zombie runs no more; whoever adopted it has only not looked yet.
    stat.is_ok_and(|stat| !stat.contains(") Z "))
}
