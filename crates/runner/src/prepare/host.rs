//! The machine, as far as preparing stacks has to do with it.

use std::{
    env, fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
};

use crate::process::{Supervision, is_root};

/// Where programs are, who we are, and how commands are run.
#[derive(Clone, Debug)]
pub struct Host<'a> {
    /// The PATH: programs are looked up in it, and commands get it.
    pub path: String,
    /// Whether we are root.
    pub root: bool,
    /// The root of the file system; another folder in tests.
    pub system: PathBuf,
    /// Under whose supervision commands run.
    pub supervision: Supervision,
    /// Becomes true when everything shall end.
    pub interrupt: &'a AtomicBool,
}

impl<'a> Host<'a> {
    /// This machine.
    pub fn here(supervision: Supervision, interrupt: &'a AtomicBool) -> Self {
        Self {
            path: env::var("PATH").unwrap_or_default(),
            root: is_root(),
            system: PathBuf::from("/"),
            supervision,
            interrupt,
        }
    }

    /// Where `program` is: a name is looked up on the PATH, a path with a slash counts from `dir`.
    pub fn find(&self, program: &str, dir: &Path) -> Option<PathBuf> {
        if program.contains('/') {
            return Some(dir.join(program)).filter(|path| is_executable(path));
        }
        if program.is_empty() {
            return None;
        }
        // A relative folder on the PATH counts from the working folder, as execvp(3) has it.
        env::split_paths(&self.path)
            .map(|folder| dir.join(folder).join(program))
            .find(|path| is_executable(path))
    }

    /// Whether everything shall end.
    pub fn interrupted(&self) -> bool {
        self.interrupt.load(Ordering::Relaxed)
    }
}

fn is_executable(path: &Path) -> bool {
    fs::metadata(path)
        .is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}
