//! What every tool's report is read into.

use deadheat_model::imported::{Figures, Load, Tool};

/// The report of one run, before its surroundings are known.
#[derive(Debug)]
pub(crate) struct Report {
    pub(crate) tool: Tool,
    /// Host and path, or URL.
    pub(crate) target: Option<String>,
    pub(crate) load: Load,
    pub(crate) figures: Figures,
    /// Requests that failed, by the tool's words for the reason.
    pub(crate) failures: Vec<(String, u64)>,
    /// Whether errors by status would be seen in the report.
    pub(crate) shows_statuses: bool,
    /// Whether the tool itself says that the results are doubtful.
    pub(crate) is_doubted: bool,
}

impl Report {
    /// A report of nothing yet.
    pub(crate) fn of(tool: Tool) -> Self {
        Self {
            tool,
            target: None,
            load: Load::default(),
            figures: Figures::default(),
            failures: Vec::new(),
            shows_statuses: true,
            is_doubted: false,
        }
    }

    /// Failures of a kind, if there are some.
    pub(crate) fn failed(&mut self, kind: &str, count: u64) {
        if count > 0 {
            self.failures.push((kind.to_owned(), count));
        }
    }

    /// How many failed of one kind.
    pub(crate) fn failures_of(&self, kind: &str) -> u64 {
        let of_kind = self.failures.iter().filter(|(one, _)| one == kind);
        of_kind.map(|(_, count)| count).sum()
    }
}
