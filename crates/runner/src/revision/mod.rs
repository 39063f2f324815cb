//! A stack at an earlier revision of its git repository: the repository's root folder at that commit, in a temporary
//! folder. The folder is deleted in the end, however Deadheat ends. Also working copies of a whole repository
//! ([`WorkingCopy`]), and the commits between two revisions.
//!
//! The user's checkout is not changed, neither its index nor its list of work trees.

mod between;
mod checkout;

use std::{
    ffi::OsStr,
    io,
    path::{Path, PathBuf},
    process::Output,
};

use serde::{Deserialize, Serialize};

use crate::{
    embedded, git,
    manifest::{LoadError, ManifestErrors},
};

pub use between::{commit_of, commits_between};
pub use checkout::{Checkout, WorkingCopy};

/// A commit that a user named.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Revision {
    /// The name as the user typed it ("HEAD~3").
    pub typed: String,
    /// The full commit hash.
    pub commit: String,
    /// The shortest unique prefix of the commit hash.
    pub short: String,
}

impl Revision {
    /// Finds the commit that `typed` names in the repository that `root` is in.
    ///
    /// # Errors
    /// When there is no git, no repository, or no such commit.
    pub fn find(root: &Path, typed: &str) -> Result<Self, RevisionError> {
        let git = Git::new(root)?;
        let unknown = || RevisionError::Unknown {
            typed: typed.to_owned(),
            root: root.to_owned(),
        };
        // Git would take a name that begins with a dash for an option.
        if typed.is_empty() || typed.starts_with('-') {
            return Err(unknown());
        }
        let commit = git
            .line(&[
                "rev-parse",
                "--verify",
                "--quiet",
                &format!("{typed}^{{commit}}"),
            ])?
            .ok_or_else(unknown)?;
        let short = git.line(&["rev-parse", "--short", &commit])?;
        Ok(Self {
            typed: typed.to_owned(),
            short: short.unwrap_or_else(|| commit.clone()),
            commit,
        })
    }
}

/// Whether the folder `stacks/<stack>` below `root` has the same files at two commits; `None` is the work tree, whose
/// untracked files count unless git ignores them.
///
/// # Errors
/// When git cannot be asked.
pub fn same_sources(
    root: &Path,
    stack: &str,
    one: Option<&Revision>,
    other: Option<&Revision>,
) -> Result<bool, RevisionError> {
    let git = Git::new(root)?;
    let folder = format!("stacks/{stack}");
    match (one, other) {
        (None, None) => Ok(true),
        (Some(one), Some(other)) => {
            git.says_yes(&["diff", "--quiet", &one.commit, &other.commit, "--", &folder])
        }
        (Some(one), None) | (None, Some(one)) => {
            let untracked = ["ls-files", "--others", "--exclude-standard", "--", &folder];
            Ok(
                git.says_yes(&["diff", "--quiet", &one.commit, "--", &folder])?
                    && git.line(&untracked)?.is_none(),
            )
        }
    }
}

/// Why a stack cannot be read at a revision.
#[derive(Debug, thiserror::Error)]
pub enum RevisionError {
    /// There is no git.
    #[error(
        "running git in {root}: {source}; comparing revisions needs it (on Debian, `apt install git`)"
    )]
    NoGit {
        /// The folder in which it was started.
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
    /// The stacks are embedded in the program, so they have no repository.
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
    #[error("making a temporary folder for {typed}: {source}; TMPDIR sets its place")]
    Folder {
        /// The revision, as it was typed.
        typed: String,
        /// What happened.
        source: io::Error,
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

/// Git, run in one folder.
#[derive(Debug)]
struct Git {
    root: PathBuf,
}

impl Git {
    /// Git in `root`, which is in a checkout.
    fn new(root: &Path) -> Result<Self, RevisionError> {
        // The home folder, where embedded stacks are unpacked, may be a repository.
        if embedded::checksum_at(root).is_some() {
            return Err(RevisionError::Embedded);
        }
        let git = Self {
            root: root.to_owned(),
        };
        let output = git.output(&["rev-parse", "--show-prefix"], &[])?;
        if output.status.success() {
            return Ok(git);
        }
        Err(RevisionError::NoRepository {
            root: root.to_owned(),
            said: said(&output),
        })
    }

    /// The folder's path in the repository: empty, or with a slash at the end.
    fn prefix(&self) -> Result<String, RevisionError> {
        Ok(self
            .line(&["rev-parse", "--show-prefix"])?
            .unwrap_or_default())
    }

    /// The first line that git prints; `None` if it prints nothing or fails.
    fn line(&self, arguments: &[&str]) -> Result<Option<String>, RevisionError> {
        Ok(self.lines(arguments)?.into_iter().next())
    }

    /// The lines that git prints; empty if it fails.
    fn lines(&self, arguments: &[&str]) -> Result<Vec<String>, RevisionError> {
        let output = self.output(arguments, &[])?;
        let text = String::from_utf8_lossy(&output.stdout);
        let lines = text.lines().filter(|line| !line.is_empty());
        Ok(if output.status.success() {
            lines.map(str::to_owned).collect()
        } else {
            Vec::new()
        })
    }

    /// Whether git exits with 0. Status 1 is `false`; any other status is an error.
    fn says_yes(&self, arguments: &[&str]) -> Result<bool, RevisionError> {
        let output = self.output(arguments, &[])?;
        match output.status.code() {
            Some(0) => Ok(true),
            Some(1) => Ok(false),
            _ => Err(self.failed(arguments, &output)),
        }
    }

    /// Runs git with additional environment variables. Any exit status other than 0 is an error.
    fn run(&self, arguments: &[&str], env: &[(&str, &OsStr)]) -> Result<(), RevisionError> {
        let output = self.output(arguments, env)?;
        if output.status.success() {
            Ok(())
        } else {
            Err(self.failed(arguments, &output))
        }
    }

    fn output(&self, arguments: &[&str], env: &[(&str, &OsStr)]) -> Result<Output, RevisionError> {
        git::command(&self.root, arguments)
            .envs(env.iter().copied())
            .output()
            .map_err(|source: io::Error| RevisionError::NoGit {
                root: self.root.clone(),
                source,
            })
    }

    fn failed(&self, arguments: &[&str], output: &Output) -> RevisionError {
        RevisionError::Git {
            arguments: arguments.join(" "),
            root: self.root.clone(),
            said: said(output),
        }
    }
}

/// Git's error message, on one line.
fn said(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr);
    let words: Vec<&str> = text.split_whitespace().collect();
    if words.is_empty() {
        output.status.to_string()
    } else {
        words.join(" ")
    }
}
