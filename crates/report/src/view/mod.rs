//! The view model: what every format shows, as strings that are rounded and have their units.

mod caveats;
mod clean;
mod detail;
mod doubts;
mod facts;
mod group;
mod losses;
mod published;
mod sentences;

use deadheat_model::SessionRecord;
use deadheat_stats::Analysis;
use serde::Serialize;

pub use clean::clean;
pub use detail::{CellDetail, TrialDetail};
pub use facts::{Fact, StackFacts};
pub use group::{Dot, GroupView, Latency, Missing, PairRow, PlotCell, Row, RowState, load};
pub use losses::Loss;
pub use published::{PublishedNote, PublishedRowView, PublishedTableView, PublishedView};

/// What a latency of a closed loop is called, wherever it stands.
pub const SERVICE_TIME: &str = "service time, closed loop";

/// What a latency of an open loop is called.
pub const RESPONSE_TIME: &str = "response time, open loop";

/// What it is called where each request makes its own connection.
pub const CONNECTING_APART: &str = "service time without connecting, closed loop";

/// Everything that a report shows.
#[derive(Clone, Debug, Serialize)]
pub struct View {
    /// The session's id.
    pub id: String,
    /// When it started (RFC 3339, UTC).
    pub started: String,
    /// What was measured, in a sentence.
    pub headline: String,
    /// What a reader must know before any figure: failures, limits of the generator, an early end.
    pub alerts: Vec<String>,
    /// Stacks that could not be measured at all.
    pub losses: Vec<Loss>,
    /// Published tables beside what was measured; `None` when the session repeats none.
    pub published: Option<PublishedView>,
    /// Each workload at each load point.
    pub groups: Vec<GroupView>,
    /// What the session does not show.
    pub caveats: Vec<String>,
    /// Where the figures come from.
    pub provenance: Vec<Fact>,
    /// What is known of each stack.
    pub stacks: Vec<StackFacts>,
}

impl View {
    /// The view of a session under its analysis.
    pub fn new(record: &SessionRecord, analysis: &Analysis) -> Self {
        let header = &record.header;
        Self {
            id: clean(&header.id),
            started: clean(&header.started),
            headline: sentences::headline(record, analysis),
            alerts: sentences::alerts(record, analysis),
            losses: losses::of_session(record),
            published: published::of_session(record, analysis),
            groups: group::groups(record, analysis),
            caveats: caveats::caveats(record, analysis),
            provenance: facts::provenance(record, analysis),
            stacks: facts::stacks(record),
        }
    }
}
