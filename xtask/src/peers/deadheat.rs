//! The program that is measured.

use std::path::{Path, PathBuf};

use crate::project::{cargo, release_binary, root};

/// The program that is measured: the one given, or the release build of this project, built now.
///
/// # Errors
///
/// That it is not there or cannot be built.
pub(crate) fn program(given: Option<&Path>) -> Result<PathBuf, String> {
    if let Some(given) = given {
        // A child is started with an absolute path, wherever it is started.
        return given
            .canonicalize()
            .map_err(|error| format!("--deadheat {}: {error}", given.display()));
    }
    let build = ["build", "--release", "--quiet", "--package", "deadheat"];
    let status = cargo(&build).current_dir(root()).status();
    match status {
        Ok(status) if status.success() => Ok(release_binary()),
        Ok(status) => Err(format!("cargo {}: {status}", build.join(" "))),
        Err(error) => Err(format!("cargo {}: {error}", build.join(" "))),
    }
}
