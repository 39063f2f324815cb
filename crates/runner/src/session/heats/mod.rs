//! A session that is measured in heats: prepares all stacks, then runs heats of several stacks at a time. Each heat is
//! saved as soon as it ends. [`Steering`] chooses the members of the next heat, and decides when there are enough
//! heats.

mod capacity;
mod measuring;
mod plan;
mod times;

use std::{
    path::{Path, PathBuf},
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

use deadheat_model::{
    Event, TargetId,
    heats::{
        EndReason, JournalEntry, MIN_HEATS, Plan, PlannedLoad, SCHEMA, SessionHeader,
        SessionRecord, SessionRequest, Step,
    },
    session::TargetRecord,
    stack::Pool,
    workload::OfferedRate,
};

use self::{
    capacity::{Limits, lost_room},
    measuring::Measuring,
    plan::{PlanInputs, plan},
};
use super::{
    Participant, ResumeError, SessionError, SessionOptions, describe_machine,
    folder::{self, SessionFolder, now},
    hosts::ReachedHosts,
    inherited_by_servers,
    journal::{HEADER_FILE, Journal},
    machine,
    preparation::prepare,
    record::cut_unfinished_heat,
    resume::{self, Changes, expect_header, prepare_again, refuse, reopen},
    servers::{as_recorded, environment_of},
    services::Services,
    sources, stay_off_the_servers_cpus,
};

pub use self::plan::{eight_heats, with_room};
pub use super::record::{HEATS_FILE, read_header, read_session};
pub use capacity::MAX_MEMBERS;

/// Decides what is measured next.
pub trait Steering {
    /// The next heat, or the end. `spent` is how long the recorded heats took together.
    fn next(&mut self, record: &SessionRecord, spent: Duration) -> Step;

    /// The orders of the rounds of a heat with this many members, derived from a seed.
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
    let inputs = PlanInputs {
        participants,
        pinning: options.share_out(),
        limits: Limits {
            memory: machine::available_memory(),
            connections: None,
        },
        looks: &|load, most| steering.looks(load, most),
    };
    plan(options, &inputs)
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
    let inputs = PlanInputs {
        participants: &participants,
        pinning,
        limits: limits(options, &services),
        looks: &|load, most| steering.looks(load, most),
    };
    let plan = plan(options, &inputs);
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
        build: sources::own_build(),
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

/// The loads of a session whose heats have no room for their servers any more.
fn without_room(plan: &Plan, options: &SessionOptions, limits: Limits) -> Changes {
    let loads = plan.leading().filter_map(|load| {
        let mut workloads = options.workloads.iter().map(|one| &one.manifest);
        let workload = workloads.find(|one| one.id == load.workload)?;
        lost_room(load, workload, limits)
    });
    loads.collect()
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

/// How a session is measured in heats.
#[derive(Clone, Debug, PartialEq)]
pub struct HeatOptions {
    /// So many heats of each stack at each load, whatever the budget; `None`: what fits it.
    pub heats: Option<u32>,
    /// The duration of the rounds of a heat; `None` chooses the one that gives the narrowest intervals in the available
    /// time.
    pub time: Option<Duration>,
    /// The counted part of a slice, at least.
    pub slice: Duration,
    /// The part before it that does not count, at least.
    pub guard: Duration,
    /// Two stacks whose ratio lies between 1/(1 + this) and 1 + this are as good as equal.
    pub margin: f64,
    /// The fewest heats of both stacks with which a pair can be a dead heat.
    pub least_heats: u32,
    /// The share of sessions that may call any pair of a ranking different that is not (0 to 1).
    pub alpha: f64,
    /// Whether heats have controls in addition to their members.
    pub controls: bool,
    /// Whether each heat starts its processes, in place of one start that serves a heat at each load.
    pub separate_loads: bool,
    /// Whether a load gets no more heats once its ranking is decided.
    pub until_decided: bool,
    /// The half width of ratios at which a load gets no more heats (0.05: ±5 %), in place of heats or a budget.
    pub precision: Option<f64>,
    /// The rates of equal work at each load.
    pub rates: Vec<OfferedRate>,
    /// What an hour of a CPU costs, for the record.
    pub price_per_cpu_hour: Option<f64>,
    /// Stacks that there are and that nobody asked for, for the record.
    pub left_out: Vec<TargetId>,
}

impl Default for HeatOptions {
    fn default() -> Self {
        Self {
            heats: None,
            time: None,
            slice: Duration::from_millis(100),
            guard: Duration::from_millis(30),
            margin: 0.03,
            least_heats: MIN_HEATS,
            alpha: 0.05,
            controls: true,
            separate_loads: false,
            until_decided: true,
            precision: None,
            rates: Vec::new(),
            price_per_cpu_hour: None,
            left_out: Vec::new(),
        }
    }
}

/// A session that can be resumed. While this value exists, no other process writes the session.
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
/// When something changed since it began, or as [`run`].
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
    refuse(
        &folder,
        resume::changed_hosts(&record.header, reached.found),
    )?;
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
    refuse(
        &folder,
        without_room(&record.header.plan, options, limits(options, &services)),
    )?;
    cut_unfinished_heat(folder.path(), &mut journal)?;
    journal.append([JournalEntry::Resumed {
        at: now(),
        boot: machine::boot(),
        build: sources::own_build(),
        findings: options.findings.clone(),
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
