//! The plan of a search, and its questions, in words.

use deadheat_bench::plan_text;
use deadheat_document::{Document, view::clean};
use deadheat_model::{
    bisect::{Asks, BisectRecord, Commit},
    figure::{about, counted},
};
use deadheat_shell::data::PlanAlone;
use serde::Serialize;

use super::{start::Planned, subject::Subject};
use crate::{
    bisect::analysis::{Search, spending::steps},
    live::looks::BUDGET,
};

/// Comparisons beside those of the steps: the first and the last one, which are of two commits.
const ENDS: u32 = 2;

/// The plan.
pub(super) fn plan(planned: &Planned) -> Document {
    let Planned {
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
    let headline = format!("Plan: {commits}, about {comparisons} comparisons, {most}");
    plan_text::plan(headline, entries)
}

/// The plan for programs.
pub(super) fn for_programs(planned: &Planned) -> PlanAlone<PlannedSearch<'_>> {
    let Planned { args, record, .. } = planned;
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
            let (first, last) = Search::new(record).suspects();
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
