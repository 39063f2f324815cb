//! The generator's verdict on itself.

use deadheat_model::LoadRecord;
use schemars::JsonSchema;
use serde::Serialize;

use super::{LoadFigures, LoadSettings, Severity, Sign, signs};

/// What a load's figures are worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Standing {
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

/// A sign with its weight.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Judged {
    /// What it does to the figures.
    pub severity: Severity,
    /// The sign.
    #[serde(flatten)]
    pub sign: Sign,
}

/// The generator's verdict on itself.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct LoadVerdict {
    /// What the figures are worth.
    pub standing: Standing,
    /// The signs, the gravest first.
    pub signs: Vec<Judged>,
}

/// Whether half of the requests or more failed, of those that ended.
pub fn has_mostly_failed(figures: &LoadFigures) -> bool {
    figures.failed_share.is_some_and(|share| share >= MOSTLY)
}

impl LoadVerdict {
    pub(super) fn new(record: &LoadRecord, figures: &LoadFigures, settings: &LoadSettings) -> Self {
        let mut signs = signs::all(record, figures, settings);
        signs.sort_by_key(|judged| judged.severity);
        let gravest = signs.first().map(|judged| judged.severity);
        let standing = match gravest {
            // Also when nothing was answered: then it is the generator's fault.
            Some(Severity::Limit) => Standing::GeneratorLimited,
            _ if record.observation.measured.succeeded == 0 => Standing::Failed,
            _ if has_mostly_failed(figures) => Standing::MostlyFailed,
            Some(Severity::Doubt) => Standing::Doubtful,
            Some(Severity::Note) | None => Standing::Sound,
        };
        Self { standing, signs }
    }

    /// Whether the generator was the limit.
    pub fn generator_was_limit(&self) -> bool {
        self.standing == Standing::GeneratorLimited
    }

    /// The signs of one severity.
    pub fn of(&self, severity: Severity) -> impl Iterator<Item = &Sign> {
        let all = self.signs.iter();
        all.filter(move |judged| judged.severity == severity)
            .map(|judged| &judged.sign)
    }
}
