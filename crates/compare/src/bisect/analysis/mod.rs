//! Which commit made it slower: what `deadheat bisect` asks next, and what it has found.
//!
//! **The question.** A first comparison has to show that BAD is slower than GOOD. Then each step measures the middle
//! commit, GOOD and BAD in the same heats and asks on which side of the middle between GOOD and BAD it is, on the
//! logarithm ([`deadheat_stats::versus::midpoint`]). If one commit caused the slowdown, the middle commit is as fast as GOOD or as
//! slow as BAD, half of the effect away from the line. The line is measured in every heat anew, so a first comparison
//! that stopped at a lucky figure does not move it, and neither does another machine after a pause.
//!
//! **Errors.** With a share of errors α for the whole search and k = ⌈log₂ n⌉ steps, each of the 1 + k comparisons gets
//! α/(k + 2); what is left is for repeated and additional comparisons, each of which gets half of what the one before it
//! had ([`spending`]). The sum is α at most (Bonferroni). Within a comparison the share is spent over looks that are
//! declared in advance ([`deadheat_stats::sequential`]).
//!
//! **Several causes.** The search finds the commit where the throughput crosses the line. Its own effect is measured at
//! the end, against the commit before it, by new heats at one look: the share of the slowdown that it explains. A commit
//! that is proven to be near the line ends the search, because each side has a cause of its own.
//!
//! Everything here is a function of the record, so a search that was killed goes on as if nothing had happened.

mod outcome;
mod search;
pub mod spending;

use deadheat_model::bisect::{Asks, BisectAnswer, BisectRecord};

pub use self::{
    outcome::{Culprit, Outcome, outcome, whole},
    search::Search,
};

/// The next question; `None`: there is none left.
pub fn next(record: &BisectRecord) -> Option<Asks> {
    let of_ends = record.questions.iter().rfind(|one| one.asks == Asks::Ends);
    match of_ends.map(|one| &one.answer) {
        Some(BisectAnswer::Slower) => {}
        Some(BisectAnswer::NotSlower) => return None,
        _ => return Some(Asks::Ends),
    }
    let search = Search::new(record);
    if let Some(index) = search.next() {
        return Some(Asks::Commit { index });
    }
    let (first, last) = search.suspects();
    let asks = Asks::Found { first, last };
    let is_answered = record.questions.iter().any(|one| one.asks == asks);
    (!is_answered).then_some(asks)
}

/// The share of errors that the next comparison may add.
pub fn spends(record: &BisectRecord) -> f64 {
    let asked = record.questions.iter().filter(|one| {
        let is_search = !matches!(one.asks, Asks::Found { .. });
        is_search && !matches!(one.answer, BisectAnswer::Skipped { .. })
    });
    spending::share(record.alpha, record.commits.len(), asked.count())
}

#[cfg(test)]
mod tests;
