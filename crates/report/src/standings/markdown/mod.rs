//! The report as Markdown that can be committed: answers, then the tables behind them, then where they come from.

mod details;
mod tables;

use super::{
    view::{LoadView, StandingsView},
    words,
};
use crate::markdown::{Page, escape, homes};

/// The whole report as Markdown.
pub fn markdown(view: &StandingsView) -> String {
    let mut page = Page::default();
    page.heading(1, &view.title.to_string());
    answers(&mut page, view);
    page.paragraph(&escape(&format!("{}.", view.trust.line)));
    warnings(&mut page, view);
    if let Some(line) = &view.not_measured.line {
        page.paragraph(&format!("**Not measured**: {}.", escape(line)));
    }
    if view.has_figures() {
        page.paragraph(&escape(words::legend(view)));
    }
    for load in &view.loads {
        of_load(&mut page, load);
    }
    details::write(&mut page, view);
    homes::without_homes(&page.0)
}

fn answers(page: &mut Page, view: &StandingsView) {
    match view.loads.as_slice() {
        [] => {}
        [one] => page.paragraph(&format!("**{}.**", escape(&one.answer()))),
        many => {
            let rows: Vec<Vec<String>> = many
                .iter()
                .map(|load| vec![load.short.clone(), load.outcome()])
                .collect();
            page.table(&["workload", "answer"], &rows);
        }
    }
}

fn warnings(page: &mut Page, view: &StandingsView) {
    let rows: Vec<Vec<String>> = view
        .warnings
        .iter()
        .map(|warning| {
            vec![
                warning.text.clone(),
                warning.action.clone().unwrap_or_default(),
            ]
        })
        .collect();
    if !rows.is_empty() {
        page.table(&["warning", "what to do"], &rows);
    }
}

fn of_load(page: &mut Page, load: &LoadView) {
    page.heading(2, &load.title);
    if !load.description.is_empty() {
        page.paragraph(&escape(&load.description));
    }
    for table in load.tables.iter().filter(|table| !table.rows.is_empty()) {
        if let Some(title) = &table.title {
            page.heading(3, title);
        }
        tables::ranking(page, load, table);
        tables::resources(page, table);
        tables::undecided(page, load, table);
    }
    let lacking: Vec<String> = load.lacking.iter().map(words::lack).collect();
    for line in lacking {
        page.paragraph(&escape(&line));
    }
    for sentence in words::load_notes(load) {
        page.paragraph(&escape(&sentence));
    }
}
