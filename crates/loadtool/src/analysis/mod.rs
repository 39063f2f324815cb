//! From the record of one load to what it says: its figures, and the generator's verdict on itself.
//!
//! A generator at its limit makes every server look equal, and its report looks like any other. So each load is checked
//! for what shows that the generator, and not the server, shaped its figures ([`judge`]).

mod figures;
mod verdict;
mod warnings;

use deadheat_model::LoadRecord;
pub use deadheat_stats::uneven::Uneven;
pub use figures::{
    EventFigures, ExchangeFigures, Latency, LatencyKind, LoadFigures, Percentile, SHOWN_PERCENTS,
};
use schemars::JsonSchema;
use serde::Serialize;
pub use verdict::{IN_EVERY_HEADLINE, LoadVerdict, Validity, has_mostly_failed};
pub use warnings::{BUSY, CPU_WAIT, FAILURES};

/// What a load says.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct LoadAnalysis {
    /// The generator's verdict on itself.
    pub verdict: LoadVerdict,
    /// The figures.
    pub figures: LoadFigures,
}

/// The figures and the verdict of a load.
pub fn analyse(record: &LoadRecord) -> LoadAnalysis {
    let figures = LoadFigures::new(record);
    LoadAnalysis {
        verdict: LoadVerdict::new(record, &figures),
        figures,
    }
}

/// The generator's verdict on itself.
pub fn judge(record: &LoadRecord) -> LoadVerdict {
    LoadVerdict::new(record, &LoadFigures::new(record))
}
