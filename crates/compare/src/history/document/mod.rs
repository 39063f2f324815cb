//! Several sessions for a person or a program: what changed between them, and a stack's figures over them.

pub mod layout;

use deadheat_document::{
    error::ReportError,
    json::{self, Body},
};

pub use self::layout::document;
use crate::history::analysis::History;

impl Body for History {
    const FORMAT: &'static str = "deadheat-history";
    const SCHEMA: u32 = 3;
}

/// The history as JSON over several lines that end with a newline.
///
/// # Errors
/// When a figure cannot be written.
pub fn json(history: &History) -> Result<String, ReportError> {
    json::json(history)
}
