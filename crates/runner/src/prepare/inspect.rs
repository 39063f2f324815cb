//! What a stack finds here: its toolchain, the versions in its lock files, and whether that will do.

use std::{collections::BTreeMap, sync::Arc};

use deadheat_model::{
    TargetId,
    plan::Pinning,
    session::FoundVersion,
    stack::{Runtime, RuntimeFrom, Toolchain},
};
use serde::Serialize;

use super::{
    Host, apt,
    command::in_shell,
    locked::{self, LockedError},
    toolchain::{Program, UnfitProgram, VersionProgress, VersionQuery, VersionScope, ask},
    version::compare,
};
use crate::manifest::Stack;

/// Why a stack cannot be measured here, and what would change that.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Unavailable {
    /// What is missing.
    pub reason: String,
    /// The command that would change that, or where to get it.
    pub remedy: String,
}

/// What was found for a stack.
#[derive(Clone, Debug)]
pub struct Inspection {
    /// Its programs, in the manifest's order.
    pub programs: Vec<Program>,
    /// The programs that a variant alone needs, by the variant's id.
    pub of_variants: BTreeMap<String, Vec<Program>>,
    /// Its locked packages, in the manifest's order; `None` for one whose version only a fetch brings.
    pub locked: Vec<Result<Option<FoundVersion>, Arc<LockedError>>>,
}

/// Asks the toolchains of `stack` and of all its variants, and its lock files. This runs commands, each of them once.
pub fn inspect(host: &Host<'_>, stack: &Stack) -> Inspection {
    let mut found = inspect_all(host, &[stack], &mut |_| {});
    found.remove(0)
}

/// The same for several stacks, in their order. Programs are asked at the same time, and once where the answer is the
/// same for several stacks; `tell` hears of what is still asked.
pub fn inspect_all(
    host: &Host<'_>,
    stacks: &[&Stack],
    tell: &mut dyn FnMut(&VersionProgress<'_>),
) -> Vec<Inspection> {
    let answers = ask(host, questions(stacks), tell);
    let of = |stack: &Stack, toolchains: &[Toolchain]| {
        let place = VersionScope::new(stack);
        let keys = toolchains.iter().map(|one| place.key(one));
        keys.filter_map(|key| answers.get(&key).cloned()).collect()
    };
    let inspected = stacks.iter().map(|stack| {
        let variants = stack.manifest.variant.iter();
        Inspection {
            programs: of(stack, &stack.manifest.toolchain),
            of_variants: variants
                .map(|variant| (variant.id.clone(), of(stack, &variant.toolchain)))
                .collect(),
            locked: locked_versions(stack),
        }
    });
    inspected.collect()
}

fn questions<'a>(stacks: &[&'a Stack]) -> Vec<VersionQuery<'a>> {
    let mut questions: BTreeMap<String, VersionQuery<'a>> = BTreeMap::new();
    for stack in stacks {
        let place = VersionScope::new(stack);
        let of_variants = stack.manifest.variant.iter().flat_map(|one| &one.toolchain);
        for toolchain in stack.manifest.toolchain.iter().chain(of_variants) {
            let key = place.key(toolchain);
            questions.entry(key.clone()).or_insert(VersionQuery {
                key,
                dir: &stack.dir,
                toolchain,
            });
        }
    }
    questions.into_values().collect()
}

fn locked_versions(stack: &Stack) -> Vec<Result<Option<FoundVersion>, Arc<LockedError>>> {
    let locked = stack.manifest.locked.iter();
    locked
        .map(|package| locked::find_version(&stack.dir, package).map_err(Arc::new))
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
    pub(crate) fn programs_of(&self, target: &TargetId) -> impl Iterator<Item = &Program> {
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
        self.unfit(host, target)
            .or_else(|| too_few_cpus(stack.manifest.cpus(target)?, pinning))
    }

    fn unfit(&self, host: &Host<'_>, target: &TargetId) -> Option<Unavailable> {
        let unfit: Vec<&UnfitProgram> = self
            .programs_of(target)
            .filter_map(|found| found.as_ref().err())
            .collect();
        if unfit.is_empty() {
            return None;
        }
        let mut reasons: Vec<&str> = Vec::new();
        for unfit in &unfit {
            add(&mut reasons, unfit.reason.as_str());
        }
        Some(Unavailable {
            reason: reasons.join("; "),
            remedy: joint_remedy(host, &unfit),
        })
    }
}

/// One command for all programs that packages bring, then what to do about the others.
fn joint_remedy(host: &Host<'_>, unfit: &[&UnfitProgram]) -> String {
    if let [one] = unfit {
        return one.remedy(host);
    }
    let mut packages: Vec<String> = Vec::new();
    for package in unfit.iter().flat_map(|unfit| &unfit.packages) {
        add(&mut packages, package.clone());
    }
    let mut remedies: Vec<String> = Vec::new();
    if !packages.is_empty() {
        remedies.push(in_shell(&apt::install_by_hand(host, &packages)));
    }
    for unfit in unfit.iter().filter(|unfit| unfit.packages.is_empty()) {
        add(&mut remedies, unfit.advice.clone());
    }
    remedies.join("; ")
}

/// Adds `value`, unless it is there already.
fn add<T: PartialEq>(list: &mut Vec<T>, value: T) {
    if !list.contains(&value) {
        list.push(value);
    }
}

fn too_few_cpus(wanted: u32, pinning: &Pinning) -> Option<Unavailable> {
    let given = pinning.server_cpus();
    if wanted as usize <= given {
        return None;
    }
    Some(match pinning {
        Pinning::Apart { .. } => Unavailable {
            reason: format!(
                "made for {wanted} CPUs; pinned apart, this machine has {given} for the server"
            ),
            remedy: "--pinning off, or a machine with more CPUs".to_owned(),
        },
        Pinning::Off { .. } => Unavailable {
            reason: format!("made for {wanted} CPUs; this machine has {given}"),
            remedy: "a machine with more CPUs".to_owned(),
        },
    })
}
