//! How large what is deployed is.

use std::{
    collections::BTreeSet,
    fs, io,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

/// Bytes of `artefacts`, files and folders in `dir`, all that is in them included.
///
/// A file under several names (hard links, overlapping artefacts) counts once. A symbolic link counts what it leads to
/// when that is in `dir` too, and nothing otherwise: a virtual environment's link to the system's Python deploys none.
///
/// # Errors
/// When an artefact, or something in it, is not there or cannot be read; the error says what.
pub fn artefact_bytes(dir: &Path, artefacts: &[String]) -> io::Result<u64> {
    let mut walk = Walk {
        root: dir.canonicalize().map_err(|error| named(dir, &error))?,
        seen: BTreeSet::new(),
        bytes: 0,
    };
    for artefact in artefacts {
        walk.add(&dir.join(artefact))?;
    }
    Ok(walk.bytes)
}

struct Walk {
    root: PathBuf,
    /// Device and inode of what was counted.
    seen: BTreeSet<(u64, u64)>,
    bytes: u64,
}

impl Walk {
    fn add(&mut self, path: &Path) -> io::Result<()> {
        let metadata = fs::symlink_metadata(path).map_err(|error| named(path, &error))?;
        if metadata.is_symlink() {
            // A link that leads nowhere deploys nothing.
            let target = path.canonicalize().ok();
            return match target.filter(|target| target.starts_with(&self.root)) {
                Some(target) => self.add(&target),
                None => Ok(()),
            };
        }
        if !self.seen.insert((metadata.dev(), metadata.ino())) {
            return Ok(());
        }
        if metadata.is_dir() {
            for entry in fs::read_dir(path).map_err(|error| named(path, &error))? {
                self.add(&entry.map_err(|error| named(path, &error))?.path())?;
            }
        } else if metadata.is_file() {
            self.bytes += metadata.len();
        }
        Ok(())
    }
}

fn named(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}
