//! A session's record as it grows, measured in blocks of trials or in heats.

use std::path::Path;

use deadheat_model::{Event, SessionRecord, heats};
use deadheat_report::{
    ReportError, StandingsView, View,
    html::live::{Bar, live_page},
    standings::html::live_page as live_page_of_heats,
};
use deadheat_runner::session;
use deadheat_stats::{analyse, standings::standings};

/// What there is of a session.
pub(super) enum Growing {
    Trials(Box<SessionRecord>),
    Heats(Box<heats::SessionRecord>),
}

impl Growing {
    /// The session as its files hold it, which may be measurements from before it went on.
    pub(super) fn read(folder: &Path) -> Option<Self> {
        let record = match session::heats::is_session_of_heats(folder) {
            true => session::heats::read_session(folder).map(|record| Self::Heats(record.into())),
            false => session::read_session(folder).map(|record| Self::Trials(record.into())),
        };
        record
            .inspect_err(|error| tracing::warn!("the live page shows no report: {error}"))
            .ok()
    }

    /// Takes what has been measured, or the end.
    pub(super) fn on(&mut self, event: &Event) {
        match (self, event) {
            (Self::Trials(record), Event::TrialEnded { trial, .. }) => {
                record.trials.push(trial.as_ref().clone());
            }
            (Self::Trials(record), Event::SessionEnded { reason }) => record.end = Some(*reason),
            (Self::Heats(record), Event::HeatEnded { heat }) => {
                record.heats.push(heat.as_ref().clone());
            }
            (Self::Heats(record), Event::HeatsEnded { reason }) => record.end = Some(*reason),
            _ => {}
        }
    }

    /// Trials or heats that are recorded.
    pub(super) fn recorded(&self) -> usize {
        match self {
            Self::Trials(record) => record.trials.len(),
            Self::Heats(record) => record.heats.len(),
        }
    }

    /// Whether it is over.
    pub(super) fn has_ended(&self) -> bool {
        match self {
            Self::Trials(record) => record.end.is_some(),
            Self::Heats(record) => record.end.is_some(),
        }
    }

    /// The report of what there is, below a bar.
    pub(super) fn page(&self, bar: &Bar) -> Result<String, ReportError> {
        match self {
            Self::Trials(record) => live_page(&View::running(record, &analyse(record)), bar),
            Self::Heats(record) => {
                let view = StandingsView::running(record, &standings(record));
                live_page_of_heats(&view, bar)
            }
        }
    }
}
