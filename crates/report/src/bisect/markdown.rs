//! A search for an issue or a pull request.

use super::view::{BisectView, HEAD};
use crate::markdown::{Page, escape};

/// The search as Markdown.
pub fn markdown(view: &BisectView) -> String {
    let mut page = Page::default();
    page.paragraph(&format!("**{}**", escape(&view.headline)));
    if !view.sentences.is_empty() {
        page.paragraph(&escape(&view.sentences.join(" ")));
    }
    let rows: Vec<Vec<String>> = view
        .rows
        .iter()
        .map(|row| row.cells().map(escape).into())
        .collect();
    if !rows.is_empty() {
        let rules = ["---", "---:", "---:", "---:", "---", "---"];
        page.table_of(&HEAD, &rules, &rows);
    }
    page.bullets("", &view.notes);
    page.0
}
