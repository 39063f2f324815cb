//! What `deadheat compare` says, for a person or a program.
//!
//! [`CompareView`] holds every figure as a rounded string; [`brief`], [`text`], [`markdown`] and [`html`] only lay it out. [`json`] is
//! unrounded. docs/compare.md describes them.

mod advantage;
mod gate;
mod html;
mod json;
mod markdown;
mod sentence;
mod text;
mod view;
mod words;

pub use gate::GateView;
pub use html::html;
pub use json::{SCHEMA, json};
pub use markdown::markdown;
pub use text::{brief, text};
pub use view::{CompareView, Outcome, RatioRow, RatioTable, SideView};
