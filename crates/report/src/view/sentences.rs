//! The outcome in words.

use deadheat_model::{SessionRecord, TargetId, session::TargetState};
use deadheat_stats::{
    Analysis, CellAnalysis, Group, Metric,
    analysis::{GroupComparison, NotRanked},
    cell::{PERCENTILES, PercentileValue},
    rank::DeadHeat,
    trial::requests_for,
    verdict::CellVerdict,
};

use super::{
    clean, cost,
    group::Missing,
    row::percentiles,
    words::{name, some},
};
use crate::figure::{count, counted, ends, figure, list, percent, seconds};

/// A rate of at least this share of the most that is possible has reached it.
const AT_CEILING: f64 = 0.97;

/// What was measured, in a sentence.
pub fn headline(record: &SessionRecord, analysis: &Analysis) -> String {
    let plan = &record.header.plan;
    let blocks = &analysis.blocks;
    let is_open = |group: &&Group| group.point.open.is_some();
    let open = analysis.groups.iter().filter(is_open).count();
    format!(
        "{} of {} asked for, {} at {}{}, {} of {} blocks complete{}.",
        counted(plan.targets.len(), "stack"),
        record.header.targets.len(),
        counted(plan.workloads.len(), "workload"),
        counted(analysis.groups.len() - open, "load point"),
        match open {
            0 => String::new(),
            open => format!(" and {}", counted(open, "offered rate")),
        },
        blocks.complete.len(),
        blocks.planned,
        if blocks.indicative {
            ": indicative"
        } else {
            ""
        },
    )
}

/// The outcome at a load point, in a few sentences.
pub fn summary(analysis: &Analysis, group: &Group) -> String {
    let mut sentences = vec![outcome(analysis, group)];
    sentences.extend(delay_bound(group));
    sentences.extend(cost::sentence(group));
    let of = |wanted: fn(&CellVerdict) -> bool| {
        let cells = group.cells.iter().filter(|cell| wanted(&cell.verdict));
        cells.map(name).collect::<Vec<_>>()
    };
    let limited = of(|verdict| matches!(verdict, CellVerdict::LowerBound { .. }));
    if !limited.is_empty() {
        let verb = if limited.len() == 1 { "was" } else { "were" };
        let limited = some(&limited);
        sentences.push(format!(
            "{limited} {verb} limited by the generator's side of the machine, and not ranked."
        ));
    }
    let failed = of(|verdict| matches!(verdict, CellVerdict::Failed { .. }));
    if !failed.is_empty() {
        sentences.push(format!("{} failed.", some(&failed)));
    }
    let void = of(|verdict| matches!(verdict, CellVerdict::Void { .. }));
    if !void.is_empty() {
        sentences.push(format!(
            "{} had no trial without too much noise from outside.",
            some(&void)
        ));
    }
    sentences.retain(|sentence| !sentence.is_empty());
    sentences.join(" ")
}

/// That the load point itself held stacks back, when it did: then equal rates say little.
fn delay_bound(group: &Group) -> Option<String> {
    let most = group.delay_bound_per_second?;
    let at_it = |cell: &&CellAnalysis| {
        cell.throughput()
            .is_some_and(|rate| rate >= AT_CEILING * most)
    };
    let reached = group.cells.iter().filter(at_it).count();
    (reached > 0).then(|| {
        format!(
            "No more than {} requests/s are possible here, whatever the stack, and {reached} of {} reached that: for \
             those, look at CPU and memory.",
            figure(most),
            group.cells.len()
        )
    })
}

fn outcome(analysis: &Analysis, group: &Group) -> String {
    let comparable: Vec<&CellAnalysis> = group
        .cells
        .iter()
        .filter(|cell| cell.is_comparable())
        .collect();
    let Some(first) = comparable.first() else {
        return "No stack has a result that could be ranked.".to_owned();
    };
    let rate = best(group, first);
    let reached = match (comparable.len(), group.metric) {
        (1, Metric::Throughput) => format!("{} reached {rate}", name(first)),
        (1, Metric::ResponseTime { .. }) => format!("{} had {rate}", name(first)),
        (_, Metric::Throughput) => format!("{} had the highest throughput, {rate}", name(first)),
        (_, Metric::ResponseTime { .. }) => {
            format!("{} answered soonest, with {rate}", name(first))
        }
    };
    match &group.comparison {
        GroupComparison::NotRanked { reason } => match reason {
            NotRanked::RepeatsPublished => {
                "Nothing is ranked: this load repeats a published one.".to_owned()
            }
            NotRanked::RatesDiffer => {
                "Nothing is ranked: each stack had a rate of its own.".to_owned()
            }
        },
        GroupComparison::NoCompleteBlock => {
            format!("{reached}; no block is complete, so nothing is ranked.")
        }
        GroupComparison::TooFewBlocks { complete, .. } => format!(
            "{reached}; {} cannot tell stacks apart, so nothing is ranked.",
            if *complete == 1 {
                "one block".to_owned()
            } else {
                counted(*complete, "block")
            },
        ),
        GroupComparison::TooFewCells { .. } => {
            let indicative = if analysis.blocks.indicative {
                " (indicative)"
            } else {
                ""
            };
            format!(
                "{} is the only stack with a rank: {rate}{indicative}.",
                name(first)
            )
        }
        GroupComparison::Pairs(_) => leaders(analysis, group, &comparable),
    }
}

fn leaders(analysis: &Analysis, group: &Group, comparable: &[&CellAnalysis]) -> String {
    let indicative = if analysis.blocks.indicative {
        "Indicative: "
    } else {
        ""
    };
    let leaders: Vec<&&CellAnalysis> = comparable
        .iter()
        .filter(|cell| cell.rank == Some(1))
        .collect();
    let names: Vec<String> = leaders.iter().map(|cell| name(cell)).collect();
    let rate = best(group, leaders[0]);
    let highest = match group.metric {
        Metric::Throughput => "highest median",
        Metric::ResponseTime { .. } => "shortest",
    };
    // A lower bound may hide a faster one, so then nobody is simply the fastest.
    let is_bound = |cell: &CellAnalysis| matches!(cell.verdict, CellVerdict::LowerBound { .. });
    let of_whom = match group.cells.iter().any(is_bound) {
        true => " of those that could be ranked",
        false => "",
    };
    let mut heats = group.dead_heats.iter();
    let heat = heats.find(|heat| is_first(group, heat));
    match (&leaders[..], heat) {
        ([winner], _) => {
            let lead = comparable
                .get(1)
                .and_then(|second| lead(group, winner, second));
            let is_best = match group.metric {
                Metric::Throughput => "is the fastest",
                Metric::ResponseTime { .. } => "answers soonest",
            };
            let with = match group.metric {
                Metric::Throughput => "",
                Metric::ResponseTime { .. } => "with ",
            };
            format!(
                "{indicative}{} {is_best}{of_whom}, {with}{rate}{}.",
                names[0],
                lead.unwrap_or_default()
            )
        }
        (_, Some(heat)) => format!(
            "{indicative}{} {}{}, the {highest} being {rate}{}.",
            some(&names),
            in_a_dead_heat(analysis),
            if leaders.len() < comparable.len() {
                " for the first place"
            } else {
                ""
            },
            open(heat)
        ),
        _ => format!(
            "{indicative}{} share the first rank, the {highest} being {rate}.",
            some(&names)
        ),
    }
}

/// Whether a dead heat is that of everyone with the first rank.
fn is_first(group: &Group, heat: &DeadHeat) -> bool {
    let first = group.cells.iter().filter(|cell| cell.rank == Some(1));
    heat.rank == 1 && heat.targets.len() == first.count()
}

fn lead(group: &Group, winner: &CellAnalysis, second: &CellAnalysis) -> Option<String> {
    let mut pairs = group.comparison.pairs().iter();
    let pair = pairs.find(|pair| pair.faster == winner.target && pair.slower == second.target)?;
    pair.different.then(|| {
        let (low, high) = (pair.interval.low, pair.interval.high);
        let ratio = format!("{:.2} times", pair.ratio);
        let interval = format!("(95 % interval {low:.2}–{high:.2})");
        match group.metric {
            Metric::Throughput => format!(", {ratio} {} {interval}", name(second)),
            Metric::ResponseTime { .. } => {
                format!(
                    ", that of {} being {ratio} as long {interval}",
                    name(second)
                )
            }
        }
    })
}

/// A cell's figure by which its load point is sorted.
fn best(group: &Group, cell: &CellAnalysis) -> String {
    let Metric::ResponseTime { percent } = group.metric else {
        return throughput(cell);
    };
    let Some(mean) = cell.response_time(percent) else {
        return String::new();
    };
    let interval = mean
        .interval
        .map(|interval| format!(" ({})", ends(&interval, seconds)));
    format!(
        "a response time of {}{} at p{percent}",
        seconds(mean.mean),
        interval.unwrap_or_default()
    )
}

fn throughput(cell: &CellAnalysis) -> String {
    let Some(estimates) = &cell.estimates else {
        return String::new();
    };
    let estimate = &estimates.throughput_per_second;
    let interval = estimate
        .interval
        .map(|interval| format!(" ({})", ends(&interval, figure)));
    format!(
        "{} requests/s{}",
        figure(estimate.median),
        interval.unwrap_or_default()
    )
}

/// What is said of stacks of which no two differ: only with enough blocks for evidence it is a dead heat, because a few
/// blocks find nothing where there is much.
fn in_a_dead_heat(analysis: &Analysis) -> &'static str {
    match analysis.blocks.indicative {
        true => "could not be told apart",
        false => "are in a dead heat",
    }
}

/// Every dead heat but the one for the first place, which the summary names.
pub fn dead_heats(analysis: &Analysis, group: &Group) -> Vec<String> {
    let others = group
        .dead_heats
        .iter()
        .filter(|heat| !is_first(group, heat));
    let heats = others.map(|heat| {
        let names: Vec<String> = heat
            .targets
            .iter()
            .map(|target| clean(&target.to_string()))
            .collect();
        format!(
            "{} {} (rank {}{}).",
            list(&names),
            in_a_dead_heat(analysis),
            heat.rank,
            open(heat)
        )
    });
    heats.collect()
}

/// What a dead heat leaves open.
fn open(heat: &DeadHeat) -> String {
    format!(
        "; a difference of up to {} is not excluded",
        percent(heat.open_ratio - 1.0)
    )
}

/// Stacks of the session that have neither a result nor a failure here.
pub fn not_measured(record: &SessionRecord, group: &Group) -> Option<String> {
    // Where published tables are repeated, each load point has stacks of its own, and the tables say why one is missing.
    if group.point.counted.is_some() {
        return None;
    }
    let here = |target: &TargetId| group.cells.iter().find(|cell| cell.target == *target);
    let mut names = Vec::new();
    for target in &record.header.targets {
        let why = match (&target.state, here(&target.target)) {
            (TargetState::Unavailable { .. }, _) => "unavailable",
            (TargetState::Failed(_), _) => "failed before any trial",
            (TargetState::Ready { .. }, Some(cell)) if cell.verdict == CellVerdict::NotMeasured => {
                "no trial that counts"
            }
            (TargetState::Ready { .. }, Some(_)) => continue,
            (TargetState::Ready { .. }, None) => {
                if target.failed_workload(&group.workload).is_some() {
                    continue;
                }
                "not planned"
            }
        };
        names.push(clean(&format!("{} ({why})", target.target)));
    }
    (!names.is_empty()).then(|| format!("Not measured here: {}.", list(&names)))
}

/// Percentiles that are not given for some stack, each with the reason.
pub fn missing(group: &Group) -> Vec<Missing> {
    let missing = PERCENTILES.iter().filter_map(|percent| {
        let mut names = Vec::new();
        let mut least = u64::MAX;
        for cell in &group.cells {
            let values = cell.estimates.iter().flat_map(percentiles);
            for value in values.filter(|value| value.percent == *percent) {
                if let PercentileValue::TooFewRequests { fewest, .. } = value.value {
                    names.push(name(cell));
                    least = least.min(fewest);
                }
            }
        }
        let shown = group.cells.iter().filter(|cell| cell.estimates.is_some());
        let whom = match shown.count() {
            all if all == names.len() && all > 1 => "any stack".to_owned(),
            _ => some(&names),
        };
        (!names.is_empty()).then(|| Missing {
            percent: *percent,
            sentence: format!(
                "p{percent} is not given for {}: it needs {} verified answers in every trial, and a trial had {}.",
                whom,
                count(requests_for(*percent)),
                count(least)
            ),
        })
    });
    missing.collect()
}
