//! The versions of packages in lock files, which patterns find.

use std::{borrow::Cow, io, path::Path, sync::LazyLock};

use deadheat_model::{session::FoundVersion, stack::LockedPackage};
use regex::Regex;

use crate::files;

/// Known lock files by name, each with the regular expression that finds a version. `{package}` is replaced by the
/// package's name, `{group}` and `{artifact}` by the two parts of a Maven name. The first group that takes part in a
/// match is the version. A file that overrides a version elsewhere has several matches, or one that is not a version,
/// and needs its own pattern.
const KNOWN: [(&str, &str); 9] = [
    (
        "go.mod",
        r"(?m)^\s*(?:replace\s+)?{package}\s(?:.*\s)?(=>.*\S)|^\s*(?:require\s+)?{package}\s+v(\S+)",
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
        r"(?:<groupId>{group}</groupId>\s*<artifactId>{artifact}</artifactId>|<artifactId>{artifact}</artifactId>\s*<groupId>{group}</groupId>)\s*<version>\s*([^<]*?)\s*</version>",
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
        // The term ends with `}.`.
        r#"\{application,\s*'?{package}'?,(?:[^}]|\}+[^}.])*?\{vsn,\s*"([^"]+)""#,
    ),
];

/// Why the version of a locked package is not known.
#[derive(Debug, thiserror::Error)]
pub enum LockedError {
    /// It has no pattern, and the file is not a known one.
    #[error("`{0}` is not a known lock file")]
    UnknownFile(String),
    /// It lacks the colon between group and artifact.
    #[error("`{package}` is not a package of {file}: write `group:artifact`")]
    NoGroup {
        /// The package.
        package: String,
        /// The lock file.
        file: String,
    },
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
    /// What matches is not one version: a range, a variable, a replacement, or nothing.
    #[error("{file} has `{found}` for `{package}`, which is not a version")]
    NotAVersion {
        /// The package.
        package: String,
        /// The lock file.
        file: String,
        /// What matches.
        found: String,
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
pub(crate) fn known_files() -> impl Iterator<Item = &'static str> {
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
    let text = if file.ends_with(".xml") {
        without_comments(&text)
    } else {
        text.into()
    };
    let groups = pattern
        .captures_iter(&text)
        .filter_map(|found| found.iter().skip(1).flatten().next());
    let versions: Vec<&str> = groups.map(|group| group.as_str()).collect();
    if let Some(found) = versions.iter().find(|version| !is_version(version)) {
        let found = (*found).to_owned();
        return Err(LockedError::NotAVersion {
            package,
            file,
            found,
        });
    }
    let mut versions = versions.into_iter();
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

/// Whether this can be one version: ranges, variables and file names have other characters, or no digit.
fn is_version(text: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || ".+-_:~!".contains(c);
    text.contains(|c: char| c.is_ascii_digit()) && text.chars().all(is_part)
}

/// XML without its comments.
fn without_comments(text: &str) -> Cow<'_, str> {
    static COMMENT: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"(?s)<!--.*?(?:-->|\z)").expect("it is a regular expression"));
    COMMENT.replace_all(text, "")
}

/// The pattern of `locked`, its own or that of a known lock file.
fn pattern(locked: &LockedPackage) -> Result<Regex, LockedError> {
    let Some(pattern) = &locked.pattern else {
        let pattern = known_pattern(&locked.file, &locked.package)?;
        return Regex::new(&pattern).map_err(|error| LockedError::Pattern(error.to_string()));
    };
    let regex = Regex::new(pattern).map_err(|error| {
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

fn known_pattern(file: &str, package: &str) -> Result<String, LockedError> {
    let path = Path::new(file).file_name().and_then(|name| name.to_str());
    let is_file = |known: &str| match (path, known.strip_prefix('*')) {
        (Some(name), Some(ending)) => name.ends_with(ending),
        (name, _) => name == Some(known),
    };
    let (_, pattern) = KNOWN
        .iter()
        .find(|(known, _)| is_file(known))
        .ok_or_else(|| LockedError::UnknownFile(file.to_owned()))?;
    let halves = package.split_once(':');
    if halves.is_none() && pattern.contains("{group}") {
        return Err(LockedError::NoGroup {
            package: package.to_owned(),
            file: file.to_owned(),
        });
    }
    let (group, artifact) = halves.unwrap_or_default();
    Ok(pattern
        .replace("{package}", &regex::escape(package))
        .replace("{group}", &regex::escape(group))
        .replace("{artifact}", &regex::escape(artifact)))
}
