//! The versions of packages, from the lock files of the languages.

use std::{
    io,
    path::{Path, PathBuf},
};

use deadheat_model::{session::FoundVersion, stack::LockedPackage};

use crate::files;

mod bundler;
mod cargo;
mod erlang;
mod go;
mod maven;
mod mix;
mod npm;
mod nuget;
mod pip;
mod terms;

/// The lock files that can be read, by their names.
pub const SUPPORTED: [&str; 9] = [
    "go.mod",
    "package-lock.json",
    "requirements.txt",
    "Cargo.lock",
    "pom.xml",
    "Gemfile.lock",
    "mix.lock",
    "packages.lock.json",
    "*.app",
];

/// Why the version of a locked package is not known.
#[derive(Debug, thiserror::Error)]
pub enum LockedError {
    /// The lock file cannot be read.
    #[error("reading the version of {package} from {}: {source}", file.display())]
    Read {
        /// The package.
        package: String,
        /// The lock file.
        file: PathBuf,
        /// What happened.
        source: io::Error,
    },
    /// It is not what its name says.
    #[error("reading the version of {package} from {}: {reason}", file.display())]
    Malformed {
        /// The package.
        package: String,
        /// The lock file.
        file: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// The package is not in it.
    #[error(
        "reading the version of {package} from {}: it is not in there; check [[locked]] in stack.toml", file.display()
    )]
    Missing {
        /// The package.
        package: String,
        /// The lock file.
        file: PathBuf,
    },
}

/// Whether `file` (a path in a stack's folder) is a lock file that can be read.
pub fn is_supported(file: &str) -> bool {
    parser(file).is_some()
}

/// The version of `locked` in its lock file, in the stack's folder `dir`; `None` when it is known only after a fetch,
/// which brings the file.
///
/// # Errors
/// When the file cannot be read, or the package is not in it.
pub fn find_version(
    dir: &Path,
    locked: &LockedPackage,
) -> Result<Option<FoundVersion>, LockedError> {
    let package = locked.package.clone();
    let file = dir.join(&locked.file);
    let text = match files::read_text(&file) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound && is_fetched(&locked.file) => {
            return Ok(None);
        }
        Err(source) => {
            return Err(LockedError::Read {
                package,
                file,
                source,
            });
        }
    };
    let parsed = match parser(&locked.file) {
        // .NET's tools may write a mark of the byte order.
        Some(parse) => parse(text.trim_start_matches('\u{feff}'), &locked.package),
        None => Err("lock files of this name are not known".to_owned()),
    };
    match parsed {
        Ok(Some(version)) => Ok(Some(FoundVersion {
            name: package,
            version,
        })),
        Ok(None) => Err(LockedError::Missing { package, file }),
        Err(reason) => Err(LockedError::Malformed {
            package,
            file,
            reason,
        }),
    }
}

/// Finds a package's version in a lock file's text; `None` when it is not in there.
type Parser = fn(&str, &str) -> Result<Option<String>, String>;

fn parser(file: &str) -> Option<Parser> {
    let path = Path::new(file);
    if is_fetched(file) {
        return Some(erlang::version);
    }
    Some(match path.file_name()?.to_str()? {
        "go.mod" => |text, package| Ok(go::version(text, package)),
        "package-lock.json" => npm::version,
        "requirements.txt" => |text, package| Ok(pip::version(text, package)),
        "Cargo.lock" => cargo::version,
        "pom.xml" => maven::version,
        "Gemfile.lock" => bundler::version,
        "mix.lock" => mix::version,
        "packages.lock.json" => nuget::version,
        _ => return None,
    })
}

/// Whether `file` is part of what a fetch brings, and not of the stack itself: the description of an Erlang application.
pub(super) fn is_fetched(file: &str) -> bool {
    Path::new(file)
        .extension()
        .is_some_and(|ending| ending == "app")
}
