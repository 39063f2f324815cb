//! The record of `deadheat bisect`: the commits that it searches, and the result of each comparison. A search can be
//! resumed from this record alone. docs/bisect.md describes the file.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Warning;

/// The version of the format. It rises when a field is removed or changes its meaning, and not when a field is added.
pub const SCHEMA: u32 = 1;
/// The name of the format of reports that contain the record.
pub const FORMAT: &str = "deadheat-bisect";

/// A search for the commit that made something slower.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BisectRecord {
    /// The version of the format.
    pub schema: u32,
    /// The version of Deadheat.
    pub deadheat: String,
    /// When it began (RFC 3339, UTC).
    pub started: String,
    /// Deadheat's arguments, with which the search is resumed.
    pub arguments: Vec<String>,
    /// The folder that the command was typed in.
    pub folder: PathBuf,
    /// What is measured: a command or the name of a stack.
    pub measured: String,
    /// The share of searches that may have a wrong result, over all comparisons (0 to 1).
    pub alpha: f64,
    /// The fast end.
    pub good: Commit,
    /// The commits after it, oldest first. The last is the slow end.
    pub commits: Vec<Commit>,
    /// All questions so far, in order.
    pub questions: Vec<Question>,
}

/// A commit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Commit {
    /// Its hash, in full.
    pub commit: String,
    /// The shortest form of the hash that is unambiguous.
    pub short: String,
    /// The first line of its message.
    pub subject: String,
    /// Whether it merges another branch.
    pub merge: bool,
}

/// A question, and the answer of a comparison.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Question {
    /// The question.
    #[serde(flatten)]
    pub asks: Asks,
    /// The answer.
    #[serde(flatten)]
    pub answer: BisectAnswer,
    /// The figures, if there are any.
    pub figures: Option<SpeedRatio>,
    /// The share of wrong results that this question may add (0 to 1).
    pub spends: f64,
    /// The number of complete heats.
    pub heats: u32,
    /// The total time of these heats in seconds.
    pub took_seconds: f64,
    /// The session's folder, relative to that of the search; `None`: nothing was measured.
    pub session: Option<String>,
    /// Notes on the figures.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<Warning>,
}

/// A question. Commits are numbered from 0 ([`BisectRecord::commits`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "asks", rename_all = "kebab-case")]
pub enum Asks {
    /// Is the slow end slower than the fast one?
    Ends,
    /// Is this commit nearer to the fast end or to the slow one?
    Commit {
        /// The commit's number.
        index: usize,
    },
    /// By how much did these commits together slow it down?
    Found {
        /// The first of them.
        first: usize,
        /// The last of them.
        last: usize,
    },
}

/// An answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "answer", rename_all = "kebab-case")]
pub enum BisectAnswer {
    /// It is slower. For a commit: it has more than half of the slowdown.
    Slower,
    /// It is not slower. For a commit: it has less than half of the slowdown.
    NotSlower,
    /// The commit has about half of the slowdown.
    Half,
    /// The budget ended before the answer was known.
    Undecided,
    /// The commit cannot be measured.
    Skipped {
        /// Why.
        reason: String,
    },
}

/// The ratio of two throughputs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SpeedRatio {
    /// The ratio. For the ends: the slow one over the fast one. For a commit: its throughput over the geometric mean of
    /// both ends. For the commits that were found: over the throughput of the commit before them.
    pub ratio: f64,
    /// The lower end of its interval.
    pub low: f64,
    /// The upper end of its interval.
    pub high: f64,
    /// The level of the interval (0 to 1).
    pub level: f64,
    /// The ratio of the slow end to the fast end in the same heats.
    pub whole: Option<f64>,
}

impl BisectRecord {
    /// The slow end; `None` in a file without commits.
    pub fn bad(&self) -> Option<&Commit> {
        self.commits.last()
    }

    /// The commit before the one with this number, which may be the fast end.
    pub fn before(&self, index: usize) -> &Commit {
        let before = index.checked_sub(1);
        before
            .and_then(|index| self.commits.get(index))
            .unwrap_or(&self.good)
    }

    /// The answers about commits, in the order in which they were given.
    pub fn answers(&self) -> impl Iterator<Item = (usize, &BisectAnswer)> {
        self.questions.iter().filter_map(|one| match one.asks {
            Asks::Commit { index } => Some((index, &one.answer)),
            Asks::Ends | Asks::Found { .. } => None,
        })
    }
}
