//! A search as it is shown: sentences and cells.

use deadheat_model::{
    bisect::{Answer, Asks, BisectRecord, Commit, Figures, Question},
    words::{counted, time_option},
};
use deadheat_stats::bisect::{Found, Outcome, outcome, whole};
use serde::Serialize;

use crate::{
    figure::{NONE, list, seconds},
    view::clean,
};

/// The head of the table.
pub(super) const HEAD: [&str; 6] = ["commit", "vs good", "heats", "time", "answer", "message"];

/// A commit that explains less than this of the slowdown is not the only cause.
const MOST_OF_IT: f64 = 0.75;

/// A search as it is shown.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BisectView {
    /// The answer.
    pub headline: String,
    /// Whether the commit was found.
    pub is_found: bool,
    /// What the answer means, and what to do next.
    pub sentences: Vec<String>,
    /// What the table is about.
    pub title: String,
    /// A row for each question.
    pub rows: Vec<Row>,
    /// What to know of the figures.
    pub notes: Vec<String>,
}

/// A question, in cells.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Row {
    /// The commit's short hash.
    pub commit: String,
    /// Its throughput beside the fast end's, or beside the commit before it ("−12 %").
    pub beside: String,
    /// Heats.
    pub heats: String,
    /// Their time.
    pub time: String,
    /// The answer.
    pub answer: String,
    /// The commit's message.
    pub message: String,
}

impl Row {
    /// The cells, in the order of the head.
    pub(super) fn cells(&self) -> [&str; 6] {
        [
            &self.commit,
            &self.beside,
            &self.heats,
            &self.time,
            &self.answer,
            &self.message,
        ]
        .map(String::as_str)
    }
}

impl BisectView {
    /// A search whose records are in `folder`, as the user would type it.
    pub fn new(record: &BisectRecord, folder: &str) -> Self {
        let outcome = outcome(record);
        let (headline, sentences) = said(record, &outcome, folder);
        let spent: f64 = record.questions.iter().map(|one| one.took_seconds).sum();
        let commits = counted(record.commits.len(), "commit");
        let measured = clean(&record.measured);
        let mut notes: Vec<String> = Vec::new();
        for note in record.questions.iter().flat_map(|one| &one.notes) {
            if !notes.contains(note) {
                notes.push(clean(note));
            }
        }
        notes.push(format!("Records: {}", clean(folder)));
        Self {
            headline,
            is_found: matches!(&outcome, Outcome::Found(found) if found.confirmed),
            sentences,
            title: format!("{measured}: {commits}, measured for {}", seconds(spent)),
            rows: record
                .questions
                .iter()
                .map(|one| row(record, one))
                .collect(),
            notes,
        }
    }
}

fn row(record: &BisectRecord, question: &Question) -> Row {
    let commit = subject(record, question);
    let beside = match question.asks {
        Asks::Ends => question.figures.map(|one| one.ratio),
        Asks::Commit { .. } => question.figures.and_then(beside_good),
        // The only one that is not beside the fast end, and says so.
        Asks::Found { .. } => None,
    };
    let measured = |cell: String| match question.heats {
        0 => NONE.to_owned(),
        _ => cell,
    };
    Row {
        commit: commit.short.clone(),
        beside: beside.map_or(NONE.to_owned(), change),
        heats: measured(question.heats.to_string()),
        time: measured(seconds(question.took_seconds)),
        answer: answer(question),
        message: clean(&commit.subject),
    }
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
fn beside_good(figures: Figures) -> Option<f64> {
    Some(figures.ratio * figures.whole?.sqrt())
}

/// The answer to a question, in a few words.
pub fn answer(question: &Question) -> String {
    let said = match (question.asks, &question.answer) {
        (_, Answer::Skipped { reason }) => {
            let first = reason.lines().next().unwrap_or_default();
            return format!("skipped: {}", clean(first));
        }
        (Asks::Ends, Answer::Slower) => "bad is slower",
        (Asks::Ends, Answer::NotSlower) => "bad is not slower",
        (Asks::Commit { .. }, Answer::Slower) => "has the slowdown",
        (Asks::Commit { .. }, Answer::NotSlower) => "does not have it",
        (Asks::Commit { .. }, Answer::Half) => "has about half of it",
        (Asks::Found { .. }, Answer::Slower) => {
            let change = question
                .figures
                .map(|one| change(one.ratio))
                .unwrap_or_default();
            return format!("{change} to the commit before");
        }
        (Asks::Found { .. }, Answer::NotSlower) => "not slower than the commit before",
        (_, Answer::Half | Answer::Undecided) => "undecided",
    };
    said.to_owned()
}

fn said(record: &BisectRecord, outcome: &Outcome, folder: &str) -> (String, Vec<String>) {
    let bad = record.bad().unwrap_or(&record.good);
    let ends = format!("from good ({}) to bad ({})", record.good.short, bad.short);
    match outcome {
        Outcome::Found(found) => said_of(record, found, &ends),
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

fn said_of(record: &BisectRecord, found: &Found, ends: &str) -> (String, Vec<String>) {
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
            "Measured beside {} again, it has {:.3} times its throughput ({:.3}–{:.3}). One of the answers below may \
             be wrong: repeat the search, with more heats.",
            before.short, own.ratio, own.low, own.high
        )),
        (None, _) => sentences.push(format!("The comparison with {} failed.", before.short)),
        _ => {}
    }
    if let (Some(own), Some(share), Some(whole)) = (found.own, found.share, whole(record)) {
        let part = |ratio: f64| 100.0 * ratio.ln() / whole.ln();
        let (least, most) = (part(own.high), part(own.low));
        let explains = if share >= MOST_OF_IT && most >= 100.0 {
            "the whole slowdown".to_owned()
        } else {
            let part = 100.0 * share;
            format!("{part:.0} % ({least:.0}–{most:.0} %) of the slowdown")
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
        Some(Figures {
            ratio, low, high, ..
        }) => {
            format!("{begins} {ratio:.3} times good's ({low:.3}–{high:.3}).")
        }
        None => "There are too few heats for a figure.".to_owned(),
    }
}

/// How to search between these commits, of which at least two differ.
fn searches(ends: &[(&Commit, &Commit)]) -> String {
    let differ = ends.iter().filter(|(good, bad)| good.commit != bad.commit);
    let searches =
        differ.map(|(good, bad)| format!("deadheat bisect {} {} …", good.short, bad.short));
    format!("Search there: {}", list(&searches.collect::<Vec<_>>()))
}

/// Twice the time of the longest comparison so far, for each.
fn more_time(record: &BisectRecord, folder: &str) -> String {
    let took = record.questions.iter().map(|one| one.took_seconds);
    let budget = time_option(2.0 * took.fold(150.0, f64::max));
    format!("Repeat it with more time: deadheat bisect --resume {folder} --budget {budget}")
}

/// `abc1234 "message"`.
fn named(commit: &Commit) -> String {
    format!("{} “{}”", commit.short, clean(&commit.subject))
}

/// "one of 3 commits, from abc to def".
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

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string());
    first.unwrap_or_default() + letters.as_str()
}

/// How much a ratio below 1 is slower: "12 %".
fn loss(ratio: f64) -> String {
    format!("{} %", digits(100.0 * (1.0 - ratio)))
}

/// The same of its interval, from the lesser to the greater: "10–14 %".
fn losses(figures: Figures) -> String {
    let [least, most] = [figures.high, figures.low].map(|end| digits(100.0 * (1.0 - end)));
    format!("{least}–{most} %")
}

/// A ratio as a change: "−12 %".
fn change(ratio: f64) -> String {
    let percent = 100.0 * (ratio - 1.0);
    let size = digits(percent.abs());
    let sign = match percent {
        _ if size == digits(0.0) => "",
        less if less < 0.0 => "−",
        _ => "+",
    };
    format!("{sign}{size} %")
}

/// A percentage in two digits or three.
fn digits(percent: f64) -> String {
    format!("{percent:.1}")
}
