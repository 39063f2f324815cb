//! Each trial over its measurement: throughput, CPU and memory, and whether it was steady.

use deadheat_model::{
    SessionRecord, TrialRecord,
    trial::{Measured, TrialOutcome},
};
use deadheat_stats::{
    Analysis, CellAnalysis, Group, Settings, TrialAnalysis,
    series::{self, Usage},
    trial::Flag,
    verdict::TrialVerdict,
};
use serde::Serialize;

use super::{clean, detail, doubts, group};
use crate::figure::{NONE, count, counted, percent};

/// Points of a line at most: of longer measurements, neighbouring intervals are joined.
const MOST_POINTS: usize = 120;

/// Every trial over its measurement.
#[derive(Clone, Debug, Serialize)]
pub struct SeriesView {
    /// What steadiness is judged by, with its bounds.
    pub rule: String,
    /// How many trials were steady, in a sentence.
    pub outcome: String,
    /// Each workload at each load point that has a trial, in the order of the plan.
    pub points: Vec<SeriesPoint>,
}

/// The trials of a load point.
#[derive(Clone, Debug, Serialize)]
pub struct SeriesPoint {
    /// The workload and its load ("json, 50 connections").
    pub title: String,
    /// The stacks that have a trial here, the A/A twin and the null server last.
    pub stacks: Vec<SeriesStack>,
}

/// The trials of a stack at a load point.
#[derive(Clone, Debug, Serialize)]
pub struct SeriesStack {
    /// The stack, under its variant.
    pub target: String,
    /// Its trials in the order of their blocks, also those that do not count.
    pub trials: Vec<SeriesTrial>,
}

/// A trial over its measurement.
#[derive(Clone, Debug, Serialize)]
pub struct SeriesTrial {
    /// The block, from 1, and which time it was in that block, if not the first.
    pub block: String,
    /// How much throughput changed along its trend from start to end, as a share of its mean.
    pub change: String,
    /// The standard error of that.
    pub standard_error: String,
    /// The change up to which the trial is steady.
    pub bound: String,
    /// Whether it was steady, in words.
    pub steadiness: String,
    /// Whether it was found not to be.
    pub is_unsteady: bool,
    /// Why it does not count as others do ("void: …"); `None` when it does.
    pub aside: Option<String>,
    /// Its lines; `None` when it was not measured.
    #[serde(skip)]
    pub lines: Option<Lines>,
}

/// A trial's figures over its measurement, unrounded, for lines.
#[derive(Clone, Debug)]
pub struct Lines {
    /// The length of an interval of `rates`, in seconds.
    pub interval_seconds: f64,
    /// Verified answers per second in each interval.
    pub rates: Vec<f64>,
    /// CPU and memory from sample to sample; empty in older records.
    pub usage: Vec<Usage>,
}

/// The view; `None` without a trial.
pub(super) fn series(record: &SessionRecord, analysis: &Analysis) -> Option<SeriesView> {
    let points = analysis.groups.iter().map(|group| SeriesPoint {
        title: group::title(&group.workload, &group.point),
        stacks: stacks(record, group, &analysis.settings),
    });
    let points: Vec<SeriesPoint> = points.filter(|point| !point.stacks.is_empty()).collect();
    (!points.is_empty()).then(|| SeriesView {
        rule: rule(&analysis.settings),
        outcome: outcome(analysis),
        points,
    })
}

fn rule(settings: &Settings) -> String {
    format!(
        "A trial is not steady when its throughput changed by more than its bound from start to end of the measurement, \
         along a least-squares line through its intervals: by {:.0} % of its mean, or by {} standard errors of that \
         change, if that is more. Such a trial still counts.",
        settings.steady_change * 100.0,
        count(settings.steady_errors as u64)
    )
}

/// How many trials were steady, of all that count.
fn outcome(analysis: &Analysis) -> String {
    let judged = analysis
        .groups
        .iter()
        .filter(|group| group.point.counted.is_none());
    let cells = judged.flat_map(Group::all_cells);
    let trials = cells.flat_map(|cell| &cell.trials);
    let measured: Vec<&TrialAnalysis> = trials.filter(|trial| trial.figures.is_some()).collect();
    let flagged = |wanted: fn(&Flag) -> bool| {
        let has = |trial: &&&TrialAnalysis| trial.flags.iter().any(wanted);
        measured.iter().filter(has).count()
    };
    let unsteady = flagged(|flag| matches!(flag, Flag::Unsteady { .. }));
    let unknown = flagged(|flag| matches!(flag, Flag::SteadinessUnknown { .. }));
    if measured.is_empty() {
        return "No trial that counts is judged so.".to_owned();
    }
    let all = counted(measured.len(), "measured trial");
    let steady = measured.len() - unsteady - unknown;
    if steady == measured.len() {
        return match steady {
            1 => "The one measured trial that counts was steady.".to_owned(),
            _ => format!("All {all} that count were steady."),
        };
    }
    let mut text = format!("Of {all} that count, {} steady", was(steady));
    if unsteady > 0 {
        text += &format!(", {} not", was(unsteady));
    }
    if unknown > 0 {
        text += &format!(", {} too short to tell", was(unknown));
    }
    text + "."
}

fn was(number: usize) -> String {
    let verb = if number == 1 { "was" } else { "were" };
    format!("{} {verb}", count(number as u64))
}

fn stacks(record: &SessionRecord, group: &Group, settings: &Settings) -> Vec<SeriesStack> {
    let stack = |(target, cell): (String, &CellAnalysis)| {
        let trials = cell.trials.iter().chain(&cell.void);
        let left_out = cell.left_out.iter().map(|trial| (trial, true));
        let mut trials: Vec<_> = trials.map(|trial| (trial, false)).chain(left_out).collect();
        // Records stand in the order in which they ended.
        trials.sort_by_key(|(trial, _)| (trial.block, trial.record));
        let trials = trials.into_iter().filter_map(|(analysis, is_left_out)| {
            let trial = record.trials.get(analysis.record)?;
            let is_judged = group.point.counted.is_none();
            Some(trial_view(
                trial,
                analysis,
                is_left_out,
                is_judged,
                settings,
            ))
        });
        SeriesStack {
            target,
            trials: trials.collect(),
        }
    };
    let stacks = detail::named_cells(group).into_iter().map(stack);
    stacks.filter(|stack| !stack.trials.is_empty()).collect()
}

fn trial_view(
    trial: &TrialRecord,
    analysis: &TrialAnalysis,
    is_left_out: bool,
    is_judged: bool,
    settings: &Settings,
) -> SeriesTrial {
    let measured = match &trial.outcome {
        TrialOutcome::Measured(measured) => Some(&**measured),
        TrialOutcome::Failed(_) => None,
    };
    let figures = analysis.figures.as_ref().filter(|_| is_judged);
    let trend = figures.and_then(|figures| figures.trend);
    let share = |value: Option<f64>| value.map_or(NONE.to_owned(), percent);
    let is_unsteady = analysis
        .flags
        .iter()
        .any(|flag| matches!(flag, Flag::Unsteady { .. }));
    SeriesTrial {
        block: detail::block(trial),
        change: trend.map_or(NONE.to_owned(), |trend| signed(trend.change)),
        standard_error: share(trend.map(|trend| trend.standard_error)),
        bound: share(trend.map(|trend| trend.bound(settings))),
        steadiness: steadiness(analysis, is_judged, settings),
        is_unsteady,
        aside: aside(&analysis.verdict, is_left_out),
        lines: measured.map(lines),
    }
}

/// "+1.2 %", "−1.2 %", "0.0 %".
fn signed(share: f64) -> String {
    match percent(share.abs()) {
        zero if zero == percent(0.0) => zero,
        size if share < 0.0 => format!("−{size}"),
        size => format!("+{size}"),
    }
}

fn steadiness(analysis: &TrialAnalysis, is_judged: bool, settings: &Settings) -> String {
    let Some(figures) = &analysis.figures else {
        return "not measured".to_owned();
    };
    if !is_judged {
        return "not judged: so many requests of a cold server".to_owned();
    }
    for flag in &analysis.flags {
        match flag {
            Flag::Unsteady { trend } if trend.change < 0.0 => {
                return "not steady: throughput fell".to_owned();
            }
            Flag::Unsteady { .. } => return "not steady: throughput rose".to_owned(),
            Flag::SteadinessUnknown { bins, needed } => {
                return format!(
                    "not known: {} of {} needed",
                    counted(*bins, "interval"),
                    count(*needed as u64)
                );
            }
            _ => {}
        }
    }
    match figures.trend {
        Some(trend) if trend.change.abs() > settings.steady_change => {
            "no trend beyond its scatter".to_owned()
        }
        _ => "steady".to_owned(),
    }
}

/// Why a trial does not count as others do.
fn aside(verdict: &TrialVerdict, is_left_out: bool) -> Option<String> {
    let verdict = match verdict {
        TrialVerdict::Counts => None,
        other => Some(clean(&doubts::verdict(other))),
    };
    match (verdict, is_left_out) {
        (None, true) => Some("left out".to_owned()),
        (Some(verdict), true) => Some(format!("left out; {verdict}")),
        (verdict, false) => verdict,
    }
}

fn lines(measured: &Measured) -> Lines {
    let load = &measured.load;
    let bins = series::throughput(load, 1).len();
    let joined = bins.div_ceil(MOST_POINTS).max(1);
    let rates = series::throughput(load, joined);
    let samples = measured.resources.series.as_ref();
    let samples = samples.map_or(0, |series| series.samples.len());
    // About as many as there are intervals, so that a line of CPU time is no finer than that of the answers.
    let points = if rates.is_empty() {
        MOST_POINTS
    } else {
        rates.len()
    };
    let merged = (samples as f64 / points as f64).round() as usize;
    Lines {
        interval_seconds: load.bin.as_secs_f64() * joined as f64,
        rates,
        usage: series::usage(&measured.resources, merged),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_has_its_sign_if_it_is_shown_to_be_one() {
        let shown: Vec<String> = [0.123, -0.123, 0.0004, -0.0004]
            .into_iter()
            .map(signed)
            .collect();
        assert_eq!(shown, ["+12.3 %", "−12.3 %", "0.0 %", "0.0 %"]);
    }
}
