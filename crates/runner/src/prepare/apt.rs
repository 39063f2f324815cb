//! Debian's packages: which are installed, and how more of them come here.

use std::{env, fs, path::Path, time::Duration};

use deadheat_model::stack::Toolchain;

use super::{
    Host, SetupStep,
    advice::{Cause, off_the_path},
    command::output,
    version::{is_too_new, is_too_old},
};

/// The time limit of queries to dpkg and sudo, which usually take milliseconds.
const QUERY_LIMIT: Duration = Duration::from_secs(20);

/// The privilege with which packages can be installed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Privilege {
    /// We are root.
    Root,
    /// sudo asks for no password.
    Sudo,
    /// Neither, so the user has to run the commands.
    ByHand,
}

/// Whether apt and dpkg are installed.
pub(super) fn is_here(host: &Host<'_>) -> bool {
    let root = Path::new("/");
    ["apt-get", "dpkg-query"]
        .iter()
        .all(|program| host.find(program, root).is_some())
}

/// The privilege of the current user.
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

/// The packages that are not installed. All of them if dpkg cannot be queried.
pub(super) fn missing(host: &Host<'_>, packages: &[String]) -> Vec<String> {
    if packages.is_empty() {
        return Vec::new();
    }
    let mut query = words(&["dpkg-query", "-W", "-f=${Package} ${db:Status-Status}\\n"]);
    query.extend_from_slice(packages);
    // The query fails if one of the packages is unknown, but still lists the others.
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

/// The packages of `toolchain`, where installing them would change something: there is apt, they are not installed or
/// can be brought up to date, the one that is called like the program is not known to be too old or too new in this
/// Debian, and the program that is found first would be theirs.
pub(super) fn that_would_help(
    host: &Host<'_>,
    toolchain: &Toolchain,
    cause: Cause<'_>,
) -> Vec<String> {
    let packages = &toolchain.apt;
    if packages.is_empty() || !is_here(host) {
        return Vec::new();
    }
    let would_be_found = match cause {
        Cause::Missing => off_the_path(host, &toolchain.program).is_none(),
        Cause::TooOld(path, _) | Cause::TooNew(path) | Cause::Broken(path, _) => {
            toolchain.program.contains('/') || comes_before(host, path)
        }
    };
    let candidate = candidate_of(host, toolchain);
    let fits = candidate
        .as_ref()
        .is_none_or(|version| !is_too_old(version, toolchain) && !is_too_new(version, toolchain));
    if !would_be_found || !fits {
        return Vec::new();
    }
    let can_be_newer = matches!(cause, Cause::TooOld(..)) && candidate.is_some();
    if can_be_newer || !missing(host, packages).is_empty() {
        packages.clone()
    } else {
        Vec::new()
    }
}

/// Whether what Debian's packages bring is found before, or instead of, the program at `path`.
fn comes_before(host: &Host<'_>, path: &Path) -> bool {
    let is_debians = |folder: &Path| {
        let folder = folder.strip_prefix(&host.system).unwrap_or(folder);
        ["usr/bin", "bin", "usr/sbin", "sbin", "usr/games"]
            .iter()
            .any(|one| folder == Path::new(one))
    };
    let folder = path.parent();
    let mut folders = env::split_paths(&host.path);
    folders
        .find(|one| is_debians(one) || Some(one.as_path()) == folder)
        .is_some_and(|first| is_debians(&first))
}

/// The version of the package that brings the program (`nodejs` for `node`), if apt knows one. Packages with other names
/// (`default-jdk-headless` for `java`) may count their versions in their own way.
fn candidate_of(host: &Host<'_>, toolchain: &Toolchain) -> Option<String> {
    let mut packages = toolchain.apt.iter();
    let namesake = packages.find(|package| package.starts_with(&toolchain.program))?;
    candidate(host, namesake)
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

/// Whether this is the name of a package by Debian's policy (§ 5.6.7, § 5.6.1). Anything else could be an option, a file
/// or a pattern of apt, which root runs. A name that ends in `-` would be a package to remove (apt-get(8)).
pub fn is_package_name(name: &str) -> bool {
    let is_letter = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    name.len() >= 2
        && name.starts_with(is_letter)
        && !name.ends_with('-')
        && name.chars().all(|c| is_letter(c) || "+-.".contains(c))
}

/// Those of `packages` that apt does not know by exactly this name. It takes `perl.` for a pattern and `perl+` for
/// `perl`, if there are no packages with these names.
pub(super) fn unknown(host: &Host<'_>, packages: &[String]) -> Vec<String> {
    let is_unknown = |package: &&String| {
        let query = words(&["apt-cache", "pkgnames", package]);
        let (names, _) = output(host, &query, Path::new("/"), QUERY_LIMIT);
        !is_package_name(package) || !names.lines().any(|name| name == package.as_str())
    };
    packages.iter().filter(is_unknown).cloned().collect()
}

/// A step of [`install`] without some packages; `None` if there would be none left.
pub(super) fn without(step: &SetupStep, packages: &[String]) -> Option<SetupStep> {
    let start = 1 + step.command.iter().position(|word| word == SEPARATOR)?;
    let (before, names) = step.command.split_at(start);
    let left: Vec<String> = names
        .iter()
        .filter(|name| !packages.contains(name))
        .cloned()
        .collect();
    (!left.is_empty()).then(|| SetupStep {
        command: [before, &left].concat(),
        ..step.clone()
    })
}

/// What ends the options of apt-get.
const SEPARATOR: &str = "--";

/// The command that installs `packages`, without asking. It removes none, and takes no name for a pattern.
pub(super) fn install(packages: &[String]) -> Vec<String> {
    let mut command = words(&[
        "apt-get",
        "install",
        "-y",
        "--no-install-recommends",
        "--no-remove",
        "-oAPT::Cmd::Pattern-Only=true",
        SEPARATOR,
    ]);
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

/// The mark in temporary files of a setup, by which a leftover file is recognised.
const MARK: &str = "made by deadheat setup";
const POLICY_FILE: &str = "/usr/sbin/policy-rc.d";
const CLUSTER_FILE: &str = "/etc/postgresql-common/createcluster.d/deadheat.conf";

/// A file that is there while packages are installed, so that they run no services.
///
/// A package with a service (nginx, php-fpm, postgresql) starts it when it is installed, and has it started at every boot.
/// `postgresql` also makes a database cluster. All that would run during measurements. So while packages are installed
/// there is a `/usr/sbin/policy-rc.d` that forbids services to start: invoke-rc.d(8) and deb-systemd-invoke(1p) ask it. A
/// file in `/etc/postgresql-common/createcluster.d` turns the cluster off (pg_createcluster(1)). After the packages,
/// systemctl(1) disables again the services that they enabled: the links below `/etc/systemd/system` that are younger
/// than the policy. In the end both files are deleted. Whatever was there before is left alone. Somebody else's policy,
/// as container images have, decides for itself which services run.
pub(super) struct Guard {
    pub(super) file: &'static str,
    /// Makes it.
    pub(super) script: String,
    pub(super) why: &'static str,
    /// Runs after the packages, while the file is still there.
    pub(super) afterwards: Option<UndoScript>,
}

/// A script that undoes side effects of installed packages.
pub(super) struct UndoScript {
    pub(super) script: String,
    pub(super) why: &'static str,
}

/// Services do not start, neither now nor at the next boot.
pub(super) fn no_services() -> Guard {
    Guard {
        file: POLICY_FILE,
        script: format!(
            "printf \"#!/bin/sh\\n# {MARK}\\nexit 101\\n\" > {POLICY_FILE} && chmod 755 {POLICY_FILE}"
        ),
        why: "packages must not start services",
        afterwards: Some(UndoScript {
            script: format!(
                "! command -v systemctl > /dev/null || \
                 find /etc/systemd/system -type l -path \"*.wants/*\" -newer {POLICY_FILE} -printf \"%f\\n\" | \
                 sort -u | xargs -r systemctl disable"
            ),
            why: "services that came along must not start at boot either (`systemctl enable NAME` for one that you want)",
        }),
    }
}

/// PostgreSQL's package makes no cluster.
pub(super) fn no_cluster() -> Guard {
    let folder = CLUSTER_FILE
        .rsplit_once('/')
        .map_or("", |(folder, _)| folder);
    Guard {
        file: CLUSTER_FILE,
        script: format!(
            "mkdir -p {folder} && printf \"# {MARK}\\ncreate_main_cluster = false\\n\" > {CLUSTER_FILE}"
        ),
        why: "PostgreSQL's package must not make and start a cluster of its own",
        afterwards: None,
    }
}

/// Whether somebody else's policy says already which services may start.
pub(super) fn has_foreign_policy(host: &Host<'_>) -> bool {
    read_system(host, POLICY_FILE).is_some_and(|text| !text.contains(MARK))
}

/// Files that a setup left behind when it was killed.
pub(super) fn leftovers(host: &Host<'_>) -> Vec<String> {
    let ours = |file: &&str| read_system(host, file).is_some_and(|text| text.contains(MARK));
    [POLICY_FILE, CLUSTER_FILE]
        .into_iter()
        .filter(ours)
        .map(str::to_owned)
        .collect()
}

/// The text of a system file; empty if it exists and cannot be read. `None` if it does not exist.
fn read_system(host: &Host<'_>, file: &str) -> Option<String> {
    let path = host.system.join(file.trim_start_matches('/'));
    path.exists()
        .then(|| fs::read_to_string(path).unwrap_or_default())
}
