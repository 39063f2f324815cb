//! What `deadheat setup` would do, as a value: it can be printed before anything is done.
//!
//! Debian's packages may start services, and `postgresql` also makes a database cluster and starts it at every boot. Both
//! would run during measurements. So while packages are installed there is a `/usr/sbin/policy-rc.d` that forbids
//! services to start (invoke-rc.d(8)), and a file in `/etc/postgresql-common/createcluster.d` that turns the
//! cluster off (pg_createcluster(1)). Both are deleted afterwards, and whatever was there before is left alone.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt, fs,
    path::PathBuf,
};

use super::{
    Host, Inspection, Privilege,
    apt::{self, words},
    command::in_shell,
    stamp,
};
use crate::manifest::Stack;

/// Stands in the files that setup makes for a while, so that one that was left behind is known again.
const MARK: &str = "made by deadheat setup";
const POLICY_FILE: &str = "/usr/sbin/policy-rc.d";
const CLUSTER_FILE: &str = "/etc/postgresql-common/createcluster.d/deadheat.conf";

/// Whether a database has to be here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DatabaseNeed {
    /// No workload asks for one, or its URL is given.
    None,
    /// One is started from installed binaries.
    Binaries,
}

/// What a stack needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StackNeed {
    /// Its id.
    pub stack: String,
    /// Its folder.
    pub dir: PathBuf,
    /// Debian packages that are missing.
    pub packages: Vec<String>,
    /// What is missing and what no package brings: the reason and what to do.
    pub beyond_reach: Vec<String>,
    /// Commands that bring its dependencies; none when they are here.
    pub fetch: Vec<Vec<String>>,
}

/// What there is to do, before it is decided how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetupNeeds {
    /// How packages can be installed; `None` without apt.
    pub apt: Option<Privilege>,
    /// Whether somebody else's policy says already which services may start; it stays.
    pub foreign_policy: bool,
    /// Files that a setup left behind when it was killed.
    pub leftovers: Vec<String>,
    /// Whether PostgreSQL is missing.
    pub postgres: bool,
    /// What each stack needs.
    pub stacks: Vec<StackNeed>,
}

/// A command of a setup.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetupStep {
    /// The command, with sudo where that is needed.
    pub command: Vec<String>,
    /// Its working folder.
    pub dir: PathBuf,
    /// What for.
    pub why: String,
}

/// What a setup does, in this order: the guards, the packages, the clean-up, the fetches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SetupPlan {
    /// Whether a person has to run the steps with packages.
    pub by_hand: bool,
    /// What keeps packages from starting services.
    pub guards: Vec<SetupStep>,
    /// Bringing the list of packages up to date.
    pub update: Option<SetupStep>,
    /// All packages at once.
    pub install: Option<SetupStep>,
    /// The same for each stack: for when one package spoils the whole.
    pub one_by_one: Vec<SetupStep>,
    /// Taking the guards away.
    pub cleanup: Vec<SetupStep>,
    /// Fetches, one or more a stack.
    pub fetch: Vec<(String, SetupStep)>,
    /// What a setup cannot do, a sentence each.
    pub notes: Vec<String>,
}

/// Looks at what `stacks` and the database need on this machine. Changes nothing.
pub fn assess(
    host: &Host<'_>,
    stacks: &[(&Stack, &Inspection)],
    database: DatabaseNeed,
) -> SetupNeeds {
    let has_apt = apt::is_here(host);
    SetupNeeds {
        apt: has_apt.then(|| apt::privilege(host)),
        foreign_policy: read_system(host, POLICY_FILE).is_some_and(|text| !text.contains(MARK)),
        leftovers: leftovers(host),
        postgres: database == DatabaseNeed::Binaries && !has_postgres(host),
        stacks: stacks
            .iter()
            .map(|(stack, inspection)| stack_need(host, has_apt, stack, inspection))
            .collect(),
    }
}

fn stack_need(host: &Host<'_>, has_apt: bool, stack: &Stack, inspection: &Inspection) -> StackNeed {
    let mut packages = Vec::new();
    let mut beyond_reach = Vec::new();
    for unfit in inspection
        .programs
        .iter()
        .filter_map(|found| found.as_ref().err())
    {
        if unfit.packages.is_empty() {
            beyond_reach.push(format!("{}: {}", unfit.reason, unfit.hint));
        }
        packages.extend(unfit.packages.iter().cloned());
    }
    if has_apt {
        packages.extend(apt::missing(host, &stack.manifest.build.apt));
    }
    packages.sort();
    packages.dedup();
    // A fingerprint that cannot be taken is no reason not to fetch; the fetch will say what is wrong.
    let fingerprint = stamp::fingerprint(stack, inspection).unwrap_or_default();
    let fetched = stamp::is_fetched(stack, &fingerprint);
    StackNeed {
        stack: stack.manifest.id.clone(),
        dir: stack.dir.clone(),
        packages,
        beyond_reach,
        fetch: if fetched {
            Vec::new()
        } else {
            stack.manifest.build.fetch.clone()
        },
    }
}

/// What stands in a file of the system; an empty text when it is there and cannot be read.
fn read_system(host: &Host<'_>, file: &str) -> Option<String> {
    let path = host.system.join(file.trim_start_matches('/'));
    path.exists()
        .then(|| fs::read_to_string(path).unwrap_or_default())
}

fn leftovers(host: &Host<'_>) -> Vec<String> {
    let ours = |file: &&str| read_system(host, file).is_some_and(|text| text.contains(MARK));
    [POLICY_FILE, CLUSTER_FILE]
        .into_iter()
        .filter(ours)
        .map(str::to_owned)
        .collect()
}

/// Whether a server's binaries are installed: where Debian puts them, or on the PATH.
fn has_postgres(host: &Host<'_>) -> bool {
    let versions = fs::read_dir(host.system.join("usr/lib/postgresql"));
    let mut versions = versions.into_iter().flatten().flatten();
    let in_debians = |version: fs::DirEntry| version.path().join("bin/initdb").exists();
    let root = std::path::Path::new("/");
    versions.any(in_debians) || host.find("initdb", root).is_some()
}

impl SetupPlan {
    /// Decides what to do about `needs`.
    pub fn new(needs: &SetupNeeds) -> Self {
        let mut plan = Self::default();
        for need in &needs.stacks {
            for missing in &need.beyond_reach {
                plan.notes.push(format!("{}: {missing}", need.stack));
            }
            plan.fetch.extend(need.fetch.iter().map(|command| {
                let step = SetupStep {
                    command: command.clone(),
                    dir: need.dir.clone(),
                    why: format!("the dependencies of {}", need.stack),
                };
                (need.stack.clone(), step)
            }));
        }
        match needs.apt {
            Some(privilege) => plan.add_packages(needs, privilege),
            None if needs.postgres => {
                let note =
                    "PostgreSQL: there is no apt here; install it, or give a URL with --postgres";
                plan.notes.push(note.to_owned());
            }
            None => {}
        }
        plan
    }

    /// Whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.steps().is_empty()
    }

    /// All commands in their order.
    pub fn steps(&self) -> Vec<&SetupStep> {
        let packages = self.update.iter().chain(&self.install);
        let fetches = self.fetch.iter().map(|(_, step)| step);
        let before = self.guards.iter().chain(packages);
        before.chain(&self.cleanup).chain(fetches).collect()
    }

    fn add_packages(&mut self, needs: &SetupNeeds, privilege: Privilege) {
        let as_root = |command: &[String], why: String| SetupStep {
            command: with_privilege(privilege, command),
            dir: PathBuf::from("/"),
            why,
        };
        self.by_hand = privilege == Privilege::ByHand;
        let wanted = wanted_packages(needs);
        let guards = if wanted.is_empty() {
            Vec::new()
        } else {
            guards_for(needs)
        };
        for guard in &guards {
            let step = as_root(&words(&["sh", "-c", &guard.script]), guard.why.to_owned());
            self.guards.push(step);
        }
        let made = guards.iter().map(|guard| guard.file.to_owned());
        let files: BTreeSet<String> = made.chain(needs.leftovers.iter().cloned()).collect();
        for file in &files {
            let why = "only needed while packages are installed";
            self.cleanup
                .push(as_root(&words(&["rm", "-f", file]), why.to_owned()));
        }
        if wanted.is_empty() {
            return;
        }
        self.update = Some(as_root(
            &apt_get(&words(&["apt-get", "update"])),
            "the list of packages that there are".to_owned(),
        ));
        let packages: Vec<String> = wanted.keys().cloned().collect();
        self.install = Some(as_root(
            &apt_get(&apt::install(&packages)),
            describe(&wanted),
        ));
        let mut groups: BTreeMap<&Vec<String>, Vec<String>> = BTreeMap::new();
        for (package, users) in &wanted {
            groups.entry(users).or_default().push(package.clone());
        }
        for (users, packages) in groups {
            let step = as_root(&apt_get(&apt::install(&packages)), users.join(", "));
            self.one_by_one.push(step);
        }
    }
}

/// A file that is there while packages are installed.
struct Guard {
    file: &'static str,
    script: String,
    why: &'static str,
}

fn guards_for(needs: &SetupNeeds) -> Vec<Guard> {
    let mut guards = Vec::new();
    if !needs.foreign_policy {
        guards.push(Guard {
            file: POLICY_FILE,
            script: format!(
                "printf \"#!/bin/sh\\n# {MARK}\\nexit 101\\n\" > {POLICY_FILE} && chmod 755 {POLICY_FILE}"
            ),
            why: "packages must not start services",
        });
    }
    if needs.postgres {
        let folder = CLUSTER_FILE
            .rsplit_once('/')
            .map_or("", |(folder, _)| folder);
        guards.push(Guard {
            file: CLUSTER_FILE,
            script: format!(
                "mkdir -p {folder} && printf \"# {MARK}\\ncreate_main_cluster = false\\n\" > {CLUSTER_FILE}"
            ),
            why: "PostgreSQL's package must not make and start a cluster of its own",
        });
    }
    guards
}

/// Packages, each with those who want it.
fn wanted_packages(needs: &SetupNeeds) -> BTreeMap<String, Vec<String>> {
    let mut wanted: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for need in &needs.stacks {
        for package in &need.packages {
            let users = wanted.entry(package.clone()).or_default();
            users.push(need.stack.clone());
        }
    }
    if needs.postgres {
        let users = wanted.entry("postgresql".to_owned()).or_default();
        users.push("the database".to_owned());
    }
    wanted
}

fn describe(wanted: &BTreeMap<String, Vec<String>>) -> String {
    let of_each = wanted
        .iter()
        .map(|(package, users)| format!("{package} for {}", users.join(", ")));
    of_each.collect::<Vec<_>>().join("; ")
}

/// apt without questions.
fn apt_get(command: &[String]) -> Vec<String> {
    let mut all = words(&["env", "DEBIAN_FRONTEND=noninteractive"]);
    all.extend_from_slice(command);
    all
}

fn with_privilege(privilege: Privilege, command: &[String]) -> Vec<String> {
    let prefix: &[&str] = match privilege {
        Privilege::Root => &[],
        Privilege::Sudo => &["sudo", "-n"],
        Privilege::ByHand => &["sudo"],
    };
    let mut all = words(prefix);
    all.extend_from_slice(command);
    all
}

impl fmt::Display for SetupStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let command = in_shell(&self.command);
        if self.dir.as_os_str() == "/" {
            write!(f, "{command}  # {}", self.why)
        } else {
            let dir = in_shell(&[self.dir.display().to_string()]);
            write!(f, "(cd {dir} && {command})  # {}", self.why)
        }
    }
}

/// The commands in their order, a line each, then what a setup cannot do.
impl fmt::Display for SetupPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for step in self.steps() {
            writeln!(f, "{step}")?;
        }
        for note in &self.notes {
            writeln!(f, "# not done here: {note}")?;
        }
        Ok(())
    }
}
