//! Reports of sessions that were measured in heats.
//!
//! [`StandingsView`] holds what all formats show: numbers with their units in their names, states, and the sentences.
//! [`words`] writes numbers and verdicts the same way everywhere. [`document`](document()) is the whole report, which the
//! formats lay out; the short text for a terminal, the card, JSON and CSV are their own.

mod card;
pub(crate) mod csv;
mod document;
pub mod html;
pub(crate) mod json;
mod scaling;
mod text;
pub mod view;
pub mod words;

pub use self::{csv::csv, json::json};
pub use card::{SIZE as CARD_SIZE, card, card_svg};
pub use document::document;
pub use text::text;
pub use view::StandingsView;

use crate::{markdown::redact_home::without_homes, text::Screen};

/// The whole report as Markdown that can be committed.
pub fn markdown(view: &StandingsView) -> String {
    without_homes(&document(view).markdown())
}

/// Everything that the report knows, for a terminal, as long as it gets.
pub fn full(view: &StandingsView, screen: Screen) -> String {
    document(view).text(screen)
}
