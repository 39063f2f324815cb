//! Reports of sessions of heats.

pub mod budgets;
mod card;
pub mod cases;
mod csv;
pub mod fixture;
mod json;
mod look;
mod markdown;
mod page;
mod published;
mod recorded;
pub mod sessions;
mod text;
mod view;

use deadheat_bench::document::view::StandingsView;

/// The views of all cases, by their names.
pub fn views() -> Vec<(&'static str, StandingsView)> {
    let cases = cases::all();
    let mut views: Vec<_> = cases.iter().map(|case| (case.name, case.view())).collect();
    let (record, standings) = budgets::budgets();
    views.push(("budgets", StandingsView::new(&record, &standings)));
    views
}
