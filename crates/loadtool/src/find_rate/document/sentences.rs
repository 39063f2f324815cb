//! A search's answer in words.

use deadheat_document::view::clean;
use deadheat_model::{
    capacity::{CapacityRecord, Condition, Unit},
    figure::{NONE, count, counted, figure, list, long_time, per_second, percent, seconds},
};

use deadheat_stats::capacity::{CapacityAnalysis, Outcome};

/// A condition's figure with its unit.
pub(super) fn shown(condition: &Condition, value: Option<f64>) -> String {
    match (condition.unit, value) {
        (_, None) => NONE.to_owned(),
        (Unit::Seconds, Some(value)) => seconds(value),
        (Unit::Share, Some(value)) => percent(value),
        (Unit::Count, Some(value)) => count(value as u64),
    }
}

/// "14 trials, 1 min 32 s".
fn effort(record: &CapacityRecord) -> String {
    format!(
        "{}, {}",
        counted(record.looks.len(), "trial"),
        long_time(record.elapsed.as_secs_f64())
    )
}

/// The answer.
pub(super) fn headline(record: &CapacityRecord, analysis: &CapacityAnalysis) -> String {
    let conditions = record.conditions.iter();
    let conditions: Vec<String> = conditions.map(|one| clean(&one.condition)).collect();
    let conditions = list(&conditions);
    let effort = effort(record);
    let (holds, not) = match record.conditions.len() {
        1 => ("holds", "does not hold"),
        _ => ("hold", "do not hold"),
    };
    let sure = format!("{} %", (analysis.confidence * 100.0).round());
    match &analysis.outcome {
        Outcome::Found(found) => format!(
            "Highest rate with {conditions} in nearly all trials: {}. In half of them: {} ({} to {}, {sure} sure), {effort}.",
            per_second(found.reliable_per_second),
            per_second(found.per_second),
            figure(found.low),
            figure(found.high),
        ),
        Outcome::Below { least_per_second } => format!(
            "No rate found: {conditions} {not} even at {}, {effort}.",
            per_second(*least_per_second)
        ),
        Outcome::GeneratorLimited {
            held_per_second,
            limit_per_second,
        } => {
            let held = held_per_second.map_or(String::new(), |held| {
                format!("{conditions} {holds} up to {}, and ", per_second(held))
            });
            format!(
                "No rate found: {held}the generator was the limit from {} on, {effort}.",
                per_second(*limit_per_second)
            )
        }
        Outcome::Undecided {
            held_per_second,
            failed_per_second,
        } => {
            let known = match (held_per_second, failed_per_second) {
                (Some(held), _) => format!("{conditions} {holds} at {}", per_second(*held)),
                (None, Some(failed)) => format!("{conditions} {not} at {}", per_second(*failed)),
                (None, None) => "no trial counts".to_owned(),
            };
            format!("No rate found: {known}, and the trials show no more, {effort}.")
        }
    }
}
