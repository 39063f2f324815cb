//! From a session's records and their analysis to what a person or a program reads.
//!
//! A view ([`StandingsView`] for a session) holds what is shown; the formats only lay it out, so that they cannot
//! disagree. Nothing here does statistics, input or output: a format is a function that returns a `String`,
//! or, for the card, the bytes of a picture.

pub mod bisect;
pub mod capacity;
pub mod compare;
pub mod compat;
mod csv;
pub mod document;
pub mod error;
pub mod figure;
pub mod history;
pub mod html;
pub mod imported;
pub mod json;
pub mod load;
mod markdown;
mod plot;
pub mod schema;
pub mod standings;
pub mod text;
pub mod view;

pub use error::ReportError;
pub use schema::schemas;
pub use standings::StandingsView;
