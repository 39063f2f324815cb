//! Sentences about rows and stacks.

use deadheat_document::view::clean;
use deadheat_model::{
    StackProtocol,
    figure::{NONE, count, counted, figure, list, ratio, ratios},
};
use deadheat_stats::{
    heats::{LimitedBy, Verdict, unseen_starts},
    standings::Twin,
};

use super::{Measure, absent, percent, quantity, verdict};
use crate::document::view::{LackView, LoadView, RowView};

/// How a row stands to the best of its table.
pub fn row_verdict(measure: Measure, row: &RowView) -> String {
    match (&row.main, row.main.and_then(|main| main.behind)) {
        (None, _) => "answered too little to be ranked".to_owned(),
        (Some(_), Some(behind)) => verdict(quantity(measure), &behind),
        (Some(_), None) if row.share_of_best.is_some() => "best measured".to_owned(),
        (Some(_), None) => "not compared yet".to_owned(),
    }
}

/// What a reader should know of a row's figures, in a few words each.
pub fn notes(row: &RowView) -> Vec<String> {
    let mut notes = Vec::new();
    if row.main.is_some_and(|main| main.is_bound) {
        notes.push("a lower bound: the load generator was the limit".to_owned());
    } else if row.limited_by == Some(LimitedBy::Neither) && row.mean_seconds.is_some() {
        notes.push(
            "its CPUs were not fully used, and the generator was not the limit either".to_owned(),
        );
    }
    if row.unsteady_heats > 0 {
        notes.push(format!(
            "not steady after the warm-up in {} of {}",
            row.unsteady_heats,
            counted(row.heats as usize, "heat")
        ));
    }
    if let Some(overloads) = &row.overloads {
        notes.push(overloads.clone());
    }
    if row.near_capacity {
        notes.push("no response times: the rate is near its capacity".to_owned());
    }
    if let Some(uneven) = row.uneven {
        notes.push(format!("its connections waited unevenly: {uneven}"));
    }
    if row.failed_requests > 0 {
        let failed = counted(row.failed_requests as usize, "request");
        notes.push(format!("{failed} failed ({})", percent(row.failed_share())));
    }
    let all = row.slices + row.discarded_slices;
    // A few are usual and change nothing.
    if f64::from(row.discarded_slices) > 0.05 * f64::from(all) {
        let all = count(all.into());
        notes.push(format!(
            "{} of {all} slices discarded",
            row.discarded_slices
        ));
    }
    if row.reconnected > 0 {
        notes.push(format!(
            "{} made again",
            counted(row.reconnected as usize, "connection")
        ));
    }
    notes.extend(
        row.failures
            .iter()
            .map(|reason| format!("failed in a heat: {}", clean(reason))),
    );
    notes
}

/// A stack without a figure: "php-laravel unavailable: `php` is not on the PATH. To change that: …".
pub fn lack(lack: &LackView) -> String {
    let load = lack.load.as_ref().map(|load| format!(" ({load})"));
    let remedy = lack
        .remedy
        .as_ref()
        .map(|remedy| format!(". To change that: {remedy}"));
    format!(
        "{}{} {}: {}{}",
        lack.target,
        load.unwrap_or_default(),
        absent(lack.because),
        lack.reason,
        remedy.unwrap_or_default()
    )
}

/// What is to be known of a load as a whole: missing percentiles, stack beside itself, null server, heats that count.
pub fn load_notes(load: &LoadView) -> Vec<String> {
    let lacks = |row: &RowView| row.p50_seconds.is_none() || row.p99_seconds.is_none();
    let percentiles = load.rows().any(|row| lacks(row) && !row.near_capacity);
    let percentiles = percentiles.then(|| format!("{NONE}: too few answers for this percentile."));
    let null_server = load.ceiling_per_second.map(|ceiling| {
        let ceiling = figure(ceiling);
        let libraries = match load.point.protocol {
            StackProtocol::Http1 => {
                return format!(
                    "The generator's ceiling on this machine is {ceiling} requests/s (measured with a server that does nothing)."
                );
            }
            StackProtocol::Tls => "rustls",
            StackProtocol::H2c => "h2",
            StackProtocol::H2 => "h2 and rustls",
        };
        format!(
            "A server that only answers, by {libraries}, reached {ceiling} requests/s. It may itself have been the limit, so \
             the generator may reach more."
        )
    });
    let twin = load.twin.as_ref().map(twin);
    let times = load.tables.first().map(|_| super::times(load));
    let notes = [
        percentiles,
        twin,
        null_server,
        heats(load),
        starts(load),
        times,
    ];
    notes.into_iter().flatten().collect()
}

fn twin(twin: &Twin) -> String {
    let of = twin.of.iter().map(|target| clean(&target.to_string()));
    let who = list(&of.collect::<Vec<_>>());
    let heats = counted(twin.heats as usize, "heat");
    let Some(interval) = twin.interval else {
        return format!("A/A check: {who} measured twice in {heats}, too few to judge.");
    };
    let result = match twin.verdict {
        Verdict::Faster | Verdict::Slower => {
            "the copies differ, so do not trust differences of that size".to_owned()
        }
        Verdict::DeadHeat => "a dead heat, as it must be".to_owned(),
        Verdict::Undecided => {
            let unseen = interval.high.max(1.0 / interval.low) - 1.0;
            format!(
                "undecided, a bias of up to {} may be unseen",
                percent(unseen)
            )
        }
    };
    format!(
        "A/A check: {who} measured twice in {heats}. Ratio {} ({}): {result}.",
        ratio(twin.ratio),
        ratios(interval.low, interval.high)
    )
}

/// How many processes of each stack were seen, and what that leaves open.
fn starts(load: &LoadView) -> Option<String> {
    let fewest = load.rows().map(|row| row.heats).min()?;
    Some(format!(
        "Spread of starts: how far a stack's heats, each with a process of its own, are from each other. {}",
        unseen_starts(fewest as usize)
    ))
}

fn heats(load: &LoadView) -> Option<String> {
    load.tables.first()?;
    let heats = counted(load.heats as usize, "heat");
    let verdicts = match load.look {
        None => "too few for verdicts".to_owned(),
        Some(look) if look.heats == load.heats => "all count in the verdicts".to_owned(),
        Some(look) => format!("the verdicts are of the first {}", look.heats),
    };
    let more = if load.settled {
        " More heats would decide nothing more."
    } else {
        ""
    };
    Some(format!("{heats}; {verdicts}.{more}"))
}
