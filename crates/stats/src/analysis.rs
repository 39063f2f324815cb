//! The whole analysis of a session.

use deadheat_model::{
    Cell, LoadPoint, SessionRecord, TargetId, plan::PlannedWorkload, workload::OfferedRate,
};
use schemars::JsonSchema;
use serde::Serialize;

use crate::{
    CellAnalysis, Settings, attempts,
    ceiling::{Ceiling, CeilingRates},
    cell,
    compare::{self, Comparison},
    cost::{self, CpuComparison},
    load::LoadSettings,
    metric::Metric,
    rank::{self, DeadHeat},
    trial::Judge,
    twin::{self, AaPair},
};

/// What a session's records say.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Analysis {
    /// The thresholds used.
    pub settings: Settings,
    /// The thresholds by which the generator of an open loop was judged: those of `deadheat load`.
    pub load_settings: LoadSettings,
    /// Blocks and trials that count.
    pub blocks: Blocks,
    /// Each workload at each load point, in the order of the plan.
    pub groups: Vec<Group>,
}

/// Blocks and trials that count, and those that do not.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Blocks {
    /// Blocks that were planned.
    pub planned: u32,
    /// Blocks in which every planned cell has a trial, void or not, from 0.
    pub complete: Vec<u32>,
    /// No block is complete, so that all trials there are count, and nothing is compared.
    pub incomplete: bool,
    /// There are too few complete blocks for more than an indication.
    pub indicative: bool,
    /// Trials that count, those of the null server and of the twin among them.
    pub trials_counted: usize,
    /// Void trials, of any block.
    pub trials_void: usize,
    /// Other trials that were left out: their block is not complete, or they were repeated later.
    pub trials_left_out: usize,
}

/// One workload at one load point.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Group {
    /// The workload's id.
    pub workload: String,
    /// The load point.
    pub point: LoadPoint,
    /// What the stacks are compared, ranked and sorted by.
    pub metric: Metric,
    /// The rate that the workload's own delay allows, in answers per second: connections over the least time of an
    /// answer, where the workload has one. Of any server on any machine.
    pub delay_bound_per_second: Option<f64>,
    /// What the null server reached here, if the session measured one: the most of this machine and this generator.
    pub ceiling: Option<Ceiling>,
    /// The stack that was measured twice, if it was here.
    pub twin: Option<AaPair>,
    /// The share that a ratio must be farther from 1 than for a difference: the practical difference, or the noise floor
    /// of the twin, if that is more.
    pub least_difference: f64,
    /// One cell per planned stack, sorted for reading: by rank, then by the metric; then lower bounds, failed ones,
    /// void ones, those not measured. The null server and the twin are not among them.
    pub cells: Vec<CellAnalysis>,
    /// All pairs of comparable cells, or why there are none.
    pub comparison: GroupComparison,
    /// What the stacks need of CPU time; `None` where their throughputs would not be compared either, or fewer than two
    /// were measured often enough.
    pub cpu: Option<CpuComparison>,
    /// Stacks in a dead heat, best rank first.
    pub dead_heats: Vec<DeadHeat>,
}

/// The comparisons of a load point.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum GroupComparison {
    /// Every pair of comparable cells.
    Pairs(Vec<Comparison>),
    /// This load ranks no stacks.
    NotRanked {
        /// Why.
        reason: NotRanked,
    },
    /// No block is complete.
    NoCompleteBlock,
    /// There are fewer complete blocks than a comparison needs.
    TooFewBlocks {
        /// Complete blocks.
        complete: usize,
        /// Blocks that a comparison needs.
        needed: usize,
    },
    /// Fewer than two cells can be compared.
    TooFewCells {
        /// Comparable cells.
        comparable: usize,
    },
}

/// Why a load ranks no stacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NotRanked {
    /// It is so many requests, cold, as somebody else's tool made them: it repeats a published figure.
    RepeatsPublished,
    /// Each stack had a rate of its own, a share of its own capacity: response times at different rates are no order.
    RatesDiffer,
}

impl GroupComparison {
    /// The pairs, if there are any.
    pub fn pairs(&self) -> &[Comparison] {
        match self {
            GroupComparison::Pairs(pairs) => pairs,
            _ => &[],
        }
    }
}

impl Analysis {
    /// Load points at which a stack and its twin, the same program, differ by the rule for stacks: there the session's
    /// order or machine is biased, and its other differences are in doubt.
    pub fn biased(&self) -> impl Iterator<Item = &Group> {
        self.groups.iter().filter(|group| group.is_biased())
    }
}

impl Group {
    /// Whether the stack and its twin differ here.
    pub fn is_biased(&self) -> bool {
        let found = self.twin.as_ref().and_then(|twin| twin.found);
        found.is_some_and(|found| found.differs)
    }

    /// The cells of contenders and controls.
    pub fn all_cells(&self) -> impl Iterator<Item = &CellAnalysis> {
        let ceiling = self.ceiling.iter().map(|ceiling| &ceiling.cell);
        let twin = self.twin.iter().map(|twin| &twin.cell);
        self.cells.iter().chain(ceiling).chain(twin)
    }
}

/// Analyses a session under the default thresholds.
pub fn analyse(record: &SessionRecord) -> Analysis {
    analyse_with(record, Settings::default())
}

/// Analyses a session.
pub fn analyse_with(record: &SessionRecord, settings: Settings) -> Analysis {
    let complete = record.complete_blocks();
    let load_settings = LoadSettings::default();
    let plan = &record.header.plan;
    let mut blocks = Blocks {
        planned: plan.blocks,
        incomplete: complete.is_empty(),
        indicative: complete.len() < settings.blocks_for_evidence,
        trials_counted: 0,
        trials_void: 0,
        trials_left_out: 0,
        complete,
    };
    let points = plan
        .workloads
        .iter()
        .flat_map(|workload| workload.points.iter().map(move |point| (workload, point)));
    let mut groups: Vec<Group> = points
        .map(|(workload, point)| {
            let at = LoadAt {
                record,
                workload,
                point,
                blocks: &blocks,
                settings: &settings,
                load_settings: &load_settings,
            };
            at.group()
        })
        .collect();
    let mut pairs: Vec<_> = groups
        .iter_mut()
        .filter_map(|group| Some((group.metric, group.twin.as_mut()?.found.as_mut()?)))
        .collect();
    twin::judge(&mut pairs, &settings);
    for cell in groups.iter().flat_map(Group::all_cells) {
        blocks.trials_counted += cell.trials.len();
        blocks.trials_void += cell.void.len();
    }
    blocks.trials_left_out = record.trials.len() - blocks.trials_counted - blocks.trials_void;
    Analysis {
        settings,
        load_settings,
        blocks,
        groups,
    }
}

/// One workload at one load point, with what judges it.
struct LoadAt<'a> {
    record: &'a SessionRecord,
    workload: &'a PlannedWorkload,
    point: &'a LoadPoint,
    blocks: &'a Blocks,
    settings: &'a Settings,
    load_settings: &'a LoadSettings,
}

impl LoadAt<'_> {
    fn group(&self) -> Group {
        let (record, settings) = (self.record, self.settings);
        let plan = &record.header.plan;
        let null_server = plan.controls.null_server.as_ref();
        let null_server = null_server.and_then(|target| self.cell(target, None));
        let rates = null_server.as_ref().map(CeilingRates::of);
        let contenders = plan
            .cells
            .iter()
            .filter(|cell| !plan.controls.has(&cell.target));
        let mut cells: Vec<CellAnalysis> = contenders
            .filter(|cell| self.is_here(cell))
            .filter_map(|cell| self.cell(&cell.target, rates.as_ref()))
            .collect();
        let metric = Metric::at(self.point, &cells);
        // Before comparing, so that the result does not depend on the order of the plan.
        rank::sort(&mut cells, metric);
        let twin = plan.controls.twin.as_ref().and_then(|twin| {
            let cell = self.cell(&twin.name, rates.as_ref())?;
            let original = cells.iter().find(|cell| cell.target == twin.of);
            let of = twin.of.clone();
            Some(AaPair::new(of, original, cell, metric, settings))
        });
        let floor = twin.as_ref().and_then(AaPair::floor);
        let least_difference = compare::least_difference(metric, floor, settings);
        let comparison = self.comparison(&cells, metric, least_difference);
        let compared = self.blocks.complete.len() >= settings.blocks_for_comparison;
        if compared && self.not_ranked(&cells).is_none() {
            rank::rank(
                &mut cells,
                metric,
                comparison.pairs(),
                settings.blocks_for_comparison,
            );
            rank::sort(&mut cells, metric);
        }
        let delay = self.workload.delay_seconds;
        Group {
            workload: self.workload.id.clone(),
            point: self.point.clone(),
            metric,
            delay_bound_per_second: delay.map(|delay| f64::from(self.point.connections) / delay),
            ceiling: null_server.map(Ceiling::new),
            twin,
            least_difference,
            dead_heats: rank::dead_heats(&cells, comparison.pairs()),
            cpu: (compared && self.not_ranked(&cells).is_none())
                .then(|| cost::compare(&cells, settings))
                .flatten(),
            cells,
            comparison,
        }
    }

    fn is_here(&self, cell: &Cell) -> bool {
        cell.workload == self.workload.id && cell.point == self.point.id
    }

    /// The analysis of a target here; `None` when it is not planned here.
    fn cell(&self, target: &TargetId, ceiling: Option<&CeilingRates>) -> Option<CellAnalysis> {
        let header = &self.record.header;
        let mut planned = header.plan.cells.iter();
        let cell = planned.find(|cell| self.is_here(cell) && cell.target == *target)?;
        let judge = Judge {
            point: self.point,
            machine: &header.machine,
            noise_bound: header.plan.noise_bound,
            ceiling,
            settings: self.settings,
            load_settings: self.load_settings,
        };
        let counts = |block: u32| self.blocks.incomplete || self.blocks.complete.contains(&block);
        let trials = attempts::of_cell(self.record, cell, counts, &judge);
        Some(cell::analyse(target.clone(), &trials, &judge))
    }

    /// Why this load ranks no stacks, if it does not.
    fn not_ranked(&self, cells: &[CellAnalysis]) -> Option<NotRanked> {
        if self.point.counted.is_some() {
            return Some(NotRanked::RepeatsPublished);
        }
        match self.point.open.as_ref()?.rate {
            OfferedRate::OfOwnCapacity(_) => Some(NotRanked::RatesDiffer),
            OfferedRate::OfSlowestCapacity(_) => {
                (!one_rate(cells)).then_some(NotRanked::RatesDiffer)
            }
        }
    }

    fn comparison(&self, cells: &[CellAnalysis], metric: Metric, least: f64) -> GroupComparison {
        let complete = self.blocks.complete.len();
        let needed = self.settings.blocks_for_comparison;
        let enough = |cell: &&CellAnalysis| cell.is_comparable() && cell.trials.len() >= needed;
        let comparable = cells.iter().filter(enough).count();
        if let Some(reason) = self.not_ranked(cells) {
            GroupComparison::NotRanked { reason }
        } else if self.blocks.incomplete {
            GroupComparison::NoCompleteBlock
        } else if complete < needed {
            GroupComparison::TooFewBlocks { complete, needed }
        } else if comparable < 2 {
            GroupComparison::TooFewCells { comparable }
        } else {
            GroupComparison::Pairs(compare::compare_by(cells, metric, least, self.settings))
        }
    }
}

/// Whether every comparable cell had the same offered rate in all its trials.
fn one_rate(cells: &[CellAnalysis]) -> bool {
    let comparable = cells.iter().filter(|cell| cell.is_comparable());
    let mut rates = comparable.map(|cell| {
        let estimates = cell.estimates.as_ref()?;
        estimates.open.as_ref()?.offered_per_second
    });
    match rates.next() {
        None => true,
        Some(first) => first.is_some() && rates.all(|rate| rate == first),
    }
}
