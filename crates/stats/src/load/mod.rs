//! From the record of one load to what it says: its figures, and the generator's verdict on itself.
//!
//! A generator at its limit makes every server look equal, and its report looks like any other. So each load is
//! searched for signs that the generator, and not the server, shaped its figures ([`judge`]).

mod figures;
mod length;
mod settings;
mod sign;
mod signs;
mod uneven;
mod verdict;

use deadheat_model::LoadRecord;
use schemars::JsonSchema;
use serde::Serialize;

pub use figures::{
    EventFigures, ExchangeFigures, Latency, LatencyKind, LoadFigures, Percentile, SHOWN_PERCENTS,
};
pub use settings::LoadSettings;
pub use sign::{Severity, Sign};
pub use uneven::Uneven;
pub use verdict::{Judged, LoadVerdict, Standing, has_mostly_failed};

/// What a load says.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct LoadAnalysis {
    /// The thresholds that were used.
    pub settings: LoadSettings,
    /// The generator's verdict on itself.
    pub verdict: LoadVerdict,
    /// The figures.
    pub figures: LoadFigures,
}

/// The figures and the verdict of a load.
pub fn analyse(record: &LoadRecord) -> LoadAnalysis {
    let settings = LoadSettings::default();
    let figures = LoadFigures::new(record);
    LoadAnalysis {
        settings,
        verdict: LoadVerdict::new(record, &figures, &settings),
        figures,
    }
}

/// The generator's verdict on itself: every sign that the figures are not the server's alone.
pub fn judge(record: &LoadRecord) -> LoadVerdict {
    judge_with(record, &LoadSettings::default())
}

/// The verdict under other thresholds.
pub fn judge_with(record: &LoadRecord, settings: &LoadSettings) -> LoadVerdict {
    LoadVerdict::new(record, &LoadFigures::new(record), settings)
}
