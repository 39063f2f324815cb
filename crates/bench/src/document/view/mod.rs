//! What all reports of a session of heats show: numbers, units, states and sentences. No layout.

mod absent;
mod answer;
mod details;
mod load;
mod names;
mod published;
mod row;
mod title;
mod trust;
mod warning;

pub use absent::{LackView, NotMeasured};
use deadheat_document::view::clean;
use deadheat_model::{
    Warning,
    heats::{EndReason, SessionRecord},
};
use deadheat_stats::standings::{Standings, StartTable};
pub use details::Details;
pub use load::{LoadView, TableView};
pub use published::PublishedView;
pub use row::{AtRate, Placed, RowView};
pub use title::Title;

/// What a report of a session of heats shows. Sentences and names in it are free of control characters.
#[derive(Clone, Debug, PartialEq)]
pub struct StandingsView {
    /// The session's id.
    pub id: String,
    /// When it started (RFC 3339, UTC).
    pub started: String,
    /// Whether it goes on, and if not, why it ended.
    pub state: State,
    /// What was compared, on what machine, when.
    pub title: Title,
    /// Stacks whose ratio lies within this of 1 are as good as equal (0.03: 3 %).
    pub margin: f64,
    /// The share of sessions that may claim a wrong order in a ranking (0 to 1); also that of errors of an interval that stands
    /// alone.
    pub alpha: f64,
    /// Each load, in the order of the plan.
    pub loads: Vec<LoadView>,
    /// How the stacks start.
    pub starts: Vec<StartTable>,
    /// Published tables that the session repeats, each beside what was measured.
    pub published: Vec<PublishedView>,
    /// How far the figures can be trusted, in a line without a full stop.
    pub trust: String,
    /// What may change a decision first, then the rest. A short format shows the first three.
    pub warnings: Vec<Warning>,
    /// What has no figure.
    pub not_measured: NotMeasured,
    /// Details: provenance, method, findings, stacks, limits.
    pub details: Details,
}

/// Whether a session goes on, and if not, why it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It is being measured.
    Running,
    /// It ended in order.
    Ended(EndReason),
    /// No end is recorded.
    Killed,
}

impl StandingsView {
    /// The view of a session that is over.
    pub fn new(record: &SessionRecord, standings: &Standings) -> Self {
        let state = record.end.map_or(State::Killed, State::Ended);
        Self::in_state(record, standings, state)
    }

    /// The view of a session that goes on.
    pub fn running(record: &SessionRecord, standings: &Standings) -> Self {
        let state = record.end.map_or(State::Running, State::Ended);
        Self::in_state(record, standings, state)
    }

    fn in_state(record: &SessionRecord, standings: &Standings, state: State) -> Self {
        let header = &record.header;
        let warnings = warning::warnings(record, standings, state);
        Self {
            id: clean(&header.id),
            started: clean(&header.started),
            state,
            title: title::title(header, standings),
            margin: header.plan.margin,
            alpha: header.plan.alpha,
            loads: load::loads(header, standings),
            starts: standings.starts.clone(),
            published: published::published(header, standings),
            trust: trust::trust(standings, &warnings),
            warnings,
            not_measured: absent::not_measured(header, standings),
            details: details::details(record, standings, state),
        }
    }

    /// The same for a session whose folder is known, so that commands name it.
    pub fn in_folder(mut self, folder: &str) -> Self {
        let (unknown, known) = (warning::resume(&self.id), warning::resume(folder));
        for warning in &mut self.warnings {
            if warning.advice == unknown {
                warning.advice.clone_from(&known);
            }
        }
        self
    }

    /// The loads with heats of their own: what was asked for. Their rows have what was found in equal work.
    pub fn leading(&self) -> impl Iterator<Item = &LoadView> + Clone {
        self.loads.iter().filter(|load| load.leads())
    }

    /// Whether any load has a row.
    pub fn has_figures(&self) -> bool {
        self.loads.iter().any(|load| load.rows().next().is_some())
    }
}
