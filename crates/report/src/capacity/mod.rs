//! What `deadheat load --find-rate` leaves, from its record and analysis: the answer, one caveat, and every look.
//!
//! [`CapacityView`] holds every figure as a rounded string with its unit; [`text`] and [`html`] only lay it out. What
//! programs read ([`json`], [`csv`]) is unrounded. docs/load-json.md describes it.

mod csv;
mod html;
mod json;
mod plot;
mod text;
mod view;

pub use csv::{COLUMNS, csv};
pub use html::{html, html_with};
pub use json::json;
pub use text::text;
pub use view::{CapacityView, LookRow, Tone};
