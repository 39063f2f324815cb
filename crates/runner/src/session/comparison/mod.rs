//! Two servers that are no stacks, in alternation: URLs of servers that run, or commands that are started for each
//! trial. Blocks of a trial of each side in random order, each trial kept as soon as it ends.

mod blocks;
mod journal;
mod plan;
mod trial;

use std::{ops::ControlFlow, path::PathBuf, sync::atomic::AtomicBool, time::Duration};

use deadheat_model::{
    comparison::{
        ComparedServer, ComparisonEnd, ComparisonEntry, ComparisonHeader, ComparisonRecord,
        ComparisonTrial, SCHEMA, Side,
    },
    plan::NoiseBound,
};

use self::blocks::Measuring;
pub use self::{
    journal::{HEADER_FILE, read_comparison},
    plan::{block_time, plan},
};
use super::{
    PinningMode, SessionError, cpus::generator_cpus, describe_machine, folder,
    folder::SessionFolder, journal::Journal,
};
use crate::{
    process::{Supervision, pin_current_thread},
    secret::without_password,
};

/// What is to be compared, and how.
#[derive(Clone, Debug)]
pub struct ComparisonOptions {
    /// What the other one is compared with.
    pub a: ComparedServer,
    /// What is compared; started if and only if `a` is.
    pub b: ComparedServer,
    /// The seed of everything random.
    pub seed: u64,
    /// The numbers of complete blocks at which it is looked at; the last one is the most blocks.
    pub looks: Vec<u32>,
    /// The share of comparisons that may err, for the record.
    pub alpha: f64,
    /// The time that measuring may take; `None`: what it takes.
    pub budget: Option<Duration>,
    /// How much a trial may be disturbed before it is void; `None`: none is.
    pub noise_bound: Option<NoiseBound>,
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

/// Something happened.
#[derive(Clone, Debug)]
pub enum ComparisonEvent {
    /// Everything before the first trial is done.
    Started {
        /// The folder of the records.
        folder: PathBuf,
        /// What is known.
        header: Box<ComparisonHeader>,
    },
    /// A trial starts.
    TrialStarted {
        /// The block, from 0.
        block: u32,
        /// What is measured.
        side: Side,
    },
    /// A trial ended and is in the journal.
    TrialEnded {
        /// Its record.
        trial: Box<ComparisonTrial>,
        /// Whether it was disturbed, and counts for nothing.
        void: bool,
    },
}

/// Who decides how it goes on.
pub trait Referee {
    /// Asked after each trial that is not void, and shown that trial alone: why it failed, if so. That ends the
    /// comparison.
    fn failure(&mut self, trial: &ComparisonTrial) -> Option<String>;

    /// Asked at each declared look and at no other moment, with what was measured in `blocks` complete blocks: whether
    /// it goes on.
    fn look(&mut self, record: &ComparisonRecord, blocks: u32) -> ControlFlow<()>;
}

/// How a comparison ended.
#[derive(Clone, Debug)]
pub struct ComparisonOutcome {
    /// Its folder.
    pub folder: PathBuf,
    /// Why it ended.
    pub reason: ComparisonEnd,
    /// The trial that failed, and why.
    pub failed: Option<(Side, String)>,
}

/// Measures both sides until `referee` has seen enough, or blocks or budget end. `interrupt` ends it in order.
///
/// # Errors
/// When the records cannot be written. A server that fails is no error but a result.
pub fn run(
    options: &ComparisonOptions,
    on_event: &mut dyn FnMut(&ComparisonEvent),
    referee: &mut dyn Referee,
    interrupt: &AtomicBool,
) -> Result<ComparisonOutcome, SessionError> {
    let folder = SessionFolder::create(&options.results, options.seed)?;
    let header = ComparisonHeader {
        schema: SCHEMA,
        id: folder.id().to_owned(),
        deadheat: options.version.clone(),
        started: folder.started().to_owned(),
        arguments: options.arguments.clone(),
        machine: describe_machine(),
        a: as_recorded(&options.a),
        b: as_recorded(&options.b),
        plan: plan(options),
    };
    let journal = Journal::claim(folder.path())?;
    journal.begin_as(HEADER_FILE, &header)?;
    on_event(&ComparisonEvent::Started {
        folder: folder.path().to_owned(),
        header: Box::new(header.clone()),
    });
    if let Some(cpus) = generator_cpus(&header.plan.pinning) {
        pin_current_thread(&cpus).map_err(SessionError::Pinning)?;
    }
    let mut measuring = Measuring {
        options,
        folder: &folder,
        record: ComparisonRecord {
            header,
            trials: Vec::new(),
            end: None,
        },
        journal,
        on_event,
        referee,
        interrupt,
        failed: None,
    };
    let reason = measuring.all()?;
    let Measuring {
        mut journal,
        failed,
        ..
    } = measuring;
    journal.append(&ComparisonEntry::End {
        reason,
        at: folder::now(),
    })?;
    Ok(ComparisonOutcome {
        folder: folder.path().to_owned(),
        reason,
        failed,
    })
}

/// A server as its record has it: the words of its command without what may be a password, which are whole in memory
/// alone.
fn as_recorded(server: &ComparedServer) -> ComparedServer {
    let mut server = server.clone();
    if let Some(command) = &mut server.command {
        command.words = words_as_recorded(&command.words);
    }
    server
}

/// The words of a command without what may be a password.
fn words_as_recorded(words: &[String]) -> Vec<String> {
    words.iter().map(|word| without_password(word)).collect()
}
