//! What `deadheat bisect` shows, for a person ([`document`]) or a program ([`json`]). docs/bisect.md has an example.

use deadheat_document::{
    Column, Document, Section, Table, Tone,
    json::{self, Body, ReportError},
    view::clean,
};
use deadheat_model::{
    Warning,
    bisect::{Asks, BisectAnswer, BisectRecord, Commit, FORMAT, Question, SCHEMA, SpeedRatio},
    figure::{
        NONE, capital, counted, list, ratio, ratios, seconds, short_percent, signed, time_option,
        two_digits,
    },
};
use schemars::JsonSchema;
use serde::Serialize;

use super::analysis::{Culprit, Outcome, outcome, resume_command, whole};

/// What `deadheat bisect` found. Commits are numbered from 0, without the fast end.
#[derive(Serialize, JsonSchema)]
pub struct BisectReport<'a> {
    /// The answer as a sentence.
    headline: &'a str,
    /// What came of the search.
    outcome: Outcome,
    /// The slow end's throughput over the fast one's, over all heats; null if it is not known.
    whole: Option<f64>,
    /// The folder with `bisect.json`, the logs of builds, and a session for each comparison.
    folder: &'a str,
    /// The content of `bisect.json`.
    search: &'a BisectRecord,
}

impl Body for BisectReport<'_> {
    const FORMAT: &'static str = FORMAT;
    const SCHEMA: u32 = SCHEMA;
}

/// The search as unrounded JSON over several lines that end with a newline. `folder` is its folder.
///
/// # Errors
/// When a figure has no place in JSON.
pub fn json(record: &BisectRecord, folder: &str) -> Result<String, ReportError> {
    let document = document(record, folder, None);
    json::json(&BisectReport {
        headline: document.headline(),
        outcome: outcome(record),
        whole: whole(record),
        folder,
        search: record,
    })
}

/// The search whose records are in `folder`, as the user would type it. `stopped` is about a comparison that was
/// interrupted.
pub fn document(record: &BisectRecord, folder: &str, stopped: Option<&str>) -> Document {
    let outcome = outcome(record);
    let tone = match &outcome {
        Outcome::Found(found) if found.confirmed => Tone::Bad,
        _ => Tone::Plain,
    };
    let (headline, mut meaning) = sentences(record, &outcome, folder);
    meaning.extend(stopped.map(|stopped| format!("The last comparison: {stopped}")));
    let spent: f64 = record.questions.iter().map(|one| one.took_seconds).sum();
    let title = format!(
        "{}: {}, measured for {}",
        record.measured,
        counted(record.commits.len(), "commit"),
        seconds(spent)
    );
    let notes = record.questions.iter().flat_map(|one| &one.notes);
    let records = format!("Records: {folder}");
    let notes = notes.map(Warning::in_full).chain([records]);
    Document::new(tone, headline)
        .section(Section::lead().paragraphs(meaning))
        .section(Section::new(title).table(table(record)))
        .section(Section::new("Notes").bullets(notes))
}

fn table(record: &BisectRecord) -> Table {
    let mut table = Table::new([
        Column::left("commit"),
        Column::right("vs good"),
        Column::right("heats"),
        Column::right("time"),
        Column::left("answer"),
        Column::left("message"),
    ]);
    for question in &record.questions {
        let commit = subject(record, question);
        let against_good = match question.asks {
            Asks::Ends => question.figures.map(|one| one.ratio),
            Asks::Commit { .. } => question.figures.and_then(against_good),
            // This one is compared with the commit before it, and says so.
            Asks::Found { .. } => None,
        };
        let [heats, time] = match question.heats {
            0 => [NONE, NONE].map(str::to_owned),
            heats => [heats.to_string(), seconds(question.took_seconds)],
        };
        table.row([
            commit.short.clone(),
            against_good.map_or(NONE.to_owned(), |ratio| signed(ratio - 1.0)),
            heats,
            time,
            answer(question),
            commit.subject.clone(),
        ]);
    }
    table
}

/// The commit that a question is about.
fn subject<'a>(record: &'a BisectRecord, question: &Question) -> &'a Commit {
    let index = match question.asks {
        Asks::Ends => record.commits.len().saturating_sub(1),
        Asks::Commit { index } => index,
        Asks::Found { last, .. } => last,
    };
    record.commits.get(index).unwrap_or(&record.good)
}

/// A commit's throughput over the fast end's.
fn against_good(figures: SpeedRatio) -> Option<f64> {
    Some(figures.ratio * figures.whole?.sqrt())
}

/// The answer to a question, in a few words.
pub fn answer(question: &Question) -> String {
    let words = match (question.asks, &question.answer) {
        (_, BisectAnswer::Skipped { reason }) => {
            let first = reason.lines().next().unwrap_or_default();
            return format!("skipped: {}", clean(first));
        }
        (Asks::Ends, BisectAnswer::Slower) => "bad is slower",
        (Asks::Ends, BisectAnswer::NotSlower) => "bad is not slower",
        (Asks::Commit { .. }, BisectAnswer::Slower) => "has the slowdown",
        (Asks::Commit { .. }, BisectAnswer::NotSlower) => "does not have it",
        (Asks::Commit { .. }, BisectAnswer::Half) => "has about half of it",
        (Asks::Found { .. }, BisectAnswer::Slower) => {
            let change = question.figures.map(|one| signed(one.ratio - 1.0));
            return format!("{} to the commit before", change.unwrap_or_default());
        }
        (Asks::Found { .. }, BisectAnswer::NotSlower) => "not slower than the commit before",
        (_, BisectAnswer::Half | BisectAnswer::Undecided) => "undecided",
    };
    words.to_owned()
}

/// A commit that explains less than this of the slowdown is not the only cause.
const MAX_OF_IT: f64 = 0.75;

/// The answer, then what it means and what to do next.
fn sentences(record: &BisectRecord, outcome: &Outcome, folder: &str) -> (String, Vec<String>) {
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
            let next = match resume_command(record, folder) {
                Some(command) => format!("Go on with: {command}"),
                None => "It cannot be resumed, because secrets among its arguments are not recorded. Begin a new search."
                    .to_owned(),
            };
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
        let explains = if share >= MAX_OF_IT && most >= 1.0 {
            "the whole slowdown".to_owned()
        } else {
            let [part, least, most] = [share, least, most].map(short_percent);
            format!("{part} ({least} to {most}) of the slowdown")
        };
        sentences.push(format!(
            "That explains {explains} {ends}, which is {}.",
            loss(whole)
        ));
        if share < MAX_OF_IT {
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
    let search = resume_command(record, folder);
    let search = search.as_deref().unwrap_or("begin a new search with");
    format!("Repeat it with more time: {search} --budget {budget}")
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

/// The losses at the ends of its interval, the smaller one first: "10–14 %".
fn losses(figures: SpeedRatio) -> String {
    let [least, most] = [figures.high, figures.low].map(|end| two_digits(100.0 * (1.0 - end)));
    format!("{least}–{most} %")
}
