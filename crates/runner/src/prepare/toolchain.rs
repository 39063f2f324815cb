//! A stack's programs: whether they are here, and in which version.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use deadheat_model::stack::Toolchain;

use super::{
    Host,
    advice::{Cause, advice, program_wanted, wanted},
    apt,
    command::{in_shell, output},
    version::{find_version, is_too_new, is_too_old},
};

/// Asking for a version takes a JVM a second; what takes much longer is stuck, or downloads something.
const VERSION_LIMIT: Duration = Duration::from_secs(20);

/// A usable program, or why it is missing or unusable.
pub type Program = Result<FoundProgram, UnfitProgram>;

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
    /// Why: missing, too old, too new, or it does not say its version.
    pub reason: String,
    /// Debian packages that would change that, where there is apt.
    pub packages: Vec<String>,
    /// What to do without packages: it fits the reason.
    pub advice: String,
}

impl UnfitProgram {
    /// What to do.
    pub fn remedy(&self, host: &Host<'_>) -> String {
        if self.packages.is_empty() {
            return self.advice.clone();
        }
        let command = in_shell(&apt::install_by_hand(host, &self.packages));
        format!("{command} (or: {})", self.advice)
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
    let unfit = |cause: Cause<'_>, reason: String| UnfitProgram {
        reason,
        packages: apt::that_would_help(host, toolchain, cause),
        advice: advice(host, dir, toolchain, cause),
    };
    let Some(path) = host.find(program, dir) else {
        let reason = format!("{} is not on the PATH", program_wanted(toolchain));
        return Err(unfit(Cause::Missing, reason));
    };
    let (text, outcome) = output(host, &toolchain.version, dir, VERSION_LIMIT);
    let broken = |why: String| Err(unfit(Cause::Broken(&path, &text), why));
    if let Err(error) = outcome {
        let said = complaint(&text).map_or(String::new(), |line| format!(": {line}"));
        return broken(format!("{program} does not work: {error}{said}"));
    }
    let Some(version) = find_version(&text) else {
        let command = in_shell(&toolchain.version);
        return broken(format!(
            "{program} does not work: `{command}` printed no version"
        ));
    };
    let wrong = |cause: Cause<'_>, how: &str| {
        let (path, wanted) = (path.display(), wanted(toolchain));
        let reason = format!("{program} {version} ({path}) is too {how}; {wanted} is needed");
        Err(unfit(cause, reason))
    };
    if is_too_old(&version, toolchain) {
        return wrong(Cause::TooOld(&path, &version), "old");
    }
    if is_too_new(&version, toolchain) {
        return wrong(Cause::TooNew(&path), "new");
    }
    Ok(FoundProgram {
        program: program.clone(),
        version,
        path,
    })
}

/// The line of `text` that says what is wrong: the first one that is no mere warning and no place in a program.
fn complaint(text: &str) -> Option<&str> {
    let lines = || text.lines().filter(|line| !line.trim().is_empty());
    let says_nothing = |line: &&str| {
        let is_warning = line.trim().to_lowercase().starts_with("warning");
        is_warning || line.starts_with([' ', '\t']) || line.starts_with("Traceback ")
    };
    let said = lines().find(|line| !says_nothing(line));
    said.or_else(|| lines().next()).map(str::trim)
}
