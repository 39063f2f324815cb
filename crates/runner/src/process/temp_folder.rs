//! A temporary folder that is deleted however Deadheat ends.

use std::{
    io,
    path::{Path, PathBuf},
    time::Duration,
};

use super::{ProcessError, Spawn, Supervised, Supervision};
use crate::files::private_folder;

/// A temporary folder that only its owner may look into. It is deleted when this is dropped, and when Deadheat is
/// killed: what writes into it must be supervised too, and ends at the same time.
#[derive(Debug)]
pub struct TempFolder {
    path: PathBuf,
    /// Deletes the folder when it ends, which is when Deadheat ends at the latest.
    deleter: Supervised,
}

impl TempFolder {
    /// Makes one whose name begins with `prefix`.
    ///
    /// # Errors
    /// When there is no place for it, or nobody to delete it.
    pub fn create(prefix: &str, supervision: &Supervision) -> io::Result<Self> {
        let folder = private_folder(prefix)?;
        let spec = Spawn {
            name: "deletion of a temporary folder".to_owned(),
            program: "sleep".into(),
            args: vec![i32::MAX.to_string()],
            env: Vec::new(),
            cwd: "/".into(),
            cpus: None,
            log: "/dev/null".into(),
            user: None,
            stop_signal: libc::SIGTERM,
            grace: Some(Duration::from_secs(5)),
            unhurried: false,
            remove_after: Some(folder.path().to_owned()),
        };
        let deleter = Supervised::spawn(supervision, &spec).map_err(io::Error::other)?;
        Ok(Self {
            path: folder.keep(),
            deleter,
        })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Lets it stay, for somebody to look into it.
    ///
    /// # Errors
    /// When its supervisor does not answer.
    pub fn keep(mut self) -> Result<PathBuf, ProcessError> {
        self.deleter.stop_and_keep()?;
        Ok(self.path.clone())
    }

    /// Deletes it. A second time does nothing.
    ///
    /// # Errors
    /// When its supervisor does not answer.
    pub fn remove(&mut self) -> Result<(), ProcessError> {
        self.deleter.stop().map(drop)
    }
}
