//! A search in words.

use deadheat_model::{
    capacity::{CapacityRecord, Condition, LookOutcome, LookRecord, Unit},
    load::Endpoint,
    words::separated,
};
use deadheat_stats::capacity::{CapacityAnalysis, Found, Outcome};
use serde::Serialize;

use crate::{
    figure::{NONE, count, counted, figure, list, percent, seconds, short},
    view::{Fact, clean},
};

/// How the answer is to be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Tone {
    /// A rate, as precise as was asked for.
    Sound,
    /// A rate, with a caveat.
    Doubtful,
    /// No rate.
    Failed,
}

/// A look.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LookRow {
    /// The rate.
    pub rate: String,
    /// What became of it: "yes", "no" or "discarded".
    pub holds: &'static str,
    /// The figure of each condition.
    pub values: Vec<String>,
    /// Valid answers per second.
    pub answers: String,
    /// Failed requests.
    pub failed: String,
    /// Which look it was, from 1.
    pub nth: usize,
    /// Why it did not hold, unless the figures say it.
    pub why: String,
}

/// A search, in words.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CapacityView {
    /// What was loaded.
    pub url: String,
    /// When it started.
    pub started: String,
    /// How the answer is to be taken.
    pub tone: Tone,
    /// The answer.
    pub headline: String,
    /// What changes a decision that is made with it.
    pub caveat: Option<String>,
    /// The names of the conditions' figures.
    pub figures: Vec<String>,
    /// The looks, by rate.
    pub looks: Vec<LookRow>,
    /// What the answer means, and what was done.
    pub facts: Vec<Fact>,
}

impl CapacityView {
    /// The view of a search.
    pub fn new(record: &CapacityRecord, analysis: &CapacityAnalysis) -> Self {
        let mut looks: Vec<(usize, &LookRecord)> = record.looks.iter().enumerate().collect();
        looks.sort_by(|(_, one), (_, other)| one.per_second.total_cmp(&other.per_second));
        let row = |(nth, look): (usize, &LookRecord)| row(record, nth, look);
        let caveat = caveat(record, analysis);
        Self {
            url: clean(&record.url),
            started: clean(&record.started),
            tone: match analysis.outcome {
                Outcome::Found(_) if caveat.is_none() => Tone::Sound,
                Outcome::Found(_) => Tone::Doubtful,
                _ => Tone::Failed,
            },
            headline: headline(record, analysis),
            caveat,
            figures: record
                .conditions
                .iter()
                .map(|one| clean(&one.figure))
                .collect(),
            looks: looks.into_iter().map(row).collect(),
            facts: facts(record, analysis),
        }
    }
}

/// The conditions: "p99 < 50 ms and errors < 1 %".
pub(super) fn conditions(record: &CapacityRecord) -> String {
    let each = record.conditions.iter();
    let each: Vec<String> = each.map(|one| clean(&one.condition)).collect();
    list(&each)
}

fn rate(per_second: f64) -> String {
    format!("{}/s", figure(per_second))
}

/// "14 looks, 1 min 32 s".
fn effort(record: &CapacityRecord) -> String {
    format!(
        "{}, {}",
        counted(record.looks.len(), "trial"),
        minutes(record.elapsed.as_secs_f64())
    )
}

fn minutes(elapsed: f64) -> String {
    let whole = elapsed.round() as u64;
    match whole {
        0..60 => format!("{whole} s"),
        _ => format!("{} min {} s", count(whole / 60), whole % 60),
    }
}

fn headline(record: &CapacityRecord, analysis: &CapacityAnalysis) -> String {
    let conditions = conditions(record);
    let effort = effort(record);
    let (holds, not) = match record.conditions.len() {
        1 => ("holds", "does not hold"),
        _ => ("hold", "do not hold"),
    };
    let sure = percent_of(analysis.confidence);
    match &analysis.outcome {
        Outcome::Found(found) => format!(
            "Highest rate with {conditions} in nearly all trials: {}. In half of them: {} ({} to {}, {sure} sure), {effort}.",
            rate(found.reliable_per_second),
            rate(found.per_second),
            figure(found.low),
            figure(found.high),
        ),
        Outcome::Below { least_per_second } => format!(
            "No rate found: {conditions} {not} even at {}, {effort}.",
            rate(*least_per_second)
        ),
        Outcome::GeneratorLimited {
            held_per_second,
            limit_per_second,
        } => {
            let held = held_per_second.map_or(String::new(), |held| {
                format!("{conditions} {holds} up to {}, and ", rate(held))
            });
            format!(
                "No rate found: {held}the generator was the limit from {} on, {effort}.",
                rate(*limit_per_second)
            )
        }
        Outcome::Undecided {
            held_per_second,
            failed_per_second,
        } => {
            let known = match (held_per_second, failed_per_second) {
                (Some(held), _) => format!("{conditions} {holds} at {}", rate(*held)),
                (None, Some(failed)) => format!("{conditions} {not} at {}", rate(*failed)),
                (None, None) => "no trial counts".to_owned(),
            };
            format!("No rate found: {known}, and the trials show no more, {effort}.")
        }
    }
}

/// "95 %".
fn percent_of(share: f64) -> String {
    format!("{} %", (share * 100.0).round())
}

/// The one thing that changes a decision.
fn caveat(record: &CapacityRecord, analysis: &CapacityAnalysis) -> Option<String> {
    if record.interrupted {
        return Some(
            "The search was interrupted, so the result covers only the trials before that."
                .to_owned(),
        );
    }
    let found = match &analysis.outcome {
        Outcome::Found(found) => found,
        Outcome::Below { .. } => {
            return Some(
                "The search does not go lower: a trial would have too few requests, or less than a thousandth of the \
                 closed loop's rate. Try a looser condition, or longer trials (--duration)."
                    .to_owned(),
            );
        }
        Outcome::GeneratorLimited { .. } => {
            let why = record.looks.iter().rev();
            let why = why.filter(|look| look.outcome == LookOutcome::Discarded);
            let why = why.filter_map(|look| look.why.as_deref()).next();
            return Some(format!(
                "{} Give Deadheat more CPUs (--cpus), or load from other machines (--on).",
                clean(why.unwrap_or_default())
            ));
        }
        Outcome::Undecided { .. } => {
            return Some("Allow more trials (--looks).".to_owned());
        }
    };
    let far_below = (1.0 - 2.0 * record.declared.precision) * found.per_second;
    if found.contradictory && found.reliable_per_second < far_below {
        return Some(
            "The two rates are far apart: between them, some trials meet the conditions and others do not."
                .to_owned(),
        );
    }
    (!found.precise).then(|| {
        format!(
            "The interval is wider than ± {} %, because the trials were used up: allow more (--looks), or longer ones \
             (--duration).",
            short(&figure(record.declared.precision * 100.0)).to_owned()
        )
    })
}

fn facts(record: &CapacityRecord, analysis: &CapacityAnalysis) -> Vec<Fact> {
    let declared = &record.declared;
    let fact = |name: &str, value: String| Fact {
        name: name.to_owned(),
        value,
    };
    let mut facts = Vec::new();
    if let Outcome::Found(Found { .. }) = analysis.outcome {
        facts.push(fact(
            "meaning",
            format!(
                "at the first rate, 95 % of the trials of {} meet the conditions; at the second, half of them",
                seconds(declared.look.as_secs_f64())
            ),
        ));
    }
    facts.push(fact(
        "declared",
        format!(
            "at most {}, ± {} %, {} of warm-up before each",
            counted(u64::from(declared.looks), "trial"),
            short(&figure(declared.precision * 100.0)).to_owned(),
            seconds(record.spec.warm_up.as_secs_f64()),
        ),
    ));
    let burst = &record.burst;
    let connections = record.spec.schedule.most_connections();
    facts.push(fact(
        "closed loop",
        format!(
            "{} on {}; trials from {} to {}",
            rate(burst.per_second),
            counted(u64::from(connections), "connection"),
            rate(burst.least_per_second),
            rate(burst.most_per_second)
        ),
    ));
    let peak = record
        .looks
        .iter()
        .map(|look| look.observation.connections_peak);
    if let Some(peak) = peak.max() {
        facts.push(fact(
            "connections",
            format!("at most {} in a trial", count(peak)),
        ));
    }
    if analysis.discarded > 0 {
        facts.push(fact(
            "discarded",
            format!(
                "{}: the generator was the limit",
                counted(u64::from(analysis.discarded), "trial")
            ),
        ));
    }
    if !record.hosts.is_empty() {
        let hosts: Vec<String> = record.hosts.iter().map(|host| clean(host)).collect();
        facts.push(fact("hosts", list(&hosts)));
    }
    // Where a server is behind a proxy is not known.
    let mut direct = record
        .spec
        .routes()
        .filter(|(target, _)| target.proxy.is_none());
    let is_here = direct.any(|(_, endpoint)| match endpoint {
        Endpoint::Tcp { address } => address.ip().is_loopback(),
        Endpoint::Unix { .. } => true,
    });
    if is_here {
        facts.push(fact(
            "same machine",
            "generator and server take CPU time from each other: run each on its own CPUs (--cpus)"
                .to_owned(),
        ));
    }
    facts.push(fact("started", clean(&record.started)));
    facts
}

fn row(record: &CapacityRecord, nth: usize, look: &LookRecord) -> LookRow {
    let values = record.conditions.iter().zip(&look.values);
    let values = values.map(|(condition, value)| shown(condition, *value));
    let measured = &look.observation.measured;
    // What the figures say is not said again.
    let said = |why: &str| {
        let figures = record.conditions.iter();
        figures
            .map(|one| format!("{} was", one.figure))
            .any(|begins| why.starts_with(&begins))
    };
    let why = look.why.as_deref().filter(|why| !said(why));
    LookRow {
        // With the digits that it has: looks near each other are told apart.
        rate: format!("{}/s", separated(&look.per_second.to_string())),
        holds: match look.outcome {
            LookOutcome::Held => "yes",
            LookOutcome::Failed => "no",
            LookOutcome::Discarded => "discarded",
        },
        values: values.collect(),
        answers: rate(look.observation.throughput()),
        failed: count(measured.failed.total()),
        nth: nth + 1,
        why: why.map(clean).unwrap_or_default(),
    }
}

/// A condition's figure with its unit.
pub(super) fn shown(condition: &Condition, value: Option<f64>) -> String {
    match (condition.unit, value) {
        (_, None) => NONE.to_owned(),
        (Unit::Seconds, Some(value)) => seconds(value),
        (Unit::Share, Some(value)) => percent(value),
        (Unit::Count, Some(value)) => count(value as u64),
    }
}
