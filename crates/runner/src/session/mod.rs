//! A session: every stack is prepared, and then measured in heats ([`heats`]), each of them kept as soon as it ends.

mod ceiling;
mod circumstances;
mod cpu_model;
mod cpus;
mod error;
mod folder;
pub mod heats;
mod hosts;
mod inspections;
mod journal;
mod launch;
mod listener;
mod lock;
mod machine;
mod members;
mod open;
mod options;
mod participant;
mod preparation;
pub(crate) mod readiness;
pub(crate) mod request;
mod resume;
pub(crate) mod server;
mod servers;
mod services;
pub(crate) mod sources;
mod survey;
#[cfg(test)]
mod test_options;
mod topology;

use std::{path::PathBuf, sync::atomic::AtomicBool, time::Duration};

use deadheat_model::{
    Event, TargetId,
    plan::Pinning,
    session::{Phase, TargetRecord},
};

pub(crate) use self::topology::{cores_below, nodes_below, parse_list};
pub use self::{
    cpus::share_out,
    error::SessionError,
    folder::{commit_of, embedded_of},
    inspections::Inspections,
    journal::{HEADER_FILE, Journal, JournalError},
    launch::Launch,
    lock::exclusively,
    machine::{describe_machine, describe_machine_below},
    options::{PinningMode, RecordedArguments, SelectedTarget, SessionOptions},
    participant::Participant,
    preparation::Passed,
    readiness::Readiness,
    request::{Checks, MemberRequest},
    resume::ResumeError,
    survey::survey,
};
use self::{folder::SessionFolder, preparation::Preparing, services::Services};
use crate::process::{descendants, environment, pin_current_thread, pin_threads_of, usable_cpus};

/// All targets, as long as it is not known which of them are available.
fn participants(options: &SessionOptions) -> Vec<Participant> {
    let targets = options.targets.iter();
    targets
        .map(|target| {
            let runtime = target.stack.manifest.runtime(&target.target);
            preparation::participant(target, options, runtime, None)
        })
        .collect()
}

/// Keeps this process with all its threads, and what serves it, off the server's CPUs from here on.
fn stay_off_the_servers_cpus(pinning: &Pinning) -> Result<(), SessionError> {
    cpus::generator_cpus(pinning).map_or(Ok(()), |cpus| stay_on(&cpus))
}

/// Keeps this process with all its threads, and what serves it, on these CPUs.
fn stay_on(cpus: &[usize]) -> Result<(), SessionError> {
    pin_current_thread(cpus).map_err(SessionError::Pinning)?;
    let own = std::process::id();
    let children = descendants(own).into_iter().map(|stat| stat.pid);
    let all: Vec<u32> = children.chain([own]).collect();
    pin_threads_of(&all, cpus);
    Ok(())
}

/// The CPUs that this process may use. A session keeps it off the server's; whoever runs another one, or builds
/// something, gives them back first.
#[derive(Debug)]
pub struct OwnCpus(Vec<usize>);

impl OwnCpus {
    /// Those of now.
    pub fn now() -> Self {
        Self(usable_cpus())
    }

    /// Lets this process use them again.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn give_back(&self) -> Result<(), SessionError> {
        stay_on(&self.0)
    }
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

/// How long a server may take to its first correct answer unless the user says otherwise.
pub const START_TIMEOUT: Duration = Duration::from_secs(60);

/// The variables that servers inherit, by name.
fn inherited_by_servers() -> Vec<String> {
    environment::names(environment::inherited(&[&environment::OF_EVERY_CHILD]))
}
