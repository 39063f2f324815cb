//! A comparison as one HTML file, with its JSON.

use deadheat_document::{
    Frame,
    error::ReportError,
    html::{data::DataFile, shell::Shell},
};
use deadheat_stats::versus::{Gate, Versus};

use super::json;
use crate::document::layout::{document, folder};

/// The whole comparison as a page.
///
/// # Errors
/// When the template does not fit the document.
pub fn html(versus: &Versus, gate: Option<&Gate>) -> Result<String, ReportError> {
    let json = json(versus, gate)?;
    let command = match folder(versus) {
        Some(folder) => format!("deadheat report {folder} -o compare.json"),
        None => "deadheat compare … -o compare.json".to_owned(),
    };
    let file = DataFile::new(
        "compare.json",
        "everything unrounded (docs/compare.md)",
        command,
        &json,
    );
    let shell = Shell::new(vec![file]);
    document(versus, gate).html_in(&Frame::new("deadheat-compare", shell))
}
