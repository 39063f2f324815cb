//! Reports of other load generators, as they were read.

mod headline;
pub mod layout;
mod versus;

use deadheat_document::error::ReportError;
use deadheat_model::imported::Imported;

pub use self::layout::document;
pub use self::versus::{Sides, versus, versus_json};

/// What was read as JSON over several lines that end with a newline; `deadheat import` reads it back.
///
/// # Errors
/// When a figure cannot be written.
pub fn json(imported: &Imported) -> Result<String, ReportError> {
    Ok(serde_json::to_string_pretty(imported)? + "\n")
}
