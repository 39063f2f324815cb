//! What `deadheat bisect` says, for a person or a program. [`BisectView`] holds the sentences; [`text`] and [`markdown`]
//! only lay them out. [`json`] is unrounded. docs/bisect.md describes them.

mod json;
mod markdown;
mod text;
mod view;

pub use json::json;
pub use markdown::markdown;
pub use text::text;
pub use view::{BisectView, Row, answer};
