//! What has no figure, and what would change that.

use std::collections::BTreeSet;

use deadheat_document::view::{clean, clean_log};
use deadheat_model::{TargetId, figure::counted, heats::SessionHeader};
use deadheat_stats::standings::{Absent, AbsentBecause, Standings};

use super::names::{name, shorts};
use crate::document::words;

/// So many names stand in the line; the entries have all.
const MOST_NAMES: usize = 3;

/// Stacks without a figure.
#[derive(Clone, Debug, PartialEq)]
pub struct NotMeasured {
    /// All of them in one line, without a full stop; `None` if everything that was asked for was measured.
    pub line: Option<String>,
    /// Stacks that could not be measured at all, then those that lack a load.
    pub entries: Vec<LackView>,
    /// Stacks that there are and nobody asked for.
    pub left_out: Vec<String>,
}

/// A stack without a figure.
#[derive(Clone, Debug, PartialEq)]
pub struct LackView {
    /// The stack, under its variant.
    pub target: String,
    /// The same as its parts.
    pub id: TargetId,
    /// The load that it lacks, as short as [`LoadView::short`](super::LoadView::short); `None`: all of them.
    pub load: Option<String>,
    /// What became of it.
    pub because: AbsentBecause,
    /// Why, in a sentence.
    pub reason: String,
    /// The command that would change that.
    pub remedy: Option<String>,
    /// The last lines of its output.
    pub log: Vec<String>,
}

/// One stack's entry; its load is for the caller to fill in.
pub(super) fn lack(absent: &Absent) -> LackView {
    LackView {
        target: name(&absent.target),
        id: absent.target.clone(),
        load: None,
        because: absent.is,
        reason: clean(absent.reason.trim_end_matches('.')),
        remedy: absent.remedy.as_deref().map(clean),
        log: clean_log(&absent.log),
    }
}

pub(super) fn not_measured(header: &SessionHeader, standings: &Standings) -> NotMeasured {
    let mut entries: Vec<LackView> = standings.absent.iter().map(lack).collect();
    for (load, short) in standings.loads.iter().zip(shorts(standings)) {
        // A stack that cannot take a rate was measured. One that failed at the rate alone is named here.
        let has_capacity = |target: &TargetId| {
            let mut closed = standings.leading().filter(|one| load.is_measured_with(one));
            closed.any(|one| {
                let mut rows = one.tables.iter().flat_map(|table| &table.rows);
                rows.any(|row| row.target == *target)
            })
        };
        let lacking = load.lacking.iter().filter(|absent| {
            load.leads() || absent.is == AbsentBecause::Failed && has_capacity(&absent.target)
        });
        let lacking = lacking.map(|absent| LackView {
            load: Some(short.clone()),
            ..lack(absent)
        });
        // Who is nowhere is named once.
        let nowhere = standings.absent.len();
        for one in lacking.collect::<Vec<_>>() {
            let is_known = entries[..nowhere]
                .iter()
                .any(|known| known.target == one.target);
            if !is_known {
                entries.push(one);
            }
        }
    }
    NotMeasured {
        line: line(&entries, standings.leading().count()),
        entries,
        left_out: header.plan.left_out.iter().map(name).collect(),
    }
}

/// "1 failed: c (json); 2 unavailable: a and b".
fn line(entries: &[LackView], loads: usize) -> Option<String> {
    let kinds = [
        AbsentBecause::Failed,
        AbsentBecause::Unavailable,
        AbsentBecause::NotOffered,
        AbsentBecause::NotMeasured,
    ];
    let part = |kind: &AbsentBecause| {
        let names = names(entries, *kind, loads);
        (!names.is_empty()).then(|| {
            let shown = words::some(&names, MOST_NAMES);
            format!("{} {}: {shown}", names.len(), words::absent(*kind))
        })
    };
    let parts: Vec<String> = kinds.iter().filter_map(part).collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// Each stack of a kind once, with what it lacks if that is not everything.
fn names(entries: &[LackView], kind: AbsentBecause, loads: usize) -> Vec<String> {
    let of_kind = || entries.iter().filter(|one| one.because == kind);
    let mut targets: Vec<&str> = of_kind().map(|one| one.target.as_str()).collect();
    let mut seen = BTreeSet::new();
    targets.retain(|target| seen.insert(*target));
    let name = |target: &str| {
        let lacking = of_kind().filter(|one| one.target == target);
        let lacking: Vec<&String> = lacking.filter_map(|one| one.load.as_ref()).collect();
        match lacking.as_slice() {
            lacking if lacking.is_empty() || lacking.len() == loads => target.to_owned(),
            [load] => format!("{target} ({load})"),
            many => format!("{target} ({})", counted(many.len(), "load")),
        }
    };
    targets.into_iter().map(name).collect()
}

impl NotMeasured {
    /// That there are stacks nobody asked for, in a sentence; `None` if there are none.
    pub(crate) fn left_out_sentence(&self) -> Option<String> {
        (!self.left_out.is_empty()).then(|| {
            let what = counted(self.left_out.len(), "more stack");
            format!("{what} can be measured with --stack.")
        })
    }
}
