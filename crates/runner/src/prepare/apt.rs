//! Debian's packages: which are installed, and how more of them come here.

use std::{path::Path, time::Duration};

use deadheat_model::stack::Toolchain;

use super::{
    Host,
    command::output,
    version::{is_too_new, is_too_old},
};

/// Asking dpkg or sudo takes milliseconds.
const QUERY_LIMIT: Duration = Duration::from_secs(20);

/// How we may install packages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Privilege {
    /// We are root.
    Root,
    /// sudo asks for no password.
    Sudo,
    /// Neither: somebody else has to do it.
    ByHand,
}

/// Whether there are apt and dpkg.
pub(super) fn is_here(host: &Host<'_>) -> bool {
    let root = Path::new("/");
    ["apt-get", "dpkg-query"]
        .iter()
        .all(|program| host.find(program, root).is_some())
}

/// How packages can be installed.
pub(super) fn privilege(host: &Host<'_>) -> Privilege {
    if host.root {
        return Privilege::Root;
    }
    let probe = words(&["sudo", "-n", "true"]);
    match output(host, &probe, Path::new("/"), QUERY_LIMIT).1 {
        Ok(()) => Privilege::Sudo,
        Err(_) => Privilege::ByHand,
    }
}

/// Those of `packages` that are not installed. All of them when dpkg cannot be asked.
pub(super) fn missing(host: &Host<'_>, packages: &[String]) -> Vec<String> {
    if packages.is_empty() {
        return Vec::new();
    }
    let mut query = words(&["dpkg-query", "-W", "-f=${Package} ${db:Status-Status}\\n"]);
    query.extend_from_slice(packages);
    // It fails when one of the packages is not known, and lists the others all the same.
    let (listed, _) = output(host, &query, Path::new("/"), QUERY_LIMIT);
    let is_installed = |package: &String| {
        let line = format!("{package} installed");
        listed.lines().any(|listed| listed == line)
    };
    packages
        .iter()
        .filter(|package| !is_installed(package))
        .cloned()
        .collect()
}

/// The packages of `toolchain`, where installing them would change something: there is apt, not all of them are
/// installed, and the one that is called like the program is not known to be too old or too new in this Debian.
pub(super) fn that_would_help(host: &Host<'_>, toolchain: &Toolchain) -> Vec<String> {
    let packages = &toolchain.apt;
    if !is_here(host) || missing(host, packages).is_empty() || do_not_fit(host, toolchain) {
        return Vec::new();
    }
    packages.clone()
}

/// Whether the package that brings the program (`nodejs` for `node`) has an older or newer version than it needs.
/// Packages with other names (`default-jdk-headless` for `java`) may count their versions in their own way.
fn do_not_fit(host: &Host<'_>, toolchain: &Toolchain) -> bool {
    let mut packages = toolchain.apt.iter();
    let namesake = packages.find(|package| package.starts_with(&toolchain.program));
    let candidate = namesake.and_then(|package| candidate(host, package));
    candidate
        .is_some_and(|version| is_too_old(&version, toolchain) || is_too_new(&version, toolchain))
}

/// The version of `package` that apt would install; `None` when it knows none, as before its first update.
fn candidate(host: &Host<'_>, package: &str) -> Option<String> {
    let query = words(&["env", "LC_ALL=C", "apt-cache", "policy", package]);
    let (text, _) = output(host, &query, Path::new("/"), QUERY_LIMIT);
    let line = text
        .lines()
        .find_map(|line| line.trim().strip_prefix("Candidate: "))?;
    // "2:8.2+93": an epoch, then the version of the program (deb-version(7)).
    let version = line.rsplit(':').next().unwrap_or(line);
    version
        .starts_with(|c: char| c.is_ascii_digit())
        .then(|| version.to_owned())
}

/// The command that installs `packages`, without asking.
pub(super) fn install(packages: &[String]) -> Vec<String> {
    let mut command = words(&["apt-get", "install", "-y", "--no-install-recommends", "--"]);
    command.extend_from_slice(packages);
    command
}

/// The same for a person to type.
pub(super) fn install_by_hand(host: &Host<'_>, packages: &[String]) -> Vec<String> {
    let sudo = (!host.root).then(|| "sudo".to_owned());
    sudo.into_iter().chain(install(packages)).collect()
}

/// Owned words of a command.
pub(super) fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}
