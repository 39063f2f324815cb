//! A workload's open loops: response times at offered rates, beside service times.

use std::collections::BTreeMap;

use deadheat_model::{
    LoadPoint, SessionRecord, TargetId,
    load::Arrivals,
    workload::{OfferedRate, OpenLoad},
};
use deadheat_stats::{
    Analysis, CellAnalysis, Group,
    cell::{Estimates, PERCENTILES, PercentileEstimate, PercentileValue},
    trial::requests_for,
};
use serde::Serialize;

use super::{
    doubts,
    group::{self, GroupView},
    losses::Loss,
    lost,
    row::{self, Latency, RowState},
    words::{self, name, some},
};
use crate::figure::{NONE, count, counted, figure, list};

/// The open loops that follow from one closed loop.
#[derive(Clone, Debug, Serialize)]
pub struct LatencyView {
    /// A name for links, unique in the report.
    pub anchor: String,
    /// The workload and its load, for a heading.
    pub title: String,
    /// How requests were sent, and what the times are.
    pub introduction: Vec<String>,
    /// At each rate common to all, then at shares of each stack's own capacity.
    pub tables: Vec<LatencyTable>,
    /// Stacks that failed at a rate.
    pub losses: Vec<Loss>,
    /// Their names, in a sentence.
    pub losses_in_short: Option<String>,
    /// Other stacks without a figure, each sentence once.
    pub not_measured: Vec<String>,
    /// Percentiles that are not given somewhere, with the reason.
    pub missing: Vec<String>,
    /// What the intervals are.
    pub intervals: String,
    /// Each rate, with its pairs and trials.
    pub points: Vec<GroupView>,
}

/// Stacks at one rate, or each at shares of its own capacity.
#[derive(Clone, Debug, Serialize)]
pub struct LatencyTable {
    /// The rate, for a heading.
    pub title: String,
    /// What came of it, in sentences.
    pub summary: String,
    /// Every dead heat but the one for the first place.
    pub dead_heats: Vec<String>,
    /// What a stack and its twin differ by.
    pub noise: Option<String>,
    /// Whether rows begin with a rank; else with a share.
    pub is_ranked: bool,
    /// The results, in order.
    pub rows: Vec<LatencyRow>,
    /// Doubts and limits, each once, with whom it concerns.
    pub notes: Vec<String>,
}

/// One stack at one rate.
#[derive(Clone, Debug, Serialize)]
pub struct LatencyRow {
    /// Its rank, or the share of its capacity.
    pub lead: String,
    /// The stack, under its variant.
    pub target: String,
    /// How it stands.
    pub state: RowState,
    /// Requests per second that were asked for.
    pub offered: String,
    /// Verified answers per second.
    pub achieved: String,
    /// CPU time per request.
    pub cpu: String,
    /// Response times at each of [`PERCENTILES`].
    pub response: Vec<Latency>,
    /// Service times at the same.
    pub service: Vec<Latency>,
    /// "overloaded in 2 of 7 trials".
    pub overloaded: Option<String>,
}

/// The open loops among the groups that follow from the same closed one as `first`, by their place.
pub fn family<'a>(analysis: &'a Analysis, first: &Group) -> Vec<(usize, &'a Group)> {
    let of = |group: &Group| {
        let open = group.point.open.as_ref();
        open.map(|open| (group.workload.clone(), open.capacity_of.clone()))
    };
    let key = of(first);
    let groups = analysis.groups.iter().enumerate();
    groups.filter(|(_, group)| of(group) == key).collect()
}

/// The view of such a family.
pub fn view(
    record: &SessionRecord,
    analysis: &Analysis,
    family: &[(usize, &Group)],
    number: usize,
) -> LatencyView {
    let points: Vec<GroupView> = family
        .iter()
        .map(|(index, group)| group::view(record, analysis, *index, group))
        .collect();
    let groups: Vec<&Group> = family.iter().map(|(_, group)| *group).collect();
    let closed = closed(analysis, &groups);
    let mut tables: Vec<LatencyTable> = groups
        .iter()
        .zip(&points)
        .filter(|(group, _)| words::is_common(&group.point))
        .map(|(group, view)| common(group, view))
        .collect();
    let own: Vec<&Group> = groups
        .iter()
        .copied()
        .filter(|group| !words::is_common(&group.point))
        .collect();
    tables.extend(shares(&own, closed));
    let losses = losses(&groups, &points);
    LatencyView {
        anchor: format!("latency-{number}"),
        title: title(&groups),
        introduction: introduction(&groups),
        tables,
        losses_in_short: lost::in_short(&losses),
        losses,
        not_measured: once(points.iter().filter_map(|view| view.not_measured.clone())),
        missing: missing(&groups),
        intervals: once(points.iter().map(|view| view.intervals.clone())).join(" "),
        points,
    }
}

fn closed<'a>(analysis: &'a Analysis, groups: &[&Group]) -> Option<&'a Group> {
    let first = groups.first()?;
    let id = &first.point.open.as_ref()?.capacity_of;
    let mut all = analysis.groups.iter();
    all.find(|group| group.workload == first.workload && group.point.id == *id)
}

fn title(groups: &[&Group]) -> String {
    let Some(first) = groups.first() else {
        return String::new();
    };
    let closed = LoadPoint {
        open: None,
        ..first.point.clone()
    };
    format!(
        "{}: response times, open loop",
        group::title(&first.workload, &closed)
    )
}

fn introduction(groups: &[&Group]) -> Vec<String> {
    let open = || groups.iter().filter_map(|group| group.point.open.as_ref());
    let connections = groups.first().map_or(0, |group| group.point.connections);
    let of = |wanted: fn(&OpenLoad) -> Option<u32>| {
        let percents = open().filter_map(wanted);
        let percents: Vec<String> = percents.map(|percent| percent.to_string()).collect();
        (!percents.is_empty()).then(|| format!("{} %", list(&percents)))
    };
    let own = of(|open| match open.rate {
        OfferedRate::OfOwnCapacity(percent) => Some(percent),
        OfferedRate::OfSlowestCapacity(_) => None,
    });
    let common = of(|open| match open.rate {
        OfferedRate::OfOwnCapacity(_) => None,
        OfferedRate::OfSlowestCapacity(percent) => Some(percent),
    });
    let rates: Vec<String> = [
        common.map(|share| format!("{share} of the slowest stack's capacity, the same for all")),
        own.map(|share| format!("{share} of each stack's own capacity")),
    ]
    .into_iter()
    .flatten()
    .collect();
    let arrivals = once(open().map(|open| arrivals(open.arrivals).to_owned()));
    vec![
        format!(
            "Requests came at a rate, whatever had been answered: {}, over at most {}. The rates are {}; a capacity is the \
             throughput of the closed loop in the first block.",
            list(&arrivals),
            counted(connections as usize, "connection"),
            rates.join(", and ")
        ),
        "Response time counts from when a request was due, and is what a user waits; service time counts from when it was \
         sent."
            .to_owned(),
    ]
}

/// How intended starts lie around their rate.
pub fn arrivals(arrivals: Arrivals) -> &'static str {
    match arrivals {
        Arrivals::Poisson => "Poisson arrivals, as of users who do not know of each other",
        Arrivals::Uniform => "uniform arrivals, at even distances",
    }
}

fn common(group: &Group, view: &GroupView) -> LatencyTable {
    let rates = group.cells.iter().filter_map(offered).map(figure);
    let rates = once(rates);
    let rate = match &rates[..] {
        [] => "a rate common to all".to_owned(),
        [one] => format!("{one} requests/s for all"),
        _ => "rates that should have been one".to_owned(),
    };
    let cells = group.cells.iter().filter_map(|cell| {
        let lead = row::rank(group, cell);
        row(cell, lead)
    });
    LatencyTable {
        title: format!("At {rate}"),
        summary: view.summary.clone(),
        dead_heats: view.dead_heats.clone(),
        noise: view.noise.clone(),
        is_ranked: true,
        rows: cells.collect(),
        notes: notes(&[group]),
    }
}

/// Each stack at shares of its own capacity, the stacks in the order of their capacity.
fn shares(own: &[&Group], closed: Option<&Group>) -> Option<LatencyTable> {
    own.first()?;
    let mut targets: Vec<&TargetId> = Vec::new();
    let cells = closed.iter().flat_map(|group| &group.cells);
    for cell in cells.chain(own.iter().flat_map(|group| &group.cells)) {
        if !targets.contains(&&cell.target) {
            targets.push(&cell.target);
        }
    }
    let mut rows = Vec::new();
    for target in targets {
        for group in own {
            let cell = group.cells.iter().find(|cell| cell.target == *target);
            let lead = words::rate(&group.point);
            rows.extend(cell.and_then(|cell| row(cell, lead)));
        }
    }
    let noise = own.iter().find_map(|group| super::controls::noise(group));
    Some(LatencyTable {
        title: "At shares of each stack's own capacity".to_owned(),
        summary: "Nothing is ranked: each stack had rates of its own.".to_owned(),
        dead_heats: Vec::new(),
        noise,
        is_ranked: false,
        rows,
        notes: notes(own),
    })
}

fn offered(cell: &CellAnalysis) -> Option<f64> {
    let estimates = cell.estimates.as_ref()?;
    estimates.open.as_ref()?.offered_per_second
}

fn row(cell: &CellAnalysis, lead: String) -> Option<LatencyRow> {
    let estimates = cell.estimates.as_ref()?;
    let open = estimates.open.as_ref()?;
    let trials = counted(cell.trials.len(), "trial");
    Some(LatencyRow {
        lead,
        target: name(cell),
        state: RowState::of(cell),
        offered: open.offered_per_second.map_or("differs".to_owned(), figure),
        achieved: figure(estimates.throughput_per_second.median),
        cpu: row::cpu(estimates),
        response: times(&open.response_time),
        service: times(&estimates.service_time),
        overloaded: (open.overloaded > 0)
            .then(|| format!("overloaded in {} of {trials}", open.overloaded)),
    })
}

/// The doubts about stacks at these rates: each once, after those whom it concerns.
fn notes(groups: &[&Group]) -> Vec<String> {
    let mut all: Vec<(String, Vec<String>)> = Vec::new();
    for group in groups {
        let shown = group.cells.iter().filter(|cell| cell.estimates.is_some());
        for cell in shown {
            let whom = match words::is_common(&group.point) {
                true => name(cell),
                false => format!("{} at {}", name(cell), place(&group.point)),
            };
            for note in doubts::notes(cell) {
                match all.iter_mut().find(|(known, _)| *known == note) {
                    Some((_, others)) => others.push(whom.clone()),
                    None => all.push((note, vec![whom.clone()])),
                }
            }
        }
    }
    let all = all.into_iter();
    all.map(|(note, whom)| format!("{}: {note}", some(&whom)))
        .collect()
}

fn times(estimates: &[PercentileEstimate]) -> Vec<Latency> {
    let at = |percent: &f64| {
        let found = estimates.iter().find(|one| one.percent == *percent);
        found.map_or_else(
            || Latency {
                value: NONE.to_owned(),
                interval: None,
            },
            row::latency,
        )
    };
    PERCENTILES.iter().map(at).collect()
}

/// The rate, for a sentence ("at 70 % of its capacity").
fn place(point: &LoadPoint) -> String {
    match words::is_common(point) {
        true => "the common rate".to_owned(),
        false => format!("{} of its capacity", words::rate(point)),
    }
}

/// Each loss once, with the rates at which it happened where those are not all.
fn losses(groups: &[&Group], points: &[GroupView]) -> Vec<Loss> {
    let mut all: Vec<(Loss, Vec<String>)> = Vec::new();
    for (group, view) in groups.iter().zip(points) {
        for loss in &view.losses {
            let at = place(&group.point);
            match all.iter_mut().find(|(known, _)| known == loss) {
                Some((_, places)) => places.push(at),
                None => all.push((loss.clone(), vec![at])),
            }
        }
    }
    let all = all.into_iter().map(|(mut loss, places)| {
        if places.len() < groups.len() {
            loss.what = format!("{} at {}", loss.what, list(&places));
        }
        loss
    });
    all.collect()
}

/// Percentiles that are not given for some stack at some rate. Service and response time have the same answers.
fn missing(groups: &[&Group]) -> Vec<String> {
    let too_few = |estimates: &Estimates, percent: f64| {
        let open = estimates.open.as_ref()?;
        let found = open.response_time.iter().find(|p| p.percent == percent)?;
        match found.value {
            PercentileValue::TooFewRequests { fewest, .. } => Some(fewest),
            PercentileValue::Seconds(_) => None,
        }
    };
    let sentence = |percent: &f64| {
        let mut least = u64::MAX;
        let mut rates: BTreeMap<String, Vec<String>> = BTreeMap::new();
        let mut all = true;
        for group in groups {
            for cell in &group.cells {
                let Some(estimates) = &cell.estimates else {
                    continue;
                };
                match too_few(estimates, *percent) {
                    None => all = false,
                    Some(fewest) => {
                        least = least.min(fewest);
                        let rates = rates.entry(name(cell)).or_default();
                        rates.push(words::rate(&group.point));
                    }
                }
            }
        }
        if rates.is_empty() {
            return None;
        }
        let whom: Vec<String> = rates
            .iter()
            .map(|(name, rates)| format!("{name} ({})", rates.join(", ")))
            .collect();
        Some(format!(
            "p{percent} is not given{}: it needs {} verified answers in every trial, and a trial had {}.",
            match all {
                true => " anywhere".to_owned(),
                false => format!(" for {}", some(&whom)),
            },
            count(requests_for(*percent)),
            count(least)
        ))
    };
    PERCENTILES.iter().filter_map(sentence).collect()
}

/// Each text once, in order.
fn once(texts: impl Iterator<Item = String>) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for text in texts {
        if !text.is_empty() && !all.contains(&text) {
            all.push(text);
        }
    }
    all
}
