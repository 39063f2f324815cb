//! Files that arrive from another host, one after the other and piece by piece.

use std::{
    collections::VecDeque,
    fs::{self, DirBuilder, Permissions},
    io::{self, Write as _},
    os::unix::fs::{PermissionsExt as _, symlink},
    path::{Path, PathBuf},
};

use sha2::{Digest as _, Sha256};
use tempfile::NamedTempFile;

use super::listing::{Listed, What, is_inside};
use crate::{files::UNFINISHED, hex::hex};

/// Files on their way into a folder.
pub(super) struct Arrivals {
    folder: PathBuf,
    due: VecDeque<Listed>,
    current: Option<Arriving>,
}

/// A file that is not whole yet: beside all others, so that no half of one is ever taken for a file.
struct Arriving {
    listed: Listed,
    file: NamedTempFile,
    left: u64,
    sum: Sha256,
}

impl Arrivals {
    /// These files, which were checked before, will come in this order.
    ///
    /// # Errors
    /// When one cannot be made.
    pub(super) fn new(folder: &Path, due: Vec<Listed>) -> Result<Self, String> {
        let mut own = Self {
            folder: folder.to_owned(),
            due: due.into(),
            current: None,
        };
        own.advance()?;
        Ok(own)
    }

    /// Whether all have arrived.
    pub(super) fn are_complete(&self) -> bool {
        self.current.is_none()
    }

    /// Takes the next piece.
    ///
    /// # Errors
    /// When it is none of these files', does not hold what was announced, or cannot be written.
    pub(super) fn take(&mut self, piece: &[u8]) -> Result<(), String> {
        let arriving = self.current.as_mut();
        let arriving = arriving.ok_or("more came than was announced")?;
        let path = &arriving.listed.path;
        arriving.left = arriving
            .left
            .checked_sub(piece.len() as u64)
            .ok_or_else(|| format!("{path}: more came than was announced"))?;
        arriving.sum.update(piece);
        let written = arriving.file.write_all(piece);
        written.map_err(|error| format!("writing {path}: {error}"))?;
        if arriving.left == 0 {
            self.finish()?;
            self.advance()?;
        }
        Ok(())
    }

    /// Makes what needs no piece, up to a file that does.
    fn advance(&mut self) -> Result<(), String> {
        while self.current.is_none()
            && let Some(listed) = self.due.pop_front()
        {
            let failed = |error: io::Error| format!("making {}: {error}", listed.path);
            match &listed.what {
                What::Link { to } => {
                    let place = free(&self.folder, &listed.path).map_err(failed)?;
                    symlink(to, place).map_err(failed)?;
                }
                What::File { bytes, .. } => {
                    let left = *bytes;
                    let file = tempfile::Builder::new()
                        .prefix(UNFINISHED)
                        .tempfile_in(&self.folder);
                    self.current = Some(Arriving {
                        file: file.map_err(failed)?,
                        listed,
                        left,
                        sum: Sha256::new(),
                    });
                    if left == 0 {
                        self.finish()?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Moves the file that is whole to its place.
    fn finish(&mut self) -> Result<(), String> {
        let Some(arriving) = self.current.take() else {
            return Ok(());
        };
        let Listed { path, what } = &arriving.listed;
        let What::File {
            sha256, executable, ..
        } = what
        else {
            return Ok(());
        };
        if hex(arriving.sum.finalize()) != *sha256 {
            return Err(format!(
                "{path} was changed while it was sent; try once more"
            ));
        }
        let failed = |error: io::Error| format!("writing {path}: {error}");
        let mode = if *executable { 0o755 } else { 0o644 };
        let file = arriving.file;
        let permissions = Permissions::from_mode(mode);
        file.as_file()
            .set_permissions(permissions)
            .map_err(failed)?;
        let place = free(&self.folder, path).map_err(failed)?;
        file.persist(place).map_err(|error| failed(error.error))?;
        Ok(())
    }
}

/// The place of a file whose path was checked: its folders are there, and nothing else than a file is.
fn free(folder: &Path, path: &str) -> io::Result<PathBuf> {
    let path = Path::new(path);
    if !is_inside(path) {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let mut place = folder.to_owned();
    for part in path.parent().into_iter().flat_map(Path::iter) {
        place.push(part);
        match place.symlink_metadata() {
            Ok(found) if found.is_dir() => continue,
            // A link could lead anywhere.
            Ok(_) => fs::remove_file(&place)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
        DirBuilder::new().create(&place)?;
    }
    place.push(path.file_name().unwrap_or_default());
    match place.symlink_metadata() {
        Ok(found) if found.is_dir() => fs::remove_dir_all(&place)?,
        Ok(found) if found.is_symlink() => fs::remove_file(&place)?,
        _ => {}
    }
    Ok(place)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::listing;

    /// What `text` is like as a file at `path`.
    fn file(path: &str, text: &str) -> Listed {
        let mut sum = Sha256::new();
        sum.update(text);
        let what = What::File {
            bytes: text.len() as u64,
            sha256: hex(sum.finalize()),
            executable: text.starts_with("#!"),
        };
        Listed {
            path: path.to_owned(),
            what,
        }
    }

    #[test]
    fn files_arrive_whatever_was_in_their_place() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let outside = tempfile::tempdir().unwrap();
        fs::create_dir_all(path("r/folder/in/it")).unwrap();
        symlink(outside.path(), path("r/way")).unwrap();
        symlink(outside.path().join("target"), path("r/link")).unwrap();
        let files = [
            file("r/folder", "#!/bin/sh"),
            file("r/way/file", "one"),
            file("r/empty", ""),
            Listed {
                path: "r/to".to_owned(),
                what: What::Link {
                    to: "empty".to_owned(),
                },
            },
            file("r/link", "two"),
        ];
        let mut arrivals = Arrivals::new(folder.path(), files.to_vec()).unwrap();
        for piece in ["#!/bin", "/sh", "o", "ne", "two"] {
            assert!(!arrivals.are_complete());
            arrivals.take(piece.as_bytes()).unwrap();
        }
        assert!(arrivals.are_complete());
        assert!(arrivals.take(b"x").is_err());
        let names = files.iter().map(|file| PathBuf::from(&file.path));
        assert_eq!(listing::list(folder.path(), names).unwrap(), files);
        assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0);
        assert_eq!(
            fs::read_dir(folder.path()).unwrap().count(),
            1,
            "nothing unfinished"
        );
    }

    #[test]
    fn what_is_not_as_announced_is_no_file() {
        let folder = tempfile::tempdir().unwrap();
        for pieces in [&["onf"][..], &["one more"]] {
            let mut arrivals = Arrivals::new(folder.path(), vec![file("a", "one")]).unwrap();
            let taken = pieces.iter().map(|piece| arrivals.take(piece.as_bytes()));
            assert!(taken.last().unwrap().is_err(), "{pieces:?}");
            drop(arrivals);
            assert_eq!(
                fs::read_dir(folder.path()).unwrap().count(),
                0,
                "{pieces:?}"
            );
        }
    }
}
