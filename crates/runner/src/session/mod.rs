//! A session: prepare every stack, then randomised complete blocks of trials, each of them kept as soon as it ends.

mod available;
mod blocks;
mod ceiling;
mod circumstances;
pub mod comparison;
mod cpus;
mod error;
#[cfg(test)]
mod fixture;
mod folder;
mod journal;
mod launch;
mod listener;
mod lock;
mod machine;
mod options;
mod planner;
mod preparation;
mod rates;
mod readiness;
mod remaining;
mod resume;
mod server;
mod services;
mod sources;
mod subject;
mod trial;

use std::{ops::ControlFlow, path::PathBuf, sync::atomic::AtomicBool, time::Duration};

use deadheat_model::{
    Event, JournalEntry, Plan, SessionHeader, SessionRecord, TargetId,
    session::{EndReason, SCHEMA, TargetRecord},
    trial::Phase,
};

pub use self::{
    available::available,
    cpus::{cores_below, share_out},
    error::SessionError,
    folder::commit_of,
    journal::{HEADER_FILE, Journal, JournalError, TRIALS_FILE, read_session, write_whole},
    machine::{describe_machine, describe_machine_below},
    options::{LatencyMode, PinningMode, SelectedTarget, SessionOptions},
    planner::{Participant, warm_up},
    preparation::Passed,
    resume::{Resumable, ResumeError, resume},
};
use self::{
    blocks::Measuring,
    folder::SessionFolder,
    preparation::{Prepared, Preparing},
    services::Services,
};
use crate::{
    manifest::SelectedWorkload,
    process::{descendants, pin_current_thread, pin_threads_of},
};

/// How a session ended.
#[derive(Debug)]
pub struct SessionOutcome {
    /// Its folder.
    pub folder: PathBuf,
    /// Why it ended.
    pub reason: EndReason,
    /// Its journal: while this is there, no other process writes the session.
    pub journal: Journal,
}

/// The plan as it looks before anything is built or started, for the user to see first. Stacks that turn out to be
/// unavailable drop out of it later.
pub fn draft(options: &SessionOptions) -> Plan {
    let participants: Vec<Participant> = options
        .targets
        .iter()
        .map(|target| preparation::participant(target, options, None))
        .collect();
    planner::plan(options, &participants, share_out(options.pinning))
}

/// Asked after each complete block, with the session so far (its `end` is `None`): whether it goes on, or ends in order
/// for the reason given.
pub type AfterBlock<'a> = dyn FnMut(&SessionRecord) -> ControlFlow<EndReason> + 'a;

/// An [`AfterBlock`] for a session that measures all its blocks.
pub fn all_blocks(_: &SessionRecord) -> ControlFlow<EndReason> {
    ControlFlow::Continue(())
}

/// Runs a session. Events tell what happens; `after_block` may end it early; `interrupt` ends it in order after what is
/// finished.
///
/// # Errors
/// When the results cannot be written, or nothing could begin. A stack that fails is no error but a result.
pub fn run(
    options: &SessionOptions,
    on_event: &mut dyn FnMut(&Event),
    after_block: &mut AfterBlock<'_>,
    interrupt: &AtomicBool,
) -> Result<SessionOutcome, SessionError> {
    let folder = SessionFolder::create(&options.results, options.seed)?;
    let mut journal = Journal::claim(folder.path())?;
    let pinning = share_out(options.pinning);
    let services = Services::start(options, &folder, &pinning, on_event)?;
    let mut preparing = Preparing {
        options,
        folder: &folder,
        pinning: &pinning,
        services,
        on_event,
        interrupt,
        loads: true,
    };
    let prepared: Vec<Prepared> = preparing.all();
    let Preparing {
        mut services,
        on_event,
        ..
    } = preparing;

    let participants: Vec<Participant> = prepared
        .iter()
        .filter_map(|one| one.participant.clone())
        .collect();
    let plan = planner::plan(options, &participants, pinning.clone());
    let records: Vec<TargetRecord> = prepared.into_iter().map(|one| one.record).collect();
    let header = SessionHeader {
        schema: SCHEMA,
        id: folder.id().to_owned(),
        deadheat: options.version.clone(),
        commit: folder::commit_of(options),
        started: folder.started().to_owned(),
        arguments: options.arguments.clone(),
        machine: describe_machine(),
        findings: options.findings.clone(),
        plan,
        targets: records,
        postgres: services.describe_postgres(),
        published: options.published.clone(),
        definitions: sources::definitions(options),
        boot: machine::boot(),
        live: options.live,
    };
    journal.begin(&header)?;
    let measuring = Measuring {
        options,
        folder: &folder,
        record: SessionRecord {
            header,
            trials: Vec::new(),
            end: None,
            resumed: Vec::new(),
        },
        fixtures: &mut services.fixtures,
        journal: &mut journal,
        on_event,
        after_block,
        interrupt,
    };
    let reason = measure(measuring)?;
    Ok(SessionOutcome {
        folder: folder.path().to_owned(),
        reason,
        journal,
    })
}

/// Measures what is left of a session, from its header's being written to its end's being written.
fn measure(mut measuring: Measuring<'_>) -> Result<EndReason, SessionError> {
    let header = &measuring.record.header;
    (measuring.on_event)(&Event::SessionStarted {
        header: Box::new(header.clone()),
    });
    // From here on this process with all its threads, and what serves it, stay off the server's CPUs.
    if let Some(cpus) = cpus::generator_cpus(&header.plan.pinning) {
        pin_current_thread(&cpus).map_err(SessionError::Pinning)?;
        let own = std::process::id();
        let children = descendants(own).into_iter().map(|stat| stat.pid);
        let all: Vec<u32> = children.chain([own]).collect();
        pin_threads_of(&all, &cpus);
    }
    let reason = measuring.all()?;
    measuring.journal.append(&JournalEntry::End {
        reason,
        at: folder::now(),
    })?;
    (measuring.on_event)(&Event::SessionEnded { reason });
    Ok(reason)
}

/// What a check found.
#[derive(Clone, Debug)]
pub struct Checked {
    /// The folder with all logs; [`Checked::logs`] says which of them a failure is about.
    pub folder: PathBuf,
    /// The targets, in the order in which they were asked for. Fewer when the check was interrupted.
    pub targets: Vec<CheckedTarget>,
}

/// A target that was checked.
#[derive(Clone, Debug)]
pub struct CheckedTarget {
    /// What became of it.
    pub record: TargetRecord,
    /// Workloads that it answers rightly.
    pub passed: Vec<Passed>,
}

impl Checked {
    /// The logs that a failure of `target` in `phase` is about: those that are there, because something was written.
    pub fn logs(&self, target: &TargetId, phase: Phase) -> Vec<PathBuf> {
        let names = match phase {
            Phase::Fetch => vec![format!("{}.fetch", target.stack)],
            Phase::Build => vec![format!("{}.build", target.stack)],
            Phase::Service => ["postgres-initdb", "postgres", "upstream"]
                .map(str::to_owned)
                .into(),
            _ => vec![preparation::log_name(target)],
        };
        let paths = names
            .iter()
            .map(|name| self.folder.join(format!("{name}.log")));
        let written = |path: &PathBuf| path.metadata().is_ok_and(|found| found.len() > 0);
        paths.filter(written).collect()
    }
}

/// Checks targets for all their workloads without measuring: the same preparation as a session's, with nothing pinned,
/// so that a variant made for more CPUs than pinning would leave it is checked too.
///
/// # Errors
/// When the folder for logs cannot be written.
pub fn check(
    options: &SessionOptions,
    on_event: &mut dyn FnMut(&Event),
    interrupt: &AtomicBool,
) -> Result<Checked, SessionError> {
    let folder = SessionFolder::create(&options.results, options.seed)?;
    let pinning = share_out(PinningMode::Off);
    let services = Services::start(options, &folder, &pinning, on_event)?;
    let mut preparing = Preparing {
        options,
        folder: &folder,
        pinning: &pinning,
        services,
        on_event,
        interrupt,
        loads: false,
    };
    let prepared = preparing.all().into_iter();
    let targets = prepared.map(|one| CheckedTarget {
        record: one.record,
        passed: one.passed,
    });
    Ok(Checked {
        targets: targets.collect(),
        folder: folder.logs(),
    })
}

/// How long a trial's server may take to its first correct answer unless the user says otherwise.
pub const START_TIMEOUT: Duration = Duration::from_secs(60);
