//! Why a stack cannot be had as it was at a revision.

use std::{io, path::PathBuf};

use crate::manifest::{LoadError, ManifestErrors};

/// Why a stack cannot be had as it was at a revision.
#[derive(Debug, thiserror::Error)]
pub enum RevisionError {
    /// There is no git.
    #[error(
        "running git in {root}: {source}; comparing revisions needs it (on Debian, `apt install git`)"
    )]
    NoGit {
        /// Where it was to run.
        root: PathBuf,
        /// What happened.
        source: io::Error,
    },
    /// The folder is in no repository, or git does not open it.
    #[error(
        "{root} is in no git checkout that can be read ({said}); only there are older revisions"
    )]
    NoRepository {
        /// The folder.
        root: PathBuf,
        /// What git said.
        said: String,
    },
    /// The stacks are part of the program.
    #[error(
        "these stacks are part of deadheat, which has one version of each; to compare revisions, run this in a checkout \
         of Deadheat, or name one with --root"
    )]
    Embedded,
    /// No commit has this name.
    #[error(
        "`{typed}` names no commit of the git repository of {root}; write a branch, a tag, a hash or HEAD~3, and see \
         `git log` (a shallow clone has only the newest commits; `git fetch --unshallow` gets the others)"
    )]
    Unknown {
        /// As it was typed.
        typed: String,
        /// The folder whose repository was asked.
        root: PathBuf,
    },
    /// One revision does not come before another.
    #[error(
        "{good} is not an ancestor of {bad}, so no commit after {good} led to {bad}{}",
        common.as_ref().map_or(String::new(), |base| format!("; their last common commit is {base}: is that one fast?"))
    )]
    NoAncestor {
        /// The one that should come first, as it was typed.
        good: String,
        /// The other one, as it was typed.
        bad: String,
        /// The last commit that both come from.
        common: Option<String>,
    },
    /// No commit between two revisions changed what is asked about.
    #[error(
        "between {good} and {bad}, no commit changes {below}: they cannot differ in speed for that"
    )]
    NothingBetween {
        /// The first one, as it was typed.
        good: String,
        /// The last one, as it was typed.
        bad: String,
        /// What no commit changes.
        below: String,
    },
    /// The stack is not in the revision.
    #[error("the stack `{stack}` does not exist at {typed} ({short}), which has {}", listed(.has))]
    NoStack {
        /// The stack.
        stack: String,
        /// The revision, as it was typed.
        typed: String,
        /// The commit.
        short: String,
        /// The stacks of the revision.
        has: Vec<String>,
    },
    /// Its manifest at that revision has mistakes.
    #[error("the manifest of `{stack}` at {typed} is not one that this deadheat reads:\n{errors}")]
    Manifest {
        /// The stack.
        stack: String,
        /// The revision, as it was typed.
        typed: String,
        /// The mistakes.
        errors: ManifestErrors,
    },
    /// The revision's folders cannot be read.
    #[error("reading the files at {typed}: {source}")]
    Reading {
        /// The revision, as it was typed.
        typed: String,
        /// What happened.
        source: LoadError,
    },
    /// The temporary folder could not be made.
    #[error("making a temporary folder for {typed}: {reason}; TMPDIR sets its place")]
    Folder {
        /// The revision, as it was typed.
        typed: String,
        /// What happened.
        reason: String,
    },
    /// Git failed at something that should work.
    #[error("running `git {arguments}` in {root}: {said}")]
    Git {
        /// Git's arguments.
        arguments: String,
        /// Where it ran.
        root: PathBuf,
        /// What it said.
        said: String,
    },
}

fn listed(names: &[String]) -> String {
    match names {
        [] => "none".to_owned(),
        names => names.join(", "),
    }
}
