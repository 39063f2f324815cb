//! Which files of a folder are sources: not what a build, a package manager or a run made there.
//!
//! The build script of `crates/bench`, which embeds the project's own stacks, compiles this file too.

use std::{
    collections::BTreeSet,
    ffi::{OsStr, OsString},
    io,
    os::unix::ffi::OsStringExt as _,
    path::{Path, PathBuf},
};

use ignore::WalkBuilder;

use crate::git;

/// A stack's manifest, which is among its sources in any case.
pub(crate) const MANIFEST: &str = "stack.toml";
/// Folders with what Deadheat, a build or a run made, also where nothing says that they are to be ignored.
const NEVER: [&str; 3] = [".deadheat", ".git", "__pycache__"];
/// Where builds put things, by the project's own conventions: left out where no checkout says what is a source.
pub(crate) const MADE: [&str; 4] = [".venv", "node_modules", "out", "target"];

/// The paths of the sources in a stack's folder, below that. In a checkout these are the files that git tracks, and those
/// that it neither tracks nor ignores; elsewhere all that no `.gitignore` excludes, without the folders where builds put
/// things.
///
/// # Errors
/// When a folder cannot be read.
pub(crate) fn list(folder: &Path) -> io::Result<BTreeSet<PathBuf>> {
    let arguments = ["--cached", "--others", "--exclude-standard"];
    let listed = of_checkout(folder, &arguments);
    let listed = listed.filter(|files| files.contains(Path::new(MANIFEST)));
    let mut files = BTreeSet::new();
    for path in listed.map_or_else(|| walk(folder, &MADE), Ok)? {
        // Git names the folder of a submodule or of another repository, and not what is in it.
        if folder
            .join(&path)
            .symlink_metadata()
            .is_ok_and(|found| found.is_dir())
        {
            let below = walk(&folder.join(&path), &[])?;
            files.extend(below.into_iter().map(|file| path.join(file)));
        } else {
            files.insert(path);
        }
    }
    Ok(files)
}

/// Paths below `folder` that `git ls-files` lists with these arguments; `None` where there is no checkout, or no git.
pub(crate) fn of_checkout(folder: &Path, arguments: &[&str]) -> Option<BTreeSet<PathBuf>> {
    let listed = git::ask(folder, &[&["ls-files", "-z"], arguments].concat())?;
    let names = listed.split(|byte| *byte == 0);
    let paths = names
        .filter(|name| !name.is_empty())
        .map(|name| PathBuf::from(OsString::from_vec(name.to_vec())))
        .filter(|path| !has_part(path, &NEVER));
    Some(paths.collect())
}

fn has_part(path: &Path, names: &[&str]) -> bool {
    let mut parts = path.iter();
    parts.any(|part| names.iter().any(|name| part == OsStr::new(name)))
}

/// Files and links below `folder` that no `.gitignore` excludes, without the folders called as in `made`.
///
/// # Errors
/// When a folder cannot be read.
pub(crate) fn walk(folder: &Path, made: &'static [&'static str]) -> io::Result<BTreeSet<PathBuf>> {
    let mut files = BTreeSet::new();
    let walk = WalkBuilder::new(folder)
        .hidden(false)
        .parents(false)
        .ignore(false)
        .git_global(false)
        .git_exclude(false)
        .require_git(false)
        .filter_entry(move |entry| {
            let mut left_out = NEVER.iter().chain(made);
            entry.depth() == 0 || !left_out.any(|name| entry.file_name() == *name)
        })
        .build();
    for entry in walk {
        let entry = entry.map_err(io::Error::other)?;
        let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
        if let (false, Ok(path)) = (is_folder, entry.path().strip_prefix(folder)) {
            files.insert(path.to_owned());
        }
    }
    Ok(files)
}
