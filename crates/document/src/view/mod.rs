//! What the reports of sessions, comparisons and loads have in common: text that is fit to be shown, facts, and names.

mod clean;
pub mod facts;
mod load;
mod words;

pub use clean::{clean, clean_log};
pub use facts::{Fact, StackFacts};
pub use load::load;
pub use load::title;
