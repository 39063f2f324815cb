//! What every tool's report is read into.

use deadheat_model::imported::{Load, RunFigures, Tool};

/// The report of one run, before its surroundings are known.
#[derive(Debug)]
pub struct Report {
    pub(crate) tool: Tool,
    /// Host and path, or URL.
    pub(crate) target: Option<String>,
    pub(crate) load: Load,
    pub(crate) figures: RunFigures,
    /// Requests that failed, by the tool's words for the reason.
    pub(crate) failures: Vec<(String, u64)>,
    /// How often the tool noticed an answer that was slower than its timeout.
    pub(crate) late: u64,
    /// Whether the tool counts a request without an answer as one that took no time, and there were some.
    pub(crate) has_zero_times: bool,
    /// Whether there were answers, and the tool recorded the time of none.
    pub(crate) lacks_times: bool,
    /// Whether errors by status would be seen in the report.
    pub(crate) shows_statuses: bool,
    /// Whether the tool itself says that the results are doubtful.
    pub(crate) is_doubted: bool,
}

impl Report {
    /// A report of nothing yet.
    pub(crate) fn new(tool: Tool) -> Self {
        Self {
            tool,
            target: None,
            load: Load::default(),
            figures: RunFigures::default(),
            failures: Vec::new(),
            late: 0,
            has_zero_times: false,
            lacks_times: false,
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

    /// Drops the times: they were printed without having been recorded.
    pub(crate) fn drop_times(&mut self) {
        let figures = &mut self.figures;
        figures.mean_ms = None;
        figures.p50_ms = None;
        figures.p99_ms = None;
        figures.max_ms = None;
        self.lacks_times = figures.complete.is_some_and(|complete| complete > 0);
    }

    /// Drops what no answer stands behind: the times, and a rate that is not one of answers.
    pub(crate) fn drop_unmeasured(&mut self) {
        if self.figures.complete == Some(0) {
            self.figures.requests_per_second = None;
            self.drop_times();
        }
        if self.figures.requests_per_second == Some(0.0) {
            self.figures.requests_per_second = None;
        }
        // All tools but ab print microseconds or less, in which no answer takes nothing.
        if self.tool != Tool::Ab && self.figures.max_ms == Some(0.0) {
            self.drop_times();
        }
    }

    /// How many failed of one kind.
    pub(crate) fn failures_of(&self, kind: &str) -> u64 {
        let of_kind = self.failures.iter().filter(|(one, _)| one == kind);
        of_kind.map(|(_, count)| count).sum()
    }
}
