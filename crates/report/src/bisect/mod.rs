//! What `deadheat bisect` says, for a person or a program. [`BisectView`] holds the sentences; [`text`], [`markdown`] and
//! [`html`] only lay them out. [`json`] is unrounded. docs/bisect.md describes them.

mod html;
mod json;
mod markdown;
mod text;
mod view;

pub use html::html;
pub use json::json;
pub use markdown::markdown;
pub use text::text;
pub use view::{BisectView, Row, answer};
