//! What a stack finds here: its toolchain, the versions in its lock files, and whether that will do.

use std::{
    collections::{BTreeMap, btree_map::Entry},
    path::Path,
};

use deadheat_model::{
    TargetId,
    plan::Pinning,
    session::FoundVersion,
    stack::{Runtime, RuntimeFrom, Toolchain},
};

use super::{
    Host, apt,
    command::in_shell,
    locked::{self, LockedError},
    toolchain::{FoundProgram, UnfitProgram, check_program},
    version::compare,
};
use crate::manifest::Stack;

/// Why a stack cannot be measured here, and what would change that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unavailable {
    /// What is missing.
    pub reason: String,
    /// The command that would change that, or where to get it.
    pub remedy: String,
}

/// A program that will do, or why there is none.
pub type Program = Result<FoundProgram, UnfitProgram>;

/// What was found for a stack.
#[derive(Debug)]
pub struct Inspection {
    /// Its programs, in the manifest's order.
    pub programs: Vec<Program>,
    /// The programs that a variant alone needs, by the variant's id.
    pub of_variants: BTreeMap<String, Vec<Program>>,
    /// Its locked packages, in the manifest's order; `None` for one whose version only a fetch brings.
    pub locked: Vec<Result<Option<FoundVersion>, LockedError>>,
}

/// Asks the toolchains of `stack` and of all its variants, and its lock files. This runs commands, each of them once.
pub fn inspect(host: &Host<'_>, stack: &Stack) -> Inspection {
    let mut asked = Asked {
        host,
        dir: &stack.dir,
        answers: BTreeMap::new(),
    };
    let programs = asked.all(&stack.manifest.toolchain);
    let variants = stack.manifest.variant.iter();
    Inspection {
        programs,
        of_variants: variants
            .map(|variant| (variant.id.clone(), asked.all(&variant.toolchain)))
            .collect(),
        locked: locked_versions(stack),
    }
}

/// Programs that were asked their version. Several variants may need the same one.
struct Asked<'a> {
    host: &'a Host<'a>,
    dir: &'a Path,
    /// By everything that their toolchain's section says.
    answers: BTreeMap<String, Program>,
}

impl Asked<'_> {
    fn all(&mut self, toolchains: &[Toolchain]) -> Vec<Program> {
        toolchains.iter().map(|one| self.one(one)).collect()
    }

    fn one(&mut self, toolchain: &Toolchain) -> Program {
        match self.answers.entry(format!("{toolchain:?}")) {
            Entry::Occupied(known) => known.get().clone(),
            Entry::Vacant(new) => {
                let program = check_program(self.host, self.dir, toolchain);
                new.insert(program).clone()
            }
        }
    }
}

fn locked_versions(stack: &Stack) -> Vec<Result<Option<FoundVersion>, LockedError>> {
    let locked = stack.manifest.locked.iter();
    locked
        .map(|package| locked::find_version(&stack.dir, package))
        .collect()
}

impl Inspection {
    /// Reads the lock files again, because a fetch may bring some, and write others.
    pub fn read_locked_again(&mut self, stack: &Stack) {
        self.locked = locked_versions(stack);
    }

    /// All versions found for `target`: programs of the stack and of the variant, then packages.
    pub fn versions(&self, target: &TargetId) -> Vec<FoundVersion> {
        let found = self.programs_of(target).filter_map(|one| one.as_ref().ok());
        let programs = found.map(|found| FoundVersion {
            name: found.program.clone(),
            version: found.version.clone(),
        });
        let locked = self.locked.iter().flatten().flatten().cloned();
        programs.chain(locked).collect()
    }

    /// How the code of `target` is executed with the programs that were found: as its variant says, else as the last
    /// version of the manifest's list that was reached, else as the stack says.
    pub fn runtime(&self, stack: &Stack, target: &TargetId) -> Runtime {
        let manifest = &stack.manifest;
        let variant = manifest.variant_of(target);
        let reached = |from: &&RuntimeFrom| {
            let mut found = self.programs.iter().flatten();
            let found = found.find(|found| found.program == from.program);
            found.is_some_and(|found| compare(&found.version, &from.version).is_ge())
        };
        let by_version = manifest.runtime_from.iter().rfind(reached);
        variant
            .and_then(|variant| variant.runtime)
            .or(by_version.map(|from| from.runtime))
            .unwrap_or(manifest.runtime)
    }

    /// The programs that `target` needs: the stack's, then the variant's own.
    pub fn programs_of(&self, target: &TargetId) -> impl Iterator<Item = &Program> {
        let own = target.variant.as_ref();
        let own = own.and_then(|variant| self.of_variants.get(variant));
        self.programs.iter().chain(own.into_iter().flatten())
    }

    /// Whether the stack's toolchain is complete. (A variant's own programs are not needed to fetch and build.)
    pub fn is_complete(&self) -> bool {
        self.programs.iter().all(Result::is_ok)
    }

    /// Why `target` of `stack` cannot be measured here with the CPUs shared out as `pinning` says; `None`: it can.
    pub fn availability(
        &self,
        host: &Host<'_>,
        stack: &Stack,
        target: &TargetId,
        pinning: &Pinning,
    ) -> Option<Unavailable> {
        self.unfit(host, target).or_else(|| {
            let variant = stack.manifest.variant_of(target)?;
            too_few_cpus(variant.cpus?, pinning)
        })
    }

    fn unfit(&self, host: &Host<'_>, target: &TargetId) -> Option<Unavailable> {
        let unfit: Vec<&UnfitProgram> = self
            .programs_of(target)
            .filter_map(|found| found.as_ref().err())
            .collect();
        if unfit.is_empty() {
            return None;
        }
        let reasons: Vec<&str> = unfit.iter().map(|unfit| unfit.reason.as_str()).collect();
        Some(Unavailable {
            reason: reasons.join("; "),
            remedy: joint_remedy(host, &unfit),
        })
    }
}

/// One command for all where packages help all of them, otherwise one remedy after the other.
fn joint_remedy(host: &Host<'_>, unfit: &[&UnfitProgram]) -> String {
    if unfit.len() > 1 && unfit.iter().all(|unfit| !unfit.packages.is_empty()) {
        let mut packages: Vec<String> = Vec::new();
        for package in unfit.iter().flat_map(|unfit| &unfit.packages) {
            if !packages.contains(package) {
                packages.push(package.clone());
            }
        }
        return in_shell(&apt::install_by_hand(host, &packages));
    }
    let mut remedies: Vec<String> = unfit.iter().map(|unfit| unfit.remedy(host)).collect();
    remedies.dedup();
    remedies.join("; ")
}

fn too_few_cpus(wanted: u32, pinning: &Pinning) -> Option<Unavailable> {
    let given = pinning.server_cpus();
    if wanted as usize <= given {
        return None;
    }
    Some(match pinning {
        Pinning::Apart { .. } => Unavailable {
            reason: format!(
                "made for {wanted} CPUs; pinned apart, this machine gives the server {given}"
            ),
            remedy: "--pinning off, or a machine with more CPUs".to_owned(),
        },
        Pinning::Off { .. } => Unavailable {
            reason: format!("made for {wanted} CPUs; this machine has {given}"),
            remedy: "a machine with more CPUs".to_owned(),
        },
    })
}
