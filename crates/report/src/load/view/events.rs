//! The events of answers that are streams.

use deadheat_model::{
    LoadRecord,
    load::{Stream, StreamEvent},
};
use deadheat_stats::load::LoadFigures;

use super::{fact, time as seconds};
use crate::{
    figure::{count, counted, figure},
    view::Fact,
};

/// How many there were, and how long none came. Empty where they are not recorded.
pub(super) fn facts(record: &LoadRecord, figures: &LoadFigures) -> Vec<Fact> {
    let Some(found) = &figures.events else {
        return Vec::new();
    };
    let mut facts = vec![fact(
        "Events",
        format!(
            "{} ({}/s)",
            count(found.events),
            figure(found.events_per_second)
        ),
    )];
    let open = record.observation.events.as_ref();
    let open = open.map_or(0.0, |seen| seen.open_gap.as_secs_f64());
    if let Some(longest) = found.longest_gap_seconds {
        let unfinished = if longest == open {
            ", when the measurement ended"
        } else {
            ""
        };
        facts.push(fact(
            "Longest gap",
            format!("{}{unfinished}", seconds(longest)),
        ));
    }
    if found.without > 0 {
        facts.push(fact(
            "Without one",
            counted(found.without as usize, "valid answer"),
        ));
    }
    facts
}

/// What an answer is taken apart into, for the sentence that says what was done.
pub(super) fn plan(stream: &Stream) -> String {
    let what = match stream.event {
        StreamEvent::Sse => "server-sent event",
        StreamEvent::Lines => "line",
        StreamEvent::Chunks => "chunk",
    };
    match stream.enough {
        Some(enough) => format!(", each up to {}", counted(enough as usize, what)),
        None => format!(", in {what}s"),
    }
}
