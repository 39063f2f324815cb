//! The versions of packages in lock files, which patterns find.

use std::{io, path::Path};

use deadheat_model::{session::FoundVersion, stack::LockedPackage};
use regex::Regex;

use crate::files;

/// Known lock files by name, each with the pattern that finds a version in it. `{package}` stands for the package's name,
/// `{group}` and `{artifact}` for both halves of Maven's. A file that overrides a version elsewhere has several matches,
/// so that it needs a pattern of its own.
const KNOWN: [(&str, &str); 9] = [
    (
        "go.mod",
        r"(?m)^\s*(?:require |replace )?{package} (?:.*=> \S+ )?v(\S+)",
    ),
    (
        "package-lock.json",
        r#""node_modules/{package}":\s*\{[^{}]*?"version":\s*"([^"]+)""#,
    ),
    (
        "requirements.txt",
        r"(?m)^{package}(?:\[[^\]]*\])?\s*===?\s*([^\s;#,\\]+)",
    ),
    (
        "Cargo.lock",
        r#"(?m)^name = "{package}"\s+version = "([^"]+)""#,
    ),
    (
        "pom.xml",
        r"<groupId>{group}</groupId>\s*<artifactId>{artifact}</artifactId>\s*<version>([0-9][^<$,]*)</version>",
    ),
    ("Gemfile.lock", r"(?m)^    {package} \(([^)-]+)"),
    (
        "mix.lock",
        r#""{package}": \{:(?:hex|git), [^,]+, "([^"]+)""#,
    ),
    (
        "packages.lock.json",
        r#""{package}":\s*\{[^{}]*"resolved":\s*"([^"]+)""#,
    ),
    (
        "*.app",
        r#"(?s)\{application,\s*'?{package}'?,.*?\{vsn,\s*"([^"]+)""#,
    ),
];

/// Why the version of a locked package is not known.
#[derive(Debug, thiserror::Error)]
pub enum LockedError {
    /// It has no pattern, and the file is not a known one.
    #[error("`{0}` is not a known lock file")]
    UnknownFile(String),
    /// Its pattern is not a regular expression with one group.
    #[error("the pattern {0}")]
    Pattern(String),
    /// The lock file cannot be read.
    #[error("reading {file}: {source}")]
    Read {
        /// The lock file.
        file: String,
        /// What happened.
        source: io::Error,
    },
    /// Nothing matches.
    #[error("{file} has no version of `{package}`")]
    Missing {
        /// The package.
        package: String,
        /// The lock file.
        file: String,
    },
    /// Different versions match.
    #[error("{file} has several versions of `{package}`: {first} and {second}")]
    Several {
        /// The package.
        package: String,
        /// The lock file.
        file: String,
        /// The first one.
        first: String,
        /// The next one that differs.
        second: String,
    },
}

/// The names of the lock files that need no pattern.
pub fn known_files() -> impl Iterator<Item = &'static str> {
    KNOWN.iter().map(|(name, _)| *name)
}

/// The version of `locked` in its lock file, in the stack's folder `dir`; `None` without that file, which a fetch may
/// bring.
///
/// # Errors
/// When the file cannot be read, or its pattern does not find one version in it.
pub fn find_version(
    dir: &Path,
    locked: &LockedPackage,
) -> Result<Option<FoundVersion>, LockedError> {
    let pattern = pattern(locked)?;
    let (package, file) = (locked.package.clone(), locked.file.clone());
    let text = match files::read_text(&dir.join(&file)) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(LockedError::Read { file, source }),
    };
    let groups = pattern
        .captures_iter(&text)
        .filter_map(|found| found.get(1));
    let mut versions = groups
        .map(|group| group.as_str())
        .filter(|version| !version.is_empty());
    let Some(first) = versions.next() else {
        return Err(LockedError::Missing { package, file });
    };
    match versions.find(|version| *version != first) {
        None => Ok(Some(FoundVersion {
            name: package,
            version: first.to_owned(),
        })),
        Some(second) => Err(LockedError::Several {
            package,
            file,
            first: first.to_owned(),
            second: second.to_owned(),
        }),
    }
}

/// The pattern of `locked`, its own or that of a known lock file.
fn pattern(locked: &LockedPackage) -> Result<Regex, LockedError> {
    let pattern = match &locked.pattern {
        Some(pattern) => pattern.clone(),
        None => known_pattern(&locked.file, &locked.package)
            .ok_or_else(|| LockedError::UnknownFile(locked.file.clone()))?,
    };
    let regex = Regex::new(&pattern).map_err(|error| {
        // The lines before draw the pattern, as the manifest's mistake does.
        let error = error.to_string();
        let reason = error.lines().last().unwrap_or_default();
        let reason = reason.trim_start_matches("error: ");
        LockedError::Pattern(format!("is not a regular expression: {reason}"))
    })?;
    // The match as a whole counts as one.
    match regex.captures_len() - 1 {
        1 => Ok(regex),
        0 => Err(LockedError::Pattern("has no group".to_owned())),
        groups => Err(LockedError::Pattern(format!("has {groups} groups"))),
    }
}

fn known_pattern(file: &str, package: &str) -> Option<String> {
    let file = Path::new(file).file_name()?.to_str()?;
    let is_file = |known: &str| match known.strip_prefix('*') {
        Some(ending) => file.ends_with(ending),
        None => file == known,
    };
    let (_, pattern) = KNOWN.iter().find(|(known, _)| is_file(known))?;
    let package = regex::escape(package);
    let (group, artifact) = package.split_once(':').unwrap_or_default();
    let pattern = pattern.replace("{package}", &package);
    Some(
        pattern
            .replace("{group}", group)
            .replace("{artifact}", artifact),
    )
}
