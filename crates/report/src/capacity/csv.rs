//! A search as a table: a row for each look, in the order in which they were taken.

use deadheat_model::capacity::{CapacityRecord, LookOutcome};

use crate::csv::{Table, number};

/// The columns before those of the conditions, which have the figures' names with their units.
pub const COLUMNS: [&str; 8] = [
    "look",
    "per_second",
    "seconds",
    "outcome",
    "offered",
    "succeeded",
    "failed",
    "answers_per_second",
];

/// One row per look, after the head. A figure that is not known is empty.
pub fn csv(record: &CapacityRecord) -> String {
    let unit = |unit| match unit {
        deadheat_model::capacity::Unit::Seconds => "seconds",
        deadheat_model::capacity::Unit::Share => "share",
        deadheat_model::capacity::Unit::Count => "count",
    };
    let figures = record.conditions.iter();
    let figures = figures.map(|one| format!("{}_{}", one.figure.replace('.', "_"), unit(one.unit)));
    let figures: Vec<String> = figures.collect();
    let figures = figures.iter().map(String::as_str);
    let head: Vec<&str> = COLUMNS.into_iter().chain(figures).collect();
    let mut table = Table::new(&head);
    for (nth, look) in record.looks.iter().enumerate() {
        let found = &look.observation;
        let offered = found.open.as_ref().map_or(0, |open| open.offered);
        let outcome = match look.outcome {
            LookOutcome::Held => "held",
            LookOutcome::Failed => "failed",
            LookOutcome::Discarded => "discarded",
        };
        let mut row = vec![
            (nth + 1).to_string(),
            number(look.per_second),
            number(look.length.as_secs_f64()),
            outcome.to_owned(),
            offered.to_string(),
            found.measured.answers().to_string(),
            found.measured.failed.total().to_string(),
            number(found.throughput()),
        ];
        row.extend(
            look.values
                .iter()
                .map(|value| value.map_or(String::new(), number)),
        );
        let row: Vec<&str> = row.iter().map(String::as_str).collect();
        table.write(&row);
    }
    table.end()
}
