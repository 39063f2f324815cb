//! Which files may be obeyed although nobody named them.
//!
//! Manifests and configurations name programs to run. Whoever can write such a file decides what runs as the user who
//! obeys it. So a file that was merely found counts only if nobody but this user and root can have written it. A file
//! that was named on the command line, or in the environment, is the user's own decision.

use std::{
    fs::{self, Metadata},
    io,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
};

/// Write permission of the group, and of everybody.
const GROUP: u32 = 0o020;
const EVERYBODY: u32 = 0o002;

/// Why a path is not trusted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Distrust {
    /// Its owner is neither this user nor root.
    #[error("{} belongs to another user (uid {uid})", path.display())]
    Owner {
        /// The path.
        path: PathBuf,
        /// The owner.
        uid: u32,
    },
    /// Another user than its owner may change it.
    #[error("other users can write to {} (mode {mode:03o})", path.display())]
    Writable {
        /// The path.
        path: PathBuf,
        /// Its permissions.
        mode: u32,
    },
    /// It cannot be examined.
    #[error("examining {}: {reason}", path.display())]
    Unknown {
        /// The path.
        path: PathBuf,
        /// The error of the system.
        reason: String,
    },
}

/// Whether nobody but this user and root can have written the file or folder at `path`. If it is a symbolic link, both
/// the link and what it leads to count.
///
/// Its group may write to it if that is this user's own group: many systems give each user a group, and let it write.
///
/// # Errors
/// Why it is not trusted.
pub fn check(path: &Path) -> Result<(), Distrust> {
    let unknown = |error: io::Error| Distrust::Unknown {
        path: path.to_owned(),
        reason: error.to_string(),
    };
    let link = fs::symlink_metadata(path).map_err(unknown)?;
    check_owner(path, &link)?;
    let found = fs::metadata(path).map_err(unknown)?;
    check_owner(path, &found)?;
    let foreign_group = found.gid() != rustix::process::getegid().as_raw();
    let writable = EVERYBODY | if foreign_group { GROUP } else { 0 };
    if found.mode() & writable == 0 {
        return Ok(());
    }
    Err(Distrust::Writable {
        path: path.to_owned(),
        mode: found.mode() & 0o7777,
    })
}

fn check_owner(path: &Path, found: &Metadata) -> Result<(), Distrust> {
    let uid = found.uid();
    if [0, rustix::process::geteuid().as_raw()].contains(&uid) {
        return Ok(());
    }
    let path = path.to_owned();
    Err(Distrust::Owner { path, uid })
}

/// [`check`] of a folder and of everything directly in it.
///
/// # Errors
/// The first reason found.
pub(crate) fn check_with_entries(folder: &Path) -> Result<(), Distrust> {
    check(folder)?;
    let unknown = |error: io::Error| Distrust::Unknown {
        path: folder.to_owned(),
        reason: error.to_string(),
    };
    for entry in fs::read_dir(folder).map_err(unknown)? {
        let path = entry.map_err(unknown)?.path();
        match check(&path) {
            // A link that leads nowhere is no file.
            Err(Distrust::Unknown { .. }) if !path.exists() => {}
            checked => checked?,
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::{
        fs::Permissions,
        os::unix::fs::{PermissionsExt as _, chown, lchown, symlink},
    };

    use super::*;

    fn set_mode(path: &Path, mode: u32) {
        fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn a_file_of_this_user_that_no_other_user_can_write_is_trusted() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "").unwrap();
        for mode in [0o644, 0o600, 0o664] {
            set_mode(&file, mode);
            assert_eq!(check(&file), Ok(()), "{mode:o}");
        }
        for mode in [0o646, 0o666] {
            set_mode(&file, mode);
            let refused = check(&file).unwrap_err().to_string();
            assert!(refused.starts_with("other users can write to"), "{refused}");
        }
        // A folder in which everybody may make files, as /tmp is.
        set_mode(folder.path(), 0o1777);
        assert!(check(folder.path()).is_err());
        let missing = check(&folder.path().join("missing"));
        assert!(matches!(missing, Err(Distrust::Unknown { .. })));
    }

    #[test]
    fn what_another_user_made_or_linked_is_not_trusted() {
        const OTHER: u32 = 12_345;
        let folder = tempfile::tempdir().unwrap();
        let [file, link, group] = ["file", "link", "group"].map(|name| folder.path().join(name));
        fs::write(&file, "").unwrap();
        fs::write(&group, "").unwrap();
        symlink(&file, &link).unwrap();
        if chown(&group, None, Some(OTHER)).is_err() {
            deadheat_testkit::not_tested("files of other users", "only root can give files away");
            return;
        }
        set_mode(&group, 0o664);
        assert!(matches!(check(&group), Err(Distrust::Writable { .. })));
        set_mode(&group, 0o644);
        assert_eq!(check(&group), Ok(()));
        assert_eq!(check_with_entries(folder.path()), Ok(()));
        lchown(&link, Some(OTHER), None).unwrap();
        let refused = check(&link).unwrap_err().to_string();
        assert!(refused.contains("another user (uid 12345)"), "{refused}");
        assert!(check_with_entries(folder.path()).is_err());
        lchown(&link, Some(0), None).unwrap();
        chown(&file, Some(OTHER), None).unwrap();
        assert!(check(&file).is_err() && check(&link).is_err());
    }
}
