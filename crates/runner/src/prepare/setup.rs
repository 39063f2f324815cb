//! The plan of `deadheat setup` as a value, which can be printed before anything is done.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt, fs,
    path::PathBuf,
};

use deadheat_model::TargetId;

use super::{
    Host, Inspection, Privilege,
    apt::{self, Guard, words},
    command::in_shell,
    stamp,
};
use crate::manifest::Stack;

/// Whether PostgreSQL must be installed on this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DatabaseNeed {
    /// No workload needs it, or the user passed a URL.
    None,
    /// Deadheat starts a server from installed binaries.
    Binaries,
}

/// A stack that the user wants to run on this machine.
#[derive(Clone, Debug)]
pub struct ChosenStack<'a> {
    /// The stack.
    pub stack: &'a Stack,
    /// The results of inspecting its toolchain on this machine.
    pub inspection: &'a Inspection,
    /// The variants to run.
    pub targets: Vec<TargetId>,
}

/// The needs of a stack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StackNeed {
    /// Its id.
    pub stack: String,
    /// Its folder.
    pub dir: PathBuf,
    /// Debian packages that are missing.
    pub packages: Vec<String>,
    /// What is missing and is in no Debian package: the target that needs it (the stack, or a single variant), and a
    /// text with the reason and the remedy.
    pub beyond_reach: Vec<(TargetId, String)>,
    /// Commands that fetch its dependencies. Empty if they are fetched already, or if the stack's own toolchain is
    /// missing.
    pub fetch: Vec<Vec<String>>,
}

/// Everything that is missing on this machine, before it is decided how to install it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetupNeeds {
    /// The privilege with which packages can be installed; `None` without apt.
    pub apt: Option<Privilege>,
    /// Whether another `policy-rc.d` already decides which services may start. It is kept.
    pub foreign_policy: bool,
    /// Files that a setup left behind when it was killed.
    pub leftovers: Vec<String>,
    /// Whether PostgreSQL is missing.
    pub postgres: bool,
    /// Missing Debian packages that the user named.
    pub packages: Vec<String>,
    /// The needs of each stack.
    pub stacks: Vec<StackNeed>,
}

/// A command of a setup.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetupStep {
    /// The command, with sudo where that is needed.
    pub command: Vec<String>,
    /// Its working folder.
    pub dir: PathBuf,
    /// The purpose of the step.
    pub why: String,
}

/// The steps of a setup, in this order: guards, packages, undoing their side effects, cleanup, fetches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SetupPlan {
    /// Whether the user has to run the package steps.
    pub by_hand: bool,
    /// The names of the packages, in alphabetical order.
    pub packages: Vec<String>,
    /// Steps that prevent packages from starting services.
    pub guards: Vec<SetupStep>,
    /// Updates the list of packages.
    pub update: Option<SetupStep>,
    /// Installs all packages with one command.
    pub install: Option<SetupStep>,
    /// Installs packages stack by stack, if one package makes the common command fail.
    pub one_by_one: Vec<SetupStep>,
    /// Disables services that packages enabled in spite of the guards.
    pub afterwards: Vec<SetupStep>,
    /// Removes the guards.
    pub cleanup: Vec<SetupStep>,
    /// Fetches, one or more per stack.
    pub fetch: Vec<(String, SetupStep)>,
    /// Things that a setup cannot do, one sentence each.
    pub notes: Vec<String>,
}

/// Determines what `stacks`, the database and `packages` need on this machine. Changes nothing.
pub fn assess(
    host: &Host<'_>,
    stacks: &[ChosenStack<'_>],
    database: DatabaseNeed,
    packages: &[String],
) -> SetupNeeds {
    let has_apt = apt::is_here(host);
    SetupNeeds {
        apt: has_apt.then(|| apt::privilege(host)),
        foreign_policy: apt::has_foreign_policy(host),
        leftovers: apt::leftovers(host),
        postgres: database == DatabaseNeed::Binaries && !has_postgres(host),
        packages: if has_apt {
            apt::missing(host, packages)
        } else {
            packages.to_vec()
        },
        stacks: stacks
            .iter()
            .map(|chosen| stack_need(host, has_apt, chosen))
            .collect(),
    }
}

fn stack_need(host: &Host<'_>, has_apt: bool, chosen: &ChosenStack<'_>) -> StackNeed {
    let ChosenStack {
        stack,
        inspection,
        targets,
    } = chosen;
    let id = &stack.manifest.id;
    let mut packages = Vec::new();
    let mut beyond_reach = Vec::new();
    let of_variants = targets.iter().filter_map(|target| {
        Some((
            target,
            inspection.of_variants.get(target.variant.as_ref()?)?,
        ))
    });
    let whole = TargetId::new(id, None);
    let everything = [(&whole, &inspection.programs)]
        .into_iter()
        .chain(of_variants);
    for (target, programs) in everything {
        for unfit in programs.iter().filter_map(|program| program.as_ref().err()) {
            if unfit.packages.is_empty() {
                let what = format!("{}; {}", unfit.reason, unfit.advice);
                beyond_reach.push((target.clone(), what));
            }
            packages.extend(unfit.packages.iter().cloned());
        }
    }
    if has_apt {
        packages.extend(apt::missing(host, &stack.manifest.build.apt));
    }
    packages.sort();
    packages.dedup();
    let hopeless = beyond_reach.iter().any(|(target, _)| *target == whole);
    if !has_apt && !stack.manifest.build.apt.is_empty() {
        let names = stack.manifest.build.apt.join(", ");
        let what = format!("there is no apt here; it needs what Debian calls {names}");
        beyond_reach.push((whole.clone(), what));
    }
    // If the fingerprint cannot be computed, fetch anyway. The fetch will report the error.
    let fingerprint = stamp::fingerprint(stack, inspection).unwrap_or_default();
    let fetched = stamp::is_fetched(stack, &fingerprint);
    StackNeed {
        stack: id.clone(),
        dir: stack.dir.clone(),
        packages,
        beyond_reach,
        fetch: if fetched || hopeless {
            Vec::new()
        } else {
            stack.manifest.build.fetch.clone()
        },
    }
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
            for (target, missing) in &need.beyond_reach {
                plan.notes.push(format!("{target}: {missing}"));
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
            None => plan.notes.extend(without_apt(needs)),
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
        let after = self.afterwards.iter().chain(&self.cleanup);
        before.chain(after).chain(fetches).collect()
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
            let script =
                |script: &str, why: &str| as_root(&words(&["sh", "-c", script]), why.to_owned());
            self.guards.push(script(&guard.script, guard.why));
            let afterwards = guard.afterwards.iter();
            self.afterwards
                .extend(afterwards.map(|after| script(&after.script, after.why)));
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
        if needs.foreign_policy {
            let note = "keeping packages from starting services, now and at boot: somebody else's \
                        /usr/sbin/policy-rc.d is there, and decides";
            self.notes.push(note.to_owned());
        }
        self.update = Some(as_root(
            &apt_get(&words(&["apt-get", "update"])),
            "the list of packages that there are".to_owned(),
        ));
        self.packages = wanted.keys().cloned().collect();
        self.install = Some(as_root(
            &apt_get(&apt::install(&self.packages)),
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

/// Needs that cannot be met without apt, one sentence each.
fn without_apt(needs: &SetupNeeds) -> impl Iterator<Item = String> {
    let postgres = "PostgreSQL: there is no apt here; install it, or give a URL with --postgres";
    let packages = needs.packages.iter();
    let named =
        packages.map(|package| format!("{package}: there is no apt here; install it by hand"));
    named.chain(needs.postgres.then(|| postgres.to_owned()))
}

fn guards_for(needs: &SetupNeeds) -> Vec<Guard> {
    let services = (!needs.foreign_policy).then(apt::no_services);
    let cluster = needs.postgres.then(apt::no_cluster);
    services.into_iter().chain(cluster).collect()
}

/// Packages, each with the names of the stacks that need it.
fn wanted_packages(needs: &SetupNeeds) -> BTreeMap<String, Vec<String>> {
    let mut wanted: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for need in &needs.stacks {
        for package in &need.packages {
            let users = wanted.entry(package.clone()).or_default();
            users.push(need.stack.clone());
        }
    }
    for package in &needs.packages {
        let users = wanted.entry(package.clone()).or_default();
        users.push("you, by name".to_owned());
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

/// An apt-get command that asks no questions.
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

/// The purpose as a comment, and the command on the next line. (Not after the command, because interactive zsh does not
/// support comments.)
impl fmt::Display for SetupStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let command = in_shell(&self.command);
        if self.dir.as_os_str() == "/" {
            write!(f, "# {}\n{command}", self.why)
        } else {
            let dir = in_shell(&[self.dir.display().to_string()]);
            write!(f, "# {}\n(cd {dir} && {command})", self.why)
        }
    }
}

/// The commands in order, followed by the things that a setup cannot do.
impl fmt::Display for SetupPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.by_hand && (self.install.is_some() || !self.cleanup.is_empty()) {
            writeln!(
                f,
                "# what needs root is left to you: sudo asks for a password, or is not here"
            )?;
        }
        for step in self.steps() {
            writeln!(f, "{step}")?;
        }
        for note in &self.notes {
            writeln!(f, "# not done here: {note}")?;
        }
        Ok(())
    }
}
