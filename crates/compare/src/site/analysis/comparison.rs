//! Two sessions of one machine, the newer compared with the older: what `deadheat compare` says of them.

use deadheat_model::{
    Warning,
    change::{Aspect, Change},
    heats::SessionRecord,
};
use deadheat_stats::comparison::{
    self, Bounds, CellId, Compared, Ratio, RatioVerdict,
    sessions::{self, refusals},
};

use super::types::{
    ComparedCell, Ends, MetricRatio, NotComparedCell, SiteComparison, StepVerdict, rounded,
};

/// `b` compared with `a`.
pub fn comparison(a: &SessionRecord, b: &SessionRecord) -> SiteComparison {
    let (id_a, id_b) = (a.header.id.clone(), b.header.id.clone());
    let conditions = refusals(a, b);
    let has_other_settings = conditions.iter().any(|one| one.aspect == Aspect::Settings);
    let found = sessions::compare((&id_a, a), (&id_b, b), Bounds::default());
    let mut comparison = SiteComparison {
        a: id_a,
        b: id_b,
        conditions,
        has_other_settings,
        differences: found.differences,
        warnings: found.warnings.iter().map(Warning::in_full).collect(),
        loads: Vec::new(),
        stacks: Vec::new(),
        cells: Vec::new(),
        not_compared: Vec::new(),
    };
    for cell in &found.compared {
        let cell = compared(&mut comparison, cell);
        comparison.cells.push(cell);
    }
    let not_compared = found.not_compared.into_iter();
    comparison.not_compared = not_compared
        .filter_map(|one| {
            Some(NotComparedCell {
                load: load(&one.subject),
                target: one.subject.target?,
                reason: one.reason,
            })
        })
        .collect();
    comparison
}

/// What differs between the conditions of two sessions, in a line; `None`: nothing.
pub fn conditions_in_words(conditions: &[Change]) -> Option<String> {
    let names: Vec<String> = conditions.iter().map(Change::name).collect();
    (!names.is_empty()).then(|| format!("conditions differ: {}", names.join(", ")))
}

fn load(subject: &CellId) -> String {
    format!("{}:{}", subject.workload, subject.point)
}

fn compared(comparison: &mut SiteComparison, cell: &Compared) -> ComparedCell {
    let has_verdicts = !comparison.has_other_settings;
    let judged = |verdict: RatioVerdict| match verdict {
        _ if !has_verdicts => StepVerdict::NotCompared,
        RatioVerdict::Better => StepVerdict::Faster,
        RatioVerdict::Worse => StepVerdict::Slower,
        RatioVerdict::DeadHeat => StepVerdict::DeadHeat,
        RatioVerdict::NotEnoughData => StepVerdict::Undecided,
    };
    let ratio = |ratio: &Ratio| MetricRatio {
        metric: ratio.metric,
        a: rounded(ratio.a),
        b: rounded(ratio.b),
        ratio: ends(ratio),
        verdict: judged(ratio.verdict),
        p: ratio.p_adjusted.map(rounded),
    };
    let name = load(&cell.subject);
    let target = cell.subject.target.clone();
    ComparedCell {
        stack: target.map_or(0, |target| place(&mut comparison.stacks, target)),
        load: place(&mut comparison.loads, name),
        verdict: judged(cell.verdict),
        ratios: cell.ratios.iter().map(ratio).collect(),
    }
}

fn ends(ratio: &comparison::Ratio) -> Ends {
    let end =
        |of: fn(deadheat_stats::interval::Interval) -> f64| ratio.interval.map(of).map(rounded);
    Ends(
        rounded(ratio.ratio),
        end(|one| one.low),
        end(|one| one.high),
    )
}

/// The place of a value in a list, at whose end it is added if it is not there.
fn place<T: PartialEq>(list: &mut Vec<T>, value: T) -> usize {
    let known = list.iter().position(|one| *one == value);
    known.unwrap_or_else(|| {
        list.push(value);
        list.len() - 1
    })
}
