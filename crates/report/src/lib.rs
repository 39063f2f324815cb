//! From a session's records and their analysis to what a person or a program reads.
//!
//! [`View`] holds every figure as a rounded string with its unit; the formats only lay it out, so that they cannot
//! disagree. Nothing here does statistics, input or output: a format is a function that returns a `String`,
//! or, for the card, the bytes of a picture.

pub mod card;
pub mod compare;
pub mod csv;
pub mod error;
pub mod figure;
pub mod history;
pub mod html;
pub mod json;
pub mod load;
pub mod markdown;
mod page;
pub mod schema;
pub mod standings;
pub mod text;
pub mod view;

pub use self::csv::csv;
pub use card::card;
pub use error::ReportError;
pub use html::html;
pub use json::json;
pub use markdown::markdown;
pub use schema::{report_schema, standings_schema};
pub use standings::StandingsView;
pub use text::text;
pub use view::View;
