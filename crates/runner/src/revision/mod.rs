//! A stack as it was at a revision of its git repository: its root folder at that commit, in a temporary folder that is
//! gone in the end, however Deadheat ends. The same for a whole repository ([`WorkingCopy`]), and the commits between two
//! revisions.
//!
//! Nothing of the user's checkout is touched: neither its index nor its list of work trees.

mod between;
mod checkout;
mod error;
mod git;
mod working_copy;

use std::path::Path;

use serde::{Deserialize, Serialize};

use self::git::Git;
pub use self::{
    between::{commit_of, commits_between},
    checkout::Checkout,
    error::RevisionError,
    working_copy::WorkingCopy,
};

/// A commit that a user named.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Revision {
    /// As it was typed ("HEAD~3").
    pub typed: String,
    /// The commit, in full.
    pub commit: String,
    /// The commit, as short as it can be told from others.
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
        // What begins with a dash would be an option.
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
