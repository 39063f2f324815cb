//! Reports of sessions that were measured in heats.
//!
//! [`StandingsView`] holds what all formats show: numbers with their units in their names, states, and the sentences.
//! [`words`] writes numbers and verdicts the same way everywhere. [`document`](document()) is the whole report, which the
//! formats lay out; the short text for a terminal, the card, JSON and CSV are their own.

mod card;
pub mod csv;
pub mod html;
pub mod json;
mod layout;
mod scaling;
mod text;
pub mod view;
pub mod words;

pub use card::{SIZE as CARD_SIZE, card, card_svg};
use deadheat_document::{markdown::redact_home::without_homes, text::Screen};
pub use text::text;
pub use view::StandingsView;

pub use self::layout::document;
pub use self::{csv::csv, json::json};

/// The whole report as Markdown that can be committed.
pub fn markdown(view: &StandingsView) -> String {
    without_homes(&document(view).markdown())
}

/// Everything that the report knows, for a terminal, as long as it gets.
pub fn full(view: &StandingsView, screen: Screen) -> String {
    document(view).text(screen)
}
