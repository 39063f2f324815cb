//! Where this user's programs keep their files (XDG Base Directory Specification).

use std::{env, path::PathBuf};

/// The folder that the environment variable `name` names, else `below_home` in the home folder; `None` if neither is
/// known. A relative path does not count.
pub(crate) fn folder(name: &str, below_home: &str) -> Option<PathBuf> {
    let absolute = |name: &str| {
        let path = env::var_os(name).map(PathBuf::from);
        path.filter(|path| path.is_absolute())
    };
    absolute(name).or_else(|| Some(absolute("HOME")?.join(below_home)))
}
