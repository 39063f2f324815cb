//! The root folder as it was at a commit, in a folder of its own.

use std::{
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
};

use deadheat_model::TargetId;

use super::{Git, Revision, RevisionError};
use crate::{
    manifest::{self, ManifestErrors, Stack},
    process::{Supervision, TempFolder},
};

/// A stack as it was at a commit. The folder that was made for it is deleted when this is dropped, and when Deadheat is
/// killed.
#[derive(Debug)]
pub struct Checkout {
    stack: Stack,
    _folder: TempFolder,
}

impl Checkout {
    /// Brings the root folder as it was at `revision` into a temporary folder, and reads the stack there. It is named
    /// `<stack>@<commit>`.
    ///
    /// # Errors
    /// When the stack was not there, has a manifest that cannot be read, or git or the disk fail.
    pub fn new(
        root: &Path,
        stack: &str,
        revision: &Revision,
        supervision: &Supervision,
    ) -> Result<Self, RevisionError> {
        let git = Git::new(root)?;
        let tree = format!("{}:{}", revision.commit, git.prefix()?);
        check_stack(&git, &tree, stack, revision)?;
        let folder = TempFolder::create("deadheat-revision-", supervision).map_err(|source| {
            RevisionError::Folder {
                typed: revision.typed.clone(),
                source,
            }
        })?;
        write_tree(&git, &tree, folder.path())?;
        let root = folder.path().join("root");
        Ok(Self {
            stack: read_stack(&root, stack, revision)?,
            _folder: folder,
        })
    }

    /// The stack, whose folder lives as long as this.
    pub fn stack(&self) -> &Stack {
        &self.stack
    }

    /// The stack's name under `variant`; the default one if that is `None`. `None` when it has no such variant.
    pub fn target(&self, variant: Option<&str>) -> Option<TargetId> {
        let mut targets = self.stack.manifest.targets().into_iter();
        match variant {
            None => targets.next(),
            Some(_) => targets.find(|target| target.variant.as_deref() == variant),
        }
    }
}

fn check_stack(
    git: &Git,
    tree: &str,
    stack: &str,
    revision: &Revision,
) -> Result<(), RevisionError> {
    let path = format!("{tree}stacks/{stack}/stack.toml");
    if git
        .lines(&["rev-parse", "--verify", "--quiet", &path])?
        .len()
        == 1
    {
        return Ok(());
    }
    let has = git.lines(&["ls-tree", "-d", "--name-only", &format!("{tree}stacks")])?;
    Err(RevisionError::NoStack {
        stack: stack.to_owned(),
        typed: revision.typed.clone(),
        short: revision.short.clone(),
        has,
    })
}

/// Writes what `tree` holds into `folder/root`, through an index of its own.
fn write_tree(git: &Git, tree: &str, folder: &Path) -> Result<(), RevisionError> {
    let index = folder.join("index");
    let env = [("GIT_INDEX_FILE", index.as_os_str())];
    git.run(&["read-tree", tree], &env)?;
    let prefix = format!("{}/root/", folder.display());
    // Where the folder lies in the repository is left out of the names by now, so that git must not look for it.
    let top = git
        .line(&["rev-parse", "--show-toplevel"])?
        .unwrap_or_default();
    let env = [
        ("GIT_INDEX_FILE", index.as_os_str()),
        ("GIT_WORK_TREE", OsStr::new(&top)),
    ];
    git.run(
        &["-C", &top, "checkout-index", "--all", "--prefix", &prefix],
        &env,
    )
}

fn read_stack(root: &Path, stack: &str, revision: &Revision) -> Result<Stack, RevisionError> {
    // A revision may have had no workloads of its own; those of the work tree are what is asked.
    for folder in ["stacks", "workloads"] {
        let _ = fs::create_dir_all(root.join(folder));
    }
    let reading = manifest::read(root, &[]).map_err(|source| RevisionError::Reading {
        typed: revision.typed.clone(),
        source,
    })?;
    let mut stacks = reading.catalogue.stacks.into_iter();
    let Some(mut found) = stacks.find(|one| one.manifest.id == stack) else {
        let own = Path::new("stacks").join(stack);
        let errors = reading.errors.into_iter();
        return Err(RevisionError::Manifest {
            stack: stack.to_owned(),
            typed: revision.typed.clone(),
            errors: ManifestErrors(
                errors
                    .filter(|error| error.path().starts_with(&own))
                    .collect(),
            ),
        });
    };
    found.manifest.id = format!("{stack}@{}", revision.short);
    Ok(found)
}

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
        let kept = TempFolder::create("deadheat-revision-", supervision).map_err(|source| {
            RevisionError::Folder {
                typed: revision.typed.clone(),
                source,
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
