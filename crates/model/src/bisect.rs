//! What `deadheat bisect` records: the commits that it searches, and what each comparison said of them. The search goes
//! on from this alone. docs/bisect.md describes the file.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Warning;

/// The version of the format. A field that goes, or changes its meaning, raises it; a new one does not.
pub const SCHEMA: u32 = 1;

/// A search for the commit that made something slower.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BisectRecord {
    /// The version of the format.
    pub schema: u32,
    /// The version of Deadheat.
    pub deadheat: String,
    /// When it began (RFC 3339, UTC).
    pub started: String,
    /// Deadheat's arguments, with which it goes on.
    pub arguments: Vec<String>,
    /// The folder that these were typed in.
    pub folder: PathBuf,
    /// What is measured: a command or the name of a stack.
    pub measured: String,
    /// The share of searches that may go wrong over all comparisons (0 to 1).
    pub alpha: f64,
    /// The fast end.
    pub good: Commit,
    /// The commits after it, oldest first. The last is the slow end.
    pub commits: Vec<Commit>,
    /// What was asked so far, in this order.
    pub questions: Vec<Question>,
}

/// A commit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Commit {
    /// Its hash, in full.
    pub commit: String,
    /// The hash, as short as it can be told from others.
    pub short: String,
    /// The first line of its message.
    pub subject: String,
    /// Whether it merges another branch.
    pub merge: bool,
}

/// A question, and what a comparison said.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Question {
    /// What was asked.
    #[serde(flatten)]
    pub asks: Asks,
    /// What came of it.
    #[serde(flatten)]
    pub answer: BisectAnswer,
    /// The figures, if there are any.
    pub figures: Option<SpeedRatio>,
    /// The share of errors that it may add (0 to 1).
    pub spends: f64,
    /// Heats that were complete.
    pub heats: u32,
    /// The time that they took together, in seconds.
    pub took_seconds: f64,
    /// The session's folder, in that of the search; `None`: nothing was measured.
    pub session: Option<String>,
    /// What to know of the figures.
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
        /// Which.
        index: usize,
    },
    /// By how much did these commits together make it slower?
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
    /// It is slower; a commit: it has more than half of the slowdown.
    Slower,
    /// It is not slower; a commit: it has less than half of the slowdown.
    NotSlower,
    /// The commit has about half of the slowdown.
    Half,
    /// The budget ended before that was known.
    Undecided,
    /// The commit cannot be measured.
    Skipped {
        /// Why.
        reason: String,
    },
}

/// A throughput over another one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SpeedRatio {
    /// The ratio. Of the ends: the slow one over the fast one. Of a commit: its throughput over the geometric mean of
    /// both ends'. Of what was found: over that of the commit before.
    pub ratio: f64,
    /// The lower end of its interval.
    pub low: f64,
    /// The upper end of its interval.
    pub high: f64,
    /// The level of the interval (0 to 1).
    pub level: f64,
    /// The slow end over the fast one in the same heats.
    pub whole: Option<f64>,
}

impl BisectRecord {
    /// The slow end; `None` in a file without commits.
    pub fn bad(&self) -> Option<&Commit> {
        self.commits.last()
    }

    /// The commit before the one of this number: another one, or the fast end.
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
