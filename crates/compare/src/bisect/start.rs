//! How a search begins, its plan and its questions in words, and how it continues after it was interrupted.

use std::{env, path::Path, time::SystemTime};

use clap::{Parser, Subcommand};
use deadheat_bench::{heats, plan_text, run::refuse_others};
use deadheat_document::{Document, view::clean};
use deadheat_model::{
    bisect::{Asks, BisectRecord, Commit, SCHEMA},
    figure::{about, counted},
};
use deadheat_runner::revision::{Revision, commit_of, commits_between};
use deadheat_shell::{data::PlanAlone, exit::CommandFailure, invocation, options::GlobalArgs};
use serde::Serialize;

use super::{
    BisectArgs, Folder,
    analysis::{Bisection, can_resume, steps},
    subject::Subject,
};
use crate::{
    live::{looks::BUDGET, words::without_secrets},
    options::CompareArgs,
};

/// The share of searches that may name a wrong commit.
const ALPHA: f64 = 0.05;
/// Options that change nothing of what is asked.
const HARMLESS: [&str; 5] = ["--resume", "--budget", "--format", "--json", "--output"];

/// A search: what it measures, its options, and its record.
pub(super) struct Search {
    pub(super) subject: Subject,
    pub(super) args: CompareArgs,
    pub(super) record: BisectRecord,
}

/// Finds the commits that `args` name, and refuses what no comparison of them could be made with.
pub(super) fn plan(mut args: BisectArgs) -> Result<Search, CommandFailure> {
    args.measure.other_hosts.read_file(&mut args.explicit)?;
    let folder = invocation::current_folder()?;
    let subject = Subject::new(&args, &folder)?;
    let (good, bad) = (args.good.take(), args.bad.take());
    let args = args.into_comparison();
    subject.check(&args, ALPHA)?;
    let root = subject.root();
    let find = |revision: &Option<String>| {
        let typed = revision.as_deref().unwrap_or_default();
        Revision::find(root, typed).map_err(CommandFailure::usage)
    };
    let (good, bad) = (find(&good)?, find(&bad)?);
    let commits = commits_between(root, &good, &bad, subject.below().as_deref());
    let record = BisectRecord {
        schema: SCHEMA,
        deadheat: env!("CARGO_PKG_VERSION").to_owned(),
        started: humantime::format_rfc3339_seconds(SystemTime::now()).to_string(),
        arguments: without_secrets(invocation::arguments(), &args.server.request),
        measured: subject.name(),
        alpha: ALPHA,
        good: commit_of(root, &good).map_err(CommandFailure::usage)?,
        commits: commits.map_err(CommandFailure::usage)?,
        questions: Vec::new(),
        folder,
    };
    Ok(Search {
        subject,
        args,
        record,
    })
}

impl Search {
    /// Makes its folder.
    pub(super) fn begin(&self) -> Result<Folder, CommandFailure> {
        let folder = Folder::create(&self.args.measure.heat.results, &self.record.started)?;
        folder.save(&self.record)?;
        Ok(folder)
    }
}

/// Continues the search in `folder`, with the options that it began with. Also returns its folder, and that as the user
/// would type it.
pub(super) fn reopen(
    folder: &Path,
    typed_now: BisectArgs,
) -> Result<(Search, Folder, String), CommandFailure> {
    refuse_others(&typed_now.explicit, &HARMLESS)?;
    let (folder, record) = Folder::open(folder)?;
    let shown = heats::typed(folder.path());
    let mut args = arguments(&record)?;
    if typed_now.measure.heat.budget.is_some() {
        args.measure.heat.budget = typed_now.measure.heat.budget;
        // They would take its place.
        args.measure.heat.heats = None;
        args.measure.looks.clear();
    }
    env::set_current_dir(&record.folder).map_err(|error| {
        CommandFailure::usage(format!(
            "changing to {}, where this search began: {error}",
            record.folder.display()
        ))
    })?;
    args.measure.other_hosts.read_file(&mut args.explicit)?;
    let search = Search {
        subject: Subject::new(&args, &record.folder)?,
        args: args.into_comparison(),
        record,
    };
    Ok((search, folder, shown))
}

/// The command line of a search as it was recorded.
#[derive(Debug, Parser)]
struct RecordedArgs {
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
fn arguments(record: &BisectRecord) -> Result<BisectArgs, CommandFailure> {
    if !can_resume(record) {
        return Err(CommandFailure::usage(
            "going on with this search: secrets among its arguments (of a URL, a header, a password, a body or a form) \
             are not recorded; begin a new search, and put them into the environment or a file to be able to resume it",
        ));
    }
    let program = ["deadheat".to_owned()];
    let all = program.iter().chain(&record.arguments);
    let wrong =
        |what: &str| CommandFailure::usage(format!("reading the recorded arguments: {what}"));
    let parsed = RecordedArgs::try_parse_from(all).map_err(|error| wrong(&error.to_string()))?;
    let RecordedCommand::Bisect(args) = parsed.command;
    match args.resume {
        None => Ok(*args),
        Some(_) => Err(wrong("they go on with another search")),
    }
}

/// The number of comparisons in addition to those of the steps: the first and the last one, which are of two commits.
const ENDS: u32 = 2;

/// The plan.
pub(super) fn plan_document(planned: &Search) -> Document {
    let Search {
        subject,
        args,
        record,
    } = planned;
    let steps = steps(record.commits.len());
    let comparisons = steps + ENDS;
    let heat = &args.measure.heat;
    let budget = heat.budget.unwrap_or(BUDGET);
    let most = match (heat.heats, &args.measure.looks[..]) {
        (Some(heats), _) => format!("{} each", counted(heats, "heat")),
        (None, [.., last]) if heat.budget.is_none() => format!("at most {last} heats each"),
        _ => format!(
            "at most {} each, {} in all",
            about(budget),
            about(budget * comparisons)
        ),
    };
    let bad = record.bad().unwrap_or(&record.good);
    let commits = counted(record.commits.len(), "commit");
    let below = subject.below().map(|below| format!(" that change {below}"));
    let mut entries = vec![("measured", record.measured.clone())];
    if let Subject::Command {
        build: Some(build), ..
    } = subject
    {
        entries.push(("build", build.clone()));
    }
    entries.extend([
        ("good", named(&record.good)),
        ("bad", named(bad)),
        (
            "commits",
            format!(
                "{commits}{} of the first parents; a merge represents all that it merged",
                below.unwrap_or_default()
            ),
        ),
        ("first", "bad against good: is there a slowdown?".to_owned()),
        (
            "then",
            format!(
                "{}: the middle commit, good and bad in the same heats",
                counted(steps, "step")
            ),
        ),
        (
            "last",
            "the commit found against the one before it: by how much?".to_owned(),
        ),
    ]);
    if !can_resume(record) {
        let why = "not possible: secrets among the arguments are not recorded; put them into the environment or a file";
        entries.push(("resume", why.to_owned()));
    }
    let headline = format!("Plan: {commits}, about {comparisons} comparisons, {most}");
    plan_text::plan(headline, entries)
}

/// The plan for programs.
pub(super) fn for_programs(planned: &Search) -> PlanAlone<PlannedSearch<'_>> {
    let Search { args, record, .. } = planned;
    let heat = &args.measure.heat;
    let steps = steps(record.commits.len());
    let budget = heat.budget.unwrap_or(BUDGET);
    PlanAlone {
        plan: PlannedSearch {
            measured: &record.measured,
            good: &record.good,
            commits: &record.commits,
            steps,
            comparisons: steps + ENDS,
            budget_seconds: heat.heats.is_none().then_some(budget.as_secs_f64()),
        },
    }
}

/// The plan of a search for programs.
#[derive(Serialize)]
pub(super) struct PlannedSearch<'a> {
    measured: &'a str,
    good: &'a Commit,
    commits: &'a [Commit],
    steps: u32,
    comparisons: u32,
    budget_seconds: Option<f64>,
}

/// A question, before it is asked.
pub(super) fn question(record: &BisectRecord, asks: Asks) -> String {
    match asks {
        Asks::Ends => "Is bad slower than good?".to_owned(),
        Asks::Commit { index } => {
            let (first, last) = Bisection::new(record).suspects();
            let left = counted(last + 1 - first, "commit");
            let commit = named(&record.commits[index]);
            format!("{left} left. Does {commit} have the slowdown?")
        }
        Asks::Found { last, .. } => {
            let commit = named(&record.commits[last]);
            format!("Found {commit}. How much slower is it than the commit before?")
        }
    }
}

fn named(commit: &Commit) -> String {
    format!("{} “{}”", commit.short, clean(&commit.subject))
}
