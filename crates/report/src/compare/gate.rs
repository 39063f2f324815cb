//! What `--fail-if-slower` and `--require-decision` say, in sentences.

use deadheat_stats::versus::{Check, Gate, GateCell, Gated, Versus};

use super::{advantage::signed, words};
use crate::figure::{counted, list};

/// Whether a check fails, and why; `None` if none was asked for: the verdict says all.
pub(super) fn sentence(gate: &Gate, versus: &Versus, b: &str) -> Option<(bool, String)> {
    let is_asked = gate.check != Check::default();
    is_asked.then(|| {
        (
            gate.failed,
            sentences(gate, versus.is_judged(), b).join(" "),
        )
    })
}

fn sentences(gate: &Gate, is_judged: bool, b: &str) -> Vec<String> {
    let of = |is: Gated| -> Vec<String> {
        let cells = gate.cells.iter().filter(|cell| cell.is == is);
        cells.map(shown).collect()
    };
    let (slower, excluded, open) = (
        of(Gated::Slower),
        of(Gated::Excluded),
        of(Gated::NotExcluded),
    );
    let options = options(&gate.check);
    let slowdown = slowdown(&gate.check);
    let first = match () {
        () if !slower.is_empty() => format!(
            "{options}: failed. {b} is proven slower{}: {}.",
            beyond(&gate.check),
            list(&slower)
        ),
        () if gate.failed => format!("{options}: failed, because {slowdown} is not excluded."),
        () if !is_judged => format!("{options}: not judged, because there is no verdict."),
        () if gate.cells.is_empty() => {
            format!("{options}: not judged, because nothing that decides was compared.")
        }
        () if open.is_empty() => format!("{options}: passed."),
        () => format!(
            "{options}: passed, undecided. No slowdown{} is proven.",
            beyond(&gate.check)
        ),
    };
    let mut sentences = vec![first];
    if !open.is_empty() {
        sentences.push(format!(
            "Not excluded: {slowdown} of {}. More heats may decide it.",
            list(&open)
        ));
    }
    if !excluded.is_empty() {
        sentences.push(format!("Excluded: {slowdown} of {}.", list(&excluded)));
    }
    if gate.not_judged > 0 && is_judged {
        sentences.push(format!(
            "Not judged, because not compared: {}.",
            counted(gate.not_judged, "cell")
        ));
    }
    sentences
}

/// The cell, and by how much the figure that decides differs.
fn shown(cell: &GateCell) -> String {
    let difference = signed(cell.ratio - 1.0);
    let metric = cell.metric.name();
    let interval = words::difference(cell.interval);
    format!("{} ({metric} {difference}, {interval})", cell.subject)
}

/// The options as they were typed.
fn options(check: &Check) -> String {
    let bound = check.fail_if_slower.map(words::percent);
    let bound = bound.map(|bound| format!("--fail-if-slower {bound}"));
    let decision = check
        .require_decision
        .then(|| "--require-decision".to_owned());
    let given: Vec<String> = bound.into_iter().chain(decision).collect();
    given.join(" ")
}

fn slowdown(check: &Check) -> String {
    match check.fail_if_slower {
        Some(bound) => format!("a slowdown of more than {}", words::percent(bound)),
        None => "a slowdown".to_owned(),
    }
}

/// The bound that a slowdown must exceed to fail, if there is one.
fn beyond(check: &Check) -> String {
    let bound = check.fail_if_slower.map(words::percent);
    bound.map_or(String::new(), |bound| format!(" by more than {bound}"))
}
