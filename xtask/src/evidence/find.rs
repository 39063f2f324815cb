//! How long it takes comparisons to find a difference: by capacity, and by what equal work costs and how long it is waited for.

use std::path::PathBuf;

use deadheat_model::{comparison::Decide, heats::SessionRecord};
use deadheat_stats::{
    comparison::{Compared, RatioVerdict, alternating::Duel},
    interval::median,
    sequential::{Design, Look},
};

use super::{half_width, sessions::record};

/// By what a comparison may decide.
const BY: [(Decide, &str); 3] = [
    (Decide::Throughput, "throughput"),
    (Decide::Cpu, "CPU time per request at equal work"),
    (Decide::P99, "p99 at equal work"),
];

/// A decision: what is said of B, and after how many heats and minutes of them.
struct Found {
    verdict: RatioVerdict,
    heats: u32,
    minutes: f64,
}

/// What sessions of one comparison would have decided, and when, had they been asked for each quantity and stopped at the
/// first of the usual looks that decides, as Markdown.
///
/// # Errors
/// What cannot be read.
pub(super) fn table(sessions: &[PathBuf]) -> Result<String, String> {
    let records: Vec<SessionRecord> = sessions
        .iter()
        .map(|folder| record(folder))
        .collect::<Result<_, _>>()?;
    let mut table = "| by | B is slower or costs more | the opposite | undecided or a dead heat | median of heats | of minutes | median B ÷ A | median ± \
                     after all heats |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n"
        .to_owned();
    for (decide, name) in BY {
        let found: Vec<Found> = records
            .iter()
            .filter_map(|record| decision(record, decide))
            .collect();
        let count = |verdict| found.iter().filter(|one| one.verdict == verdict).count();
        let (worse, better) = (count(RatioVerdict::Worse), count(RatioVerdict::Better));
        // One that is never decided takes longer than any that is.
        let of_all = |of: fn(&Found) -> f64| {
            let never = records.len() - worse - better;
            let decided = found
                .iter()
                .filter(|one| one.verdict != RatioVerdict::DeadHeat);
            let values = decided
                .map(of)
                .chain(std::iter::repeat_n(f64::INFINITY, never));
            match median(values) {
                Some(value) if value.is_finite() => format!("{value:.1}"),
                _ => "–".to_owned(),
            }
        };
        let last = records
            .iter()
            .filter_map(|record| at_the_end(record, decide));
        let (ratios, halves): (Vec<f64>, Vec<f64>) = last.unzip();
        table += &format!(
            "| {name} | {worse} | {better} | {} | {} | {} | {:.3} | {} |\n",
            records.len() - worse - better,
            of_all(|one| f64::from(one.heats)),
            of_all(|one| one.minutes),
            median(ratios.into_iter()).unwrap_or(f64::NAN),
            half_width(median(halves.into_iter())),
        );
    }
    Ok(table)
}

/// The first decision at the usual looks.
fn decision(record: &SessionRecord, decide: Decide) -> Option<Found> {
    let looks = Design::within(heats(record), record.header.plan.alpha)
        .ok()?
        .looks;
    looks.iter().find_map(|look| {
        let verdict = judged(record, decide, *look)?.verdict;
        (verdict != RatioVerdict::NotEnoughData).then(|| Found {
            verdict,
            heats: look.heats,
            minutes: minutes(record, decide, look.heats),
        })
    })
}

/// The ratio of B to A after all heats, and half the width of its interval on the logarithm, at the whole error level.
fn at_the_end(record: &SessionRecord, decide: Decide) -> Option<(f64, f64)> {
    let look = Look {
        heats: heats(record),
        spends: record.header.plan.alpha,
    };
    let compared = judged(record, decide, look)?;
    let ratio = compared.deciding().first()?;
    let interval = ratio.interval?;
    Some((ratio.ratio, (interval.high / interval.low).ln() / 2.0))
}

/// What a look says of B by one quantity.
fn judged(record: &SessionRecord, decide: Decide, look: Look) -> Option<Compared> {
    let mut record = record.clone();
    record.header.comparison.as_mut()?.decide = decide;
    let judged = Duel::new(&record)?.judge(Some(look));
    judged.compared.into_iter().next()
}

/// Complete heats of a session of two sides.
fn heats(record: &SessionRecord) -> u32 {
    Duel::new(record).map_or(0, |duel| duel.most_heats())
}

/// The minutes that the first `heats` heats took, including their equal work if it decides.
fn minutes(record: &SessionRecord, decide: Decide, heats: u32) -> f64 {
    let loads = record.header.plan.loads.iter().enumerate();
    let loads = loads.filter(|(_, load)| load.leads() || decide != Decide::Throughput);
    let seconds = loads.flat_map(|(index, _)| {
        let of_load = record
            .heats
            .iter()
            .filter(move |one| one.load as usize == index);
        of_load
            .take(heats as usize)
            .map(|one| one.heat.wall.as_secs_f64())
    });
    seconds.sum::<f64>() / 60.0
}
