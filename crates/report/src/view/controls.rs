//! What the session measured to judge itself: the null server and the stack that was measured twice.

use deadheat_stats::{
    Analysis, CellAnalysis, Group, Metric, ceiling::Ceiling, order_statistic::MedianInterval,
    twin::AaPair, verdict::CellVerdict,
};

use super::{
    clean,
    facts::Fact,
    plot_cell::Dot,
    words::{self, some},
};
use crate::figure::{counted, ends, figure, percent};

/// Load points that the provenance spells out.
const MOST_POINTS: usize = 4;

/// What the null server reached at a load point, in a sentence or two; `None` where it was not measured.
pub fn ceiling(group: &Group) -> Option<String> {
    let ceiling = group.ceiling.as_ref()?;
    let Some(rate) = ceiling.throughput_per_second() else {
        return Some(format!(
            "The null server {}, so that the ceiling is not known here.",
            lost(&ceiling.cell)
        ));
    };
    let best = group.cells.iter().filter_map(CellAnalysis::throughput);
    let best = best.fold(0.0, f64::max);
    let near = (best > 0.0).then(|| {
        format!(
            "; the highest throughput of a stack is {} of that",
            percent(best / rate.median)
        )
    });
    Some(format!(
        "Ceiling: the null server, which only answers, reached {}{}{}.",
        rate_words(rate),
        match ceiling.of_generator {
            true => ", with the generator as its limit",
            false => "",
        },
        near.unwrap_or_default()
    ))
}

/// The same for a plot.
pub fn ceiling_dot(group: &Group) -> Option<Dot> {
    let rate = group
        .ceiling
        .as_ref()
        .and_then(Ceiling::throughput_per_second)?;
    Some(Dot::of_median(rate))
}

/// What a stack and its twin differ by at a load point, in a sentence or two; `None` where none was measured twice.
pub fn noise(group: &Group) -> Option<String> {
    let twin = group.twin.as_ref()?;
    let of = clean(&twin.of.to_string());
    let Some(found) = twin.found else {
        return Some(format!(
            "A/A: {of} was to be compared with itself, but {}: the noise floor is not known here.",
            missing(group, twin)
        ));
    };
    let against = format!(
        "A/A: {of} against itself is {:.3} (95 % interval {:.3}–{:.3}) by {}",
        found.ratio,
        found.interval.low,
        found.interval.high,
        words::metric(group.metric),
    );
    let least = percent(group.least_difference);
    Some(match found.differs {
        true => format!(
            "{against}: they differ although they are the same program, so that the session's order or its machine favours \
             one of two equals. Differences here are in doubt, and those below {least} count as none."
        ),
        false => format!("{against}: no difference below {least} is called one here."),
    })
}

fn missing(group: &Group, twin: &AaPair) -> String {
    let original = group.cells.iter().find(|cell| cell.target == twin.of);
    match original {
        Some(cell) if !cell.is_comparable() => format!("it {}", lost(cell)),
        _ if !twin.cell.is_comparable() => format!("its twin {}", lost(&twin.cell)),
        _ => "there are too few blocks in common".to_owned(),
    }
}

/// Why a control has no result, in words that follow its name.
fn lost(cell: &CellAnalysis) -> String {
    match &cell.verdict {
        CellVerdict::Failed { failed, of, .. } => {
            format!("failed in {failed} of {}", counted(*of, "trial"))
        }
        CellVerdict::Void { void } => {
            format!("has none but void trials ({})", counted(*void, "trial"))
        }
        CellVerdict::LowerBound { .. } => "was limited by the generator's side".to_owned(),
        CellVerdict::Counts => "has a result".to_owned(),
        CellVerdict::NotMeasured => "has no trial that counts".to_owned(),
    }
}

/// That two names of one program differ, where they do.
pub fn biased(analysis: &Analysis) -> Option<String> {
    let at = |group: &Group| {
        let twin = group.twin.as_ref()?;
        let found = twin.found?;
        Some(clean(&format!(
            "{} at {} ({} apart)",
            twin.of,
            words::at(group),
            percent(found.floor)
        )))
    };
    let places: Vec<String> = analysis.biased().filter_map(at).collect();
    (!places.is_empty()).then(|| {
        format!(
            "One stack, measured twice under two names, differs from itself: {}. The session's order or its machine favours \
             one of two equals, so that other differences there are in doubt.",
            some(&places)
        )
    })
}

/// Ceiling and noise floor of the session.
pub fn facts(analysis: &Analysis) -> Vec<Fact> {
    let mut facts = Vec::new();
    let mut fact = |name: &str, value: Option<String>| {
        facts.extend(value.map(|value| Fact {
            name: name.to_owned(),
            value: clean(&value),
        }));
    };
    let no_ceiling = |group: &Group| {
        let ceiling = group.ceiling.as_ref();
        ceiling.is_some_and(|ceiling| ceiling.throughput_per_second().is_none())
    };
    let no_floor = |group: &Group| {
        let twin = group.twin.as_ref();
        twin.is_some_and(|twin| twin.found.is_none())
    };
    fact(
        "Ceiling (null server)",
        with_unknown(ceilings(analysis), analysis, no_ceiling),
    );
    let mut twins = analysis.groups.iter().filter_map(|one| one.twin.as_ref());
    let of = twins.next().map(|twin| &twin.of);
    let noise = with_unknown(floors(analysis), analysis, no_floor);
    let noise = of
        .zip(noise)
        .map(|(of, noise)| format!("{of} against itself: {noise}"));
    fact("Noise floor (A/A)", noise);
    facts
}

/// What is `known` of a control, and the load points at which it was measured and nothing is: a figure that is missing
/// must not read as one that was not wanted.
fn with_unknown(
    known: Option<String>,
    analysis: &Analysis,
    is_unknown: impl Fn(&Group) -> bool,
) -> Option<String> {
    let lost = analysis.groups.iter().filter(|group| is_unknown(group));
    let lost: Vec<String> = lost.map(words::at).collect();
    let unknown = (!lost.is_empty()).then(|| match lost.len() > MOST_POINTS {
        true => format!("not known at {}", counted(lost.len(), "load point")),
        false => format!("not known at {}", lost.join("; ")),
    });
    let parts: Vec<String> = known.into_iter().chain(unknown).collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}

fn ceilings(analysis: &Analysis) -> Option<String> {
    let known = |group: &Group| {
        let rate = group.ceiling.as_ref()?.throughput_per_second()?;
        let at = words::at(group);
        Some((format!("{} at {at}", rate_words(rate)), rate.median))
    };
    let all: Vec<(String, f64)> = analysis.groups.iter().filter_map(known).collect();
    if all.len() > MOST_POINTS {
        let (least, most) = range(all.iter().map(|(_, rate)| *rate));
        return Some(format!(
            "{} to {} requests/s over {}",
            figure(least),
            figure(most),
            counted(all.len(), "load point")
        ));
    }
    let all: Vec<String> = all.into_iter().map(|(text, _)| text).collect();
    (!all.is_empty()).then(|| all.join("; "))
}

fn floors(analysis: &Analysis) -> Option<String> {
    let known = |group: &Group| {
        let found = group.twin.as_ref()?.found?;
        Some((words::at(group), group.metric, found.floor))
    };
    let all: Vec<(String, Metric, f64)> = analysis.groups.iter().filter_map(known).collect();
    let each = all
        .iter()
        .map(|(at, _, floor)| format!("{} at {at}", percent(*floor)));
    match all.len() {
        0 => None,
        1..=MOST_POINTS => Some(each.collect::<Vec<_>>().join("; ")),
        _ => Some(ranges(
            all.iter().map(|(_, metric, floor)| (*metric, *floor)),
        )),
    }
}

fn ranges(all: impl Iterator<Item = (Metric, f64)>) -> String {
    let (throughput, response): (Vec<_>, Vec<_>) =
        all.partition(|(metric, _)| matches!(metric, Metric::Throughput));
    let kinds = [("throughput", throughput), ("response time", response)];
    let kinds = kinds.into_iter().filter(|(_, floors)| !floors.is_empty());
    let words = kinds.map(|(name, floors)| {
        let (least, most) = range(floors.iter().map(|(_, floor)| *floor));
        format!(
            "{} to {} of the {name} over {}",
            percent(least),
            percent(most),
            counted(floors.len(), "load point")
        )
    });
    words.collect::<Vec<_>>().join("; ")
}

fn range(values: impl Iterator<Item = f64> + Clone) -> (f64, f64) {
    let least = values.clone().fold(f64::MAX, f64::min);
    (least, values.fold(0.0, f64::max))
}

fn rate_words(rate: &MedianInterval) -> String {
    let interval = rate
        .interval
        .map(|interval| format!(" ({})", ends(&interval, figure)));
    format!(
        "{} requests/s{}",
        figure(rate.median),
        interval.unwrap_or_default()
    )
}
