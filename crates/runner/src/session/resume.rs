//! A session goes on after it was interrupted or killed: under the circumstances it began in, or not at all.

use std::{
    io,
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
};

use deadheat_model::{Event, heats::SessionHeader, session::TargetRecord};

use super::{
    SessionError, SessionOptions,
    circumstances::{self, Changes},
    folder::SessionFolder,
    journal::{HEADER_FILE, Journal, JournalError},
    preparation::prepare,
    services::Services,
};
use crate::agent::Agents;

/// Why a session does not go on.
#[derive(Debug, thiserror::Error)]
pub enum ResumeError {
    /// There is no header.
    #[error(
        "going on with {}: it has no {HEADER_FILE}, because it ended before anything was measured; begin a new \
         session with `deadheat run`", folder.display()
    )]
    NoSession {
        /// The folder.
        folder: PathBuf,
    },
    /// The journal cannot be opened for writing.
    #[error(
        "going on with {}: opening its journal for writing ({source}); a session goes on in its own folder, so make \
         that writable, or go on with a copy of it", folder.display()
    )]
    NotWritable {
        /// The folder.
        folder: PathBuf,
        /// What happened.
        source: io::Error,
    },
    /// No stack can be measured.
    #[error(
        "going on with {}: no stack could be measured when it began, so there is nothing to go on with; begin a new \
         one with `deadheat run`", folder.display()
    )]
    NothingPlanned {
        /// The folder.
        folder: PathBuf,
    },
    /// It is one of `deadheat compare`.
    #[error(
        "going on with {}: `deadheat compare` measured it, and only a session of `deadheat run` can go on; compare again",
        folder.display()
    )]
    Comparison {
        /// The folder.
        folder: PathBuf,
    },
    /// It would not be the same session any more.
    #[error(
        "going on with {}: these have changed since it began:\n{changes}\nA session is measured under the same \
         circumstances from beginning to end. Restore them, or begin a new one with `deadheat run`", folder.display()
    )]
    Changed {
        /// The folder.
        folder: PathBuf,
        /// What changed.
        changes: Changes,
    },
    /// The files could not be read.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// It went on, and then something ended it.
    #[error(transparent)]
    Session(#[from] SessionError),
}

/// Whether there is a header in `folder`, whose journal has this name.
///
/// # Errors
/// When there is none.
pub(super) fn expect_header(folder: &Path, journal: &str) -> Result<(), ResumeError> {
    if folder.join(HEADER_FILE).exists() {
        return Ok(());
    }
    // Its process may be about to write it.
    if let Err(held @ JournalError::Held { .. }) = Journal::reopen_as(folder, journal) {
        return Err(held.into());
    }
    let folder = folder.to_owned();
    Err(ResumeError::NoSession { folder })
}

/// Opens the journal of this name in `folder`, and keeps others from writing it.
///
/// # Errors
/// When it cannot be written, or another process writes it.
pub(super) fn reopen(folder: &Path, journal: &str) -> Result<Journal, ResumeError> {
    Journal::reopen_as(folder, journal).map_err(|error| match error {
        JournalError::Write { source, .. } => ResumeError::NotWritable {
            folder: folder.to_owned(),
            source,
        },
        other => other.into(),
    })
}

/// Prepares the stacks of a session again that began with `header`. `None`: the user asked to stop, and nothing has
/// happened to the session.
///
/// # Errors
/// When something changed since it began, or the services' files cannot be written.
pub(super) fn prepare_again(
    folder: &SessionFolder,
    header: &SessionHeader,
    options: &SessionOptions,
    database_host: Option<Agents>,
    on_event: &mut dyn FnMut(&Event),
    interrupt: &AtomicBool,
) -> Result<Option<Services>, ResumeError> {
    // Before anything is built, what can be known by then.
    refuse(folder, circumstances::at_once(header, options))?;
    folder.remove_remains();
    let pinning = &header.plan.pinning;
    let (services, prepared) =
        prepare(options, folder, pinning, database_host, on_event, interrupt)?;
    if interrupt.load(Ordering::Relaxed) {
        return Ok(None);
    }
    let prepared: Vec<TargetRecord> = prepared.into_iter().map(|one| one.record).collect();
    let postgres = services.describe_postgres();
    refuse(
        folder,
        circumstances::prepared(header, options, prepared, postgres),
    )?;
    Ok(Some(services))
}

pub(super) fn refuse(folder: &SessionFolder, changes: Changes) -> Result<(), ResumeError> {
    if changes.is_empty() {
        return Ok(());
    }
    let folder = folder.path().to_owned();
    Err(ResumeError::Changed { folder, changes })
}
