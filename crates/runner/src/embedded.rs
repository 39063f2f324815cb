//! The stacks, workloads and published tables that are part of the program, unpacked for this user: Deadheat works
//! without a checkout.
//!
//! Each version of them has a folder of its own, and stacks are built there.

use std::{
    env,
    fs::{self, Permissions},
    io::{self, Write as _},
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use crate::files::{UNFINISHED, has_real_folders, read_text, write_whole};

/// The file in a root folder which says that this holds what was embedded.
const MARKER: &str = "embedded.json";
/// Digits of the checksum that name a folder.
const DIGITS: usize = 16;

/// Files that are part of the program.
#[derive(Debug)]
pub struct Embedded {
    /// SHA-256 over all of them, in hexadecimal.
    pub checksum: &'static str,
    /// The commit that they are from, with `-dirty` if they differ from it; `None` if it is not known.
    pub commit: Option<&'static str>,
    /// The files, by path.
    pub files: &'static [EmbeddedFile],
}

/// A file that is part of the program.
#[derive(Debug)]
pub struct EmbeddedFile {
    /// Below the root folder.
    pub path: &'static str,
    /// Whether it is a program.
    pub executable: bool,
    /// Its contents.
    pub bytes: &'static [u8],
}

/// The root folder that files were unpacked into.
#[derive(Debug, PartialEq, Eq)]
pub struct Unpacked {
    /// The folder.
    pub folder: PathBuf,
    /// Whether it was not there before.
    pub is_new: bool,
    /// Files in it that somebody had changed or deleted.
    pub restored: Vec<&'static str>,
    /// Where the changed ones are now.
    pub changed: PathBuf,
    /// Folders of other versions.
    pub others: Vec<PathBuf>,
}

/// Why files could not be unpacked.
#[derive(Debug, thiserror::Error)]
pub enum UnpackError {
    /// Nobody says where this user's files are.
    #[error(
        "unpacking the stacks that are part of deadheat: neither XDG_DATA_HOME nor HOME names a folder; set one of \
         them, or name a checkout with --root"
    )]
    NoHome,
    /// Something could not be read or written.
    #[error(
        "unpacking the stacks that are part of deadheat, {}: {source}; XDG_DATA_HOME chooses another place, --root a \
         checkout",
        path.display()
    )]
    Path {
        /// The file or folder.
        path: PathBuf,
        /// What happened.
        source: io::Error,
    },
}

/// What the marker says.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Marker {
    checksum: String,
    commit: Option<String>,
}

impl Embedded {
    /// Unpacks the files below this user's data folder, unless they are there. Files that somebody has changed are put
    /// aside and written again.
    ///
    /// # Errors
    /// When there is no such folder, or it cannot be written.
    pub fn unpack(&self) -> Result<Unpacked, UnpackError> {
        let data = data_folder().ok_or(UnpackError::NoHome)?;
        self.unpack_in(&data.join("deadheat"))
    }

    fn unpack_in(&self, place: &Path) -> Result<Unpacked, UnpackError> {
        let name = format!("stacks-{}", &self.checksum[..DIGITS]);
        let folder = place.join(&name);
        let failed = |path: &Path, source| UnpackError::Path {
            path: path.to_owned(),
            source,
        };
        let is_new = !folder.is_dir();
        if is_new {
            self.make(place, &folder)
                .map_err(|error| failed(&folder, error))?;
        }
        let changed = place.join(format!("{name}.changed"));
        let mut restored = Vec::new();
        for file in self.files {
            if !file.is_in(&folder) {
                file.restore(&folder, &changed)
                    .map_err(|error| failed(&folder.join(file.path), error))?;
                restored.push(file.path);
            }
        }
        self.mark(&folder)
            .map_err(|error| failed(&folder.join(MARKER), error))?;
        let others = fs::read_dir(place).into_iter().flatten().flatten();
        let others = others.map(|entry| entry.path()).filter(|other| {
            let name = other.file_name().unwrap_or_default().as_encoded_bytes();
            name.starts_with(b"stacks-") && *other != folder && *other != changed
        });
        Ok(Unpacked {
            is_new,
            restored,
            others: others.collect(),
            folder,
            changed,
        })
    }

    /// Makes `folder` in one step: nobody sees one that is not complete.
    fn make(&self, place: &Path, folder: &Path) -> io::Result<()> {
        fs::create_dir_all(place)?;
        let temporary = tempfile::Builder::new()
            .prefix(UNFINISHED)
            .permissions(Permissions::from_mode(0o755))
            .tempdir_in(place)?;
        for file in self.files {
            file.write(temporary.path())?;
        }
        self.mark(temporary.path())?;
        match fs::rename(temporary.path(), folder) {
            Ok(()) => {
                let _ = temporary.keep();
                Ok(())
            }
            // Another process was quicker.
            Err(_) if folder.is_dir() => Ok(()),
            Err(error) => Err(error),
        }
    }

    fn mark(&self, folder: &Path) -> io::Result<()> {
        let marker = Marker {
            checksum: self.checksum.to_owned(),
            commit: self.commit.map(str::to_owned),
        };
        if read_marker(folder).as_ref() == Some(&marker) {
            return Ok(());
        }
        write_whole(&folder.join(MARKER), &serde_json::to_vec_pretty(&marker)?)
    }
}

impl EmbeddedFile {
    fn is_in(&self, folder: &Path) -> bool {
        let path = folder.join(self.path);
        let is_same = |found: fs::Metadata| {
            found.is_file()
                && found.len() == self.bytes.len() as u64
                && (found.permissions().mode() & 0o111 != 0) == self.executable
                && fs::read(&path).is_ok_and(|bytes| bytes == self.bytes)
        };
        has_real_folders(folder, Path::new(self.path)) && path.symlink_metadata().is_ok_and(is_same)
    }

    fn write(&self, folder: &Path) -> io::Result<()> {
        let path = folder.join(self.path);
        let parent = path.parent().unwrap_or(folder);
        fs::create_dir_all(parent)?;
        let mode = if self.executable { 0o755 } else { 0o644 };
        let mut file = tempfile::Builder::new()
            .prefix(UNFINISHED)
            .permissions(Permissions::from_mode(mode))
            .tempfile_in(parent)?;
        file.write_all(self.bytes)?;
        file.persist(path)?;
        Ok(())
    }

    /// Writes it again. What is in its place goes to `changed`: it may be somebody's work.
    fn restore(&self, folder: &Path, changed: &Path) -> io::Result<()> {
        let path = folder.join(self.path);
        fs::create_dir_all(path.parent().unwrap_or(folder))?;
        if !has_real_folders(folder, Path::new(self.path)) {
            let why = "a link leads from there to another folder; delete it";
            return Err(io::Error::other(why));
        }
        let aside = changed.join(self.path);
        fs::create_dir_all(aside.parent().unwrap_or(changed))?;
        match fs::rename(&path, aside) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        self.write(folder)
    }
}

/// The checksum of the embedded files that `folder` has, which is a root folder or a stack's; `None`: it has others.
pub fn checksum_at(folder: &Path) -> Option<String> {
    marker_at(folder).map(|marker| marker.checksum)
}

/// Whether `folder` has embedded files, and then the commit that these are from, as far as it is known.
pub(crate) fn commit_at(folder: &Path) -> Option<Option<String>> {
    marker_at(folder).map(|marker| marker.commit)
}

fn marker_at(folder: &Path) -> Option<Marker> {
    // ROOT/stacks/STACK
    folder.ancestors().take(3).find_map(read_marker)
}

fn read_marker(root: &Path) -> Option<Marker> {
    serde_json::from_str(&read_text(&root.join(MARKER)).ok()?).ok()
}

/// Where this user's programs keep their data (XDG Base Directory Specification): `XDG_DATA_HOME`, else `.local/share` in
/// the home folder; `None` if neither is known. A relative path does not count.
fn data_folder() -> Option<PathBuf> {
    let absolute = |name: &str| {
        let path = env::var_os(name).map(PathBuf::from);
        path.filter(|path| path.is_absolute())
    };
    absolute("XDG_DATA_HOME").or_else(|| Some(absolute("HOME")?.join(".local/share")))
}

#[cfg(test)]
mod tests {
    use std::{os::unix::fs::symlink, thread};

    use super::*;

    const FILES: Embedded = Embedded {
        checksum: "0123456789abcdef0123",
        commit: Some("abc"),
        files: &[
            EmbeddedFile {
                path: "stacks/go-a/run",
                executable: true,
                bytes: b"#!/bin/sh\n",
            },
            EmbeddedFile {
                path: "stacks/go-a/stack.toml",
                executable: false,
                bytes: b"id = \"go-a\"\n",
            },
        ],
    };

    fn unpack(place: &Path) -> Unpacked {
        FILES.unpack_in(place).unwrap()
    }

    #[test]
    fn what_was_unpacked_once_stays_with_what_was_built_in_it() {
        let place = tempfile::tempdir().unwrap();
        let place = place.path().join("share/deadheat");
        let first = unpack(&place);
        assert!(first.is_new && first.restored.is_empty());
        let stack = first.folder.join("stacks/go-a");
        let mode = |name: &str| fs::metadata(stack.join(name)).unwrap().permissions().mode();
        assert_eq!(
            (mode("run") & 0o111, mode("stack.toml") & 0o111),
            (0o111, 0)
        );
        fs::write(stack.join("built"), "").unwrap();
        let second = unpack(&place);
        assert!(!second.is_new && second.restored.is_empty() && second.others.is_empty());
        assert!(stack.join("built").exists());
        // Nothing unfinished is left.
        assert_eq!(fs::read_dir(&place).unwrap().count(), 1);
        assert_eq!(checksum_at(&stack).as_deref(), Some(FILES.checksum));
        assert_eq!(commit_at(&first.folder), Some(Some("abc".to_owned())));
        assert_eq!(checksum_at(&place), None);
    }

    #[test]
    fn what_was_changed_is_put_aside_and_written_again() {
        let place = tempfile::tempdir().unwrap();
        let folder = unpack(place.path()).folder;
        let path = folder.join("stacks/go-a/stack.toml");
        fs::write(&path, "mine").unwrap();
        let again = unpack(place.path());
        assert_eq!(again.restored, ["stacks/go-a/stack.toml"]);
        assert_eq!(fs::read(&path).unwrap(), FILES.files[1].bytes);
        let aside = again.changed.join("stacks/go-a/stack.toml");
        assert_eq!(fs::read_to_string(aside).unwrap(), "mine");
        let program = folder.join("stacks/go-a/run");
        fs::set_permissions(&program, Permissions::from_mode(0o644)).unwrap();
        assert_eq!(unpack(place.path()).restored, ["stacks/go-a/run"]);
        fs::remove_file(&program).unwrap();
        assert_eq!(unpack(place.path()).restored, ["stacks/go-a/run"]);
        assert_eq!(unpack(place.path()).restored, [""; 0]);
    }

    #[test]
    fn nothing_is_written_through_a_link() {
        let (place, mine) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let stack = unpack(place.path()).folder.join("stacks/go-a");
        fs::remove_dir_all(&stack).unwrap();
        fs::write(mine.path().join("run"), "mine").unwrap();
        symlink(mine.path(), &stack).unwrap();
        let error = FILES.unpack_in(place.path()).unwrap_err().to_string();
        assert!(
            error.contains("go-a/run: a link leads from there"),
            "{error}"
        );
        assert_eq!(fs::read_to_string(mine.path().join("run")).unwrap(), "mine");
    }

    #[test]
    fn each_version_has_a_folder_of_its_own() {
        let place = tempfile::tempdir().unwrap();
        let old = unpack(place.path()).folder;
        let next = Embedded {
            checksum: "fedcba98765432100123",
            ..FILES
        };
        let new = next.unpack_in(place.path()).unwrap();
        assert_ne!(new.folder, old);
        assert_eq!(new.others, [old]);
    }

    #[test]
    fn many_processes_may_unpack_at_once() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path();
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| assert_eq!(unpack(path).restored, [""; 0]));
            }
        });
        assert_eq!(fs::read_dir(path).unwrap().count(), 1);
    }
}
