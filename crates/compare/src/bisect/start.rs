//! How a search begins, and how it goes on after it was interrupted.

use std::{env, path::Path, time::SystemTime};

use clap::{Parser, Subcommand};
use deadheat_bench::resume::refuse_others;
use deadheat_model::bisect::{BisectRecord, SCHEMA};
use deadheat_runner::{
    revision::{Revision, commit_of, commits_between},
    secret::HIDDEN,
};
use deadheat_shell::{exit::Failure, global_options::GlobalArgs, invocation};

use super::{folder::Folder, subject::Subject, typed};
use crate::{bisect::options::BisectArgs, live::secrets::without_secrets};

/// The share of searches that may name a wrong commit.
const ALPHA: f64 = 0.05;
/// Options that change nothing of what is asked.
const HARMLESS: [&str; 5] = ["--resume", "--budget", "--format", "--json", "--output"];

/// A search that could begin.
pub(super) struct Planned {
    pub(super) subject: Subject,
    pub(super) args: BisectArgs,
    pub(super) record: BisectRecord,
}

/// A search that goes on.
pub(super) struct Search {
    pub(super) subject: Subject,
    pub(super) args: BisectArgs,
    pub(super) folder: Folder,
    /// The folder as the user would type it.
    pub(super) shown: String,
    pub(super) record: BisectRecord,
}

/// Finds the commits that `args` name.
pub(super) fn plan(mut args: BisectArgs) -> Result<Planned, Failure> {
    args.measure
        .other_hosts
        .read_file(&mut args.explicit)
        .map_err(Failure::usage)?;
    let folder = env::current_dir().map_err(|error| {
        Failure::usage(format!(
            "finding the current folder: {error}; change to one that exists"
        ))
    })?;
    let subject = Subject::new(&args, &folder)?;
    let root = subject.root();
    let find = |revision: &Option<String>| {
        let typed = revision.as_deref().unwrap_or_default();
        Revision::find(root, typed).map_err(Failure::usage)
    };
    let (good, bad) = (find(&args.good)?, find(&args.bad)?);
    let commits = commits_between(root, &good, &bad, subject.below().as_deref());
    let record = BisectRecord {
        schema: SCHEMA,
        deadheat: env!("CARGO_PKG_VERSION").to_owned(),
        started: humantime::format_rfc3339_seconds(SystemTime::now()).to_string(),
        arguments: without_secrets(invocation::arguments(), &args.server.request),
        measured: subject.name(),
        alpha: ALPHA,
        good: commit_of(root, &good).map_err(Failure::usage)?,
        commits: commits.map_err(Failure::usage)?,
        questions: Vec::new(),
        folder,
    };
    Ok(Planned {
        subject,
        args,
        record,
    })
}

impl Planned {
    /// Makes its folder.
    pub(super) fn begin(self) -> Result<Search, Failure> {
        let folder = Folder::create(&self.args.measure.heat.results, &self.record.started)?;
        folder.save(&self.record)?;
        Ok(Search {
            subject: self.subject,
            args: self.args,
            shown: typed(folder.path()),
            folder,
            record: self.record,
        })
    }
}

/// Goes on with the search in `folder`, with the options that it began with.
pub(super) fn reopen(folder: &Path, typed_now: BisectArgs) -> Result<Search, Failure> {
    refuse_others(&typed_now.explicit, &HARMLESS)?;
    let (folder, record) = Folder::open(folder)?;
    let shown = typed(folder.path());
    let mut args = arguments(&record)?;
    if typed_now.measure.heat.budget.is_some() {
        args.measure.heat.budget = typed_now.measure.heat.budget;
        // They would take its place.
        args.measure.heat.heats = None;
        args.measure.looks.clear();
    }
    env::set_current_dir(&record.folder).map_err(|error| {
        Failure::usage(format!(
            "changing to {}, where this search began: {error}",
            record.folder.display()
        ))
    })?;
    args.measure
        .other_hosts
        .read_file(&mut args.explicit)
        .map_err(Failure::usage)?;
    Ok(Search {
        subject: Subject::new(&args, &record.folder)?,
        args,
        folder,
        shown,
        record,
    })
}

/// The command line of a search as it was recorded.
#[derive(Debug, Parser)]
struct Recorded {
    #[command(flatten)]
    _global: GlobalArgs,
    #[command(subcommand)]
    command: RecordedCommand,
}

#[derive(Debug, Subcommand)]
enum RecordedCommand {
    Bisect(Box<BisectArgs>),
}

/// What was typed when it began.
fn arguments(record: &BisectRecord) -> Result<BisectArgs, Failure> {
    if record.arguments.iter().any(|one| one.contains(HIDDEN)) {
        return Err(Failure::usage(
            "going on with this search: a URL in its command, or a header or password, is recorded without its secret \
             parts; begin a new search, or put it into the environment or a file",
        ));
    }
    let program = ["deadheat".to_owned()];
    let all = program.iter().chain(&record.arguments);
    let wrong = |what: &str| Failure::usage(format!("reading the recorded arguments: {what}"));
    let parsed = Recorded::try_parse_from(all).map_err(|error| wrong(&error.to_string()))?;
    let RecordedCommand::Bisect(args) = parsed.command;
    match args.resume {
        None => Ok(*args),
        Some(_) => Err(wrong("they go on with another search")),
    }
}
