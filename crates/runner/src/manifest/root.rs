//! Where the manifests are.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::trust::{self, Distrust};

/// The environment variable that names the root folder.
pub const ROOT_VARIABLE: &str = "DEADHEAT_ROOT";

const STACKS: &str = "stacks";
const WORKLOADS: &str = "workloads";
/// The folders of a root folder that have manifests.
const MANIFESTS: [&str; 3] = [STACKS, WORKLOADS, "published"];

/// Why a root folder cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RootError {
    /// A folder was named, but it is not one with manifests.
    #[error(
        "looking for manifests in {}, which {by} names: it has no folder {missing}; name the folder that contains \
         `stacks` and `workloads`", folder.display()
    )]
    NotARoot {
        /// The folder that was named.
        folder: PathBuf,
        /// What named it.
        by: &'static str,
        /// What is missing in it.
        missing: String,
    },
    /// A folder with manifests was found that nobody named, and others can have written them.
    #[error(
        "{at} has stacks, which are programs that would run as you, but {why}. If you trust whoever can write there, \
         name the folder: --root {at}, or {ROOT_VARIABLE}={at}", at = folder.display()
    )]
    Distrusted {
        /// The folder that was found.
        folder: PathBuf,
        /// What speaks against it.
        why: Distrust,
    },
}

/// The folder that holds `stacks/` and `workloads/`: `given` (--root), else `variable` (the value of
/// [`ROOT_VARIABLE`]), else the nearest one upwards from `current`; `None` if there is none.
///
/// # Errors
/// When the folder that was named is not such a folder, or others can have written what is in the one that was found.
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
    let Some(folder) = found else {
        return Ok(None);
    };
    match check(folder) {
        Ok(()) => Ok(Some(folder.to_owned())),
        Err(why) => Err(RootError::Distrusted {
            folder: folder.to_owned(),
            why,
        }),
    }
}

/// Whether nobody but this user and root can have written the manifests of a folder that nobody named, or what the
/// stacks consist of.
fn check(root: &Path) -> Result<(), Distrust> {
    trust::check(root)?;
    for name in MANIFESTS {
        let folder = root.join(name);
        if folder.exists() {
            trust::check_with_entries(&folder)?;
        }
    }
    let stacks = fs::read_dir(root.join(STACKS)).into_iter().flatten();
    let mut folders = stacks
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.is_dir());
    folders.try_for_each(|folder| trust::check_with_entries(&folder))
}

fn missing_in(folder: &Path) -> Option<String> {
    let missing: Vec<String> = [STACKS, WORKLOADS]
        .into_iter()
        .filter(|name| !folder.join(name).is_dir())
        .map(|name| format!("`{name}`"))
        .collect();
    (!missing.is_empty()).then(|| missing.join(" and no folder "))
}
