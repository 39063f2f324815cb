//! The statistics of heats: from slices to verdicts, ranks, and what to measure next.
//!
//! | step | module |
//! | --- | --- |
//! | recorded slices → rounds, with what pauses took | [`recorded`], [`pauses`] |
//! | a heat's rounds → an estimate for each of its members | [`within`], [`percentile`] |
//! | all heats' estimates → differences with errors | [`fit`], [`variance_shrinkage`] |
//! | differences → what of them holds together | `simultaneous` |
//! | differences → faster, dead heat, undecided | [`pairs`] |
//! | verdicts → ranks from … to | [`ranking`] |
//! | undecided neighbours → the members of the next heat | [`allocation`] |
//! | members → the order of the slices in each round | [`order`] |
//! | a pilot → how far more heats reach | [`pilot`] |
//!
//! When the heats are looked at while they are still being run, and what each look may spend, is
//! [`crate::sequential`]. Everything but [`recorded`] is a pure function of numbers;
//! members are numbered from 0. docs/statistics.md says it for readers, with what simulations found.

pub mod allocation;
pub mod course;
pub mod fit;
pub mod limit;
mod matrix;
pub mod order;
pub mod pairs;
pub mod pauses;
pub mod percentile;
pub mod pilot;
pub mod ranking;
pub mod recorded;
pub mod settings;
mod simultaneous;
pub mod variance_shrinkage;
pub mod within;

pub use crate::sequential::{Design as Looks, Look};
pub use allocation::Allocation;
pub use course::{Heat, HeatSeries, Quantity, Round, Slice};
pub use fit::{Contrast, Fit};
pub use limit::{LimitedBy, limit_of};
pub use pairs::{Alone, Pair, Remedy, Rule, Verdict, unseen_starts};
pub use percentile::Percentile;
pub use pilot::{Pilot, Planned};
pub use ranking::{Group, Rank, RankedMember, Ranking, of_fit, rankings};
pub use settings::Settings;
