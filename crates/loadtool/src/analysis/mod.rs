//! From the record of one load to what it says: its figures, and the verdict on whether they can be relied on.
//!
//! A generator at its limit makes every server look equal, and its report looks like any other. So each load is checked
//! for what shows that the generator, and not the server, shaped its figures ([`judge`]).

mod figures;
mod warnings;

use deadheat_model::{
    LoadRecord,
    warning::{Level, Warning},
};
pub use deadheat_stats::uneven::Uneven;
use schemars::JsonSchema;
use serde::Serialize;

pub(crate) use self::figures::requests_for;
pub use self::{
    figures::{
        EventFigures, ExchangeFigures, Latency, LatencyKind, LoadFigures, Percentile,
        SHOWN_PERCENTS,
    },
    warnings::{BUSY, CPU_WAIT, FAILURES},
};

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

/// Warnings that every headline states in its own words, by their ids.
pub const IN_EVERY_HEADLINE: [&str; 2] = ["failures", "interrupted"];

/// What a load's figures are worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Validity {
    /// Nothing speaks against the figures.
    Sound,
    /// There is a doubt.
    Doubtful,
    /// The generator was the limit.
    GeneratorLimited,
    /// Half of the requests or more failed.
    MostlyFailed,
    /// No request was answered validly.
    Failed,
}

/// The share of failed requests (0 to 1) from which on a load as a whole has failed.
const MOSTLY: f64 = 0.5;

/// The verdict on a load, with the warnings behind it.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct LoadVerdict {
    /// What the figures are worth.
    pub validity: Validity,
    /// What speaks against the figures or helps to read them, the gravest first.
    pub warnings: Vec<Warning>,
}

/// Whether half of the requests or more failed, of those that ended.
pub fn has_mostly_failed(figures: &LoadFigures) -> bool {
    figures.failed_share.is_some_and(|share| share >= MOSTLY)
}

impl LoadVerdict {
    fn new(record: &LoadRecord, figures: &LoadFigures) -> Self {
        let warnings = warnings::all(record, figures);
        let gravest = warnings.first().map(|warning| warning.level);
        let validity = match gravest {
            // Also when nothing was answered: then it is the generator's fault.
            Some(Level::Limit) => Validity::GeneratorLimited,
            _ if record.observation.measured.succeeded == 0 => Validity::Failed,
            _ if has_mostly_failed(figures) => Validity::MostlyFailed,
            Some(Level::Doubt) => Validity::Doubtful,
            Some(Level::Note | Level::Routine) | None => Validity::Sound,
        };
        Self { validity, warnings }
    }

    /// Whether the generator was the limit.
    pub fn generator_was_limit(&self) -> bool {
        self.validity == Validity::GeneratorLimited
    }

    /// Whether a headline says it.
    pub fn is_in_headline(&self, warning: &Warning) -> bool {
        IN_EVERY_HEADLINE.contains(&warning.id.as_str()) || self.main_warning() == Some(warning)
    }

    /// The warning that a headline names besides failed requests and an interruption, which it always names.
    pub(crate) fn main_warning(&self) -> Option<&Warning> {
        let level = match self.validity {
            Validity::GeneratorLimited => Level::Limit,
            Validity::Doubtful | Validity::MostlyFailed => Level::Doubt,
            Validity::Sound | Validity::Failed => return None,
        };
        // That connections could not be made is why requests failed.
        let is_known = |id: &str| IN_EVERY_HEADLINE.contains(&id) || id == "not-connected";
        let mut warnings = self.warnings.iter();
        warnings.find(|one| one.level == level && !is_known(&one.id))
    }
}
