//! The view model: what every format shows, as strings that are rounded and have their units.

mod alerts;
mod brief;
mod caveats;
mod chosen;
mod clean;
mod controls;
mod cost;
mod course;
mod detail;
mod doubts;
pub(crate) mod facts;
mod group;
mod guard;
mod latency;
mod live;
mod losses;
mod lost;
mod pareto;
mod plot_cell;
mod ratios;
mod raw;
mod resumed;
mod row;
mod sentences;
mod series;
mod startup;
mod words;

use deadheat_model::SessionRecord;
use deadheat_stats::Analysis;
use serde::Serialize;

pub use brief::Brief;
pub use clean::clean;
pub use course::{BlockRow, CoursePlot, CoursePoint, CourseView, Mark, MarkKind, Span};
pub use detail::{CellDetail, TrialDetail};
pub(crate) use doubts::why;
pub use facts::{Fact, StackFacts};
pub(crate) use group::title;
pub use group::{GroupView, Missing, PairRow, load};
pub use latency::{LatencyRow, LatencyTable, LatencyView};
pub use losses::Loss;
pub(crate) use losses::failed;
pub use lost::{Cause, LostView, Met, VoidRow, VoidView};
pub use pareto::{Cost, Frontier};
pub use plot_cell::{Dot, PlotCell};
pub use ratios::{Ratio, RatioColumn, RatioStack, RatiosView, Verdict};
pub use raw::Raw;
pub use row::{Latency, Row, RowState};
pub use series::{Lines, SeriesPoint, SeriesStack, SeriesTrial, SeriesView};
pub use startup::{StartupPlot, StartupRow, StartupView};

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
    /// The session in a few words.
    #[serde(skip)]
    pub brief: Brief,
    /// What was measured, in a sentence.
    pub headline: String,
    /// What a reader must know before any figure: failures, limits of the generator, an early end.
    pub alerts: Vec<String>,
    /// Stacks that could not be measured at all.
    pub losses: Vec<Loss>,
    /// Their names, in a sentence.
    pub losses_in_short: Option<String>,
    /// Each workload at each load point, in the order of the plan.
    pub sections: Vec<Section>,
    /// Every stack beside one of them; `None` when nothing was compared.
    pub ratios: Option<RatiosView>,
    /// Every trial over its measurement; `None` without one.
    pub series: Option<SeriesView>,
    /// The trials in their order, and the blocks; `None` when nothing was run.
    pub course: Option<CourseView>,
    /// What stacks take before they serve; `None` when none was built.
    pub startup: Option<StartupView>,
    /// What failed or does not count.
    pub lost: LostView,
    /// What the session does not show.
    pub caveats: Vec<String>,
    /// Where the figures come from.
    pub provenance: Vec<Fact>,
    /// What is known of each stack.
    pub stacks: Vec<StackFacts>,
}

/// What has a section of its own.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "is", rename_all = "kebab-case")]
#[allow(clippy::large_enum_variant, reason = "there are few of them")]
pub enum Section {
    /// A workload at one load point, in a closed loop.
    Capacity(GroupView),
    /// A workload's open loops.
    Latency(LatencyView),
}

impl Section {
    /// Its heading.
    pub fn title(&self) -> &str {
        match self {
            Section::Capacity(group) => &group.title,
            Section::Latency(latency) => &latency.title,
        }
    }

    /// Its load points.
    pub fn groups(&self) -> &[GroupView] {
        match self {
            Section::Capacity(group) => std::slice::from_ref(group),
            Section::Latency(latency) => &latency.points,
        }
    }
}

fn sections(record: &SessionRecord, analysis: &Analysis) -> Vec<Section> {
    let mut sections = Vec::new();
    let mut latencies = 0;
    for (index, group) in analysis.groups.iter().enumerate() {
        if group.point.open.is_none() {
            let view = group::view(record, analysis, index, group);
            sections.push(Section::Capacity(view));
            continue;
        }
        let family = latency::family(analysis, group);
        // The first of them stands for all.
        if family.first().is_some_and(|(first, _)| *first == index) {
            latencies += 1;
            let view = latency::view(record, analysis, &family, latencies);
            sections.push(Section::Latency(view));
        }
    }
    sections
}

impl View {
    /// The view of a session under its analysis.
    pub fn new(record: &SessionRecord, analysis: &Analysis) -> Self {
        let header = &record.header;
        let losses = losses::of_session(record);
        Self {
            id: clean(&header.id),
            started: clean(&header.started),
            brief: brief::brief(record, analysis),
            headline: sentences::headline(record, analysis),
            alerts: alerts::alerts(record, analysis),
            losses_in_short: lost::in_short(&losses),
            losses,
            sections: sections(record, analysis),
            ratios: ratios::ratios(record, analysis),
            series: series::series(record, analysis),
            course: course::course(record, analysis),
            startup: startup::startup(record, analysis),
            lost: lost::lost(record, analysis),
            caveats: caveats::caveats(record, analysis),
            provenance: facts::provenance(record, analysis),
            stacks: facts::stacks(record),
        }
    }

    /// Every load point, in the order of the analysis's groups.
    pub fn groups(&self) -> Vec<&GroupView> {
        let mut groups: Vec<&GroupView> = self.sections.iter().flat_map(Section::groups).collect();
        groups.sort_by_key(|group| group.index);
        groups
    }
}
