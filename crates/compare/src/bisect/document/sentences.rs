//! What a search found, in sentences.

use deadheat_model::{
    bisect::{Asks, BisectRecord, Commit, SpeedRatio},
    figure::{capital, list, ratio, ratios, short_percent, time_option, two_digits},
};

use crate::bisect::analysis::{Culprit, Outcome, whole};

/// A commit that explains less than this of the slowdown is not the only cause.
const MOST_OF_IT: f64 = 0.75;

/// The answer, then what it means and what to do next.
pub(super) fn sentences(
    record: &BisectRecord,
    outcome: &Outcome,
    folder: &str,
) -> (String, Vec<String>) {
    let bad = record.bad().unwrap_or(&record.good);
    let ends = format!("from good ({}) to bad ({})", record.good.short, bad.short);
    match outcome {
        Outcome::Found(found) => about_found(record, found, &ends),
        Outcome::NotSlower => (
            format!(
                "Bad ({}) is not slower than good ({}).",
                bad.short, record.good.short
            ),
            vec![of_ends(record, "Its throughput is")],
        ),
        Outcome::NotProven => (
            format!("No slowdown is proven {ends}."),
            vec![
                of_ends(record, "Bad's throughput is"),
                more_time(record, folder),
            ],
        ),
        Outcome::Unfinished { suspects } => {
            let known = match suspects {
                Some(range) => format!("the slowdown is in {}", range_of(record, *range)),
                None => "nothing is known yet".to_owned(),
            };
            let next = format!("Go on with: deadheat bisect --resume {folder}");
            (format!("Not finished: {known}."), vec![next])
        }
        Outcome::Undecided {
            index, half: true, ..
        } => {
            let commit = &record.commits[*index];
            (
                format!(
                    "Commit {} has about half of the slowdown {ends}, so more than one commit made it slower.",
                    named(commit)
                ),
                vec![searches(&[(&record.good, commit), (commit, bad)])],
            )
        }
        Outcome::Undecided {
            index, suspects, ..
        } => (
            format!(
                "Undecided: the slowdown is in {}, and commit {} could not be placed in the time that it had.",
                range_of(record, *suspects),
                record.commits[*index].short
            ),
            vec![more_time(record, folder)],
        ),
    }
}

fn about_found(record: &BisectRecord, found: &Culprit, ends: &str) -> (String, Vec<String>) {
    let commit = &record.commits[found.last];
    let before = record.before(found.first);
    let who = match found.last - found.first {
        0 => format!("Commit {}", named(commit)),
        _ => capital(&range_of(record, (found.first, found.last))),
    };
    let mut sentences = Vec::new();
    let headline = match found.own.filter(|_| found.confirmed) {
        Some(own) => format!(
            "{who} made it {} slower ({}).",
            loss(own.ratio),
            losses(own)
        ),
        None => {
            format!("{who} is suspected, but it is not proven slower than the commit before it.")
        }
    };
    match (found.own, found.confirmed) {
        (Some(own), false) => sentences.push(format!(
            "Measured beside {} again, it has {} times its throughput ({}). One of the answers below may be wrong: \
             repeat the search, with more heats.",
            before.short,
            ratio(own.ratio),
            ratios(own.low, own.high)
        )),
        (None, _) => sentences.push(format!("The comparison with {} failed.", before.short)),
        _ => {}
    }
    if let (Some(own), Some(share), Some(whole)) = (found.own, found.share, whole(record)) {
        let part = |ratio: f64| ratio.ln() / whole.ln();
        let (least, most) = (part(own.high), part(own.low));
        let explains = if share >= MOST_OF_IT && most >= 1.0 {
            "the whole slowdown".to_owned()
        } else {
            let [part, least, most] = [share, least, most].map(short_percent);
            format!("{part} ({least} to {most}) of the slowdown")
        };
        sentences.push(format!(
            "That explains {explains} {ends}, which is {}.",
            loss(whole)
        ));
        if share < MOST_OF_IT {
            let bad = record.bad().unwrap_or(commit);
            let searches = searches(&[(&record.good, before), (commit, bad)]);
            sentences.push(format!("Other commits made it slower, too. {searches}"));
        }
    }
    if found.last > found.first {
        sentences.push(format!(
            "{} of them could not be measured; the table shows why.",
            found.last - found.first
        ));
    } else if commit.merge {
        let short = &commit.short;
        sentences.push(format!(
            "It is a merge. Search its merged commits: deadheat bisect $(git merge-base {short}^1 {short}^2) \
             {short}^2 …"
        ));
    }
    (headline, sentences)
}

/// The last ratio of the ends, in a sentence that begins like this.
fn of_ends(record: &BisectRecord, begins: &str) -> String {
    let mut asked = record.questions.iter().rev();
    let ends = asked.find(|one| one.asks == Asks::Ends);
    match ends.and_then(|one| one.figures) {
        Some(SpeedRatio {
            ratio: found,
            low,
            high,
            ..
        }) => {
            let (found, ends) = (ratio(found), ratios(low, high));
            format!("{begins} {found} times good's ({ends}).")
        }
        None => "There are too few heats for a figure.".to_owned(),
    }
}

/// The commands that search each of these ranges; at least one range has two different commits.
fn searches(ends: &[(&Commit, &Commit)]) -> String {
    let differ = ends.iter().filter(|(good, bad)| good.commit != bad.commit);
    let searches =
        differ.map(|(good, bad)| format!("deadheat bisect {} {} …", good.short, bad.short));
    format!("Search there: {}", list(&searches.collect::<Vec<_>>()))
}

/// Advice to repeat with twice the time of the longest comparison so far.
fn more_time(record: &BisectRecord, folder: &str) -> String {
    let took = record.questions.iter().map(|one| one.took_seconds);
    let budget = time_option(2.0 * took.fold(150.0, f64::max));
    format!("Repeat it with more time: deadheat bisect --resume {folder} --budget {budget}")
}

/// "abc1234 “message”".
fn named(commit: &Commit) -> String {
    format!("{} “{}”", commit.short, commit.subject)
}

/// "one of 3 commits (abc to def)"; "commit abc" if there is only one.
fn range_of(record: &BisectRecord, (first, last): (usize, usize)) -> String {
    let short = |index: usize| record.commits.get(index).map_or("", |one| &one.short);
    match last - first {
        0 => format!("commit {}", short(first)),
        more => format!(
            "one of {} commits ({} to {})",
            more + 1,
            short(first),
            short(last)
        ),
    }
}

/// How much a ratio below 1 is slower: "12 %".
fn loss(ratio: f64) -> String {
    short_percent(1.0 - ratio)
}

/// The same of its interval, from the lesser to the greater: "10–14 %".
fn losses(figures: SpeedRatio) -> String {
    let [least, most] = [figures.high, figures.low].map(|end| two_digits(100.0 * (1.0 - end)));
    format!("{least}–{most} %")
}
