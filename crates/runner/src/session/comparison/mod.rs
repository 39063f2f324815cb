//! Two contenders in heats: servers that run, commands, or stacks. Heats of both follow each other until there is a
//! verdict or the budget ends, and each is kept as soon as it ends.

mod contest;
mod heats;
mod journal;
mod plan;

use std::{
    ops::ControlFlow,
    path::PathBuf,
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

use deadheat_model::{
    Event,
    comparison::{
        ComparedHeat, ComparisonEntry, ComparisonHeader, ComparisonRecord, Contender, SCHEMA,
    },
};

use self::{contest::Contest, heats::Measuring};
pub use self::{
    journal::{HEADER_FILE, read_comparison},
    plan::{heat_time, plan},
};
use super::{
    PinningMode, SessionError, SessionOptions, describe_machine, folder, folder::SessionFolder,
    heats::HEATS_FILE, journal::Journal, stay_off_the_servers_cpus,
};
use crate::process::Supervision;

/// What is to be compared, and how.
#[derive(Clone, Debug)]
pub struct ComparisonOptions {
    /// The two sides, A first.
    pub contenders: Contenders,
    /// The seed of everything random.
    pub seed: u64,
    /// The numbers of heats at which it is looked at; the last one is the most heats at each load.
    pub looks: Vec<u32>,
    /// The share of comparisons that may err, for the record.
    pub alpha: f64,
    /// The time that measuring may take; `None`: what it takes.
    pub budget: Option<Duration>,
    /// The times of a heat.
    pub heat: HeatTimes,
    /// So long a warm-up, whatever the server.
    pub warm_up: Option<Duration>,
    /// Whether server and generator are kept apart. Servers that run already have their CPUs: then `Off`.
    pub pinning: PinningMode,
    /// The folder of sessions; this comparison makes its own in it.
    pub results: PathBuf,
    /// How children are supervised.
    pub supervision: Supervision,
    /// How long a server may take to its first answer.
    pub start_timeout: Duration,
    /// Deadheat's own arguments, for the record.
    pub arguments: Vec<String>,
    /// Deadheat's version, for the record.
    pub version: String,
}

/// What is compared.
#[derive(Clone, Debug)]
pub enum Contenders {
    /// Two URLs or two commands.
    Servers(Box<[Contender; 2]>),
    /// Two stacks: the targets of these options. What the options say of heats and budget is not looked at.
    Stacks(Box<SessionOptions>),
}

/// The times of a heat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeatTimes {
    /// The counted part of a slice, at least.
    pub slice: Duration,
    /// The part before it that does not count, at least.
    pub guard: Duration,
    /// How long rounds go on.
    pub time: Duration,
}

/// Something happened.
#[derive(Clone, Debug)]
pub enum ComparisonEvent {
    /// A step of the preparation of stacks.
    Preparing(Box<Event>),
    /// Everything before the first heat is done.
    Started {
        /// What is known.
        header: Box<ComparisonHeader>,
    },
    /// A heat starts.
    HeatStarted {
        /// Its number at this load, from 0.
        heat: u32,
        /// The load's place in the header's list.
        point: usize,
    },
    /// A heat ended and is in the journal.
    HeatEnded {
        /// Its record.
        heat: Box<ComparedHeat>,
    },
}

/// Who decides how it goes on.
pub trait Referee {
    /// The orders of the rounds of a heat of two members, for a seed.
    fn orders(&mut self, seed: u64) -> Vec<Vec<usize>>;

    /// Asked after each heat, and shown that heat alone: whether a side failed, so that this load gets no more heats.
    fn failed(&mut self, heat: &ComparedHeat) -> bool;

    /// Asked at each declared look and at no other moment, when each load has had so many heats: whether it goes on.
    fn look(&mut self, record: &ComparisonRecord, heats: u32) -> ControlFlow<()>;
}

/// Runs heats of both sides until `referee` has seen enough, or heats or budget end. `interrupt` ends it in order.
/// Returns the folder of the records.
///
/// # Errors
/// When the records cannot be written, or the user interrupts the preparation. A server that fails is no error but a
/// result.
pub fn run(
    options: &ComparisonOptions,
    on_event: &mut dyn FnMut(&ComparisonEvent),
    referee: &mut dyn Referee,
    interrupt: &Arc<AtomicBool>,
) -> Result<PathBuf, SessionError> {
    let folder = SessionFolder::create(&options.results, options.seed)?;
    let journal = Journal::claim_as(folder.path(), HEATS_FILE)?;
    let (plan, points) = plan(options);
    let contest = Contest::prepare(options, &folder, &plan.pinning, on_event, interrupt)?;
    let [a, b] = contest.contenders();
    let header = ComparisonHeader {
        schema: SCHEMA,
        id: folder.id().to_owned(),
        deadheat: options.version.clone(),
        started: folder.started().to_owned(),
        arguments: options.arguments.clone(),
        machine: describe_machine(),
        findings: contest.findings(),
        a,
        b,
        points,
        postgres: contest.describe_postgres(),
        environment: contest.environment(),
        plan,
    };
    journal.begin_as(HEADER_FILE, &header)?;
    on_event(&ComparisonEvent::Started {
        header: Box::new(header.clone()),
    });
    stay_off_the_servers_cpus(&header.plan.pinning)?;
    let mut measuring = Measuring {
        options,
        folder: &folder,
        contest,
        record: ComparisonRecord {
            header,
            heats: Vec::new(),
            end: None,
        },
        journal,
        on_event,
        referee,
        interrupt,
    };
    let reason = measuring.all()?;
    measuring.journal.append(&ComparisonEntry::End {
        reason,
        at: folder::now(),
    })?;
    Ok(folder.path().to_owned())
}
