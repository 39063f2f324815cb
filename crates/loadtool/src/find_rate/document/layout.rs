//! A search as it is shown: the answer, plots, every trial by its rate, and what was declared.

use deadheat_document::{Column, Document, Section, Table, Tone};
use deadheat_model::{
    Warning,
    capacity::{CapacityRecord, LookOutcome, LookRecord},
    figure::{count, counted, list, per_second, seconds, separated},
    load::{Endpoint, words::streams},
};

use deadheat_stats::capacity::{CapacityAnalysis, Outcome, precision};

use super::{
    plot,
    sentences::{headline, shown},
};

/// The search.
pub fn document(record: &CapacityRecord, analysis: &CapacityAnalysis) -> Document {
    let warnings = analysis.warnings.iter().map(Warning::in_full);
    let tone = match analysis.outcome {
        Outcome::Found(_) if analysis.warnings.is_empty() => Tone::Good,
        Outcome::Found(_) => Tone::Doubtful,
        _ => Tone::Bad,
    };
    Document::new(tone, headline(record, analysis))
        .section(Section::lead().paragraph(&record.url).warnings(warnings))
        .section(Section::new("By rate").plots(plot::plots(record, analysis)))
        .section(Section::new("Trials, by rate").table(trials(record)))
        .section(Section::new("The search").facts(facts(record, analysis)))
}

fn trials(record: &CapacityRecord) -> Table {
    let figures = record
        .conditions
        .iter()
        .map(|one| Column::right(&one.figure));
    let before = [Column::right("rate"), Column::left("holds")];
    let after = ["answers", "failed", "trial"].map(Column::right);
    let mut table = Table::new(before.into_iter().chain(figures).chain(after));
    let mut looks: Vec<(usize, &LookRecord)> = record.looks.iter().enumerate().collect();
    looks.sort_by(|(_, one), (_, other)| one.per_second.total_cmp(&other.per_second));
    for (nth, look) in looks {
        let holds = match look.outcome {
            LookOutcome::Held => "yes",
            LookOutcome::Failed => "no",
            LookOutcome::Discarded => "discarded",
        };
        let failed = look.observation.measured.failed.total();
        // The rate has all of its digits: trials near each other differ in the last ones.
        let mut cells = vec![
            format!("{}/s", separated(&look.per_second.to_string())),
            holds.to_owned(),
        ];
        let values = record.conditions.iter().zip(&look.values);
        cells.extend(values.map(|(condition, value)| shown(condition, *value)));
        cells.extend([
            per_second(look.observation.throughput()),
            count(failed),
            (nth + 1).to_string(),
        ]);
        table.row(cells);
        if let Some(why) = look.why.as_deref().filter(|why| !is_a_figure(record, why)) {
            table.note("", why);
        }
    }
    table
}

/// Whether a reason is one of the figures in the table.
fn is_a_figure(record: &CapacityRecord, why: &str) -> bool {
    let mut figures = record.conditions.iter();
    figures.any(|one| why.starts_with(&format!("{} was", one.figure)))
}

fn facts(
    record: &CapacityRecord,
    analysis: &CapacityAnalysis,
) -> impl Iterator<Item = (&'static str, String)> {
    let (declared, burst) = (&record.declared, &record.burst);
    let is_found = matches!(analysis.outcome, Outcome::Found(_));
    let length = seconds(declared.look.as_secs_f64());
    let connections = record.spec.schedule.most_connections();
    let looks = record.looks.iter();
    let peak = looks.map(|look| look.observation.connections_peak).max();
    let discarded = u64::from(analysis.discarded);
    let facts = [
        is_found.then(|| {
            let meaning = format!(
                "at the first rate, 95 % of the trials of {length} meet the conditions; at the second, half of them"
            );
            ("meaning", meaning)
        }),
        Some((
            "declared",
            format!(
                "at most {}, {}, {} of warm-up before each",
                counted(u64::from(declared.looks), "trial"),
                precision(record),
                seconds(record.spec.warm_up.as_secs_f64()),
            ),
        )),
        Some((
            "closed loop",
            format!(
                "{} on {}{}; trials from {} to {}",
                per_second(burst.per_second),
                counted(u64::from(connections), "connection"),
                streams(&record.spec),
                per_second(burst.least_per_second),
                per_second(burst.most_per_second)
            ),
        )),
        peak.map(|peak| ("connections", format!("at most {} in a trial", count(peak)))),
        (discarded > 0).then(|| {
            let trials = counted(discarded, "trial");
            ("discarded", format!("{trials}: the generator was the limit"))
        }),
        (!record.hosts.is_empty()).then(|| ("hosts", list(&record.hosts))),
        is_on_this_machine(record).then(|| {
            let advice = "generator and server take CPU time from each other: run each on its own CPUs (--cpus)";
            ("same machine", advice.to_owned())
        }),
        Some(("started", record.started.clone())),
    ];
    facts.into_iter().flatten()
}

/// Whether the server is known to be on this machine. It is not known if there is a proxy.
fn is_on_this_machine(record: &CapacityRecord) -> bool {
    let mut routes = record.spec.routes();
    routes.any(|(target, endpoint)| {
        target.proxy.is_none()
            && match endpoint {
                Endpoint::Tcp { address } => address.ip().is_loopback(),
                Endpoint::Unix { .. } => true,
            }
    })
}
