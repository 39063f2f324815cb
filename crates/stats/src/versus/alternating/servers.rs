//! Two servers that are no stacks: URLs or commands.

use deadheat_model::{
    LoadRecord, Schedule,
    comparison::{ComparisonOutcome, ComparisonRecord, ComparisonTrial, MeasuredServer, Side},
    load_record,
    trial::Resources,
};

use super::Judged;
use crate::{
    Settings,
    load::{self, Sign, Standing},
    sequential::Look,
    verdict,
    versus::{
        Bounds, Compared, Found, Metric, NotCompared, Subject,
        found::series,
        paired::{self, PairedCell, Series},
    },
};

/// What the complete blocks up to `look` say; without a look nothing is compared yet.
pub fn judge(record: &ComparisonRecord, look: Option<Look>, bounds: &Bounds) -> Judged {
    let subject = subject(record);
    let blocks = look.map_or(0, |look| look.blocks);
    let sides = Side::BOTH.map(|side| Counted::of(record, side, blocks));
    if let Some(not_compared) = hindrance(&subject, &sides) {
        return Judged {
            compared: Vec::new(),
            not_compared: vec![not_compared],
            failed: sides.iter().any(|one| one.failed.is_some()),
        };
    }
    let compared = match look {
        None => vec![Compared {
            subject,
            ratios: Vec::new(),
            notes: Vec::new(),
        }],
        Some(look) => {
            let cell = PairedCell {
                subject,
                series: all_series(&sides),
                notes: notes(record, &sides, blocks),
            };
            paired::at_look(&[cell], look, bounds)
        }
    };
    Judged {
        compared,
        not_compared: Vec::new(),
        failed: false,
    }
}

/// The trials of a side that count: of each block the last one, unless it is void. What failed is never void.
struct Counted<'a> {
    side: Side,
    /// The block, the trial, and the generator's verdict on itself.
    trials: Vec<(u32, &'a MeasuredServer, load::LoadVerdict)>,
    /// Why a trial of this side failed, in or after these blocks.
    failed: Option<String>,
}

impl<'a> Counted<'a> {
    fn of(record: &'a ComparisonRecord, side: Side, blocks: u32) -> Self {
        let own = record.trials.iter().filter(|trial| trial.side == side);
        // A disturbed machine is no excuse for a wrong answer.
        let failed = own.clone().find_map(failure_of);
        let counted = own.filter(|trial| !record.is_void(trial));
        let mut trials: Vec<(u32, &MeasuredServer, load::LoadVerdict)> = Vec::new();
        for trial in counted.filter(|trial| trial.block < blocks) {
            if let ComparisonOutcome::Measured(measured) = &trial.outcome {
                trials.retain(|(block, ..)| *block != trial.block);
                trials.push((trial.block, measured, verdict_on(record, trial, measured)));
            }
        }
        Self {
            side,
            trials,
            failed,
        }
    }

    fn with_standing(&self, standing: Standing) -> usize {
        let trials = self.trials.iter();
        trials
            .filter(|(_, _, verdict)| verdict.standing == standing)
            .count()
    }

    fn with_sign(&self, is: fn(&Sign) -> bool) -> usize {
        let trials = self.trials.iter();
        trials
            .filter(|(_, _, verdict)| verdict.signs.iter().any(|judged| is(&judged.sign)))
            .count()
    }
}

/// Why a trial is no measurement of the server, if so, by the same rules as for a trial of a session. The sentence
/// follows the side's name.
pub fn failure_of(trial: &ComparisonTrial) -> Option<String> {
    match &trial.outcome {
        ComparisonOutcome::Failed(failure) => Some(format!(
            "failed {}: {}",
            failure.phase.describe(),
            failure.reason
        )),
        ComparisonOutcome::Measured(measured) => {
            verdict::failure_of(&measured.load, &Settings::default()).map(|reason| {
                let because = crate::versus::sessions::because(&reason);
                format!("failed in block {}{because}", trial.block + 1)
            })
        }
    }
}

/// What the generator says of itself, as after a `deadheat load`.
fn verdict_on(
    record: &ComparisonRecord,
    trial: &ComparisonTrial,
    measured: &MeasuredServer,
) -> load::LoadVerdict {
    let server = record.header.server(trial.side);
    load::judge(&LoadRecord {
        schema: load_record::SCHEMA,
        deadheat: record.header.deadheat.clone(),
        started: trial.started.clone(),
        url: server.name.clone(),
        machine: record.header.machine.clone(),
        spec: server.load.clone(),
        interrupted: false,
        observation: measured.load.clone(),
        intervals: Vec::new(),
    })
}

fn subject(record: &ComparisonRecord) -> Subject {
    let asked = |side: Side| {
        let load = &record.header.server(side).load;
        let first = load.exchanges.first().map(|exchange| &exchange.request);
        first.map_or(String::new(), |request| {
            format!("{} {}", request.method, request.path)
        })
    };
    let [a, b] = Side::BOTH.map(asked);
    let connections = match record.header.a.load.schedule {
        Schedule::Closed { connections, .. } | Schedule::Open { connections, .. } => connections,
    };
    Subject {
        target: None,
        workload: if a == b { a } else { format!("{a} | {b}") },
        point: format!("c{connections}"),
    }
}

/// Why nothing is compared, if so.
fn hindrance(subject: &Subject, sides: &[Counted<'_>; 2]) -> Option<NotCompared> {
    let failed = |one: &Counted<'_>| Some(format!("{} {}", one.side, one.failed.as_ref()?));
    let limited = |one: &Counted<'_>| {
        let (limited, of) = (
            one.with_standing(Standing::GeneratorLimited),
            one.trials.len(),
        );
        (limited > 0).then(|| {
            format!(
                "{} is a lower bound: the generator was the limit in {limited} of {of} trials",
                one.side
            )
        })
    };
    let mut reasons: Vec<String> = sides.iter().filter_map(failed).collect();
    if reasons.is_empty() {
        reasons = sides.iter().filter_map(limited).collect();
    }
    (!reasons.is_empty()).then(|| NotCompared {
        subject: subject.clone(),
        reason: reasons.join("; "),
        b_failed: sides[1].failed.is_some(),
    })
}

/// The metrics over the blocks that have a trial of both sides that counts.
fn all_series(sides: &[Counted<'_>; 2]) -> Vec<Series> {
    let [a, b] = sides;
    let pairs: Vec<(&MeasuredServer, &MeasuredServer)> = a
        .trials
        .iter()
        .filter_map(|(block, one, _)| {
            let (_, other, _) = b.trials.iter().find(|(of, ..)| of == block)?;
            Some((*one, *other))
        })
        .collect();
    let found = |one: &MeasuredServer| Found::of_load(&one.load);
    let loads: Vec<(Found, Found)> = pairs.iter().map(|(a, b)| (found(a), found(b))).collect();
    let mut all = series(&loads, |_| None);
    type Of = fn(&MeasuredServer) -> Option<f64>;
    let of_tree: [(Metric, Of); 2] = [
        (Metric::CpuPerRequest, cpu_per_request),
        (Metric::MemoryMean, |one| {
            let resources = one.resources.as_ref()?;
            Some(resources.pss_mean_bytes as f64)
        }),
    ];
    for (metric, of) in of_tree {
        let both = pairs.iter().map(|(a, b)| Some((of(a)?, of(b)?)));
        // A metric that some trials lack would be of other trials than the rest.
        if let Some(pairs) = both.collect::<Option<Vec<(f64, f64)>>>()
            && !pairs.is_empty()
        {
            all.push(Series {
                metric,
                pairs,
                floor: None,
            });
        }
    }
    all
}

/// CPU time of the tree per verified answer in microseconds: two rates, because the spans differ by milliseconds.
fn cpu_per_request(one: &MeasuredServer) -> Option<f64> {
    let Resources {
        cpu_seconds,
        span_seconds,
        ..
    } = one.resources.as_ref()?;
    let throughput = one.load.throughput();
    (*span_seconds > 0.0 && throughput > 0.0).then(|| cpu_seconds * 1e6 / span_seconds / throughput)
}

/// What to know although it counts.
fn notes(record: &ComparisonRecord, sides: &[Counted<'_>; 2], blocks: u32) -> Vec<String> {
    let mut notes = Vec::new();
    for one in sides {
        let side = one.side;
        let own = record.trials.iter();
        let own = own.filter(|trial| trial.side == side && trial.block < blocks);
        let void = own.clone().filter(|trial| record.is_void(trial)).count();
        if void > 0 {
            notes.push(format!(
                "{void} of {} trials of {side} were void: disturbed from outside",
                own.count()
            ));
        }
        let of = one.trials.len();
        let unsteady = one.with_sign(|sign| matches!(sign, Sign::Unsteady { .. }));
        let waited = one.with_sign(|sign| matches!(sign, Sign::CpuWait { .. }));
        if unsteady > 0 {
            notes.push(format!(
                "{unsteady} of {of} trials of {side} were not steady"
            ));
        }
        if waited > 0 {
            notes.push(format!(
                "in {waited} of {of} trials of {side} the generator waited for a CPU"
            ));
        }
    }
    notes.extend(other_answers(sides));
    notes
}

/// That the two sides answer with bodies of other lengths, so that they may do other work.
fn other_answers(sides: &[Counted<'_>; 2]) -> Option<String> {
    let length = |one: &Counted<'_>| {
        let loads = one.trials.iter().map(|(_, measured, _)| &measured.load);
        let (bytes, answers) = loads.fold((0, 0), |(bytes, answers), load| {
            (
                bytes + load.valid_body_bytes,
                answers + load.measured.succeeded,
            )
        });
        (answers > 0).then(|| bytes as f64 / answers as f64)
    };
    let (a, b) = (length(&sides[0])?, length(&sides[1])?);
    ((a - b).abs() >= 0.5).then(|| {
        format!("the answers differ: A's bodies have {a:.0} bytes on average, B's have {b:.0}")
    })
}

#[cfg(test)]
mod tests;
