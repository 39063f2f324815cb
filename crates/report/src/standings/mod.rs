//! Reports of sessions that were measured in heats.
//!
//! [`StandingsView`] holds what all formats show: numbers with their units in their names, states, and the sentences.
//! [`words`] writes numbers and verdicts the same way everywhere. The formats only lay out.

mod card;
pub(crate) mod csv;
pub mod html;
pub(crate) mod json;
mod markdown;
mod text;
pub mod view;
pub mod words;

pub use self::{csv::csv, json::json};
pub use card::{SIZE as CARD_SIZE, card, card_svg};
pub use markdown::markdown;
pub use text::{full, text};
pub use view::StandingsView;
