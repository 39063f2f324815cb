//! The report of a search for a terminal.

use anstyle::Style;

use super::{CapacityView, Tone};
use crate::text::{BAD, GOOD, Page, Screen, WARN};

/// The whole report, wrapped at `width` columns, with ANSI colours if `colour`. The first line is the answer.
pub fn text(view: &CapacityView, width: usize, colour: bool) -> String {
    let mut page = Page::new(Screen::new(width, colour));
    let style = match view.tone {
        Tone::Sound => GOOD,
        Tone::Doubtful => WARN.bold(),
        Tone::Failed => BAD.bold(),
    };
    page.wrapped(style, "", &view.headline);
    page.wrapped(Style::new(), "", &view.url);
    if let Some(caveat) = &view.caveat {
        page.wrapped(WARN, "! ", caveat);
    }
    if !view.looks.is_empty() {
        page.section("Looks, by rate");
        let figures = view.figures.iter().map(String::as_str);
        let head: Vec<&str> = ["rate", "holds"]
            .into_iter()
            .chain(figures)
            .chain(["answers", "failed", "look"])
            .collect();
        let rows = view.looks.iter().map(|row| {
            let mut cells = vec![row.rate.clone(), row.holds.to_owned()];
            cells.extend(row.values.iter().cloned());
            cells.extend([row.answers.clone(), row.failed.clone(), row.nth.to_string()]);
            cells
        });
        let rows: Vec<Vec<String>> = rows.collect();
        page.table("  ", &head, &rows);
        for row in view.looks.iter().filter(|row| !row.why.is_empty()) {
            page.wrapped(Style::new(), &format!("  look {}: ", row.nth), &row.why);
        }
    }
    page.section("The search");
    page.facts(&view.facts);
    page.text
}
