//! Asking git.

use std::{
    ffi::OsStr,
    io,
    path::{Path, PathBuf},
    process::Output,
};

use super::RevisionError;
use crate::{embedded, git};

/// Git, run in one folder.
#[derive(Debug)]
pub(super) struct Git {
    root: PathBuf,
}

impl Git {
    /// Git in `root`, which is in a checkout.
    pub(super) fn new(root: &Path) -> Result<Self, RevisionError> {
        // Somebody's home, where they are unpacked, may be a repository.
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

    /// The path of the folder in the repository: empty, or with a slash at its end.
    pub(super) fn prefix(&self) -> Result<String, RevisionError> {
        Ok(self
            .line(&["rev-parse", "--show-prefix"])?
            .unwrap_or_default())
    }

    /// The first line that git prints; `None` when it prints nothing, or says no.
    pub(super) fn line(&self, arguments: &[&str]) -> Result<Option<String>, RevisionError> {
        Ok(self.lines(arguments)?.into_iter().next())
    }

    /// The lines that git prints; none when it says no.
    pub(super) fn lines(&self, arguments: &[&str]) -> Result<Vec<String>, RevisionError> {
        let output = self.output(arguments, &[])?;
        let text = String::from_utf8_lossy(&output.stdout);
        let lines = text.lines().filter(|line| !line.is_empty());
        Ok(if output.status.success() {
            lines.map(str::to_owned).collect()
        } else {
            Vec::new()
        })
    }

    /// Whether git ends with 0; 1 is no, and anything else an error.
    pub(super) fn says_yes(&self, arguments: &[&str]) -> Result<bool, RevisionError> {
        let output = self.output(arguments, &[])?;
        match output.status.code() {
            Some(0) => Ok(true),
            Some(1) => Ok(false),
            _ => Err(self.failed(arguments, &output)),
        }
    }

    /// Runs git with variables in its environment; it has to end with 0.
    pub(super) fn run(
        &self,
        arguments: &[&str],
        env: &[(&str, &OsStr)],
    ) -> Result<(), RevisionError> {
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

/// What git said, on one line.
fn said(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr);
    let words: Vec<&str> = text.split_whitespace().collect();
    if words.is_empty() {
        output.status.to_string()
    } else {
        words.join(" ")
    }
}
