//! Where `deadheat.toml` is.

use std::{
    fs, io,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
};

/// The file's name.
pub(super) const NAME: &str = "deadheat.toml";

/// A file that was found.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// It is to be read.
    Used(PathBuf),
    /// It belongs to another user than root and that of this process. A file can name commands to run, so it is not read
    /// unless it is named.
    Foreign(PathBuf),
}

/// The file in `current`, or in the nearest folder above that has one.
pub(super) fn nearest(current: &Path) -> Option<Found> {
    let mut files = current.ancestors().map(|folder| folder.join(NAME));
    let file = files.find(|file| file.is_file())?;
    Some(if is_trusted(&file).unwrap_or(false) {
        Found::Used(file)
    } else {
        Found::Foreign(file)
    })
}

fn is_trusted(file: &Path) -> io::Result<bool> {
    let owner = |path: &Path| fs::metadata(path).map(|found| found.uid());
    let own = owner(Path::new("/proc/self"))?;
    Ok([0, own].contains(&owner(file)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_file_upwards_is_found() {
        let root = tempfile::tempdir().unwrap();
        let inner = root.path().join("a/b");
        fs::create_dir_all(&inner).unwrap();
        let upper = root.path().join(NAME);
        fs::write(&upper, "").unwrap();
        assert_eq!(nearest(&inner), Some(Found::Used(upper.clone())));
        let lower = root.path().join("a").join(NAME);
        fs::write(&lower, "").unwrap();
        assert_eq!(nearest(&inner), Some(Found::Used(lower.clone())));
        assert_eq!(nearest(root.path()), Some(Found::Used(upper)));
        // Where this user may give files away, one that belongs to somebody else is not used.
        if std::os::unix::fs::chown(&lower, Some(12_345), None).is_ok() {
            assert_eq!(nearest(&inner), Some(Found::Foreign(lower)));
        }
    }
}
