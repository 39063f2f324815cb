//! Published tables beside what was measured: the same ratios on both sides, against the same row.

use deadheat_model::{
    Cell, RepeatedTable, SessionRecord, TargetId,
    published::RepeatedRow,
    session::{TargetRecord, TargetState},
    trial::TrialFailure,
};
use schemars::JsonSchema;
use serde::Serialize;

use crate::{
    CellAnalysis, Group, Settings,
    analysis::Blocks,
    compare::log_ratios,
    interval::moments,
    metric::Metric,
    order_statistic::{Interval, MedianInterval},
    trial::Flag,
    verdict::{CellVerdict, FailReason},
};

/// A published table beside what was measured.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct TableAnalysis {
    /// The document's id.
    pub document: String,
    /// The table's id.
    pub table: String,
    /// The name of the row that ratios are against.
    pub baseline: String,
    /// The rows, in the document's order.
    pub rows: Vec<RowAnalysis>,
}

/// A row on both sides.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct RowAnalysis {
    /// Its name in the document.
    pub name: String,
    /// The stack that stands for it here.
    pub target: TargetId,
    /// The published figure, valid or not.
    pub published_per_second: Option<f64>,
    /// Whether it can be compared with others.
    pub published_valid: bool,
    /// The published figure over the baseline's. One run of each: there is no interval.
    pub published_ratio: Option<f64>,
    /// What was measured.
    pub measured: MeasuredRow,
    /// The measured figure over the baseline's.
    pub measured_ratio: Option<MeasuredRatio>,
    /// How both ratios go together, where both are known and the measured one has an interval.
    pub agreement: Option<Agreement>,
}

/// What was measured for a published row.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "is", rename_all = "kebab-case")]
pub enum MeasuredRow {
    /// Nothing was planned.
    LeftOut {
        /// Why.
        reason: String,
    },
    /// The stack is not available here.
    Unavailable {
        /// What is missing.
        reason: String,
        /// The command that would change that.
        remedy: String,
    },
    /// It failed.
    Failed {
        /// Failed trials; 0 when it failed before any.
        failed: usize,
        /// Trials in all.
        of: usize,
        /// Why, each reason once.
        reasons: Vec<FailReason>,
    },
    /// There is no trial that counts.
    NotMeasured,
    /// It was measured.
    Measured {
        /// Verified answers per second.
        throughput_per_second: MedianInterval,
        /// Whether that is only a lower bound, because the generator was the limit.
        lower_bound: bool,
        /// Trials that ended by their time limit, before all requests were made.
        cut_short: usize,
        /// Requests that failed, over all trials.
        failed_requests: u64,
    },
}

/// A measured ratio: the geometric mean of the ratios within a block.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct MeasuredRatio {
    /// The ratio.
    pub ratio: f64,
    /// Blocks behind it.
    pub blocks: usize,
    /// Its t interval on the logarithm; `None` with a single block, and for a bound.
    pub interval: Option<Interval>,
    /// Whether it is the ratio itself.
    pub bound: Bound,
}

/// What a ratio with a lower bound in it says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Bound {
    /// Neither side is a lower bound.
    Exact,
    /// The row is one: the ratio is this or more.
    AtLeast,
    /// The baseline is one: the ratio is this or less.
    AtMost,
}

/// How a published ratio stands to the interval of the measured one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Agreement {
    /// It lies inside.
    Within,
    /// The measured ratio is higher.
    Higher,
    /// The measured ratio is lower.
    Lower,
    /// The measured ratio is on the other side of 1: the order is reversed.
    Reversed,
}

/// All published tables that a session repeats.
pub fn tables(
    record: &SessionRecord,
    groups: &[Group],
    blocks: &Blocks,
    settings: &Settings,
) -> Vec<TableAnalysis> {
    let published = record.header.published.iter();
    published
        .map(|repeated| {
            let side = Side {
                record,
                groups,
                blocks,
                settings,
                repeated,
            };
            side.table()
        })
        .collect()
}

struct Side<'a> {
    record: &'a SessionRecord,
    groups: &'a [Group],
    blocks: &'a Blocks,
    settings: &'a Settings,
    repeated: &'a RepeatedTable,
}

impl Side<'_> {
    fn table(&self) -> TableAnalysis {
        let table = &self.repeated.table;
        let baseline_rate = table.baseline_row().and_then(|row| row.valid_rate());
        let place = table.row.iter().position(|row| row.name == table.baseline);
        let baseline = place.and_then(|index| self.repeated.rows.get(index));
        let baseline = baseline.and_then(|row| self.cell(row.cell()?));
        let rows = table.row.iter().zip(&self.repeated.rows);
        let rows = rows.map(|(row, planned)| {
            let rate = row.valid_rate();
            let published_ratio = rate
                .zip(baseline_rate)
                .map(|(rate, baseline)| rate / baseline);
            let is_baseline = row.name == table.baseline;
            let own = planned.cell().and_then(|cell| self.cell(cell));
            let measured_ratio = match (own, baseline) {
                (Some(own), Some(baseline)) if !is_baseline => self.ratio(own, baseline),
                _ => None,
            };
            RowAnalysis {
                name: row.name.clone(),
                target: match planned.cell() {
                    Some(cell) => cell.target.clone(),
                    None => row.target.clone(),
                },
                published_per_second: row.requests_per_second,
                published_valid: rate.is_some(),
                published_ratio,
                measured: self.measured(planned),
                measured_ratio,
                agreement: published_ratio
                    .zip(measured_ratio.and_then(|ratio| ratio.interval))
                    .map(|(published, interval)| {
                        agreement(published, &interval, self.settings.practical_difference)
                    }),
            }
        });
        TableAnalysis {
            document: self.repeated.document.clone(),
            table: table.id.clone(),
            baseline: table.baseline.clone(),
            rows: rows.collect(),
        }
    }

    fn cell(&self, cell: &Cell) -> Option<&CellAnalysis> {
        let group = self
            .groups
            .iter()
            .find(|group| group.workload == cell.workload && group.point.id == cell.point)?;
        group.cells.iter().find(|one| one.target == cell.target)
    }

    fn measured(&self, planned: &RepeatedRow) -> MeasuredRow {
        let cell = match planned {
            RepeatedRow::Asked { cell } => cell,
            RepeatedRow::LeftOut { reason } => {
                return MeasuredRow::LeftOut {
                    reason: reason.clone(),
                };
            }
        };
        let mut targets = self.record.header.targets.iter();
        let target = targets.find(|target| target.target == cell.target);
        if let Some(lost) = target.and_then(|target| lost(target, cell)) {
            return lost;
        }
        let Some(found) = self.cell(cell) else {
            return MeasuredRow::NotMeasured;
        };
        match (&found.verdict, &found.estimates) {
            (
                CellVerdict::Failed {
                    failed,
                    of,
                    reasons,
                },
                _,
            ) => MeasuredRow::Failed {
                failed: *failed,
                of: *of,
                reasons: reasons.clone(),
            },
            (_, Some(estimates)) => MeasuredRow::Measured {
                throughput_per_second: estimates.throughput_per_second,
                lower_bound: is_bound(found),
                cut_short: found
                    .trials
                    .iter()
                    .filter(|trial| is_cut(&trial.flags))
                    .count(),
                failed_requests: found.failures.total(),
            },
            (_, None) => MeasuredRow::NotMeasured,
        }
    }

    fn ratio(&self, own: &CellAnalysis, baseline: &CellAnalysis) -> Option<MeasuredRatio> {
        if self.blocks.incomplete || own.estimates.is_none() || baseline.estimates.is_none() {
            return None;
        }
        let bound = match (is_bound(own), is_bound(baseline)) {
            (false, false) => Bound::Exact,
            (true, false) => Bound::AtLeast,
            (false, true) => Bound::AtMost,
            // Of two lower bounds nothing follows.
            (true, true) => return None,
        };
        let logs = log_ratios(own, baseline, Metric::Throughput);
        if logs.is_empty() {
            return None;
        }
        let mean = logs.iter().sum::<f64>() / logs.len() as f64;
        let level = self.settings.level;
        let interval = moments(&logs).filter(|_| bound == Bound::Exact);
        Some(MeasuredRatio {
            ratio: mean.exp(),
            blocks: logs.len(),
            interval: interval.map(|moments| {
                let half = moments.half_width(level);
                Interval {
                    low: (mean - half).exp(),
                    high: (mean + half).exp(),
                    level,
                }
            }),
            bound,
        })
    }
}

/// A stack that never came to a trial of `cell`.
fn lost(target: &TargetRecord, cell: &Cell) -> Option<MeasuredRow> {
    let failed = |failure: &TrialFailure| MeasuredRow::Failed {
        failed: 0,
        of: 0,
        reasons: vec![FailReason::Outcome {
            phase: failure.phase,
            reason: failure.reason.clone(),
        }],
    };
    match &target.state {
        TargetState::Unavailable { reason, remedy } => Some(MeasuredRow::Unavailable {
            reason: reason.clone(),
            remedy: remedy.clone(),
        }),
        TargetState::Failed(failure) => Some(failed(failure)),
        TargetState::Ready { .. } => target.failed_workload(&cell.workload).map(failed),
    }
}

fn is_bound(cell: &CellAnalysis) -> bool {
    matches!(cell.verdict, CellVerdict::LowerBound { .. })
}

fn is_cut(flags: &[Flag]) -> bool {
    flags
        .iter()
        .any(|flag| matches!(flag, Flag::CutShort { .. }))
}

/// Another order needs a difference on both sides: a published one of less than `least` is none.
fn agreement(published: f64, measured: &Interval, least: f64) -> Agreement {
    let (more, less) = (1.0 + least, 1.0 / (1.0 + least));
    let ahead = published > more && measured.high < less;
    let behind = published < less && measured.low > more;
    if ahead || behind {
        Agreement::Reversed
    } else if published < measured.low {
        Agreement::Higher
    } else if published > measured.high {
        Agreement::Lower
    } else {
        Agreement::Within
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_order_needs_a_difference_on_both_sides() {
        let interval = |low, high| Interval {
            low,
            high,
            level: 0.95,
        };
        let judged = |published, low, high| agreement(published, &interval(low, high), 0.01);
        assert_eq!(judged(0.7, 1.1, 1.3), Agreement::Reversed);
        assert_eq!(judged(1.4, 0.8, 0.9), Agreement::Reversed);
        // 194.33 to 194.40 requests/s, at an upstream that lets nobody have more than 200: no order.
        assert_eq!(judged(0.9996, 1.0005, 1.0007), Agreement::Higher);
        assert_eq!(judged(0.9996, 1.1, 1.3), Agreement::Higher);
        assert_eq!(judged(0.7, 0.9, 1.005), Agreement::Higher);
        assert_eq!(judged(1.4, 1.1, 1.5), Agreement::Within);
        assert_eq!(judged(1.4, 1.1, 1.3), Agreement::Lower);
    }
}
