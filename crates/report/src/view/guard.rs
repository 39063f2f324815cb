//! What was done against noise, and what the measuring itself cost.

use deadheat_model::{
    SessionRecord,
    machine::{Finding, Level},
    plan::MOST_ATTEMPTS,
    trial::{Measured, TrialOutcome},
};
use deadheat_stats::Analysis;

use super::{alerts, clean, facts::Fact};
use crate::figure::{counted, percent};

/// Noise bound, sampling and the machine's findings.
pub fn facts(record: &SessionRecord, analysis: &Analysis) -> Vec<Fact> {
    let mut facts = vec![Fact {
        name: "Noise bound".to_owned(),
        value: bound(record, analysis),
    }];
    facts.extend(sampling(record).map(|value| Fact {
        name: "Cost of measuring".to_owned(),
        value,
    }));
    facts.extend(record.header.findings.iter().map(finding));
    facts
}

fn bound(record: &SessionRecord, analysis: &Analysis) -> String {
    let Some(bound) = record.header.plan.noise_bound else {
        return "none: no trial is void, those that were disturbed are flagged".to_owned();
    };
    format!(
        "a trial is void if {}; then it is repeated in its block, {} times at most; {}",
        alerts::past(bound),
        MOST_ATTEMPTS - 1,
        match analysis.blocks.trials_void {
            0 => "none was".to_owned(),
            1 => "1 trial was".to_owned(),
            many => format!("{} were", counted(many, "trial")),
        }
    )
}

/// What sampling the servers cost; `None` when nothing was measured.
fn sampling(record: &SessionRecord) -> Option<String> {
    let measured = || {
        let trials = record.trials.iter();
        trials.filter_map(|trial| match &trial.outcome {
            TrialOutcome::Measured(measured) => Some(&**measured),
            TrialOutcome::Failed(_) => None,
        })
    };
    measured().next()?;
    let cost = |trial: &Measured| {
        let span = trial.resources.span_seconds;
        let used = trial.noise.sampler_cpu_seconds?;
        (span > 0.0).then_some((used, span))
    };
    let costs: Vec<(f64, f64)> = measured().filter_map(cost).collect();
    if costs.is_empty() {
        return Some("what it cost is not known: the records do not tell".to_owned());
    }
    let used: f64 = costs.iter().map(|(used, _)| used).sum();
    let span: f64 = costs.iter().map(|(_, span)| span).sum();
    let most = costs.iter().map(|(used, span)| used / span);
    Some(format!(
        "sampling the servers took {} of a CPU (at most {} in a trial)",
        percent(used / span),
        percent(most.fold(0.0, f64::max))
    ))
}

fn finding(finding: &Finding) -> Fact {
    let level = match finding.level {
        Level::Fine => "fine",
        Level::Unknown => "unknown",
        Level::Note => "note",
        Level::Warning => "warning",
    };
    let check = finding.check.replace('-', " ");
    let remedy = match finding.remedy.is_empty() {
        true => String::new(),
        false => format!("to change that: {}", finding.remedy),
    };
    let parts = [&finding.found, &finding.why, &remedy];
    let parts: Vec<&str> = parts
        .into_iter()
        .map(|part| part.trim_end_matches('.'))
        .filter(|part| !part.is_empty())
        .collect();
    Fact {
        name: clean(&format!("Machine: {check}")),
        value: clean(&format!("{level}: {}", parts.join("; "))),
    }
}
