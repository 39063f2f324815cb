//! A session: prepares all stacks, then measures them in heats ([`heats`]). Each heat is saved as soon as it ends.

mod cpus;
#[cfg(test)]
mod fixtures;
mod folder;
pub mod heats;
mod hosts;
mod journal;
mod launch;
mod machine;
pub(crate) mod members;
mod options;
mod preparation;
pub(crate) mod readiness;
mod record;
mod resume;
pub(crate) mod server;
mod servers;
mod services;
pub(crate) mod sources;
mod survey;

use std::{io, path::PathBuf, sync::atomic::AtomicBool, time::Duration};

use deadheat_model::{
    Event, TargetId,
    plan::Pinning,
    session::{Phase, TargetRecord},
};

use self::{folder::SessionFolder, preparation::Preparing, services::Services};
use crate::process::{descendants, environment, pin_current_thread, pin_threads_of, usable_cpus};

pub use cpus::share_out;
pub(crate) use cpus::{cores_below, nodes_below, parse_list};
pub use folder::{commit_of, embedded_of, exclusively};
pub use journal::{HEADER_FILE, Journal, JournalError};
pub use launch::Launch;
pub use machine::{describe_machine, describe_machine_below};
pub use members::{Checks, MemberRequest, Participant};
pub use options::{PinningMode, RecordedArguments, SelectedTarget, SessionOptions};
pub use preparation::Passed;
pub use readiness::Readiness;
pub use resume::ResumeError;
pub use survey::{Inspections, survey, without_loads};

/// All targets as participants, before it is known which of them are available.
fn participants(options: &SessionOptions) -> Vec<Participant> {
    let targets = options.targets.iter();
    targets
        .map(|target| {
            let runtime = target.stack.manifest.runtime(&target.target);
            preparation::participant(target, options, runtime, None)
        })
        .collect()
}

/// Moves this process with all its threads and its services off the server's CPUs.
fn stay_off_the_servers_cpus(pinning: &Pinning) -> Result<(), SessionError> {
    cpus::generator_cpus(pinning).map_or(Ok(()), |cpus| stay_on(&cpus))
}

/// Pins this process with all its threads and its services to these CPUs.
fn stay_on(cpus: &[usize]) -> Result<(), SessionError> {
    pin_current_thread(cpus).map_err(SessionError::Pinning)?;
    let own = std::process::id();
    let children = descendants(own).into_iter().map(|stat| stat.pid);
    let all: Vec<u32> = children.chain([own]).collect();
    pin_threads_of(&all, cpus);
    Ok(())
}

/// The CPUs that this process may use. A session restricts them. A caller that runs another session or builds something
/// must restore them first.
#[derive(Debug)]
pub struct OwnCpus(Vec<usize>);

impl OwnCpus {
    /// The current CPUs of this process.
    pub fn now() -> Self {
        Self(usable_cpus())
    }

    /// Allows this process to use these CPUs again.
    ///
    /// # Errors
    /// When the system call fails.
    pub fn restore(&self) -> Result<(), SessionError> {
        stay_on(&self.0)
    }
}

/// The results of a check.
#[derive(Clone, Debug)]
pub struct Checked {
    /// The folder with all logs; [`Checked::logs`] says which of them a failure is about.
    pub folder: PathBuf,
    /// The targets in the requested order. Incomplete if the check was interrupted.
    pub targets: Vec<CheckedTarget>,
}

/// A target that was checked.
#[derive(Clone, Debug)]
pub struct CheckedTarget {
    /// The record of its preparation.
    pub record: TargetRecord,
    /// Workloads with right answers.
    pub passed: Vec<Passed>,
}

impl Checked {
    /// The logs for a failure of `target` in `phase`, without empty ones.
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

/// Checks targets for all their workloads without measuring. The preparation is that of a session, but nothing is
/// pinned, so a variant made for more CPUs than pinning leaves is checked too.
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
    let services = Services::start(options, &folder, &pinning, None, on_event, interrupt)?;
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

/// The default time limit from a server's start to its first correct answer.
pub const START_TIMEOUT: Duration = Duration::from_secs(60);

/// The variables that servers inherit, by name.
fn inherited_by_servers() -> Vec<String> {
    environment::names(environment::inherited(&[&environment::OF_EVERY_CHILD]))
}

/// An error that ends a session. The failure of a stack or a service does not, because it is a result.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// The session's folder could not be made.
    #[error("making the session's folder {path}: {source}; choose another one with --results")]
    Folder {
        /// The folder.
        path: PathBuf,
        /// What happened.
        source: io::Error,
    },
    /// The certificate for TLS could not be made.
    #[error(
        "making a certificate for servers that are asked over TLS: {0}; free some space in the folder for temporary files"
    )]
    Certificate(io::Error),
    /// A record could not be saved, so continuing would lose heats.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// Deadheat could not be moved off the server's CPUs.
    #[error("pinning Deadheat to the generator's CPUs: {0}; try --pinning off")]
    Pinning(io::Error),
    /// The plan of a heat is invalid.
    #[error(transparent)]
    Heat(#[from] crate::heat::HeatError),
    /// The next load to measure is not in the plan.
    #[error("measuring a heat that is not in the session's plan: {0}; please report this as a bug")]
    Unplanned(String),
    /// Another host cannot be reached.
    #[error("reaching the other hosts: {0}")]
    Host(#[from] crate::agent::AgentError),
    /// The command that reaches other hosts is invalid.
    #[error("reading the command that reaches the other hosts: {0}")]
    Launcher(#[from] crate::agent::LauncherError),
    /// The user asked to stop while stacks were prepared.
    #[error("interrupted before anything was measured, so nothing is recorded")]
    Interrupted,
}
