//! What `--fail-if-slower` and `--require-decision` say, in sentences.

use deadheat_stats::versus::{Check, Direction, Gate, GateCell, Gated};
use serde::Serialize;

use super::words;
use crate::{
    figure::{counted, list},
    view::clean,
};

/// What the options of a check say.
#[derive(Clone, Debug, Serialize)]
pub struct GateView {
    /// Whether it fails.
    pub failed: bool,
    /// Why, a sentence each.
    pub sentences: Vec<String>,
}

impl GateView {
    /// The view of a check; `None`: none was asked for, and the verdict says all.
    pub(super) fn of(gate: &Gate) -> Option<Self> {
        (gate.check != Check::default()).then(|| Self {
            failed: gate.failed,
            sentences: sentences(gate),
        })
    }
}

fn sentences(gate: &Gate) -> Vec<String> {
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
            "{options}: failed. B is slower{}: {}.",
            beyond(gate),
            list(&slower)
        ),
        () if gate.failed => format!("{options}: failed, because {slowdown} is not excluded."),
        () if gate.cells.is_empty() => {
            format!("{options}: not judged, because nothing that decides was compared.")
        }
        () => format!("{options}: passed. B is slower nowhere{}.", beyond(gate)),
    };
    let mut sentences = vec![first];
    if !open.is_empty() {
        sentences.push(format!(
            "Not excluded: {slowdown} of {}. More time would tell.",
            list(&open)
        ));
    }
    if !excluded.is_empty() {
        sentences.push(format!("Excluded: {slowdown} of {}.", list(&excluded)));
    }
    if gate.not_judged > 0 {
        sentences.push(format!(
            "Not judged, because not compared: {}.",
            counted(gate.not_judged, "cell")
        ));
    }
    sentences
}

/// The cell, its metric where that is not the throughput, and the ratio.
fn shown(cell: &GateCell) -> String {
    let ratio = words::ratio(cell.ratio);
    let metric = match cell.metric.direction() {
        Direction::MoreIsBetter => String::new(),
        Direction::LessIsBetter => format!("{} ", cell.metric.name()),
    };
    clean(&format!("{} ({metric}{ratio})", cell.subject))
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

/// What a figure must be beyond to fail, of the kinds of metrics that there are.
fn beyond(gate: &Gate) -> String {
    let Some(bound) = gate.check.fail_if_slower else {
        return String::new();
    };
    let has = |direction| {
        let mut cells = gate.cells.iter();
        cells.any(|cell| cell.metric.direction() == direction)
    };
    let throughput = has(Direction::MoreIsBetter)
        .then(|| format!("its throughput below {} of A's", words::ratio(1.0 - bound)));
    let time = has(Direction::LessIsBetter).then(|| {
        format!(
            "its response time above {} of A's",
            words::ratio(1.0 + bound)
        )
    });
    let told: Vec<String> = throughput.into_iter().chain(time).collect();
    if told.is_empty() {
        String::new()
    } else {
        format!(" and {}", told.join(" or "))
    }
}
