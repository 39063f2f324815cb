//! What stands at the page's end as tables and a bar: missing stacks, discarded slices, where the time went.

use deadheat_stats::standings::TimeSpent;
use serde::Serialize;

use super::{
    bars::{self, Amount},
    forest::Line,
};
use crate::{
    figure::{count, seconds},
    standings::{
        view::{NotMeasured, StandingsView},
        words,
    },
};

/// Stacks without figures.
#[derive(Debug, Serialize)]
pub(super) struct Lost {
    entries: Vec<LostEntry>,
    left_out_sentence: Option<String>,
    left_out: Vec<String>,
}

/// A stack without a figure.
#[derive(Debug, Serialize)]
struct LostEntry {
    target: String,
    load: Option<String>,
    word: &'static str,
    reason: String,
    remedy: Option<String>,
    log: Vec<String>,
}

/// Slices that count for nothing.
#[derive(Debug, Serialize)]
pub(super) struct Discarded {
    /// How many there are, of how many in all.
    all: String,
    of: String,
    rows: Vec<DiscardedRow>,
}

/// Those of a stack at a load.
#[derive(Debug, Serialize)]
struct DiscardedRow {
    target: String,
    load: String,
    discarded: String,
    counted: String,
}

/// Where the time went, as a drawing.
#[derive(Debug, Serialize)]
pub(super) struct Time {
    /// How many parts it has; 0 before the first heat.
    parts: usize,
    drawing: String,
}

/// Everything without a figure.
pub(super) fn lost(not_measured: &NotMeasured) -> Lost {
    let entry = |one: &crate::standings::view::LackView| LostEntry {
        target: one.target.clone(),
        load: one.load.clone(),
        word: words::absent(one.because),
        reason: one.reason.clone(),
        remedy: one.remedy.clone(),
        log: one.log.clone(),
    };
    Lost {
        entries: not_measured.entries.iter().map(entry).collect(),
        left_out_sentence: not_measured.left_out_sentence(),
        left_out: not_measured.left_out.clone(),
    }
}

/// Slices that count for nothing, load by load.
pub(super) fn discarded(view: &StandingsView) -> Discarded {
    let mut rows = Vec::new();
    let (mut all, mut of) = (0, 0);
    for load in &view.loads {
        for row in load.rows() {
            let (discarded, counted) = (u64::from(row.discarded_slices), u64::from(row.slices));
            all += discarded;
            of += discarded + counted;
            if discarded > 0 {
                rows.push(DiscardedRow {
                    target: row.target.clone(),
                    load: load.short.clone(),
                    discarded: count(discarded),
                    counted: count(counted),
                });
            }
        }
    }
    Discarded {
        all: count(all),
        of: count(of),
        rows,
    }
}

/// Where the time went.
pub(super) fn time(time: &TimeSpent) -> Time {
    if time.heats_seconds <= 0.0 {
        return Time {
            parts: 0,
            drawing: String::new(),
        };
    }
    let parts = [
        ("measured", time.counted_seconds),
        ("between slices", time.between_seconds),
        ("warm-up", time.warm_up_seconds),
        ("starting, checking, stopping", time.starting_seconds),
    ];
    let (lines, amounts): (Vec<Line>, Vec<Amount>) = parts
        .map(|(name, value)| {
            let line = Line {
                colour: "k0".to_owned(),
                name: name.to_owned(),
            };
            let amount = Amount {
                value: Some(value),
                text: format!("{name} {}", seconds(value)),
            };
            (line, amount)
        })
        .into_iter()
        .unzip();
    Time {
        parts: parts.len(),
        drawing: bars::amounts(&lines, &amounts, "Where the time went, in seconds"),
    }
}
