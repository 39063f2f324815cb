//! The machine, as far as preparing stacks has to do with it.

use std::{
    env, fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
};

use crate::process::{Supervision, is_root};

/// Where Debian keeps servers such as nginx. Not on the PATH of users who are not root, who may run them all the same.
const SYSTEM_PROGRAMS: [&str; 3] = ["/usr/local/sbin", "/usr/sbin", "/sbin"];

/// The PATH on which the programs of stacks are looked up: ours, and after it the folders of system programs.
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

/// Where programs are, who we are, and how commands are run.
#[derive(Clone, Debug)]
pub struct Host<'a> {
    /// The PATH: programs are looked up in it, and commands get it.
    pub path: String,
    /// Whether we are root.
    pub root: bool,
    /// Our home folder, if there is one.
    pub home: Option<PathBuf>,
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
            path: search_path(),
            root: is_root(),
            home: env::var_os("HOME").map(PathBuf::from),
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

#[cfg(test)]
mod tests {
    use super::*;

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
