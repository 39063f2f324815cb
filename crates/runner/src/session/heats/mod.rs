//! A session that is measured in heats: prepare every stack, then heats of several stacks at a time, each of them kept as
//! soon as it ends. Who takes part in the next one, and when there are enough, is decided by [`Steering`].

mod capacity;
#[cfg(test)]
pub(super) mod fixture;
mod journal;
mod measuring;
mod options;
mod participants;
mod plan;
mod rates;
mod resume;
mod times;

use std::{
    path::PathBuf,
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

use deadheat_model::{
    Event,
    heats::{
        EndReason, JournalEntry, Plan, PlannedLoad, SCHEMA, SessionHeader, SessionRecord,
        SessionRequest, Step,
    },
    session::TargetRecord,
    stack::Pool,
};

pub use self::plan::{eight_heats, with_room};
use self::{
    capacity::Limits,
    measuring::Measuring,
    plan::{Circumstances, plan},
};
pub use self::{
    capacity::MOST_MEMBERS,
    journal::{HEATS_FILE, read_session},
    options::HeatOptions,
    resume::{Resumable, resume},
};
use super::{
    Participant, SessionError, SessionOptions, describe_machine,
    folder::{self, SessionFolder},
    hosts::ReachedHosts,
    inherited_by_servers,
    journal::{HEADER_FILE, Journal},
    machine,
    preparation::prepare,
    servers::{as_recorded, environment_of},
    services::Services,
    sources, stay_off_the_servers_cpus,
};

/// Decides what is measured next.
pub trait Steering {
    /// The next heat, or the end. `spent` is how long the recorded heats took together.
    fn next(&mut self, record: &SessionRecord, spent: Duration) -> Step;

    /// The orders of the rounds of a heat of so many members, for a seed.
    fn orders(&mut self, members: usize, seed: u64) -> Vec<Vec<usize>>;

    /// The numbers of heats of each stack at which to look at a load, if there is room for `most`: the usual ones up to that,
    /// or those that the precision which was asked for needs.
    fn looks(&self, load: &PlannedLoad, most: u32) -> Vec<u32>;
}

/// How a session ended.
#[derive(Debug)]
pub struct HeatsOutcome {
    /// Its folder.
    pub folder: PathBuf,
    /// Why it ended.
    pub reason: EndReason,
    /// Its journal: while this is there, no other process writes the session.
    pub journal: Journal,
}

/// The plan as it looks before anything is built or started, for the user to see first. Stacks that turn out to be
/// unavailable drop out of it later.
pub fn draft(options: &SessionOptions, steering: &dyn Steering) -> Plan {
    draft_of(options, &super::participants(options), steering)
}

/// The plan of these participants alone.
fn draft_of(
    options: &SessionOptions,
    participants: &[Participant],
    steering: &dyn Steering,
) -> Plan {
    let circumstances = Circumstances {
        participants,
        pinning: options.share_out(),
        limits: Limits {
            memory: machine::available_memory(),
            connections: None,
        },
        looks: &|load, most| steering.looks(load, most),
    };
    plan(options, &circumstances)
}

/// Runs a session. Events say what happens; `interrupt` ends it in order within a second.
///
/// # Errors
/// When the results cannot be written, or nothing could begin. A stack that fails is no error but a result.
pub fn run(
    options: &SessionOptions,
    steering: &mut dyn Steering,
    on_event: &mut dyn FnMut(&Event),
    interrupt: &Arc<AtomicBool>,
) -> Result<HeatsOutcome, SessionError> {
    let folder = SessionFolder::create(&options.results, options.seed)?;
    let mut journal = Journal::claim_as(folder.path(), HEATS_FILE)?;
    let pinning = options.share_out();
    let reached = ReachedHosts::reach(options.hosts.as_ref(), interrupt)?;
    let (mut services, prepared) = prepare(
        options,
        &folder,
        &pinning,
        reached.database,
        on_event,
        interrupt,
    )?;
    // With one side there is nothing to compare.
    if options.comparison.is_some() && prepared.len() < options.targets.len() {
        return Err(SessionError::Interrupted);
    }
    let participants: Vec<Participant> = match options.comparison {
        // Also where a side cannot be measured: there it has lost.
        Some(_) => super::participants(options),
        None => prepared
            .iter()
            .filter_map(|one| one.participant.clone())
            .collect(),
    };
    let circumstances = Circumstances {
        participants: &participants,
        pinning,
        limits: limits(options, &services),
        looks: &|load, most| steering.looks(load, most),
    };
    let plan = plan(options, &circumstances);
    let records = prepared.into_iter().map(|one| one.record).collect();
    let header = SessionHeader {
        hosts: reached.found,
        ..header(options, &folder, plan, records, &services)
    };
    journal.begin_as(HEADER_FILE, &header)?;
    let reason = measure(Measuring {
        options,
        folder: &folder,
        record: SessionRecord {
            header,
            heats: Vec::new(),
            resumed: Vec::new(),
            end: None,
        },
        services: &mut services,
        generators: reached.generators,
        journal: &mut journal,
        steering,
        on_event,
        interrupt,
        kept: crate::heat::KeptServers::default(),
        kept_for: None,
    })?;
    Ok(HeatsOutcome {
        folder: folder.path().to_owned(),
        reason,
        journal,
    })
}

/// What is known before the first heat.
fn header(
    options: &SessionOptions,
    folder: &SessionFolder,
    plan: Plan,
    targets: Vec<TargetRecord>,
    services: &Services,
) -> SessionHeader {
    let comparison = options.comparison.as_deref();
    SessionHeader {
        schema: SCHEMA,
        id: folder.id().to_owned(),
        deadheat: options.version.clone(),
        commit: folder::commit_of(options),
        embedded: folder::embedded_of(options),
        started: folder.started().to_owned(),
        arguments: options.arguments.clone(),
        machine: describe_machine(),
        hosts: Vec::new(),
        findings: options.findings.clone(),
        comparison: comparison.map(|one| Box::new(as_recorded(one))),
        asked: SessionRequest {
            targets: options
                .targets
                .iter()
                .map(|one| one.target.clone())
                .collect(),
            root: options.typed.root.clone(),
            stacks: options.typed.stacks.clone(),
            postgres: options.typed.postgres.clone(),
            warm_up_seconds: options.warm_up.map(|time| time.as_secs_f64()),
            start_timeout_seconds: Some(options.start_timeout.as_secs_f64()),
        },
        plan,
        targets,
        postgres: services.describe_postgres(),
        published: options.published.clone(),
        definitions: sources::definitions(options),
        boot: machine::boot(),
        live: options.live,
        environment: comparison.map_or_else(inherited_by_servers, environment_of),
    }
}

/// What limits how many servers can be alive together, now that all services run.
fn limits(options: &SessionOptions, services: &Services) -> Limits {
    let sizes = options.targets.iter().filter_map(|one| {
        match one.stack.manifest.database(&one.target)?.pool {
            Pool::Size(size) => Some(size),
            // Only the one that is loaded has connections.
            Pool::None => None,
        }
    });
    Limits {
        memory: machine::available_memory(),
        connections: services.free_connections().zip(sizes.max()),
    }
}

/// Measures what is left of a session, from its header's being written to its end's being written.
fn measure(mut measuring: Measuring<'_>) -> Result<EndReason, SessionError> {
    let header = &measuring.record.header;
    (measuring.on_event)(&Event::HeatsStarted {
        header: Box::new(header.clone()),
    });
    stay_off_the_servers_cpus(&header.plan.pinning)?;
    let reason = measuring.all()?;
    measuring.journal.append([JournalEntry::End {
        reason,
        at: folder::now(),
    }])?;
    (measuring.on_event)(&Event::HeatsEnded { reason });
    Ok(reason)
}
