//! The plan of a search, and its questions, in words.

use deadheat_model::{
    bisect::{Asks, BisectRecord, Commit},
    words::counted,
};
use deadheat_report::view::clean;
use deadheat_stats::bisect::{Search, spending::steps};
use serde_json::json;

use super::{beginning::Planned, subject::Subject};
use crate::{compare::live::looks::BUDGET, exit::Failure, plan_text::about};

/// The plan as text, or as JSON.
pub(super) fn plan(planned: &Planned) -> Result<String, Failure> {
    let Planned {
        subject,
        args,
        record,
    } = planned;
    let steps = steps(record.commits.len());
    // The first and the last are of two.
    let comparisons = steps + 2;
    let measure = &args.measure;
    let budget = measure.budget.unwrap_or(BUDGET);
    if args.measure.dry_run && args.data.plan_is_json()? {
        let plan = json!({ "plan": {
            "measured": record.measured,
            "good": record.good,
            "commits": record.commits,
            "steps": steps,
            "comparisons": comparisons,
            "budget_seconds": measure.heats.is_none().then_some(budget.as_secs_f64()),
        }});
        return Ok(format!("{plan:#}\n"));
    }
    let most = match (measure.heats, &measure.looks[..]) {
        (Some(heats), _) => format!("{} each", counted(heats, "heat")),
        (None, [.., last]) if measure.budget.is_none() => format!("at most {last} heats each"),
        _ => format!(
            "at most {} each, {} in all",
            about(budget),
            about(budget * comparisons)
        ),
    };
    let bad = record.bad().unwrap_or(&record.good);
    let commits = counted(record.commits.len(), "commit");
    let below = subject.below().map(|below| format!(" that change {below}"));
    let mut lines = vec![
        format!("Plan: {commits}, about {} comparisons, {most}", comparisons),
        format!("  measured  {}", clean(&record.measured)),
    ];
    if let Subject::Command {
        build: Some(build), ..
    } = subject
    {
        lines.push(format!("  build     {}", clean(build)));
    }
    lines.extend([
        format!("  good      {}", named(&record.good)),
        format!("  bad       {}", named(bad)),
        format!(
            "  commits   {commits}{} of the first parents; a merge represents all that it merged",
            below.unwrap_or_default()
        ),
        "  first     bad against good: is there a slowdown?".to_owned(),
        format!(
            "  then      {}: the middle commit, good and bad in the same heats",
            counted(steps, "step")
        ),
        "  last      the commit found against the one before it: by how much?".to_owned(),
    ]);
    Ok(lines.join("\n") + "\n")
}

/// A question, before it is asked.
pub(super) fn question(record: &BisectRecord, asks: Asks) -> String {
    match asks {
        Asks::Ends => "Is bad slower than good?".to_owned(),
        Asks::Commit { index } => {
            let (first, last) = Search::of(record).suspects();
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
