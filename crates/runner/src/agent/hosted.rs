//! The agent's side of a session that runs on its host: it carries out the coordinator's orders, one after the other.

use std::{
    fs,
    path::{Path, PathBuf},
};

use super::{
    child::{self, Interruptible},
    listing::{Listed, What, below, list, pieces},
    project::Project,
    session_message::{Bytes, Ending, Folder, SessionAnswer, SessionOrder},
};

/// A session of another host that runs here.
#[derive(Default)]
pub(super) struct Hosted {
    project: Option<Project>,
    /// The folder that the session's is made in.
    results: Option<PathBuf>,
}

impl Hosted {
    /// Does what is asked for; `program` is Deadheat.
    ///
    /// # Errors
    /// When it cannot be done.
    pub(super) fn obey(
        &mut self,
        order: SessionOrder,
        program: &Path,
        child: &Interruptible,
        say: &(dyn Fn(SessionAnswer) + Sync),
    ) -> Result<(), String> {
        match order {
            SessionOrder::Project { name, files } => {
                let (project, files) = Project::open(&name, files)?;
                self.project = Some(project);
                say(SessionAnswer::Wants { files });
                self.tell_when_complete(say)
            }
            SessionOrder::Piece { bytes } => {
                let project = self.project.as_mut().ok_or("a piece of no project")?;
                project.take(&bytes.0)?;
                self.tell_when_complete(say)
            }
            SessionOrder::Run { arguments } => {
                let results = self.results.as_ref().ok_or("a run without a project")?;
                let how = child::run(program, &arguments, child, say)?;
                send(results, how, say)
            }
            SessionOrder::Arrived => {
                self.forget()?;
                say(SessionAnswer::Forgotten);
                Ok(())
            }
            // At once, by who reads the orders.
            SessionOrder::Interrupt => Ok(()),
        }
    }

    fn tell_when_complete(&mut self, say: &dyn Fn(SessionAnswer)) -> Result<(), String> {
        let complete = self.project.as_ref().filter(|one| one.is_complete());
        let Some(project) = complete else {
            return Ok(());
        };
        let (files, results) = project.ready()?;
        let text = |path: &Path| {
            let text = path.to_str().map(str::to_owned);
            text.ok_or_else(|| format!("the name of {} is no UTF-8", path.display()))
        };
        say(SessionAnswer::Unpacked {
            project: text(&files)?,
            results: text(&results)?,
        });
        self.results = Some(results);
        Ok(())
    }

    /// Nobody needs the session's folder here any more.
    fn forget(&mut self) -> Result<(), String> {
        let Some(results) = self.results.take() else {
            return Ok(());
        };
        let removed = fs::remove_dir_all(&results);
        removed.map_err(|error| format!("removing {}: {error}", results.display()))
    }
}

/// Tells how the run ended, and sends what there is of its session.
fn send(results: &Path, how: Ending, say: &dyn Fn(SessionAnswer)) -> Result<(), String> {
    let failed = |error| format!("reading {}: {error}", results.display());
    let mut entries = fs::read_dir(results).map_err(failed)?.flatten();
    let session = entries.find(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    let Some(session) = session else {
        say(SessionAnswer::Ended { how, session: None });
        return Ok(());
    };
    let path = session.path();
    let files = list(&path, below(&path).map_err(failed)?)?;
    let name = session.file_name().to_string_lossy().into_owned();
    say(SessionAnswer::Ended {
        how,
        session: Some(Folder {
            name,
            files: files.clone(),
        }),
    });
    for Listed { path: file, what } in &files {
        if let What::File { bytes, .. } = what {
            let mut pass_on = |piece: &[u8]| {
                say(SessionAnswer::Piece {
                    bytes: Bytes(piece.to_vec()),
                });
                Ok(())
            };
            pieces(&path.join(file), *bytes, &mut pass_on)
                .map_err(|error| format!("reading {file} of the session: {error}"))?;
        }
    }
    Ok(())
}
