//! The null server: what this machine and this generator can do at most.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use crate::{
    CellAnalysis,
    order_statistic::{MedianInterval, median_interval},
    verdict::CellVerdict,
};

/// What the null server reached at a load point: no stack can pass it by much, whatever it does.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Ceiling {
    /// Whether the generator, and not the null server, was the limit in at least one of its trials. That is usual: the
    /// null server does almost nothing. Then the ceiling is the generator's.
    pub of_generator: bool,
    /// The null server's trials, verdict and figures, as of a stack.
    pub cell: CellAnalysis,
}

impl Ceiling {
    /// The ceiling of a null server's cell.
    pub fn new(cell: CellAnalysis) -> Self {
        Self {
            of_generator: matches!(cell.verdict, CellVerdict::LowerBound { .. }),
            cell,
        }
    }

    /// Its throughput in answers per second; `None` when it failed or was not measured.
    pub fn throughput_per_second(&self) -> Option<&MedianInterval> {
        let estimates = self.cell.estimates.as_ref()?;
        Some(&estimates.throughput_per_second)
    }
}

/// The null server's throughput at a load point, block by block.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CeilingRates {
    of_blocks: BTreeMap<u32, f64>,
    median: Option<f64>,
}

impl CeilingRates {
    /// The rates of a null server's cell: of the trials that did not fail.
    pub fn of(cell: &CellAnalysis) -> Self {
        let rates = cell.trials.iter().filter_map(|trial| {
            let rate = trial.figures.as_ref()?.throughput_per_second;
            (!trial.verdict.is_failed() && rate > 0.0).then_some((trial.block, rate))
        });
        let of_blocks: BTreeMap<u32, f64> = rates.collect();
        let values: Vec<f64> = of_blocks.values().copied().collect();
        // The level is that of the interval, which is not used.
        let median = median_interval(&values, 0.95).map(|found| found.median);
        Self { of_blocks, median }
    }

    /// The rate in `block`, and true; where that block has none, the median of the others, and false.
    pub fn at(&self, block: u32) -> Option<(f64, bool)> {
        let here = self.of_blocks.get(&block).map(|rate| (*rate, true));
        here.or(self.median.map(|median| (median, false)))
    }
}
