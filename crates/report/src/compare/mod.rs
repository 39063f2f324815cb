//! What `deadheat compare` says, for a person or a program.
//!
//! [`document`] says it once for all formats, [`html`] adds the data to its page, and [`json`] is unrounded.
//! docs/compare.md describes them.

mod advantage;
mod document;
mod gate;
mod html;
mod json;
mod sentence;
mod words;

pub use document::{document, headline};
pub use html::html;
pub(crate) use json::Report;
pub use json::json;
