//! Looks for the toolchains of stacks before anything is built: shows that it looks, and says what is missing.

use deadheat_document::text::wrap;
use deadheat_model::{TargetId, figure::counted};
use deadheat_runner::prepare::{Asking, Unavailable};
use deadheat_shell::output;
use serde::Serialize;

use crate::progress::Progress;

/// Before all lines about a cause but the first.
const INDENT: &str = "    ";

/// Stacks that cannot be measured here.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Missing(Vec<MissingStack>);

#[derive(Clone, Debug, Serialize)]
struct MissingStack {
    target: TargetId,
    #[serde(flatten)]
    why: Unavailable,
}

impl Missing {
    /// Stacks, each with what it lacks.
    pub fn new(missing: Vec<(TargetId, Unavailable)>) -> Self {
        let missing = missing.into_iter();
        Self(
            missing
                .map(|(target, why)| MissingStack { target, why })
                .collect(),
        )
    }

    /// Whether none is missing.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether `target` is among them.
    pub(crate) fn has(&self, target: &TargetId) -> bool {
        self.0.iter().any(|one| one.target == *target)
    }

    pub(crate) fn targets(&self) -> Vec<TargetId> {
        self.0.iter().map(|one| one.target.clone()).collect()
    }

    /// Those that one of `names` names: not by a glob, but as they are called.
    pub(crate) fn named(&self, names: &[String]) -> Self {
        let is_named = |target: &TargetId| {
            let full = target.on_cpus(None).to_string();
            names
                .iter()
                .any(|name| *name == target.stack || *name == full)
        };
        let named = self.0.iter().filter(|one| is_named(&one.target));
        Self(named.cloned().collect())
    }

    /// Two lines for each cause: which stacks are unavailable and why, and what would change that.
    pub fn lines(&self) -> Vec<String> {
        let mut causes: Vec<(&Unavailable, Vec<String>)> = Vec::new();
        for MissingStack { target, why } in &self.0 {
            let name = target.to_string();
            match causes.iter_mut().find(|(cause, _)| *cause == why) {
                Some((_, names)) => names.push(name),
                None => causes.push((why, vec![name])),
            }
        }
        let columns = output::terminal_size().map_or(usize::MAX, |(columns, _)| columns.into());
        let columns = columns.saturating_sub(INDENT.len());
        let lines = causes.into_iter().map(|(why, names)| {
            let Unavailable { reason, remedy } = why;
            let what = format!("{}: UNAVAILABLE: {reason}", names.join(", "));
            let mut lines = wrap(&what, columns, "", false);
            // A command is there to be copied: it stays in one line.
            lines.push(format!("to change that: {remedy}"));
            lines.join(&format!("\n{INDENT}"))
        });
        lines.collect()
    }
}

/// Runs `work`, which asks the programs of `stacks` stacks for their versions. A message says at once that it looks, and names
/// the programs that it waits for as soon as one is slow.
pub fn looking<T>(stacks: usize, work: impl FnOnce(&mut dyn FnMut(&Asking<'_>)) -> T) -> T {
    let what = format!("Looking for the toolchains of {}", counted(stacks, "stack"));
    let mut progress = Progress::spinning(&what);
    if !output::draws_progress() {
        output::note(&what);
    }
    let mut told: Vec<String> = Vec::new();
    let found = work(&mut |asking| {
        let waiting_for = asking.waiting_for.join(", ");
        let done = format!("{what}: {} of {}", asking.answered, asking.all);
        let mut parts = vec![done];
        let names = asking.waiting_for.iter();
        parts.extend(
            names
                .clone()
                .take(1)
                .map(|name| format!("waiting for {name}")),
        );
        parts.extend(names.skip(1).map(ToString::to_string));
        progress.say_parts(&parts);
        if asking.is_slow && !output::draws_progress() && !told.contains(&waiting_for) {
            output::note(&format!("  waiting for {waiting_for}"));
            told.push(waiting_for);
        }
    });
    progress.finish();
    found
}

/// How many stacks `targets` are variants of.
pub(crate) fn stacks(targets: &[TargetId]) -> usize {
    let mut names: Vec<&str> = targets.iter().map(|one| one.stack.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    names.len()
}
