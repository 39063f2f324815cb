//! A whole repository as it was at a commit, to build and start something in it.

use std::path::{Path, PathBuf};

use super::{Revision, RevisionError, git::Git};
use crate::process::{Supervision, TempFolder};

/// A clone at a commit. It borrows the objects of the user's repository, in which nothing is changed: an entry in its
/// list of work trees would stay there if Deadheat was killed. It is deleted when this is dropped, and when Deadheat is
/// killed.
#[derive(Debug)]
pub struct WorkingCopy {
    folder: PathBuf,
    _kept: TempFolder,
}

impl WorkingCopy {
    /// A copy of the repository that `root` is in.
    ///
    /// # Errors
    /// When git or the disk fail.
    pub fn new(
        root: &Path,
        revision: &Revision,
        supervision: &Supervision,
    ) -> Result<Self, RevisionError> {
        let git = Git::new(root)?;
        let top = git
            .line(&["rev-parse", "--show-toplevel"])?
            .unwrap_or_default();
        let prefix = git.prefix()?;
        let kept = TempFolder::create("deadheat-revision-", supervision).map_err(|error| {
            RevisionError::Folder {
                typed: revision.typed.clone(),
                reason: error.to_string(),
            }
        })?;
        let copy = kept.path().join("copy");
        let path = copy.to_string_lossy();
        git.run(
            &["clone", "--quiet", "--shared", "--no-checkout", &top, &path],
            &[],
        )?;
        // A hook of the user's is not meant for this.
        let checkout = [
            "-c",
            "core.hooksPath=/dev/null",
            "checkout",
            "--quiet",
            "--detach",
        ];
        Git::new(&copy)?.run(&[&checkout[..], &[&revision.commit]].concat(), &[])?;
        Ok(Self {
            folder: copy.join(prefix),
            _kept: kept,
        })
    }

    /// Where `root` is in it. At another commit, that folder may not have been there.
    pub fn folder(&self) -> &Path {
        &self.folder
    }
}
