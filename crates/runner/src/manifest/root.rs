//! Where the manifests are.

use std::{
    fs,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
};

/// The environment variable that names the root folder.
pub const ROOT_VARIABLE: &str = "DEADHEAT_ROOT";

/// Why a root folder cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RootError {
    /// A folder was named, but it is not one with manifests.
    #[error(
        "looking for manifests in {}, which {by} names: it has no folder {missing}; \
         name the folder that holds `stacks` and `workloads`", folder.display()
    )]
    NotARoot {
        /// The folder that was named.
        folder: PathBuf,
        /// What named it.
        by: &'static str,
        /// What is missing in it.
        missing: String,
    },
    /// A folder with manifests was found that nobody named.
    #[error(
        "{} has stacks, which are programs to run, and belongs to another user than you and the folder that you are in; \
         name it with --root if you trust it", folder.display()
    )]
    Foreign {
        /// The folder that was found.
        folder: PathBuf,
    },
}

/// The folder that holds `stacks/` and `workloads/`: `given` (--root), else `variable` (the value of
/// [`ROOT_VARIABLE`]), else the nearest one upwards from `current`; `None` if there is none.
///
/// # Errors
/// When the folder that was named is not such a folder, or the one that was found is somebody else's.
pub fn find_root(
    given: Option<&Path>,
    variable: Option<&Path>,
    current: &Path,
) -> Result<Option<PathBuf>, RootError> {
    // An empty variable is how shells unset one.
    let variable = variable.filter(|folder| !folder.as_os_str().is_empty());
    let named = given
        .map(|folder| (folder, "--root"))
        .or(variable.map(|folder| (folder, ROOT_VARIABLE)));
    if let Some((folder, by)) = named {
        let folder = current.join(folder);
        return match missing_in(&folder) {
            None => Ok(Some(folder)),
            Some(missing) => Err(RootError::NotARoot {
                folder,
                by,
                missing,
            }),
        };
    }
    let mut folders = current.ancestors();
    let found = folders.find(|folder| missing_in(folder).is_none());
    let found = found.map(Path::to_owned);
    match found {
        Some(folder) if !is_trusted(&folder, current) => Err(RootError::Foreign { folder }),
        found => Ok(found),
    }
}

/// Whether a folder that nobody named belongs to root, to this user, or to who owns the folder that the user has chosen to
/// be in.
fn is_trusted(folder: &Path, current: &Path) -> bool {
    let owner = |path: &Path| fs::metadata(path).map(|found| found.uid());
    let Ok(of_folder) = owner(folder) else {
        return false;
    };
    let trusted = [owner(Path::new("/proc/self")), owner(current)];
    of_folder == 0 || trusted.iter().flatten().any(|one| *one == of_folder)
}

fn missing_in(folder: &Path) -> Option<String> {
    let missing: Vec<String> = ["stacks", "workloads"]
        .into_iter()
        .filter(|name| !folder.join(name).is_dir())
        .map(|name| format!("`{name}`"))
        .collect();
    (!missing.is_empty()).then(|| missing.join(" and no folder "))
}
