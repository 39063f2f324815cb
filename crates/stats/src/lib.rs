//! From a session's records to what they say: verdicts, intervals, paired comparisons, ranks with ties.
//!
//! Pure functions without input or output; this crate knows no format. [`analyse`] is the whole of it: every number
//! of an [`Analysis`] can be computed again from the [`SessionRecord`](deadheat_model::SessionRecord) alone.

pub mod analysis;
pub mod attempts;
pub mod ceiling;
pub mod cell;
pub mod compare;
pub mod cost;
pub mod course;
pub mod figures;
pub mod heats;
pub mod history;
pub mod interval;
pub mod limit;
pub mod little;
pub mod load;
pub mod metric;
pub mod open;
pub mod order_statistic;
pub mod rank;
pub mod sequential;
pub mod series;
pub mod settings;
pub mod spectrum;
pub mod standings;
pub mod startup;
pub mod steadiness;
pub mod steering;
pub mod trial;
pub mod twin;
pub mod verdict;
pub mod versus;
pub mod welch;

pub use analysis::{Analysis, Group, analyse, analyse_with};
pub use cell::CellAnalysis;
pub use metric::Metric;
pub use settings::Settings;
pub use trial::TrialAnalysis;
