//! What deadheat says below a report of another tool, where that would have misled.

use std::collections::BTreeMap;

use deadheat_model::{
    LoadRecord,
    figure::{count, figure},
    warning::Level,
};

use super::found::ToolFigures;
use crate::analysis::{IN_EVERY_HEADLINE, LoadAnalysis};

/// A tool whose report was printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tool {
    /// ApacheBench.
    Ab,
    /// wrk.
    Wrk,
    /// hey.
    Hey,
    /// oha.
    Oha,
}

impl Tool {
    /// Every one.
    pub const ALL: [Self; 4] = [Self::Ab, Self::Wrk, Self::Hey, Self::Oha];

    /// Its name, as its program is called.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ab => "ab",
            Self::Wrk => "wrk",
            Self::Hey => "hey",
            Self::Oha => "oha",
        }
    }
}

/// A sentence for each thing that the tool's report would let somebody believe; empty: it can be believed.
pub fn remarks(tool: Tool, record: &LoadRecord, analysis: &LoadAnalysis) -> Vec<String> {
    let found = ToolFigures::new(record);
    let mut remarks = Vec::new();
    let not_2xx = found.answers_outside(200..300);
    if not_2xx > 0 {
        let good = found.answers() - not_2xx;
        remarks.push(format!(
            "{} of {} answers had no 2xx status ({}), and {} counts them as requests: {}/s were 2xx.",
            count(not_2xx),
            count(found.answers()),
            statuses(&found.observation.statuses),
            tool.name(),
            figure(found.per_second(good as f64)),
        ));
    }
    let failed = record.observation.measured.failed.total();
    if failed > 0 {
        remarks.push(format!(
            "{} requests failed; their times are in no figure above.",
            count(failed)
        ));
    }
    // The limits of the generator, and what spoils the times: neither is in any of the four formats.
    let warnings = analysis.verdict.warnings.iter();
    let grave = warnings
        .filter(|one| one.level <= Level::Doubt && !IN_EVERY_HEADLINE.contains(&one.id.as_str()));
    remarks.extend(grave.map(|one| one.in_full()));
    remarks
}

/// "404: 12, 500: 3".
fn statuses(all: &BTreeMap<u16, u64>) -> String {
    let bad = all
        .iter()
        .filter(|(status, _)| !(200..300).contains(*status));
    let bad: Vec<String> = bad
        .map(|(status, number)| format!("{status}: {}", count(*number)))
        .collect();
    bad.join(", ")
}
