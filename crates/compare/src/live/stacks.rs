//! Two stacks or variants, or two revisions of one: how each side is found, and measured.

use std::sync::atomic::{AtomicBool, Ordering};

use deadheat_bench::{
    doctor, meant, select,
    setup::{MissingStacks, looking},
};
use deadheat_model::{
    LoadPoint, TargetId,
    comparison::{Comparison, Contender, ContenderKind},
};
use deadheat_runner::{
    embedded::checksum_at,
    manifest::{Catalogue, LoadError, Reach, SelectedWorkload, Stack},
    process::Supervision,
    revision::{Checkout, Revision, RevisionError, same_sources},
    session::{self, SelectedTarget, SessionError, SessionOptions},
};
use deadheat_shell::{exit::CommandFailure, invocation, output};
use deadheat_stats::comparison::ComparisonAnalysis;

use super::{
    heats::{measure as measure_heats, not_measured},
    session as session_of,
};
use crate::{options::CompareArgs, resolve::StackAt};

/// The workload if none is named.
pub(crate) const WORKLOAD: &str = "plaintext";

pub(super) fn measure(
    a: &StackAt,
    b: &StackAt,
    args: &CompareArgs,
) -> Result<Option<ComparisonAnalysis>, CommandFailure> {
    let catalogue = select::catalogue(&args.stacks.place)?;
    let workloads = match args.stacks.workload.as_slice() {
        [] => vec![WORKLOAD.to_owned()],
        named => named.to_vec(),
    };
    // Before there is anything that a signal could leave behind.
    let interrupted = invocation::on_signals().map_err(CommandFailure::no_result)?;
    // Kept until the end: dropping `sides` deletes the checkouts of the revisions.
    let supervision = invocation::supervision();
    let sides = StackSides::find(&catalogue, [a, b], &supervision)?;
    if interrupted.load(Ordering::SeqCst) {
        return Err(not_measured(SessionError::Interrupted));
    }
    let selection = select::select(&catalogue, &[], &workloads, Reach::Defaults)?;
    let mut options = SessionOptions {
        postgres: select::postgres(args.stacks.postgres.as_deref().unwrap_or("auto"))?,
        ..session_of(
            &args.measure,
            true,
            SessionOptions::new(
                vec![sides.a.selected.clone(), sides.b.selected.clone()],
                selection.workloads,
                catalogue.workload("plaintext").cloned(),
                args.measure.heat.seed(),
                supervision,
            ),
        )?
    };
    check_common(&options, &sides)?;
    let refusal = refusal(&mut options, &interrupted);
    if !args.measure.heat.dry_run {
        if let Some(refusal) = refusal {
            return Err(refusal);
        }
        options.findings = doctor::before_a_run(&options);
    }
    let comparison = Comparison {
        a: sides.a.contender(),
        b: sides.b.contender(),
        slow_end: None,
        alike: sides.same_server_note(),
        is_change: false,
        decide: Default::default(),
        check: Default::default(),
    };
    let measured = measure_heats(comparison, options, args, &interrupted)?;
    // A dry run has printed its plan by now, and exits with the status of the comparison.
    refusal.map_or(Ok(measured), Err)
}

/// Looks for the toolchains of both. Returns why the comparison ends before anything is built: a side cannot be
/// measured.
fn refusal(options: &mut SessionOptions, interrupted: &AtomicBool) -> Option<CommandFailure> {
    let missing = looking(2, |tell| session::survey(options, interrupted, tell));
    // A toolchain whose version was not read because of that is not missing.
    if interrupted.load(Ordering::SeqCst) {
        return Some(not_measured(SessionError::Interrupted));
    }
    let missing = MissingStacks::new(missing);
    (!missing.is_empty()).then(|| {
        let lines = missing.lines().join("\n");
        CommandFailure::no_result(lines).and("Nothing was built: a comparison needs both sides.")
    })
}

/// Checks that both stacks answer at least one of the workloads at one of its loads, as far as their manifests say.
fn check_common(options: &SessionOptions, sides: &StackSides) -> Result<(), CommandFailure> {
    let both_answer = |workload: &SelectedWorkload, point: &LoadPoint| {
        let mut targets = options.targets.iter();
        targets.all(|one| {
            let manifest = &one.stack.manifest;
            manifest.answers_at(&one.target, &workload.manifest, point)
        })
    };
    let mut workloads = options.workloads.iter();
    let has_load = workloads.any(|workload| {
        let mut points = workload.points.iter();
        points.any(|point| both_answer(workload, point))
    });
    let named: Vec<&str> = options
        .workloads
        .iter()
        .map(|one| one.manifest.id.as_str())
        .collect();
    let named = named.join(", ");
    if !has_load {
        return Err(CommandFailure::usage(format!(
            "{} and {} have no load of {named} in common; `deadheat stacks list --json` shows the workloads and \
             protocols of each, --workload chooses",
            sides.a.selected.target, sides.b.selected.target,
        )));
    }
    Ok(())
}

/// What makes the second one of two equal names another one.
const AGAIN: &str = "~b";

/// Both sides. Dropping them deletes the folders of the revisions.
struct StackSides {
    a: StackSide,
    b: StackSide,
    /// Whether the files of both are the same; `None` for two different stacks.
    same: Option<bool>,
}

/// A side: a stack from the work tree or from a revision.
pub(crate) struct StackSide {
    /// The stack under its variant, and the name that it has in this session.
    pub(crate) selected: SelectedTarget,
    /// Its name in the work tree.
    own: TargetId,
    revision: Option<Revision>,
    /// The folder of the revision, as long as it is needed.
    _checkout: Option<Checkout>,
}

impl StackSide {
    /// Finds the stack, and brings the sources of a revision.
    pub(crate) fn find(
        catalogue: &Catalogue,
        at: &StackAt,
        supervision: &Supervision,
    ) -> Result<Self, SideError> {
        let Some(typed) = &at.revision else {
            return Self::of_work_tree(catalogue, at).map_err(SideError::NotThere);
        };
        let root = &catalogue.root;
        let revision = Revision::find(root, typed)?;
        let checkout = Checkout::new(root, &at.target.stack, &revision, supervision)?;
        Self::of_revision(at, revision, checkout).map_err(SideError::NotThere)
    }

    fn of_work_tree(catalogue: &Catalogue, at: &StackAt) -> Result<Self, CommandFailure> {
        let name = at.target.to_string();
        let is_known = |stack: &Stack| stack.manifest.id == at.target.stack;
        if !catalogue.stacks.iter().any(is_known)
            && let Some(instead) = meant::instead_of_name(&name)
        {
            return Err(CommandFailure::usage(instead));
        }
        let selection = select::select(catalogue, &[name], &[], Reach::Defaults)?;
        let mut targets = select::targets(catalogue, &selection).into_iter();
        // A name is no glob, so that it selects one or is an error.
        let selected = targets
            .next()
            .ok_or_else(|| CommandFailure::usage(format!("there is no stack {}", at.target)))?;
        Ok(Self {
            own: selected.target.clone(),
            selected,
            revision: None,
            _checkout: None,
        })
    }

    fn of_revision(
        at: &StackAt,
        revision: Revision,
        checkout: Checkout,
    ) -> Result<Self, CommandFailure> {
        let stack = &at.target.stack;
        let wanted = at.target.variant.as_deref();
        let Some(target) = checkout.target(wanted) else {
            let manifest = &checkout.stack().manifest;
            let has: Vec<String> = manifest
                .variant
                .iter()
                .map(|variant| variant.id.clone())
                .collect();
            return Err(CommandFailure::usage(format!(
                "{stack} has no variant `{}` at {} ({}): it has {}",
                wanted.unwrap_or_default(),
                revision.typed,
                revision.short,
                if has.is_empty() {
                    "none".to_owned()
                } else {
                    has.join(", ")
                }
            )));
        };
        Ok(Self {
            own: TargetId::new(stack, target.variant.as_deref()),
            selected: SelectedTarget {
                stack: checkout.stack().clone(),
                target,
            },
            revision: Some(revision),
            _checkout: Some(checkout),
        })
    }

    /// Whether it is of a folder of its own, and not of the root.
    fn is_added(&self) -> bool {
        self.selected.stack.added.is_some()
    }

    /// What the session's record says of this side.
    pub(crate) fn contender(&self) -> Contender {
        Contender {
            target: self.selected.target.clone(),
            name: self.selected.target.to_string(),
            kind: ContenderKind::Stack {
                stack: self.own.stack.clone(),
                sources: self.sources(),
            },
        }
    }

    /// Where its sources are from.
    fn sources(&self) -> String {
        let stack = &self.selected.stack;
        match (&self.revision, &stack.added) {
            (Some(revision), _) => format!("{} ({})", revision.typed, revision.short),
            (None, Some(added)) => added.folder.display().to_string(),
            (None, None) if checksum_at(&stack.dir).is_some() => "part of Deadheat".to_owned(),
            (None, None) => "the work tree".to_owned(),
        }
    }

    /// This side under another name, so that both sides can be in one session.
    fn renamed(mut self) -> Self {
        let SelectedTarget { stack, target } = &mut self.selected;
        stack.manifest.id += AGAIN;
        target.stack += AGAIN;
        self
    }
}

impl StackSides {
    /// Finds both, and brings the sources of revisions.
    fn find(
        catalogue: &Catalogue,
        at: [&StackAt; 2],
        supervision: &Supervision,
    ) -> Result<Self, CommandFailure> {
        let a = StackSide::find(catalogue, at[0], supervision).map_err(SideError::into_failure)?;
        let b = StackSide::find(catalogue, at[1], supervision).map_err(SideError::into_failure)?;
        // In a session each has a name of its own.
        let b = if a.selected.target.stack == b.selected.target.stack
            && a.selected.target == b.selected.target
        {
            b.renamed()
        } else {
            b
        };
        let same = if a.is_added() != b.is_added() {
            // One of them is a copy that somebody has changed.
            Some(false)
        } else if a.own.stack == b.own.stack {
            let revisions = (a.revision.as_ref(), b.revision.as_ref());
            let same = same_sources(&catalogue.root, &a.own.stack, revisions.0, revisions.1);
            // Without a checkout of git there are no two revisions.
            Some(revisions == (None, None) || same.map_err(refused)?)
        } else {
            None
        };
        Ok(Self { a, b, same })
    }

    /// The note that the two do not differ, if that is known.
    fn same_server_note(&self) -> Option<String> {
        (self.same == Some(true) && self.a.own == self.b.own).then(|| {
            let what = match (&self.a.revision, &self.b.revision) {
                (None, None) => "A and B are the same",
                _ => "A and B have the same sources",
            };
            format!("{what}: what differs between them is the noise of this machine (A/A).")
        })
    }
}

/// Why a side cannot be measured.
pub(crate) enum SideError {
    /// There is no such stack or variant, or its revision has manifests that this Deadheat does not read.
    NotThere(CommandFailure),
    /// Git or the disk failed.
    Failed(RevisionError),
}

impl From<RevisionError> for SideError {
    fn from(error: RevisionError) -> Self {
        match error {
            RevisionError::NoStack { .. } | RevisionError::Manifest { .. } => {
                Self::NotThere(refused(error))
            }
            RevisionError::Reading {
                source: LoadError::Manifests(_) | LoadError::IsStack { .. },
                ..
            } => Self::NotThere(refused(error)),
            other => Self::Failed(other),
        }
    }
}

impl SideError {
    /// The failure of a comparison that needs the side.
    fn into_failure(self) -> CommandFailure {
        match self {
            Self::NotThere(failure) => failure,
            Self::Failed(error) => refused(error),
        }
    }
}

fn refused(error: RevisionError) -> CommandFailure {
    match error {
        RevisionError::Manifest {
            stack,
            typed,
            errors,
        } => CommandFailure::usage(format!(
            "the manifest of `{stack}` at {typed} is not one that this deadheat reads:\n{}",
            errors.render(output::colour_of_notes())
        )),
        other => CommandFailure::usage(other),
    }
}
