//! Where the file with defaults is.

use std::path::{Path, PathBuf};

use deadheat_runner::trust::{self, Distrust};

/// The file's name.
pub(super) const NAME: &str = "deadheat.toml";
/// The environment variable that names another file.
pub(super) const VARIABLE: &str = "DEADHEAT_CONFIG";

/// A file with defaults.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ConfigFile {
    /// The user named it, so that every option of it counts.
    Named(PathBuf),
    /// Nobody named it, so that it may set figures only.
    Nearest(PathBuf),
    /// Nobody named it, and other users can have written it.
    Distrusted(Distrust),
}

impl ConfigFile {
    /// The file in `current`, or in the nearest folder above that has one.
    pub(super) fn nearest(current: &Path) -> Option<Self> {
        let mut files = current.ancestors().map(|folder| folder.join(NAME));
        let file = files.find(|file| file.is_file())?;
        Some(match trust::check(&file) {
            Ok(()) => Self::Nearest(file),
            Err(why) => Self::Distrusted(why),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::{
        fs::{self, Permissions},
        os::unix::fs::PermissionsExt as _,
    };

    use super::*;

    #[test]
    fn the_nearest_file_upwards_is_found() {
        let root = tempfile::tempdir().unwrap();
        let inner = root.path().join("a/b");
        fs::create_dir_all(&inner).unwrap();
        let upper = root.path().join(NAME);
        fs::write(&upper, "").unwrap();
        let nearest = |folder: &Path| ConfigFile::nearest(folder);
        assert_eq!(nearest(&inner), Some(ConfigFile::Nearest(upper.clone())));
        let lower = root.path().join("a").join(NAME);
        fs::write(&lower, "").unwrap();
        assert_eq!(nearest(&inner), Some(ConfigFile::Nearest(lower.clone())));
        assert_eq!(nearest(root.path()), Some(ConfigFile::Nearest(upper)));
        // It is not passed over for one above: that would set other figures without a word.
        fs::set_permissions(&lower, Permissions::from_mode(0o666)).unwrap();
        assert!(matches!(nearest(&inner), Some(ConfigFile::Distrusted(_))));
    }
}
