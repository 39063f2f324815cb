//! Ratios and verdicts in words, and sentences about rows and stacks.

use deadheat_document::view::clean;
use deadheat_model::{
    StackProtocol,
    figure::{self, NONE, bytes, count, counted, figure, list, ratio, ratios},
};
use deadheat_stats::{
    heats::{
        LimitedBy, PairVerdict, Quantity, Remedy,
        pairs::{MAX_HEATS, RankedPair},
        unseen_starts,
    },
    standings::{Behind, Twin},
};

use super::{Measure, absent, percent, quantity, span, two_digits};
use crate::document::view::{LackView, LoadView, RowView};

/// How a row compares with the best of its table.
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
        notes.push(
            "no response times: the rate is near its capacity, or its turns began with a queue"
                .to_owned(),
        );
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

/// Notes about a load as a whole: missing percentiles, the A/A check, the null server, and the heats that count.
pub fn load_notes(load: &LoadView) -> Vec<String> {
    let lacks = |row: &RowView| row.p50_seconds.is_none() || row.p99_seconds.is_none();
    let has_percentiles = load.rates.is_empty();
    let percentiles = has_percentiles && load.rows().any(|row| lacks(row) && !row.near_capacity);
    let percentiles = percentiles.then(|| format!("{NONE}: too few answers for this percentile."));
    let is_unknown = |row: &RowView| row.memory.peak_bytes.is_none();
    let memory = load.leads() && load.rows().any(is_unknown);
    let memory = memory.then(|| {
        format!("{NONE} of memory: not read, or none of its processes began with this load.")
    });
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
        memory,
        twin,
        null_server,
        compressions(load),
        heats(load),
        starts(load),
        times,
    ];
    notes.into_iter().flatten().collect()
}

/// How much longer the longest compressed answer is than the shortest that is worth a note.
const UNLIKE: f64 = 1.1;

/// What to know where stacks compress their answers unlike each other.
fn compressions(load: &LoadView) -> Option<String> {
    let all: Vec<_> = load
        .rows()
        .filter_map(|row| row.compression.map(|found| (row, found)))
        .collect();
    let (shortest, least) = all.iter().min_by_key(|(_, found)| found.bytes)?;
    let (longest, most) = all.iter().max_by_key(|(_, found)| found.bytes)?;
    if most.bytes as f64 <= UNLIKE * least.bytes as f64 {
        return None;
    }
    let length = |length: u64| bytes(length as f64);
    Some(format!(
        "Compressed answers are {} ({}) to {} ({}) long: who compresses less works less and sends more.",
        length(least.bytes),
        shortest.target,
        length(most.bytes),
        longest.target
    ))
}

fn twin(twin: &Twin) -> String {
    let of = twin.of.iter().map(|target| clean(&target.to_string()));
    let who = list(&of.collect::<Vec<_>>());
    let heats = counted(twin.heats as usize, "heat");
    let Some(interval) = twin.interval else {
        return format!("A/A check: {who} measured twice in {heats}, too few to judge.");
    };
    let result = match twin.verdict {
        PairVerdict::Faster | PairVerdict::Slower => {
            "the copies differ, so do not trust differences of that size".to_owned()
        }
        PairVerdict::DeadHeat => "a dead heat, as it must be".to_owned(),
        PairVerdict::Undecided => {
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
    let heats = || load.rows().map(|row| row.heats);
    let (fewest, most) = (heats().min()?, heats().max()?);
    let few = if 1 < fewest && fewest < most {
        "At least "
    } else {
        ""
    };
    Some(format!(
        "Spread of starts: how far a stack's heats, each with a process of its own, are from each other. {few}{}",
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

/// A difference smaller than this share is called equal.
const EQUAL: f64 = 0.005;
/// From this ratio on, a difference is written as a factor and no longer in percent.
const TWICE: f64 = 1.95;

/// How many times ("2.1×", "13×").
fn times(ratio: f64) -> figure::Quantity {
    figure::Quantity {
        number: match ratio {
            ratio if ratio >= 9.95 => count(ratio.round() as u64),
            ratio if ratio < TWICE => format!("{ratio:.2}"),
            ratio => format!("{ratio:.1}"),
        },
        unit: "×",
    }
}

/// How a stack compares with another one that is `ratio` times better: "13 % slower", "2.1× slower", "equal",
/// "4 % faster".
///
/// Of a throughput that is the share that it lacks, of times and costs the share that is added.
pub fn beside(quantity: Quantity, ratio: f64) -> String {
    let (far, word) = differing(quantity, ratio, is_far(ratio));
    format!("{far}{word}")
}

/// A range of ratios in words, both ends on one scale: "5.0 to 13 % slower", "1.15 to 3.0× slower".
pub fn beside_range(quantity: Quantity, least: f64, most: f64) -> String {
    let in_times = is_far(least) || is_far(most);
    let both = [least, most].map(|ratio| differing(quantity, ratio, in_times));
    let [(low, better), (high, worse)] = both;
    if better == worse {
        format!("{}{worse}", span(&low, &high))
    } else {
        format!("{low}{better} to {high}{worse}")
    }
}

fn is_far(ratio: f64) -> bool {
    ratio.max(1.0 / ratio) >= TWICE
}

/// By how much, in times or in percent, and in which direction.
fn differing(quantity: Quantity, ratio: f64, in_times: bool) -> (figure::Quantity, &'static str) {
    let (worse, better) = match quantity {
        Quantity::Throughput | Quantity::Latency => (" slower", " faster"),
        Quantity::Cost => (" more expensive", " cheaper"),
    };
    if (ratio - 1.0).abs() < EQUAL {
        let equal = figure::Quantity {
            number: "equal".to_owned(),
            unit: "",
        };
        return (equal, "");
    }
    let (far, word) = if ratio > 1.0 {
        (ratio, worse)
    } else {
        (1.0 / ratio, better)
    };
    if in_times {
        return (times(far), word);
    }
    (percent_apart(quantity, far, ratio > 1.0), word)
}

/// "13 %". `far` is 1 or more.
fn percent_apart(quantity: Quantity, far: f64, is_worse: bool) -> figure::Quantity {
    // Of a rate the worse one lacks a share of the better one's; of a time the better one does.
    let lacks = is_worse == (quantity == Quantity::Throughput);
    let share = if lacks { 1.0 - 1.0 / far } else { far - 1.0 };
    figure::Quantity {
        number: two_digits(share * 100.0),
        unit: " %",
    }
}

/// A verdict in full: "13 % slower", "dead heat", "undecided: anywhere from equal to 3.3× slower".
pub fn verdict(quantity: Quantity, behind: &Behind) -> String {
    let ends = behind
        .interval
        .map(|interval| (interval.low, interval.high));
    match (behind.verdict, ends) {
        (PairVerdict::DeadHeat, _) => "dead heat".to_owned(),
        (PairVerdict::Undecided, None) => "undecided: not compared yet".to_owned(),
        (PairVerdict::Undecided, Some((low, high))) => undecided(quantity, low, high),
        (PairVerdict::Faster | PairVerdict::Slower, Some((_, high))) if high.is_infinite() => {
            format!("at least {}", beside(quantity, behind.ratio))
        }
        (PairVerdict::Faster | PairVerdict::Slower, _) => beside(quantity, behind.ratio),
    }
}

/// How the worse one of a pair compares with the better one, in full.
pub fn pair_verdict(quantity: Quantity, pair: &RankedPair) -> String {
    let behind = pair.ratio.map(|ratio| Behind {
        ratio,
        interval: pair.interval,
        verdict: pair.verdict,
    });
    behind.map_or_else(
        || "undecided: not compared yet".to_owned(),
        |behind| verdict(quantity, &behind),
    )
}

/// Ends of an interval that are further apart than this factor help nobody: two heats give millions.
const TOO_WIDE: f64 = 100.0;

/// The interval from `low` to `high` holds 1, or is open.
fn undecided(quantity: Quantity, low: f64, high: f64) -> String {
    let may_be = match (low > 0.0, high.is_finite()) {
        (true, true) if high > TOO_WIDE * low => "too few heats".to_owned(),
        (true, true) => format!("anywhere from {}", beside_range(quantity, low, high)),
        (true, false) => format!("{} at most", beside(quantity, low)),
        (false, _) => "the generator was its limit".to_owned(),
    };
    format!("undecided: {may_be}")
}

/// What could decide an undecided pair, in a few words.
pub fn remedy(remedy: Remedy) -> String {
    match remedy {
        Remedy::MoreHeats { heats } if heats >= MAX_HEATS / 10 => "very many more heats".to_owned(),
        Remedy::MoreHeats { heats } => format!("about {}", counted_more(heats)),
        Remedy::Meeting => "a heat with both".to_owned(),
        Remedy::FasterGenerator => "a faster generator".to_owned(),
    }
}

fn counted_more(heats: u32) -> String {
    match heats {
        1 => "1 more heat".to_owned(),
        many => format!("{many} more heats"),
    }
}

#[cfg(test)]
mod tests {
    use deadheat_stats::interval::Interval;

    use super::*;

    fn behind(verdict: PairVerdict, ratio: f64, low: f64, high: f64) -> Behind {
        let interval = Some(Interval {
            low,
            high,
            level: 0.99,
        });
        Behind {
            ratio,
            interval,
            verdict,
        }
    }

    #[test]
    fn a_worse_throughput_lacks_a_share_and_a_worse_time_has_more() {
        let cases = [
            (Quantity::Throughput, 1.25, "20 % slower"),
            (Quantity::Throughput, 0.8, "25 % faster"),
            (Quantity::Latency, 1.25, "25 % slower"),
            (Quantity::Latency, 0.8, "20 % faster"),
            (Quantity::Cost, 2.13, "2.1× more expensive"),
            (Quantity::Cost, 0.25, "4.0× cheaper"),
            (Quantity::Throughput, 1.004, "equal"),
            (Quantity::Throughput, 24.4, "24× slower"),
            (Quantity::Throughput, 1234.0, "1,234× slower"),
        ];
        for (quantity, ratio, text) in cases {
            assert_eq!(beside(quantity, ratio), text);
        }
    }

    #[test]
    fn undecided_says_what_it_may_be() {
        let of = |verdict, ratio, low, high| {
            super::verdict(Quantity::Throughput, &behind(verdict, ratio, low, high))
        };
        let open = f64::INFINITY;
        assert_eq!(
            of(PairVerdict::Undecided, 1.8, 1.0, 3.3),
            "undecided: anywhere from equal to 3.3× slower"
        );
        assert_eq!(
            of(PairVerdict::Undecided, 3.5, 7e-5, 2e5),
            "undecided: too few heats"
        );
        assert_eq!(
            of(PairVerdict::Undecided, 1.8, 0.0, 3.3),
            "undecided: the generator was its limit"
        );
        assert_eq!(
            of(PairVerdict::Faster, 1.25, 1.2, open),
            "at least 20 % slower"
        );
        assert_eq!(of(PairVerdict::Faster, 1.25, 1.2, 1.3), "20 % slower");
        assert_eq!(of(PairVerdict::DeadHeat, 1.01, 0.99, 1.02), "dead heat");
        let range = |least, most| beside_range(Quantity::Throughput, least, most);
        assert_eq!(range(1.05, 1.15), "4.8 to 13 % slower");
        assert_eq!(range(1.16, 3.0), "1.16 to 3.0× slower");
        assert_eq!(range(1.001, 1.15), "equal to 13 % slower");
        assert_eq!(range(1.15, 1.15), "13 % slower");
    }
}
