//! A stack's programs: whether they are here, and in which version.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use deadheat_model::stack::Toolchain;

use super::{
    Host, apt,
    command::{in_shell, output},
    version::{find_version, is_too_new, is_too_old},
};

/// Asking for a version takes a JVM a second; what takes much longer is stuck, or downloads something.
const VERSION_LIMIT: Duration = Duration::from_secs(20);

/// A program that will do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundProgram {
    /// Its name.
    pub program: String,
    /// Its version, as it prints it.
    pub version: String,
    /// Where it is.
    pub path: PathBuf,
}

/// A program that will not do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnfitProgram {
    /// Why: missing, too old, or it does not say its version.
    pub reason: String,
    /// Debian packages that would change that, where there is apt.
    pub packages: Vec<String>,
    /// Where else to get it.
    pub hint: String,
}

impl UnfitProgram {
    /// What to do.
    pub fn remedy(&self, host: &Host<'_>) -> String {
        if self.packages.is_empty() {
            return self.hint.clone();
        }
        let command = in_shell(&apt::install_by_hand(host, &self.packages));
        format!("{command} (or: {})", self.hint)
    }
}

/// Looks for `toolchain`'s program on the PATH and asks its version in the stack's folder `dir`.
///
/// # Errors
/// When it is missing, too old or does not say its version.
pub fn check_program(
    host: &Host<'_>,
    dir: &Path,
    toolchain: &Toolchain,
) -> Result<FoundProgram, UnfitProgram> {
    let program = &toolchain.program;
    let unfit = |reason: String| UnfitProgram {
        reason,
        packages: apt::that_would_help(host, toolchain),
        hint: toolchain.hint.clone(),
    };
    let wanted = wanted(toolchain);
    let wanted = if wanted.is_empty() {
        wanted
    } else {
        format!(" {wanted}")
    };
    let Some(path) = host.find(program, dir) else {
        return Err(unfit(format!("{program}{wanted} is not on the PATH")));
    };
    let (text, outcome) = output(host, &toolchain.version, dir, VERSION_LIMIT);
    if let Err(error) = outcome {
        let said = complaint(&text).map_or(String::new(), |line| format!(": {line}"));
        return Err(unfit(format!(
            "asking the version of {program}: {error}{said}"
        )));
    }
    let Some(version) = find_version(&text) else {
        let command = in_shell(&toolchain.version);
        return Err(unfit(format!(
            "asking the version of {program}: `{command}` printed none"
        )));
    };
    let wrong = |how: &str| {
        let (path, wanted) = (path.display(), self::wanted(toolchain));
        Err(unfit(format!(
            "{program} {version} ({path}) is too {how}; {wanted} is needed"
        )))
    };
    if is_too_old(&version, toolchain) {
        return wrong("old");
    }
    if is_too_new(&version, toolchain) {
        return wrong("new");
    }
    Ok(FoundProgram {
        program: program.clone(),
        version,
        path,
    })
}

/// "1.25 or later", "3.6 to 3.7", "at most 3.7"; empty if any version will do.
fn wanted(toolchain: &Toolchain) -> String {
    match (&toolchain.minimum, &toolchain.maximum) {
        (Some(minimum), Some(maximum)) => format!("{minimum} to {maximum}"),
        (Some(minimum), None) => format!("{minimum} or later"),
        (None, Some(maximum)) => format!("at most {maximum}"),
        (None, None) => String::new(),
    }
}

/// The line of `text` that says what is wrong: the first one that is no mere warning.
fn complaint(text: &str) -> Option<&str> {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines.clone().next();
    let is_warning = |line: &&str| line.to_lowercase().starts_with("warning");
    lines.find(|line| !is_warning(line)).or(first)
}
