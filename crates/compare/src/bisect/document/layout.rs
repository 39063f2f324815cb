//! A search as it is shown: the answer, a row for each comparison, and notes.

use deadheat_document::{Column, Document, Section, Table, Tone, view::clean};
use deadheat_model::{
    Warning,
    bisect::{Asks, BisectAnswer, BisectRecord, Commit, Question, SpeedRatio},
    figure::{NONE, counted, seconds, signed},
};

use super::sentences::sentences;
use crate::bisect::analysis::{Outcome, outcome};

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
