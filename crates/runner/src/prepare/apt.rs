//! Debian's packages: which are installed, and how more of them come here.

use std::{path::Path, time::Duration};

use super::{Host, command::output};

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
        let line = format!("{} installed", package.split(':').next().unwrap_or(package));
        listed.lines().any(|listed| listed == line)
    };
    packages
        .iter()
        .filter(|package| !is_installed(package))
        .cloned()
        .collect()
}

/// `packages`, where installing them would change something: there is apt, and not all of them are installed.
pub(super) fn that_would_help(host: &Host<'_>, packages: &[String]) -> Vec<String> {
    if is_here(host) && !missing(host, packages).is_empty() {
        packages.to_vec()
    } else {
        Vec::new()
    }
}

/// The command that installs `packages`, without asking.
pub(super) fn install(packages: &[String]) -> Vec<String> {
    let mut command = words(&["apt-get", "install", "-y", "--no-install-recommends"]);
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
