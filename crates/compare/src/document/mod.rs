//! What `deadheat compare` says, for a person or a program.
//!
//! [`document`] says it once for all formats, [`html`] adds the data to its page, and [`json`] is unrounded.
//! docs/compare.md describes them.

mod advantage;
mod gate;
mod html;
mod json;
pub mod layout;
mod sentence;
mod words;

pub use html::html;
pub use json::Report;
pub use json::json;

pub use self::layout::{document, headline};
