//! `deadheat run --resume`: goes on with a session as it began.

use std::{env, ffi::OsString, path::Path};

use clap::{CommandFactory, Parser, parser::ValueSource};
use deadheat_model::{TargetId, heats::SessionRecord};
use deadheat_runner::{
    manifest::Catalogue,
    session::{SelectedTarget, SessionOptions, heats::Resumable},
};

use crate::{
    args::{Arguments, Command, RunArgs},
    exit::{Exit, Failure},
    heats, interrupt,
    invocation::shown,
    output,
    profile::Profile,
    select,
};

/// Options that change nothing of what is measured.
const HARMLESS: [&str; 5] = ["resume", "json", "live", "postgres", "root"];

/// What is left of a URL in the record.
const WITHOUT_PASSWORD: &str = "://…";

pub(crate) fn resume(args: &RunArgs, folder: &Path) -> Result<Exit, Failure> {
    let given = given(env::args_os());
    refuse_others(&given)?;
    let session = Resumable::open(folder).map_err(Failure::resuming)?;
    if session.is_complete() {
        let note = format!(
            "{} is complete: nothing is left to measure",
            shown(session.folder())
        );
        output::note(&note);
        // Its journal keeps others from writing the session while its report is written.
        let ended = session.end();
        return heats::show_complete(&ended.folder, args);
    }
    let options = options(args, &given, &Began::of(session.record()))?;
    let interrupted = interrupt::on_signals().map_err(Failure::nothing)?;
    heats::resume(session, &options, args, &interrupted)
}

/// How a session began.
struct Began<'a> {
    id: &'a str,
    deadheat: &'a str,
    arguments: &'a [String],
    postgres: Option<&'a str>,
    /// Every stack that was asked for, ready or not.
    asked: Vec<&'a TargetId>,
    /// Those that are measured.
    planned: Vec<&'a TargetId>,
    workloads: Vec<&'a str>,
    seed: u64,
    is_measured: bool,
}

impl<'a> Began<'a> {
    fn of(record: &'a SessionRecord) -> Self {
        let header = &record.header;
        let plan = &header.plan;
        let mut planned: Vec<&TargetId> = plan.loads.iter().flat_map(|one| &one.targets).collect();
        planned.sort();
        planned.dedup();
        Self {
            id: &header.id,
            deadheat: &header.deadheat,
            arguments: &header.arguments,
            postgres: header.postgres.as_deref(),
            asked: header.targets.iter().map(|one| &one.target).collect(),
            planned,
            workloads: plan.loads.iter().map(|one| one.workload.as_str()).collect(),
            seed: plan.seed,
            is_measured: !record.heats.is_empty(),
        }
    }
}

/// The options of `run` that stand on the command line, without their dashes.
fn given(arguments: impl Iterator<Item = OsString>) -> Vec<String> {
    let command = Arguments::command();
    let matches = command.clone().try_get_matches_from(arguments);
    let Some(run) = matches
        .ok()
        .and_then(|found| found.subcommand_matches("run").cloned())
    else {
        return Vec::new();
    };
    let options = command.find_subcommand("run").into_iter();
    options
        .flat_map(|command| command.get_arguments())
        .filter(|option| {
            let id = option.get_id();
            run.ids().any(|present| present == id)
                && run.value_source(id.as_str()) == Some(ValueSource::CommandLine)
        })
        .filter_map(|option| option.get_long().map(str::to_owned))
        .collect()
}

fn refuse_others(given: &[String]) -> Result<(), Failure> {
    let others: Vec<String> = given
        .iter()
        .filter(|option| !HARMLESS.contains(&option.as_str()))
        .map(|option| format!("--{option}"))
        .collect();
    if others.is_empty() {
        return Ok(());
    }
    Err(Failure::usage(format!(
        "{} cannot be given with --resume: a session goes on as it began; leave that out, or begin a new session",
        others.join(", ")
    )))
}

/// The options that the session began with, for the targets and workloads of its plan.
fn options(args: &RunArgs, given: &[String], began: &Began<'_>) -> Result<SessionOptions, Failure> {
    let mut recorded = recorded(began)?;
    if args.selection.root.is_some() {
        recorded.selection.root = args.selection.root.clone();
    }
    recorded.postgres.postgres = if given.iter().any(|option| option == "postgres") {
        args.postgres.postgres.clone()
    } else {
        postgres(began, &recorded)?
    };
    let catalogue = select::catalogue(recorded.selection.root.as_deref())?;
    let profile = Profile::of(&recorded, &catalogue)?;
    refuse_if_unprepared(began, &profile)?;
    let mut options = profile.options(&recorded, &catalogue)?;
    options.targets = targets(&catalogue, began);
    let planned = |id: &str| began.workloads.contains(&id);
    options.workloads.retain(|one| planned(&one.manifest.id));
    options.seed = began.seed;
    options.live = args.live.is_some();
    Ok(options)
}

/// The arguments that the session began with, read again.
fn recorded(header: &Began<'_>) -> Result<RunArgs, Failure> {
    let words = header.arguments.iter().map(String::as_str);
    let typed = header.arguments.join(" ");
    match Arguments::try_parse_from(["deadheat"].into_iter().chain(words)) {
        Ok(Arguments {
            command: Command::Run(args),
            ..
        }) => Ok(*args),
        Ok(_) => Err(Failure::usage(format!(
            "going on with {}: it was made by `deadheat {typed}`, and only a session of `deadheat run` goes on",
            header.id
        ))),
        Err(_) => Err(Failure::usage(format!(
            "going on with {}: deadheat {} does not understand its arguments, `{typed}`, which were given to deadheat \
             {}; use that one, or begin a new session",
            header.id,
            env!("CARGO_PKG_VERSION"),
            header.deadheat
        ))),
    }
}

/// Where PostgreSQL comes from, if that is not said again.
fn postgres(header: &Began<'_>, recorded: &RunArgs) -> Result<String, Failure> {
    let source = &recorded.postgres.postgres;
    if !source.ends_with(WITHOUT_PASSWORD) {
        return Ok(source.clone());
    }
    match header.postgres {
        // No workload needed it.
        None => Ok("auto".to_owned()),
        Some(server) => Err(Failure::usage(format!(
            "going on with {}: it used {server}, which was named by a URL, and URLs are recorded without their \
             passwords; name it again with --postgres",
            header.id
        ))),
    }
}

/// A session that was interrupted while its stacks were prepared has a plan of those that were ready by then.
fn refuse_if_unprepared(began: &Began<'_>, profile: &Profile) -> Result<(), Failure> {
    let known = |target: &TargetId| began.asked.contains(&target);
    let asked = &profile.selection.targets;
    let missing: Vec<String> = asked
        .iter()
        .filter(|target| !known(target))
        .map(ToString::to_string)
        .collect();
    if began.is_measured || missing.is_empty() {
        return Ok(());
    }
    Err(Failure::usage(format!(
        "going on with {}: it ended before {} could be prepared, and before anything was measured; begin a new session",
        began.id,
        missing.join(", ")
    )))
}

/// The targets of the plan, as far as there are manifests of them.
fn targets(catalogue: &Catalogue, began: &Began<'_>) -> Vec<SelectedTarget> {
    let planned = began.planned.iter().copied();
    planned
        .filter_map(|target| {
            let stack = catalogue.stack(target)?;
            let manifest = &stack.manifest;
            let is_there = target.variant.is_none() || manifest.variant_of(target).is_some();
            is_there.then(|| SelectedTarget {
                stack: stack.clone(),
                target: target.clone(),
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_changes_what_is_measured_is_refused() {
        let typed = |options: &[&str]| {
            let all = ["deadheat", "run", "--resume", "x"].iter().chain(options);
            given(all.map(OsString::from))
        };
        for harmless in [
            &[][..],
            &["--json"],
            &["--postgres", "auto"],
            &["--root", "."],
            &["--live"],
            &["--live=4000"],
        ] {
            refuse_others(&typed(harmless)).unwrap();
        }
        // What is the default is as much an order as anything else.
        let error = refuse_others(&typed(&["--pinning", "apart", "--json", "--results", "y"]));
        let error = error.unwrap_err().to_string();
        assert!(
            error.contains("--results") && error.contains("--pinning") && !error.contains("--json"),
            "{error}"
        );
    }

    #[test]
    fn a_url_of_postgresql_has_to_be_named_again_where_it_was_used() {
        let source = |arguments: &[&str], used: Option<&str>| {
            let arguments: Vec<String> = arguments.iter().map(ToString::to_string).collect();
            let began = Began {
                id: "s",
                deadheat: "1",
                arguments: &arguments,
                postgres: used,
                asked: Vec::new(),
                planned: Vec::new(),
                workloads: Vec::new(),
                seed: 1,
                is_measured: true,
            };
            let args = recorded(&began).unwrap();
            postgres(&began, &args).map_err(|error| error.to_string())
        };
        let by_url = ["run", "--postgres", "postgres://…"];
        let error = source(&by_url, Some("PostgreSQL 17 of a URL")).unwrap_err();
        assert!(error.contains("name it again with --postgres"), "{error}");
        assert_eq!(source(&by_url, None).unwrap(), "auto");
        let installed = ["run", "--postgres=installed"];
        assert_eq!(source(&installed, Some("17")).unwrap(), "installed");
    }
}
