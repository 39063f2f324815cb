//! Every stack beside one of them: ratios at each load point, with whichever stack as the baseline.

use deadheat_model::{SessionRecord, TargetId, session::TargetRecord};
use deadheat_stats::{
    Analysis, CellAnalysis, Group, analysis::GroupComparison, compare::Comparison,
    verdict::CellVerdict,
};
use serde::Serialize;

use super::{clean, group, words};

/// The table of ratios.
#[derive(Clone, Debug, Serialize)]
pub struct RatiosView {
    /// What the figures are.
    pub introduction: String,
    /// The stacks, as they were asked for.
    pub stacks: Vec<RatioStack>,
    /// The load points at which stacks were compared.
    pub columns: Vec<RatioColumn>,
    /// The stack beside which the others stand at first: the place of the one that is compared at most load points.
    pub baseline: usize,
}

/// A stack, by what it can be chosen.
#[derive(Clone, Debug, Serialize)]
pub struct RatioStack {
    /// The stack, under its variant.
    pub target: String,
    /// The language.
    pub language: String,
    /// The framework.
    pub framework: String,
    /// How its code is executed.
    pub runtime: &'static str,
    /// How it reaches the database.
    pub database: &'static str,
}

/// A load point.
#[derive(Clone, Debug, Serialize)]
pub struct RatioColumn {
    /// Its heading.
    pub title: String,
    /// What is compared.
    pub metric: String,
    /// For each stack as the baseline, what each stack has beside it, both in the order of [`RatiosView::stacks`].
    pub beside: Vec<Vec<Ratio>>,
}

/// What a stack has beside the baseline.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "is", rename_all = "kebab-case")]
pub enum Ratio {
    /// It is the baseline.
    Baseline,
    /// They were compared.
    Compared {
        /// How many times better than the baseline, for sorting.
        value: f64,
        /// The same for reading.
        ratio: String,
        /// Its 95 % interval.
        interval: String,
        /// How it stands.
        verdict: Verdict,
    },
    /// One of both has a figure that could not be compared.
    NotCompared {
        /// Why, in a word or two.
        why: &'static str,
    },
}

/// How a stack stands beside the baseline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// It is better.
    Faster,
    /// It is worse.
    Slower,
    /// There is no difference that could be told.
    NoDifference,
}

/// The table; `None` when nothing was compared.
pub(super) fn ratios(record: &SessionRecord, analysis: &Analysis) -> Option<RatiosView> {
    let targets: Vec<&TargetRecord> = record
        .header
        .targets
        .iter()
        .filter(|record| is_measured(analysis, &record.target))
        .collect();
    let compared = |group: &&Group| matches!(group.comparison, GroupComparison::Pairs(_));
    let groups: Vec<&Group> = analysis.groups.iter().filter(compared).collect();
    if groups.is_empty() || targets.len() < 2 {
        return None;
    }
    let pairs = |target: &TargetId| {
        let has = |group: &&&Group| {
            let mut pairs = group.comparison.pairs().iter();
            pairs.any(|pair| pair.faster == *target || pair.slower == *target)
        };
        groups.iter().filter(has).count()
    };
    let counts = targets.iter().map(|record| pairs(&record.target));
    // The first of those with the most.
    let places = counts.enumerate().rev().max_by_key(|(_, count)| *count);
    let column = |group: &&Group| RatioColumn {
        title: group::title(&group.workload, &group.point),
        metric: words::metric(group.metric),
        beside: beside(group, &targets),
    };
    Some(RatiosView {
        introduction: "How many times better than the baseline each stack is: above 1 it is faster, below 1 slower. \
                       Each ratio is the geometric mean over the blocks in which both were measured, with its 95 % \
                       interval. Whether there is a difference is what the load point's ranks say, after Holm and by more \
                       than its least difference; an interval without 1 alone is not enough."
            .to_owned(),
        stacks: targets.iter().map(|record| stack(record)).collect(),
        columns: groups.iter().map(column).collect(),
        baseline: places.map_or(0, |(place, _)| place),
    })
}

fn is_measured(analysis: &Analysis, target: &TargetId) -> bool {
    let mut cells = analysis.groups.iter().flat_map(|group| &group.cells);
    cells.any(|cell| cell.target == *target)
}

fn stack(record: &TargetRecord) -> RatioStack {
    RatioStack {
        target: clean(&record.target.to_string()),
        language: clean(&record.language),
        framework: clean(&record.framework),
        runtime: words::runtime(record.runtime),
        database: record
            .database
            .as_ref()
            .map_or("none", |database| words::access(database.access)),
    }
}

fn beside(group: &Group, targets: &[&TargetRecord]) -> Vec<Vec<Ratio>> {
    let cell = |target: &TargetId| group.cells.iter().find(|cell| cell.target == *target);
    let of = |stack: &&TargetRecord, baseline: &TargetRecord| {
        let own = cell(&stack.target);
        if stack.target == baseline.target && own.is_some() {
            return Ratio::Baseline;
        }
        let pairs = group.comparison.pairs().iter();
        let pair = pairs
            .filter_map(|pair| compared(pair, &stack.target, &baseline.target))
            .next();
        pair.unwrap_or_else(|| {
            let lack = Lack::of(own).map(Lack::of_stack);
            let lack = lack.or_else(|| Lack::of(cell(&baseline.target)).map(Lack::of_baseline));
            // Both have their figures, and yet no pair: no block has both.
            let why = lack.unwrap_or("not compared");
            Ratio::NotCompared { why }
        })
    };
    let row = |baseline: &&TargetRecord| targets.iter().map(|stack| of(stack, baseline)).collect();
    targets.iter().map(row).collect()
}

/// A pair as a ratio to `baseline`, if it is one of these two.
fn compared(pair: &Comparison, stack: &TargetId, baseline: &TargetId) -> Option<Ratio> {
    let (low, high) = (pair.interval.low, pair.interval.high);
    let (value, low, high, verdict) = if pair.faster == *stack && pair.slower == *baseline {
        (pair.ratio, low, high, Verdict::Faster)
    } else if pair.faster == *baseline && pair.slower == *stack {
        (1.0 / pair.ratio, 1.0 / high, 1.0 / low, Verdict::Slower)
    } else {
        return None;
    };
    Some(Ratio::Compared {
        value,
        ratio: number(value),
        interval: format!("{}–{}", number(low), number(high)),
        verdict: match pair.different {
            true => verdict,
            false => Verdict::NoDifference,
        },
    })
}

/// Three decimals near 1, where they tell; three digits farther away.
fn number(ratio: f64) -> String {
    if (0.1..10.0).contains(&ratio) {
        format!("{ratio:.3}")
    } else {
        crate::figure::figure(ratio)
    }
}

/// Why a stack has no figure to compare.
#[derive(Clone, Copy)]
enum Lack {
    NotMeasured,
    Failed,
    Void,
    Overloaded,
    GeneratorLimited,
}

impl Lack {
    fn of(cell: Option<&CellAnalysis>) -> Option<Self> {
        let Some(cell) = cell else {
            return Some(Lack::NotMeasured);
        };
        match cell.verdict {
            _ if cell.is_overloaded() => Some(Lack::Overloaded),
            CellVerdict::Counts => None,
            CellVerdict::LowerBound { .. } => Some(Lack::GeneratorLimited),
            CellVerdict::Failed { .. } => Some(Lack::Failed),
            CellVerdict::Void { .. } => Some(Lack::Void),
            CellVerdict::NotMeasured => Some(Lack::NotMeasured),
        }
    }

    const fn of_stack(self) -> &'static str {
        match self {
            Lack::NotMeasured => "not measured",
            Lack::Failed => "failed",
            Lack::Void => "void",
            Lack::Overloaded => "overloaded",
            Lack::GeneratorLimited => "generator-limited",
        }
    }

    /// The same in the row of a stack that lacks nothing.
    const fn of_baseline(self) -> &'static str {
        match self {
            Lack::NotMeasured => "baseline not measured",
            Lack::Failed => "baseline failed",
            Lack::Void => "baseline void",
            Lack::Overloaded => "baseline overloaded",
            Lack::GeneratorLimited => "baseline generator-limited",
        }
    }
}
