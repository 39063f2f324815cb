//! Two sessions of one kind of machine, the newer compared with the older: what `deadheat compare` says of them.

use deadheat_model::{
    TargetId, Warning,
    change::{Aspect, Change},
    heats::{PlannedLoad, SessionRecord},
};
use deadheat_stats::comparison::{
    self, Bounds, CellId, Compared, Ratio, RatioVerdict,
    sessions::{self, refusals_by_stack},
};
use serde_json::Value;

use super::{
    session::minute,
    types::{
        ComparedCell, Ends, MetricRatio, NotComparedCell, SiteComparison, StepVerdict, rounded,
    },
};
use crate::history::analysis::concerns as concerns_stack;

/// `b` compared with `a`.
pub fn comparison(a: &SessionRecord, b: &SessionRecord) -> SiteComparison {
    let (id_a, id_b) = (a.header.id.clone(), b.header.id.clone());
    let called = [a, b].map(|one| format!("the session of {}", minute(&one.header.started)));
    let [called_a, called_b] = called.each_ref().map(String::as_str);
    let bounds = Bounds::default();
    let found = sessions::compare((&id_a, a), (&id_b, b), [called_a, called_b], bounds);
    let load_warnings = found.warnings.iter().flat_map(|warning| {
        let loads = a.header.plan.loads.iter();
        let loads = loads.filter(move |load| is_about(warning, load));
        loads.map(move |load| (load.name(), warning.in_full()))
    });
    let mut comparison = SiteComparison {
        a: id_a,
        b: id_b,
        conditions: refusals_by_stack(a, b),
        differences: found.differences,
        load_warnings: load_warnings.collect(),
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

/// Whether a difference can be a reason for a change of a stack at a load ("users:c100").
pub fn concerns(change: &Change, target: &TargetId, load: &str) -> bool {
    concerns_stack(change, target) && concerns_load(change, load)
}

/// Whether a difference can be a reason for a change at this load: a setting of another load or workload cannot.
fn concerns_load(change: &Change, load: &str) -> bool {
    let workload = load.split_once(':').map_or(load, |(workload, _)| workload);
    match change.what.rsplit_once(": ") {
        Some((of, _)) if change.aspect == Aspect::Settings => of == load || of == workload,
        _ => true,
    }
}

/// Whether a warning is about this load.
fn is_about(warning: &Warning, load: &PlannedLoad) -> bool {
    let loads = warning.evidence.get("loads").and_then(Value::as_array);
    loads.is_some_and(|loads| loads.iter().any(|one| *one == load.name()))
}

/// What differs between the conditions of two sessions, in a line; `None`: nothing.
pub fn conditions_in_words<'a>(conditions: impl Iterator<Item = &'a Change>) -> Option<String> {
    let names: Vec<String> = conditions.map(Change::name).collect();
    (!names.is_empty()).then(|| format!("conditions differ: {}", names.join(", ")))
}

fn load(subject: &CellId) -> String {
    format!("{}:{}", subject.workload, subject.point)
}

fn compared(comparison: &mut SiteComparison, cell: &Compared) -> ComparedCell {
    let name = load(&cell.subject);
    let target = cell.subject.target.clone();
    let is_reason = |one: &Change| {
        concerns_load(one, &name) && target.iter().all(|target| concerns_stack(one, target))
    };
    let conditions_differ = comparison.conditions.iter().any(is_reason);
    let judged = |verdict: RatioVerdict| match verdict {
        _ if conditions_differ => StepVerdict::NotCompared,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_concerns_its_load_or_workload() {
        let change = |what: &str| Change {
            aspect: Aspect::Settings,
            target: None,
            what: what.to_owned(),
            before: None,
            after: None,
        };
        for (what, concerned) in [
            ("pinning", true),
            ("users:c100: slices", true),
            ("users:c10: slices", false),
            ("users:c100: warm-up", true),
            ("users: definition", true),
            ("user: definition", false),
        ] {
            assert_eq!(
                concerns_load(&change(what), "users:c100"),
                concerned,
                "{what}"
            );
        }
    }
}
