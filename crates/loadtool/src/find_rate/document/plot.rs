//! The figure of each condition over the rate, with the interval shaded.

use deadheat_document::plot::{
    Colour, Guide, GuidePosition, Mark, Plot, Series, Shape,
    axis::{Axis, Unit},
};
use deadheat_model::capacity::{self, CapacityRecord, Condition, LookOutcome};

use deadheat_stats::capacity::{CapacityAnalysis, Outcome};

/// How looks of each outcome are drawn.
const MARKS: [(LookOutcome, &str, Colour, Mark); 3] = [
    (LookOutcome::Held, "holds", Colour::Blue, Mark::Disc),
    (
        LookOutcome::Failed,
        "does not hold",
        Colour::Red,
        Mark::Cross,
    ),
    (
        LookOutcome::Discarded,
        "discarded",
        Colour::Grey,
        Mark::Diamond,
    ),
];

/// A plot for each condition that has figures.
pub(super) fn plots(record: &CapacityRecord, analysis: &CapacityAnalysis) -> Vec<Plot> {
    let conditions = record.conditions.iter().enumerate();
    conditions
        .filter_map(|(index, condition)| plot(record, analysis, index, condition))
        .collect()
}

fn plot(
    record: &CapacityRecord,
    analysis: &CapacityAnalysis,
    index: usize,
    condition: &Condition,
) -> Option<Plot> {
    let series = MARKS.map(|(outcome, name, colour, mark)| {
        let looks = record.looks.iter().filter(|look| look.outcome == outcome);
        let point = |look: &capacity::LookRecord| {
            let value = look.values.get(index).copied().flatten();
            value.map(|value| (look.per_second, Some(value)))
        };
        Series {
            name: name.to_owned(),
            colour,
            shape: Shape::Marks(mark),
            points: looks.filter_map(point).collect(),
        }
    });
    let mut series = Vec::from(series);
    series.retain(|series| !series.points.is_empty());
    if series.is_empty() {
        return None;
    }
    let points = series.iter().flat_map(|series| &series.points);
    let values = points.filter_map(|(_, value)| *value);
    let values = values.chain([condition.bound]);
    let y = match condition.unit {
        capacity::Unit::Seconds => Axis::logarithmic(Unit::Seconds, values)?,
        capacity::Unit::Share => Axis::amount(Unit::Share, values),
        capacity::Unit::Count => Axis::amount(Unit::Count, values),
    };
    let rates = record.looks.iter().map(|look| look.per_second);
    let bound = Guide {
        name: "the bound",
        colour: Colour::Orange,
        at: GuidePosition::At(condition.bound),
    };
    let interval = match &analysis.outcome {
        Outcome::Found(found) => Some(Guide {
            name: "95 % interval of the highest rate",
            colour: Colour::Blue,
            at: GuidePosition::Between(found.low, found.high),
        }),
        _ => None,
    };
    Some(Plot {
        title: format!("{} at each rate", condition.figure),
        subject: record.url.clone(),
        figures: "The table below has the figures.",
        x: Axis::logarithmic(Unit::PerSecond, rates)?,
        y,
        guides: interval.into_iter().chain([bound]).collect(),
        series,
    })
}
