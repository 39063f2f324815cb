//! The versions of packages, from the lock files of the languages.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use deadheat_model::{session::FoundVersion, stack::LockedPackage};

use super::version::compare;

/// The lock files that can be read, by their names.
pub const SUPPORTED: [&str; 4] = [
    "go.mod",
    "package-lock.json",
    "requirements.txt",
    "Cargo.lock",
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

/// The version of `locked` in its lock file, in the stack's folder `dir`.
///
/// # Errors
/// When the file cannot be read, or the package is not in it.
pub fn find_version(dir: &Path, locked: &LockedPackage) -> Result<FoundVersion, LockedError> {
    let package = locked.package.clone();
    let file = dir.join(&locked.file);
    let text = match fs::read_to_string(&file) {
        Ok(text) => text,
        Err(source) => {
            return Err(LockedError::Read {
                package,
                file,
                source,
            });
        }
    };
    let parsed = match parser(&locked.file) {
        Some(parse) => parse(&text, &locked.package),
        None => Err("lock files of this name are not known".to_owned()),
    };
    match parsed {
        Ok(Some(version)) => Ok(FoundVersion {
            name: package,
            version,
        }),
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
    let name = Path::new(file).file_name()?.to_str()?;
    Some(match name {
        "go.mod" => |text, package| Ok(go_mod(text, package)),
        "package-lock.json" => package_lock,
        "requirements.txt" => |text, package| Ok(requirements(text, package)),
        "Cargo.lock" => cargo_lock,
        _ => return None,
    })
}

/// `require x v1.2.3`, alone or in a block; a `replace x => y v1.2.4` overrules it (go.dev/ref/mod).
fn go_mod(text: &str, package: &str) -> Option<String> {
    let mut block = String::new();
    let mut required = None;
    let mut replaced = None;
    for line in text.lines() {
        let line = line.split("//").next().unwrap_or_default().trim();
        let mut words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            [directive, "("] => block = (*directive).to_owned(),
            [")"] => block.clear(),
            [] => {}
            _ => {
                let directive = if block.is_empty() {
                    words.remove(0)
                } else {
                    block.as_str()
                };
                match (directive, words.as_slice()) {
                    ("require", [name, version]) if *name == package => {
                        required = Some(*version);
                    }
                    ("replace", [name, .., "=>", _, version]) if *name == package => {
                        replaced = Some(*version);
                    }
                    _ => {}
                }
            }
        }
    }
    let version = replaced.filter(|_| required.is_some()).or(required)?;
    Some(version.trim_start_matches('v').to_owned())
}

/// `packages."node_modules/x".version`, of lockfileVersion 2 and 3.
fn package_lock(text: &str, package: &str) -> Result<Option<String>, String> {
    let lock: serde_json::Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let Some(packages) = lock.get("packages") else {
        return Err("it has no `packages`; npm 7 or later writes them".to_owned());
    };
    let entry = packages.get(format!("node_modules/{package}"));
    let version = entry.and_then(|entry| entry.get("version")?.as_str());
    Ok(version.map(str::to_owned))
}

/// `name==1.2.3`, with extras, markers and hashes.
fn requirements(text: &str, package: &str) -> Option<String> {
    let wanted = normalise(package);
    text.lines().find_map(|line| {
        let line = line.split(['#', ';', '\\']).next()?;
        let (name, version) = line.split_once("==")?;
        let name = name.split('[').next()?.trim();
        let version = version.trim_start_matches('=').split_whitespace().next()?;
        (normalise(name) == wanted).then(|| version.to_owned())
    })
}

/// Names are equal when they differ in case and in runs of `-`, `_` and `.` only (PEP 503).
fn normalise(name: &str) -> String {
    let parts = name.split(['-', '_', '.']).filter(|part| !part.is_empty());
    parts.collect::<Vec<_>>().join("-").to_lowercase()
}

/// The highest version of the package: several may stand side by side.
fn cargo_lock(text: &str, package: &str) -> Result<Option<String>, String> {
    let lock: toml::Table = text
        .parse()
        .map_err(|error: toml::de::Error| error.message().to_owned())?;
    let packages = lock.get("package").and_then(toml::Value::as_array);
    let versions = packages.into_iter().flatten().filter_map(|entry| {
        let name = entry.get("name")?.as_str()?;
        let version = entry.get("version")?.as_str()?;
        (name == package).then_some(version)
    });
    Ok(versions.max_by(|a, b| compare(a, b)).map(str::to_owned))
}
