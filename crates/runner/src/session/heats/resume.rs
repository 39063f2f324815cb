//! A session of heats goes on after it was interrupted or killed: under the circumstances it began in, or not at all.

use std::{
    path::Path,
    sync::{Arc, atomic::AtomicBool},
};

use deadheat_model::{
    Event,
    heats::{EndReason, JournalEntry, SessionRecord},
};

use super::{
    HEATS_FILE, HeatsOutcome, Steering,
    journal::{read_header, read_session},
    measure,
    measuring::Measuring,
};
use crate::session::{
    ResumeError, SessionOptions, circumstances,
    folder::{SessionFolder, now},
    hosts::ReachedHosts,
    journal::Journal,
    machine,
    resume::{expect_header, prepare_again, refuse, reopen},
};

/// A session that may go on. While this is there, no other process writes it.
#[derive(Debug)]
pub struct Resumable {
    folder: SessionFolder,
    record: SessionRecord,
    journal: Journal,
}

impl Resumable {
    /// Reads the session in `folder` and keeps others from writing it.
    ///
    /// # Errors
    /// When it is no session of heats, is of another version, cannot be written, or another process writes it.
    pub fn open(folder: &Path) -> Result<Self, ResumeError> {
        expect_header(folder, HEATS_FILE)?;
        let header = read_header(folder)?;
        if header.comparison.is_some() {
            let folder = folder.to_owned();
            return Err(ResumeError::Comparison { folder });
        }
        let journal = reopen(folder, HEATS_FILE)?;
        if header.plan.loads.is_empty() {
            let folder = folder.to_owned();
            return Err(ResumeError::NothingPlanned { folder });
        }
        Ok(Self {
            folder: SessionFolder::new(folder, &header.id, &header.started)?,
            // Only now, when nobody else adds to it.
            record: read_session(folder)?,
            journal,
        })
    }

    /// Its folder.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The session so far.
    pub fn record(&self) -> &SessionRecord {
        &self.record
    }

    /// Whether it ended of its own accord, so that nothing is left of it.
    pub fn is_complete(&self) -> bool {
        match self.record.end {
            None | Some(EndReason::Interrupted | EndReason::Lost) => false,
            Some(
                EndReason::Decided
                | EndReason::Precise
                | EndReason::Finished
                | EndReason::Budget
                | EndReason::Nothing,
            ) => true,
        }
    }

    /// A session of which nothing is left, as it ended.
    pub fn end(self) -> HeatsOutcome {
        // It may have been killed just before that was deleted.
        self.folder.remove_remains();
        HeatsOutcome {
            folder: self.folder.path().to_owned(),
            reason: self.record.end.unwrap_or(EndReason::Interrupted),
            journal: self.journal,
        }
    }
}

/// Goes on with a session: prepares its stacks again, compares what there is with its header, and measures on as it is
/// steered. `options` are those that it began with; of its targets, those that its plan has.
///
/// # Errors
/// When something changed since it began, or as [`super::run`].
pub fn resume(
    session: Resumable,
    options: &SessionOptions,
    steering: &mut dyn Steering,
    on_event: &mut dyn FnMut(&Event),
    interrupt: &Arc<AtomicBool>,
) -> Result<HeatsOutcome, ResumeError> {
    let Resumable {
        folder,
        record,
        mut journal,
    } = session;
    let ended = |reason, journal| HeatsOutcome {
        folder: folder.path().to_owned(),
        reason,
        journal,
    };
    let reached = ReachedHosts::reach(record.header.plan.hosts.as_ref(), interrupt)?;
    refuse(&folder, circumstances::hosts(&record.header, reached.found))?;
    let again = prepare_again(
        &folder,
        &record.header,
        options,
        reached.database,
        on_event,
        interrupt,
    )?;
    let Some(mut services) = again else {
        return Ok(ended(EndReason::Interrupted, journal));
    };
    journal.cut_unfinished_line()?;
    journal.append([JournalEntry::Resumed {
        at: now(),
        boot: machine::boot(),
        live: options.live,
    }])?;
    let reason = measure(Measuring {
        options,
        folder: &folder,
        // As the next one who reads it will find it.
        record: read_session(folder.path())?,
        services: &mut services,
        generators: reached.generators,
        journal: &mut journal,
        steering,
        on_event,
        interrupt,
        kept: crate::heat::KeptServers::default(),
        kept_for: None,
    })?;
    Ok(ended(reason, journal))
}
