//! What failed or does not count, in one place: each cause once, with whom and where it met.

mod causes;
mod void;

use deadheat_model::SessionRecord;
use deadheat_stats::Analysis;
use serde::Serialize;

pub use void::{VoidRow, VoidView};

use super::{losses::Loss, words::some};
use crate::figure::counted;

/// What failed or does not count.
#[derive(Clone, Debug, Serialize)]
pub struct LostView {
    /// What there is of it, in a sentence.
    pub summary: String,
    /// Each cause once: what is unavailable, then what failed, then what was not measured.
    pub causes: Vec<Cause>,
    /// Void trials.
    pub void: Option<VoidView>,
    /// Trials that were left out for another reason, in a sentence.
    pub left_out: Option<String>,
}

/// Something that went wrong, however often.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Cause {
    /// What and why, for a heading.
    pub title: String,
    /// Whom it met.
    pub stacks: Vec<Met>,
    /// The command that would change that.
    pub remedy: Option<String>,
    /// Whose examples and log follow, where others met the same.
    pub of: Option<String>,
    /// Examples of failed requests, verbatim.
    pub examples: Vec<String>,
    /// The last lines of the server's or the build's output.
    pub log: Vec<String>,
}

/// A stack that something went wrong for.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Met {
    /// The stack, under its variant, or a control.
    pub target: String,
    /// Where, each in a few words; empty when it is the whole stack.
    pub places: Vec<String>,
}

/// What failed or does not count in a session.
pub fn lost(record: &SessionRecord, analysis: &Analysis) -> LostView {
    let causes = causes::causes(record, analysis);
    let void = void::void(record, analysis);
    let left_out = match analysis.blocks.trials_left_out {
        0 => None,
        one_or_more => Some(format!(
            "{} left out: the block is not complete, or another trial of it stands for the cell. {} in the tables of \
             blocks.",
            match one_or_more {
                1 => "1 trial was".to_owned(),
                many => format!("{many} trials were"),
            },
            if one_or_more == 1 {
                "It is"
            } else {
                "They are"
            }
        )),
    };
    let parts = [
        (!causes.is_empty()).then(|| counted(causes.len(), "cause")),
        void.as_ref().map(|view| counted(view.trials, "void trial")),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    let summary = match (parts.is_empty(), left_out.is_some()) {
        (true, false) => "Nothing: no stack is missing, and every trial counts.".to_owned(),
        (true, true) => "Nothing failed, and no trial is void.".to_owned(),
        (false, _) if causes.is_empty() => format!("Nothing failed; {}.", parts.join(" and ")),
        (false, _) => format!(
            "{}. Each cause stands here once, with the stacks and load points that met it.",
            parts.join(" and ")
        ),
    };
    LostView {
        summary,
        causes,
        void,
        left_out,
    }
}

/// Who was lost, for where their figures would be: a sentence without the reasons.
pub fn in_short(losses: &[Loss]) -> Option<String> {
    let names: Vec<String> = losses
        .iter()
        .map(|loss| format!("{} {}", loss.target, loss.what))
        .collect();
    (!names.is_empty()).then(|| format!("No result: {}.", some(&names)))
}
