//! What a stack finds here: its toolchain, the versions in its lock files, and whether that will do.

use deadheat_model::{TargetId, plan::Pinning, session::FoundVersion};

use super::{
    Host, apt,
    command::in_shell,
    locked::{self, LockedError},
    toolchain::{FoundProgram, UnfitProgram, check_program},
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

/// What was found for a stack.
#[derive(Debug)]
pub struct Inspection {
    /// Its programs, in the manifest's order.
    pub programs: Vec<Result<FoundProgram, UnfitProgram>>,
    /// Its locked packages, in the manifest's order; `None` for one whose version only a fetch brings.
    pub locked: Vec<Result<Option<FoundVersion>, LockedError>>,
}

/// Asks the toolchain and the lock files of `stack`. This runs commands, so it is done once for all its variants.
pub fn inspect(host: &Host<'_>, stack: &Stack) -> Inspection {
    let toolchain = stack.manifest.toolchain.iter();
    Inspection {
        programs: toolchain
            .map(|toolchain| check_program(host, &stack.dir, toolchain))
            .collect(),
        locked: locked_versions(stack),
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

    /// All versions found: programs, then packages.
    pub fn versions(&self) -> Vec<FoundVersion> {
        let programs = self.programs.iter().flatten().map(|found| FoundVersion {
            name: found.program.clone(),
            version: found.version.clone(),
        });
        let locked = self.locked.iter().flatten().flatten().cloned();
        programs.chain(locked).collect()
    }

    /// Locked packages whose version was not found, a sentence each. That does not keep a stack from running.
    pub fn problems(&self) -> Vec<String> {
        let errors = self.locked.iter().filter_map(|found| found.as_ref().err());
        errors.map(LockedError::to_string).collect()
    }

    /// Whether the toolchain is complete.
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
        self.unfit(host).or_else(|| {
            let variant = stack.manifest.variant_of(target)?;
            too_few_cpus(variant.cpus?, pinning)
        })
    }

    fn unfit(&self, host: &Host<'_>) -> Option<Unavailable> {
        let unfit: Vec<&UnfitProgram> = self
            .programs
            .iter()
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
