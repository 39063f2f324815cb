//! What a search has found.

use deadheat_model::bisect::{Asks, BisectAnswer, BisectRecord, Question, SpeedRatio};
use schemars::JsonSchema;
use serde::Serialize;

use super::Search;

/// What a search has found. Commits are numbered from 0.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "is", rename_all = "kebab-case")]
pub enum Outcome {
    /// It was interrupted.
    Unfinished {
        /// The commits of which one made it slower, the first and the last; `None` before a slowdown was shown.
        suspects: Option<(usize, usize)>,
    },
    /// BAD is faster than GOOD, or in a dead heat with it.
    NotSlower,
    /// BAD may be slower than GOOD, but the budget was too short to tell.
    NotProven,
    /// The search ended at a commit on which it could not decide.
    Undecided {
        /// The commit.
        index: usize,
        /// Whether it is proven to have about half of the slowdown, so that there are two causes at least.
        half: bool,
        /// The commits of which one made it slower, the first and the last.
        suspects: (usize, usize),
    },
    /// It was found.
    Found(Culprit),
}

/// What made it slower.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Culprit {
    /// The first commit.
    pub first: usize,
    /// The last: the same one, unless those between could not be measured.
    pub last: usize,
    /// Its throughput over that of the commit before the first; `None`: that could not be measured.
    pub own: Option<SpeedRatio>,
    /// Whether that comparison shows a slowdown.
    pub confirmed: bool,
    /// The share of the whole slowdown that it explains, on the logarithm (1 is all of it); `None`: it is not known.
    pub share: Option<f64>,
}

/// What `record` says so far.
pub fn outcome(record: &BisectRecord) -> Outcome {
    let last_answer = |wanted: fn(&Asks) -> bool| {
        let mut questions = record.questions.iter().rev();
        questions.find(|one| wanted(&one.asks))
    };
    match last_answer(|asks| *asks == Asks::Ends).map(|one| &one.answer) {
        Some(BisectAnswer::Slower) => {}
        Some(BisectAnswer::NotSlower) => return Outcome::NotSlower,
        None | Some(BisectAnswer::Skipped { .. }) => return Outcome::Unfinished { suspects: None },
        Some(BisectAnswer::Half | BisectAnswer::Undecided) => return Outcome::NotProven,
    }
    let search = Search::new(record);
    let suspects = search.suspects();
    if let Some(next) = search.next() {
        let asked = last_answer(|asks| matches!(asks, Asks::Commit { .. }));
        return match asked.map(|one| (&one.asks, &one.answer)) {
            Some((
                Asks::Commit { index },
                answer @ (BisectAnswer::Half | BisectAnswer::Undecided),
            )) if *index == next => Outcome::Undecided {
                index: next,
                half: *answer == BisectAnswer::Half,
                suspects,
            },
            _ => Outcome::Unfinished {
                suspects: Some(suspects),
            },
        };
    }
    let (first, last) = suspects;
    let Some(asked) = record
        .questions
        .iter()
        .rfind(|one| one.asks == Asks::Found { first, last })
    else {
        return Outcome::Unfinished {
            suspects: Some(suspects),
        };
    };
    let confirmed = asked.answer == BisectAnswer::Slower;
    let share = |own: SpeedRatio| {
        let whole = whole(record)?.ln();
        (confirmed && whole < 0.0).then(|| own.ratio.ln() / whole)
    };
    Outcome::Found(Culprit {
        first,
        last,
        own: asked.figures,
        confirmed,
        share: asked.figures.and_then(share),
    })
}

/// BAD's throughput over GOOD's: the geometric mean over all heats that had both. `None`: no heat had.
pub fn whole(record: &BisectRecord) -> Option<f64> {
    let logarithm = |one: &Question| {
        let figures = one.figures?;
        let ratio = match one.asks {
            Asks::Ends => figures.ratio,
            Asks::Commit { .. } => figures.whole?,
            Asks::Found { .. } => return None,
        };
        let is_ratio = ratio.is_finite() && ratio > 0.0;
        is_ratio.then(|| (f64::from(one.heats), ratio.ln()))
    };
    let all = record.questions.iter().filter_map(logarithm);
    let (heats, sum) = all.fold((0.0, 0.0), |(heats, sum), (weight, value)| {
        (heats + weight, sum + weight * value)
    });
    (heats > 0.0).then(|| (sum / heats).exp())
}
