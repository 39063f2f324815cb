//! What is doubted about trials and cells, in words.

use deadheat_stats::{
    CellAnalysis, TrialAnalysis,
    limit::Limit,
    little::LittleCause,
    trial::Flag,
    verdict::{CellVerdict, TrialVerdict},
};

use super::{losses, words};
use crate::figure::{count, counted, figure, percent, seconds};

/// Doubts and limits of a cell, for its row.
pub fn notes(cell: &CellAnalysis) -> Vec<String> {
    let mut notes = Vec::new();
    if let CellVerdict::LowerBound {
        limited,
        of,
        limits,
    } = &cell.verdict
    {
        notes.push(format!(
            "the generator's side (generator, database, upstream) was the limit in {limited} of {} ({}); its times contain \
             theirs",
            counted(*of, "trial"),
            words::limits(limits)
        ));
    }
    notes.extend(void(cell));
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
    match flagged(|flag| matches!(flag, Flag::SteadinessUnknown { .. })) {
        0 => {}
        n => notes.push(format!(
            "too short to tell whether it was steady in {n} of {}",
            counted(of, "trial")
        )),
    }
    match flagged(|flag| matches!(flag, Flag::Overloaded { .. })) {
        0 => {}
        n => notes.push(format!(
            "did not keep up with the offered rate in {n} of {}: response times grow with the measurement",
            counted(of, "trial")
        )),
    }
    match flagged(|flag| matches!(flag, Flag::Backlog { .. })) {
        0 => {}
        n => notes.push(format!(
            "began with a backlog of its warm-up in {n} of {}: response times are those of working it off",
            counted(of, "trial")
        )),
    }
    match flagged(|flag| matches!(flag, Flag::SendLag { .. })) {
        0 => {}
        n => notes.push(format!(
            "the generator's lateness shows in the response times of {n} of {}",
            counted(of, "trial")
        )),
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
            "connections without a request under way in {n} of {} (Little's law), for reasons of the server",
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

/// "2 of 9 trials were void and repeated".
fn void(cell: &CellAnalysis) -> Option<String> {
    let (void, all) = (cell.void.len(), cell.void.len() + cell.trials.len());
    let counts = |block: u32| cell.trials.iter().any(|trial| trial.block == block);
    let repeated = cell.void.iter().filter(|trial| counts(trial.block)).count();
    let (were, repeats) = match (void, repeated) {
        (0, _) => return None,
        (1, 1) => ("was", " and repeated".to_owned()),
        (_, all) if all == void => ("were", " and repeated".to_owned()),
        (1, _) => ("was", ", and its block has none that counts".to_owned()),
        (_, some) => (
            "were",
            format!(", {some} of them repeated until one was not"),
        ),
    };
    let noise = most_noise(&cell.void).map(|noise| format!(" ({noise})"));
    Some(format!(
        "{void} of {} {were} void{repeats}{}",
        counted(all, "trial"),
        noise.unwrap_or_default()
    ))
}

/// The most that void trials were disturbed by.
pub fn most_noise(void: &[TrialAnalysis]) -> Option<String> {
    let noise = |trial: &TrialAnalysis| match trial.verdict {
        TrialVerdict::Void { other_cpu, steal } => Some((other_cpu, steal)),
        _ => None,
    };
    let all: Vec<(f64, f64)> = void.iter().filter_map(noise).collect();
    let most = |of: fn(&(f64, f64)) -> f64| all.iter().map(of).fold(0.0, f64::max);
    (!all.is_empty()).then(|| {
        let up_to = if all.len() == 1 { "" } else { "up to " };
        format!(
            "other programs used {up_to}{} of the machine's CPU time, and {up_to}{} was stolen",
            percent(most(|(other, _)| *other)),
            percent(most(|(_, steal)| *steal))
        )
    })
}

/// A trial's verdict, in words.
pub fn verdict(verdict: &TrialVerdict) -> String {
    let why = why(verdict).unwrap_or_default();
    match verdict {
        TrialVerdict::Counts => "counts".to_owned(),
        TrialVerdict::GeneratorLimited { .. } => format!("generator-limited: {why}"),
        TrialVerdict::Void { .. } => format!("void: {why}"),
        TrialVerdict::Failed { .. } if why.starts_with("failed ") => why,
        TrialVerdict::Failed { .. } => format!("failed: {why}"),
    }
}

/// Why a trial's verdict is so, in words; `None` when it counts.
pub fn why(verdict: &TrialVerdict) -> Option<String> {
    match verdict {
        TrialVerdict::Counts => None,
        TrialVerdict::GeneratorLimited { limits } => {
            let limits: Vec<String> = limits.iter().map(limit).collect();
            Some(limits.join("; "))
        }
        TrialVerdict::Void { other_cpu, steal } => Some(noise(*other_cpu, *steal)),
        TrialVerdict::Failed { reason } => Some(losses::reason(reason)),
    }
}

/// What shows that the generator was the limit, with its figures.
fn limit(limit: &Limit) -> String {
    match limit {
        Limit::Worker { busy } => {
            format!("a worker was busy for {} of its CPU", percent(*busy))
        }
        Limit::Cpus { busy, .. } => format!(
            "generator, database and upstream kept their CPUs busy for {} of the time, while the server had time left",
            percent(*busy)
        ),
        Limit::Ceiling {
            share,
            ceiling_per_second,
            same_block,
        } => format!(
            "{} of the null server's {} requests/s ({})",
            percent(*share),
            figure(*ceiling_per_second),
            if *same_block {
                "in the same block"
            } else {
                "median of the other blocks"
            }
        ),
        Limit::Little {
            connections,
            in_flight,
        } => little(*connections, *in_flight),
        Limit::Late {
            offered,
            sent_share,
            percent: at,
            send_lag_seconds,
        } => format!(
            "{} of {} requests were sent, though connections were free; p{at} of the send lag was {}",
            percent(*sent_share),
            count(*offered),
            seconds(*send_lag_seconds)
        ),
        Limit::SendLag {
            percent: at,
            send_lag_seconds,
            response_share,
        } => lag(*at, *send_lag_seconds, *response_share),
    }
}

fn little(connections: u32, in_flight: f64) -> String {
    format!(
        "Little's law: {connections} connections, but throughput × mean service time is {}",
        figure(in_flight)
    )
}

fn lag(at: f64, send_lag_seconds: f64, response_share: f64) -> String {
    format!(
        "p{at} of the send lag was {}, {} of the response time",
        seconds(send_lag_seconds),
        percent(response_share)
    )
}

fn noise(other_cpu: f64, steal: f64) -> String {
    format!(
        "other programs used {} of the machine's CPU time, and {} was stolen",
        percent(other_cpu),
        percent(steal)
    )
}

fn cause(because: &LittleCause, connections: u32) -> String {
    match because {
        LittleCause::Reconnecting {
            opened,
            connecting: Some(connecting),
            closing_at_most,
        } => format!(
            "the server closed connections; {} were made, {} in the making at a time, and up to {} waited for their end",
            count(*opened),
            figure(*connecting),
            figure(closing_at_most.min(f64::from(connections)))
        ),
        LittleCause::Reconnecting { opened, .. } => format!(
            "the server closed connections; {} were made",
            count(*opened)
        ),
        LittleCause::Failures { failed } => {
            format!("{} failed", counted(*failed as usize, "request"))
        }
        LittleCause::Uneven { least, most } => format!(
            "the server answered one connection {} and another {}",
            counted(*least as usize, "time"),
            counted(*most as usize, "time")
        ),
    }
}

/// A trial's flag, in words.
pub fn flag(flag: &Flag) -> String {
    match flag {
        Flag::Little {
            connections,
            in_flight,
            because,
        } => format!(
            "{}: {}",
            little(*connections, *in_flight),
            cause(because, *connections)
        ),
        Flag::Disturbed { other_cpu, steal } => {
            format!("disturbed: {}", noise(*other_cpu, *steal))
        }
        Flag::SteadinessUnknown { bins, needed } => format!(
            "whether it was steady is not known: {} of half a second with answers, where it takes {needed}",
            counted(*bins, "whole bin")
        ),
        Flag::Overloaded {
            offered,
            unsent,
            oldest_unsent_seconds,
            in_flight_after,
            connections,
            ..
        } => format!(
            "overloaded: {} of {} requests had not been sent at the end, the oldest for {}, with {} of {connections} \
             connections in use; response times grow with the measurement",
            count(*unsent),
            count(*offered),
            seconds(*oldest_unsent_seconds),
            count(*in_flight_after)
        ),
        Flag::Backlog {
            offered,
            waiting,
            connections,
        } => format!(
            "began with a backlog: {} of the warm-up had not been sent when the measurement began, beside {} that were due \
             in it, with at most {connections} connections; response times are those of working it off",
            counted(*waiting as usize, "request"),
            count(*offered)
        ),
        Flag::SendLag {
            percent,
            send_lag_seconds,
            response_share,
        } => format!(
            "the generator's lateness shows: {}",
            lag(*percent, *send_lag_seconds, *response_share)
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
