//! Embeds the project's stacks, workloads and published tables in the program.
//!
//! A stack that is new in a checkout is embedded when something else of it has changed, or when this file has: watching
//! git's index would compile the program anew after each `git status`.

// This is how cargo is told.
#![allow(clippy::print_stdout)]

#[path = "../runner/src/git.rs"]
#[allow(dead_code)]
mod git;
#[path = "../runner/src/project_files.rs"]
#[allow(dead_code)]
mod project_files;

use std::{
    collections::BTreeSet,
    env,
    fmt::Write as _,
    fs, io,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

use data_encoding::HEXLOWER;
use sha2::{Digest as _, Sha256};

use self::project_files::{MADE, of_checkout, walk};

/// The folders whose files are embedded.
const FOLDERS: [&str; 3] = ["published", "stacks", "workloads"];
/// Says which files in them are no sources, also where somebody's home folder is a repository.
const IGNORED: &str = ".gitignore";

fn main() -> io::Result<()> {
    let variable = |name| env::var_os(name).map(PathBuf::from).unwrap_or_default();
    let root = variable("CARGO_MANIFEST_DIR")
        .join("../..")
        .canonicalize()?;
    let files = files(&root)?;
    let mut sum = Sha256::new();
    let mut list = String::new();
    for path in &files {
        let whole = root.join(path);
        let executable = fs::metadata(&whole)?.permissions().mode() & 0o111 != 0;
        let path = path.to_str().ok_or_else(|| strange(&whole))?;
        let shown = whole.to_str().ok_or_else(|| strange(&whole))?;
        println!("cargo:rerun-if-changed={shown}");
        sum.update(Sha256::digest(path));
        sum.update([u8::from(executable)]);
        sum.update(Sha256::digest(fs::read(&whole)?));
        let _ = writeln!(
            list,
            "EmbeddedFile {{ path: {path:?}, executable: {executable}, bytes: include_bytes!({shown:?}) }},"
        );
    }
    let checksum = HEXLOWER.encode(&sum.finalize());
    let commit = commit(&root);
    let text =
        format!("Embedded {{ checksum: {checksum:?}, commit: {commit:?}, files: &[\n{list}] }}\n");
    println!("cargo:rerun-if-changed=build.rs");
    fs::write(variable("OUT_DIR").join("embedded.rs"), text)
}

/// The paths of all files, below `root`.
fn files(root: &Path) -> io::Result<BTreeSet<PathBuf>> {
    let mut files = BTreeSet::new();
    for folder in FOLDERS {
        let found = tracked(&root.join(folder))?;
        files.extend(found.into_iter().map(|path| Path::new(folder).join(path)));
    }
    if root.join(IGNORED).is_file() {
        files.insert(IGNORED.into());
    }
    Ok(files)
}

/// The paths of the files below `folder` that git tracks. Where it tracks none, as in an unpacked archive: all sources.
fn tracked(folder: &Path) -> io::Result<BTreeSet<PathBuf>> {
    let listed = of_checkout(folder, &["--cached"]).filter(|files| !files.is_empty());
    let mut files = listed.map_or_else(|| walk(folder, &MADE), Ok)?;
    // Tracked, but deleted: it is no source of anything.
    files.retain(|path| folder.join(path).is_file());
    Ok(files)
}

fn strange(path: &Path) -> io::Error {
    io::Error::other(format!("{}: its name is no UTF-8", path.display()))
}

/// The commit that the files are from, with `-dirty` if they differ from it. Only for the program that people install:
/// others would be compiled anew after each commit.
fn commit(root: &Path) -> Option<String> {
    if env::var_os("PROFILE")? != "release" {
        return None;
    }
    let ask = |arguments: &[&str]| {
        let said = String::from_utf8(git::ask(root, arguments)?).ok()?;
        Some(said.trim().to_owned())
    };
    // The project may have been unpacked into somebody else's repository.
    ask(&["ls-files", "--error-unmatch", "crates/bench/build.rs"])?;
    for moved in ["HEAD", "logs/HEAD"] {
        let path = root.join(ask(&["rev-parse", "--git-path", moved])?);
        if path.exists() {
            println!("cargo:rerun-if-changed={}", path.display());
        }
    }
    let commit = ask(&["rev-parse", "HEAD"])?;
    let changed = [
        &["status", "--porcelain", "--untracked-files=no", "--"],
        &FOLDERS[..],
    ]
    .concat();
    Some(match ask(&changed)?.as_str() {
        "" => commit,
        _ => commit + "-dirty",
    })
}
