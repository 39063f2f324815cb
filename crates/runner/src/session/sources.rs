//! What a stack was built from, what a workload asks, and this program itself, as hashes: whether one of them changed since
//! a session began.

use std::{
    collections::BTreeMap,
    fs::{self, File, Metadata},
    io::{self, Read},
    os::unix::{ffi::OsStrExt, fs::PermissionsExt},
    path::Path,
    sync::OnceLock,
};

use data_encoding::HEXLOWER;
use sha2::{Digest, Sha256};

use super::SessionOptions;
use crate::{process::OWN_PROGRAM, project_files::list};

/// SHA-256 over the sources in a stack's folder ([`list`]): names, kinds and contents. A symbolic link counts as the path
/// in it.
///
/// # Errors
/// When a file cannot be read.
pub(super) fn hash_sources(folder: &Path) -> io::Result<String> {
    let files = list(folder)?;
    let mut hash = Sha256::new();
    for path in &files {
        add(&mut hash, folder, path)?;
    }
    Ok(HEXLOWER.encode(&hash.finalize()))
}

/// SHA-256 over what the file of each workload of a session says, by the workload's id. Comments and the order of keys
/// are no part of it.
pub(super) fn definitions(options: &SessionOptions) -> BTreeMap<String, String> {
    let workloads = options.workloads.iter().map(|one| &one.manifest);
    let hashed = workloads.filter_map(|workload| {
        let definition = serde_json::to_vec(workload).ok()?;
        Some((
            workload.id.clone(),
            HEXLOWER.encode(&Sha256::digest(definition)),
        ))
    });
    hashed.collect()
}

/// The bytes of its hash that name a build of Deadheat.
const BUILD_BYTES: usize = 6;

/// The build of this program: the first digits of the hash of its file as it was started, even if that was replaced. `None`
/// if it cannot be read.
pub(super) fn own_build() -> Option<String> {
    static BUILD: OnceLock<Option<String>> = OnceLock::new();
    let hashed = || {
        let hash = content(Path::new(OWN_PROGRAM)).ok()?;
        Some(HEXLOWER.encode(&hash.as_ref()[..BUILD_BYTES]))
    };
    BUILD.get_or_init(hashed).clone()
}

/// Adds a file: its kind, its path and its content, each with its length, so that no two folders look alike.
fn add(hash: &mut Sha256, folder: &Path, path: &Path) -> io::Result<()> {
    let whole = folder.join(path);
    let explained = |error: io::Error| {
        io::Error::new(
            error.kind(),
            format!("reading {}: {error}", whole.display()),
        )
    };
    let found = match whole.symlink_metadata() {
        Ok(found) => found,
        // Tracked, but deleted: it is no source of anything.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(explained(error)),
    };
    let name = path.as_os_str().as_bytes();
    hash.update([kind(&found)]);
    hash.update((name.len() as u64).to_le_bytes());
    hash.update(name);
    if found.is_symlink() {
        let target = fs::read_link(&whole).map_err(explained)?;
        hash.update((target.as_os_str().len() as u64).to_le_bytes());
        hash.update(target.as_os_str().as_bytes());
    } else if found.is_file() {
        hash.update(content(&whole).map_err(explained)?);
    }
    Ok(())
}

/// A file's own hash, read piece by piece: sources may be large.
fn content(path: &Path) -> io::Result<impl AsRef<[u8]>> {
    let mut hash = Sha256::new();
    let mut file = File::open(path)?;
    let mut piece = vec![0; 64 * 1024];
    loop {
        match file.read(&mut piece)? {
            0 => return Ok(hash.finalize()),
            length => hash.update(&piece[..length]),
        }
    }
}

fn kind(found: &Metadata) -> u8 {
    if found.is_symlink() {
        b'l'
    } else if !found.is_file() {
        b'o'
    } else if found.permissions().mode() & 0o111 != 0 {
        b'x'
    } else {
        b'f'
    }
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, os::unix::fs::symlink};

    use super::*;
    use crate::git;

    /// A stack's folder, in a checkout of its own if that is wanted.
    fn stack(git: bool) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        write(&folder, "stack.toml", "id = \"a\"");
        write(&folder, "src/main.go", "package main");
        write(&folder, ".gitignore", "/out/\nsecret\n");
        if git {
            for arguments in [&["init", "-q"][..], &["add", "stack.toml", "src"]] {
                git::ask(folder.path(), arguments).unwrap();
            }
        }
        folder
    }

    fn write(folder: &tempfile::TempDir, name: &str, text: &str) {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn hash(folder: &tempfile::TempDir) -> String {
        hash_sources(folder.path()).unwrap()
    }

    #[test]
    fn every_change_of_a_source_changes_the_hash() {
        for git in [false, true] {
            let folder = stack(git);
            let mut seen = BTreeSet::from([hash(&folder)]);
            let mut changed = |what: &str| {
                assert!(
                    seen.insert(hash(&folder)),
                    "git {git}: {what} changes nothing"
                );
            };
            write(&folder, "src/main.go", "package mine");
            changed("content");
            write(&folder, "src/new.go", "package mine");
            changed("an untracked file");
            fs::rename(
                folder.path().join("src/new.go"),
                folder.path().join("src/other.go"),
            )
            .unwrap();
            changed("a name");
            let executable = fs::Permissions::from_mode(0o755);
            fs::set_permissions(folder.path().join("src/other.go"), executable).unwrap();
            changed("a mode");
            symlink("nowhere", folder.path().join("src/link")).unwrap();
            changed("a broken link");
            fs::remove_file(folder.path().join("src/link")).unwrap();
            symlink("elsewhere", folder.path().join("src/link")).unwrap();
            changed("where a link leads");
            fs::remove_file(folder.path().join("src/main.go")).unwrap();
            changed("a tracked file that is gone");
        }
    }

    #[test]
    fn what_is_made_or_ignored_does_not_change_the_hash() {
        for git in [false, true] {
            let folder = stack(git);
            let before = hash(&folder);
            for made in [
                ".deadheat/built",
                "out/server",
                "src/secret",
                "src/__pycache__/a.pyc",
            ] {
                write(&folder, made, "x");
                assert_eq!(hash(&folder), before, "git {git}: {made}");
            }
        }
        let folder = stack(false);
        let before = hash(&folder);
        write(&folder, "node_modules/a/index.js", "x");
        write(&folder, "target/release/server", "x");
        assert_eq!(hash(&folder), before);
    }

    #[test]
    fn a_tracked_file_counts_though_it_is_ignored() {
        let folder = stack(true);
        write(&folder, "out/kept", "1");
        git::ask(folder.path(), &["add", "-f", "out/kept"]).unwrap();
        let before = hash(&folder);
        write(&folder, "out/kept", "2");
        assert_ne!(hash(&folder), before);
    }

    #[test]
    fn another_repository_in_the_folder_counts_with_its_files() {
        let folder = stack(true);
        let inner = folder.path().join("vendored");
        fs::create_dir(&inner).unwrap();
        git::ask(&inner, &["init", "-q"]).unwrap();
        write(&folder, "vendored/a.c", "1");
        let before = hash(&folder);
        write(&folder, "vendored/a.c", "2");
        assert_ne!(hash(&folder), before);
    }

    #[test]
    fn a_folder_that_is_ignored_as_a_whole_is_hashed_all_the_same() {
        let outer = stack(true);
        write(&outer, "out/stack/stack.toml", "id = \"b\"");
        let inner = outer.path().join("out/stack");
        let before = hash_sources(&inner).unwrap();
        write(&outer, "out/stack/server.py", "1");
        assert_ne!(hash_sources(&inner).unwrap(), before);
    }
}
