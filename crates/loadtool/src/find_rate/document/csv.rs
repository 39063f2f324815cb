//! A search as a table: a row for each look, in the order in which they were taken.

use deadheat_document::csv::{Number, head, line};
use deadheat_model::capacity::{CapacityRecord, LookOutcome, Unit};
use schemars::JsonSchema;
use serde::Serialize;

/// A look of a search. After these columns, each condition has one, such as `p99_seconds`: its figure, empty if it is not
/// known.
#[derive(Default, Serialize, JsonSchema)]
pub struct Row {
    /// Which look, from 1.
    look: usize,
    /// The rate in requests/s.
    per_second: Option<Number>,
    /// The measurement's length.
    seconds: Option<Number>,
    /// What became of it.
    outcome: Option<LookOutcome>,
    /// Requests whose intended start lay in the measurement.
    offered: u64,
    /// Valid answers, in the measurement, to its requests.
    succeeded: u64,
    /// Requests of the measurement that failed.
    failed: u64,
    /// Valid answers per second, also those to requests of the warm-up.
    answers_per_second: Option<Number>,
}

/// One row per look, after the head.
pub fn csv(record: &CapacityRecord) -> String {
    let unit = |unit| match unit {
        Unit::Seconds => "seconds",
        Unit::Share => "share",
        Unit::Count => "count",
    };
    let figures = record.conditions.iter();
    let mut table = head::<Row>(
        figures.map(|one| format!("{}_{}", one.figure.replace('.', "_"), unit(one.unit))),
    );
    for (place, look) in record.looks.iter().enumerate() {
        let found = &look.observation;
        let row = Row {
            look: place + 1,
            per_second: Number::finite(look.per_second),
            seconds: Number::finite(look.length.as_secs_f64()),
            outcome: Some(look.outcome),
            offered: found.open.as_ref().map_or(0, |open| open.offered),
            succeeded: found.measured.answers(),
            failed: found.measured.failed.total(),
            answers_per_second: Number::finite(found.throughput()),
        };
        let values = look.values.iter();
        let values: Vec<_> = values.map(|value| value.and_then(Number::finite)).collect();
        table += &line(&(row, values));
    }
    table
}
