//! A session goes on after it was interrupted or killed: under the circumstances it began in, or not at all.

use std::{
    io,
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use deadheat_model::{
    Event, JournalEntry, SessionHeader, SessionRecord, Wait,
    heat::{HeatPlan, Rounds},
    heats::{self, PlannedLoad},
    plan::PlannedWorkload,
    session::{EndReason, TargetRecord},
};

use super::{
    SessionError, SessionOptions, SessionOutcome,
    blocks::Measuring,
    circumstances::{self, Changes},
    folder::{self, SessionFolder},
    journal::{HEADER_FILE, Journal, JournalError, TRIALS_FILE, read_header, read_session},
    machine, measure,
    preparation::prepare,
    remaining::left,
    services::Services,
};

/// Why a session does not go on.
#[derive(Debug, thiserror::Error)]
pub enum ResumeError {
    /// There is no header.
    #[error(
        "going on with {}: it has no {HEADER_FILE}; a session that ended before anything was measured has none, \
         and nothing to go on with: begin a new one with `deadheat run`", folder.display()
    )]
    NoSession {
        /// The folder.
        folder: PathBuf,
    },
    /// The journal cannot be opened for writing.
    #[error(
        "going on with {}: opening its journal for writing: {source}; a session goes on in its own folder, so make \
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
    /// It would not be the same session any more.
    #[error(
        "going on with {}: these are not as they were when it began:\n{changes}\nA session is measured under the same \
         circumstances from beginning to end: restore them, or begin a new one with `deadheat run`", folder.display()
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
    /// When it is no session, is of another version, cannot be written, or another process writes it.
    pub fn open(folder: &Path) -> Result<Self, ResumeError> {
        expect_header(folder, TRIALS_FILE)?;
        let header = read_header(folder)?;
        let journal = reopen(folder, TRIALS_FILE)?;
        if header.plan.cells.is_empty() {
            let folder = folder.to_owned();
            return Err(ResumeError::NothingPlanned { folder });
        }
        // Only now, when nobody else adds to it.
        let record = read_session(folder)?;
        Ok(Self {
            folder: SessionFolder::of(folder, &header.id, &header.started)?,
            record,
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

    /// How many trials are left, as far as it is known now; 0 when what was to be found out is known.
    pub fn left(&self) -> usize {
        if self.record.end == Some(EndReason::Enough) {
            return 0;
        }
        let blocks = 0..self.record.header.plan.blocks;
        blocks.map(|block| left(&self.record, block).len()).sum()
    }

    /// Ends a session of which nothing is left in order, if it was killed between its last trial and its end.
    ///
    /// # Errors
    /// When the end cannot be written.
    pub fn end(mut self) -> Result<SessionOutcome, ResumeError> {
        // It may have been killed just before it was deleted.
        self.folder.remove_remains();
        let reason = match self.record.end {
            Some(reason @ (EndReason::Finished | EndReason::Enough)) => reason,
            _ => {
                let (reason, at) = (EndReason::Finished, folder::now());
                self.journal.cut_unfinished_line()?;
                self.journal.append(&JournalEntry::End { reason, at })?;
                reason
            }
        };
        Ok(SessionOutcome {
            folder: self.folder.path().to_owned(),
            reason,
            journal: self.journal,
        })
    }
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
    header: &heats::SessionHeader,
    options: &SessionOptions,
    on_event: &mut dyn FnMut(&Event),
    interrupt: &AtomicBool,
) -> Result<Option<Services>, ResumeError> {
    // Before anything is built, what can be known by then.
    refuse(folder, circumstances::at_once(header, options))?;
    folder.remove_remains();
    let pinning = &header.plan.pinning;
    let (services, prepared) = prepare(options, folder, pinning, on_event, interrupt)?;
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

fn refuse(folder: &SessionFolder, changes: Changes) -> Result<(), ResumeError> {
    if changes.is_empty() {
        return Ok(());
    }
    let folder = folder.path().to_owned();
    Err(ResumeError::Changed { folder, changes })
}

/// Goes on with a session: prepares its stacks again, compares what there is with its header, and measures what is left
/// of all planned blocks. `options` are those that it began with; of its targets, those that its plan has.
///
/// # Errors
/// When something changed since it began, or as [`super::run`].
pub fn resume(
    session: Resumable,
    options: &SessionOptions,
    on_event: &mut dyn FnMut(&Event),
    interrupt: &AtomicBool,
) -> Result<SessionOutcome, ResumeError> {
    let Resumable {
        folder,
        record: SessionRecord { header, .. },
        mut journal,
    } = session;
    let ended = |reason, journal| SessionOutcome {
        folder: folder.path().to_owned(),
        reason,
        journal,
    };
    let again = prepare_again(&folder, &as_of_heats(&header), options, on_event, interrupt)?;
    let Some(mut services) = again else {
        return Ok(ended(EndReason::Interrupted, journal));
    };
    let (at, boot) = (folder::now(), machine::boot());
    journal.cut_unfinished_line()?;
    let live = options.live;
    journal.append(&JournalEntry::Resumed { at, boot, live })?;
    let reason = measure(Measuring {
        options,
        folder: &folder,
        // As the next one who reads it will find it.
        record: read_session(folder.path())?,
        fixtures: &mut services.fixtures,
        journal: &mut journal,
        on_event,
        interrupt,
    })?;
    Ok(ended(reason, journal))
}

/// The circumstances of a session in blocks, as the header of a session of heats has them: what is compared is the same.
fn as_of_heats(header: &SessionHeader) -> heats::SessionHeader {
    let plan = &header.plan;
    let loads = |workload: &PlannedWorkload| -> Vec<PlannedLoad> {
        let points = workload.points.iter();
        let load = |point| PlannedLoad {
            workload: workload.id.clone(),
            description: workload.description.clone(),
            point,
            delay_seconds: workload.delay_seconds,
            targets: plan.targets.clone(),
            heat: HeatPlan {
                slice: workload.measure,
                guard: Duration::ZERO,
                rounds: Rounds::Count { rounds: 1 },
                freeze: false,
                wait: Wait::Sleep,
                memory_every: Duration::ZERO,
            },
            capacity: 1,
            capacity_reason: None,
            looks: Vec::new(),
        };
        points.cloned().map(load).collect()
    };
    heats::SessionHeader {
        schema: heats::SCHEMA,
        id: header.id.clone(),
        deadheat: header.deadheat.clone(),
        commit: header.commit.clone(),
        started: header.started.clone(),
        arguments: header.arguments.clone(),
        machine: header.machine.clone(),
        findings: header.findings.clone(),
        plan: heats::Plan {
            seed: plan.seed,
            loads: plan.workloads.iter().flat_map(loads).collect(),
            pinning: plan.pinning.clone(),
            alpha: 0.0,
            margin: 0.0,
            until_decided: false,
            budget_seconds: plan.budget_seconds,
            estimate: plan.estimate,
            left_out: Vec::new(),
        },
        targets: header.targets.clone(),
        postgres: header.postgres.clone(),
        published: header.published.clone(),
        definitions: header.definitions.clone(),
        boot: header.boot.clone(),
        live: header.live,
        environment: header.environment.clone(),
    }
}
