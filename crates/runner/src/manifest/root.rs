//! Where the manifests are.

use std::path::{Path, PathBuf};

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
}

/// The folder that holds `stacks/` and `workloads/`: `given` (--root), else `variable` (the value of
/// [`ROOT_VARIABLE`]), else the nearest one upwards from `current`; `None` if there is none.
///
/// # Errors
/// When the folder that was named is not such a folder.
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
    Ok(found.map(Path::to_owned))
}

fn missing_in(folder: &Path) -> Option<String> {
    let missing: Vec<String> = ["stacks", "workloads"]
        .into_iter()
        .filter(|name| !folder.join(name).is_dir())
        .map(|name| format!("`{name}`"))
        .collect();
    (!missing.is_empty()).then(|| missing.join(" and no folder "))
}
