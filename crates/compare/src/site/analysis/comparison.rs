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
use crate::history::analysis::{concerns as concerns_stack, readable};

/// `b` compared with `a`.
pub fn comparison(a: &SessionRecord, b: &SessionRecord) -> SiteComparison {
    let (id_a, id_b) = (a.header.id.clone(), b.header.id.clone());
    let times = [a, b].map(|one| format!("the session of {}", minute(&one.header.started)));
    let mut hidden = Vec::new();
    let conditions = refusals_by_stack(a, b).into_iter().filter_map(|one| {
        let name = one.name();
        let shown = readable(one);
        hidden.extend(shown.is_none().then_some(name));
        shown
    });
    let conditions: Vec<Change> = conditions.collect();
    let found = sessions::compare((&id_a, a), (&id_b, b), Bounds::default());
    let mut warnings = Vec::new();
    let mut load_warnings = Vec::new();
    for warning in found.warnings.iter().filter(|one| shows(one, &hidden)) {
        let text = dated(&warning.in_full(), &times);
        let loads = a.header.plan.loads.iter();
        let loads = loads.filter(|load| is_about(warning, load));
        load_warnings.extend(loads.map(|load| (load.name(), text.clone())));
        warnings.push(text);
    }
    let mut comparison = SiteComparison {
        a: id_a,
        b: id_b,
        conditions,
        differences: found.differences,
        warnings,
        load_warnings,
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
                reason: dated(&one.reason, &times),
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

/// Whether a warning is shown: not if it is about one of these conditions.
fn shows(warning: &Warning, hidden: &[String]) -> bool {
    let what = warning.evidence.get("what").and_then(Value::as_str);
    what.is_none_or(|what| hidden.iter().all(|one| one != what))
}

/// A text about A and B, with names of the two sessions instead: readers of the site have not called any session so.
fn dated(text: &str, [a, b]: &[String; 2]) -> String {
    let mut before = ";";
    let words = text.split(' ').map(|word| {
        let can_be_name = matches!(before, "in" | "In") || before.ends_with(';');
        before = word;
        let letter = word.trim_end_matches([',', '.', ':', ';']);
        let name = match letter {
            "A" if can_be_name => a,
            "B" if can_be_name => b,
            _ => return word.to_owned(),
        };
        format!("{name}{}", &word[letter.len()..])
    });
    words.collect::<Vec<String>>().join(" ")
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
    let mut settings = comparison.conditions.iter();
    let has_other_settings = settings.any(|one| one.aspect == Aspect::Settings && is_reason(one));
    let judged = |verdict: RatioVerdict| match verdict {
        _ if has_other_settings => StepVerdict::NotCompared,
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
    fn a_and_b_become_the_sessions_and_other_letters_stay() {
        let table = [
            (
                "A was not asked for it; B failed in 2 of 9 heats, A bad answer",
                "X was not asked for it; Y failed in 2 of 9 heats, A bad answer",
            ),
            (
                "Conditions differ: kernel is 6.1 in A, 6.2 in B.",
                "Conditions differ: kernel is 6.1 in X, 6.2 in Y.",
            ),
            (
                "In A one stack under two names (A/A) differed at users:c50.",
                "In X one stack under two names (A/A) differed at users:c50.",
            ),
        ];
        let names = ["X", "Y"].map(str::to_owned);
        for (text, named) in table {
            assert_eq!(dated(text, &names), named);
        }
    }

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
