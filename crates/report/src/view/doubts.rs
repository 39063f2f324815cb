//! What is doubted about trials and cells, in words.

use deadheat_stats::{
    CellAnalysis,
    trial::Flag,
    verdict::{CellVerdict, TrialVerdict},
};

use super::losses;
use crate::figure::{count, counted, figure, percent};

/// Doubts and limits of a cell, for its row.
pub fn notes(cell: &CellAnalysis) -> Vec<String> {
    let mut notes = Vec::new();
    if let CellVerdict::LowerBound { limited, of } = &cell.verdict {
        notes.push(format!(
            "the generator's side (generator, database, upstream) was the limit in {limited} of {}; its latency contains theirs",
            counted(*of, "trial")
        ));
    }
    let flagged = |wanted: fn(&Flag) -> bool| {
        cell.trials
            .iter()
            .filter(|trial| trial.flags.iter().any(wanted))
            .count()
    };
    let of = cell.trials.len();
    match flagged(|flag| matches!(flag, Flag::Disturbed { .. })) {
        0 => {}
        n => notes.push(format!(
            "disturbed by other programs in {n} of {}",
            counted(of, "trial")
        )),
    }
    match flagged(|flag| matches!(flag, Flag::Unsteady { .. })) {
        0 => {}
        n => notes.push(format!("not steady in {n} of {}", counted(of, "trial"))),
    }
    match flagged(|flag| matches!(flag, Flag::CutShort { .. })) {
        0 => {}
        n => notes.push(format!(
            "ended by its time limit in {n} of {}",
            counted(of, "trial")
        )),
    }
    match flagged(|flag| matches!(flag, Flag::Little { .. })) {
        0 => {}
        n => notes.push(format!(
            "contradicts Little's law in {n} of {}",
            counted(of, "trial")
        )),
    }
    let failures = cell.failures.total();
    if failures > 0 && cell.estimates.is_some() {
        notes.push(format!(
            "{} of {} failed",
            failures,
            counted(cell.requests_ended as usize, "request")
        ));
    }
    notes
}

/// A trial's verdict, in words.
pub fn verdict(verdict: &TrialVerdict) -> String {
    match verdict {
        TrialVerdict::Counts => "counts".to_owned(),
        TrialVerdict::GeneratorLimited {
            cpus_busy: Some(busy),
            ..
        } => format!(
            "generator-limited: generator, database and upstream kept their CPUs busy for {} of the time, while the server \
             had time left",
            percent(*busy)
        ),
        TrialVerdict::GeneratorLimited { busiest_worker, .. } => format!(
            "generator-limited: a worker was busy for {} of its CPU",
            percent(*busiest_worker)
        ),
        TrialVerdict::Failed { reason } => match losses::reason(reason) {
            said if said.starts_with("failed ") => said,
            why => format!("failed: {why}"),
        },
    }
}

/// A trial's flag, in words.
pub fn flag(flag: &Flag) -> String {
    match flag {
        Flag::Little {
            connections,
            in_flight,
        } => format!(
            "Little's law: {connections} connections, but throughput × mean service time is {}",
            figure(*in_flight)
        ),
        Flag::Disturbed { other_cpu, steal } => format!(
            "disturbed: other programs used {} of the machine's CPU time, and {} was stolen",
            percent(*other_cpu),
            percent(*steal)
        ),
        Flag::CutShort { ended, asked } => format!(
            "ended by its time limit, after {} of {}",
            count(*ended),
            counted(*asked as usize, "request")
        ),
        Flag::Unsteady { trend } => format!(
            "not steady: throughput changed by {:+.1} % (standard error {:.1} %) from start to end",
            trend.change * 100.0,
            trend.standard_error * 100.0
        ),
    }
}
