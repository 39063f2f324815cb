//! `deadheat run`: begins a session, or resumes one.

use std::{collections::BTreeSet, path::Path, time::Duration};

use deadheat_model::{
    Cell, TargetId,
    heats::{Plan, SessionHeader, SessionRecord, SessionRequest},
    plan::Pinning,
};
use deadheat_runner::{
    manifest::{Catalogue, SelectedWorkload},
    session::{
        PinningMode, START_TIMEOUT, SelectedTarget, SessionOptions,
        heats::{HeatOptions, Resumable},
    },
};
use deadheat_shell::{
    exit::{CommandFailure, Exit},
    invocation::{self, shown},
    options::ExplicitOptions,
    output,
};

use crate::{
    heats,
    options::{AUTO, RootArgs, RunArgs},
    profile::Profile,
    select,
};

/// Measures stacks, or resumes a session.
pub fn run(mut args: RunArgs) -> Result<Exit, CommandFailure> {
    if let Some(session) = args.resume.clone() {
        return resume(&args, &session);
    }
    args.other_hosts.read_file(&mut args.explicit)?;
    let catalogue = select::catalogue(&args.selection.place)?;
    let profile = Profile::new(&args, &catalogue)?;
    let interrupted = invocation::on_signals().map_err(CommandFailure::no_result)?;
    heats::run(&args, &catalogue, &profile, &interrupted)
}

/// Options that change nothing of what is measured.
const HARMLESS: [&str; 9] = [
    "--resume",
    "--format",
    "--json",
    "--output",
    "--live",
    "--no-config",
    "--postgres",
    "--root",
    "--stacks",
];
/// Options of all commands.
const GLOBAL: [&str; 3] = ["--color", "--verbose", "--quiet"];

/// What the record has in place of the rest of a URL.
const WITHOUT_PASSWORD: &str = "://…";

fn resume(args: &RunArgs, folder: &Path) -> Result<Exit, CommandFailure> {
    refuse_others(&args.explicit, &HARMLESS)?;
    let session = Resumable::open(folder).map_err(CommandFailure::resuming)?;
    if session.is_complete() {
        let note = format!(
            "{} is complete: nothing is left to measure",
            shown(session.folder())
        );
        output::note(&note);
        // Holding its journal keeps other processes from writing the session while the report is written.
        let ended = session.end();
        return heats::show_outcome(&ended.folder, args, args.data.open()?);
    }
    refuse_if_unprepared(session.record())?;
    let options = options(args, &session.record().header)?;
    let interrupted = invocation::on_signals().map_err(CommandFailure::no_result)?;
    heats::resume(session, options, args, &interrupted)
}

/// Refuses options that are not among the `harmless` ones.
pub fn refuse_others(given: &ExplicitOptions, harmless: &[&str]) -> Result<(), CommandFailure> {
    let others = given.without(harmless).without(&GLOBAL);
    if others.names().is_empty() {
        return Ok(());
    }
    Err(CommandFailure::usage(format!(
        "{} cannot be used with --resume: a session goes on as it began; omit that, or begin a new session",
        others.names().join(", ")
    )))
}

/// A session that was interrupted while its stacks were prepared has a plan of those that were ready by then.
fn refuse_if_unprepared(record: &SessionRecord) -> Result<(), CommandFailure> {
    let header = &record.header;
    let asked = header.asked.targets.iter();
    let missing: Vec<String> = asked
        .filter(|target| header.target(target).is_none())
        .map(ToString::to_string)
        .collect();
    if missing.is_empty() || !record.heats.is_empty() {
        return Ok(());
    }
    Err(CommandFailure::usage(format!(
        "going on with {}: it ended before {} could be prepared, and before anything was measured; begin a new session",
        header.id,
        missing.join(", ")
    )))
}

/// The options that the session began with, for the targets and workloads of its plan.
fn options(args: &RunArgs, began: &SessionHeader) -> Result<SessionOptions, CommandFailure> {
    let SessionRequest {
        root,
        stacks,
        warm_up_seconds,
        start_timeout_seconds,
        ..
    } = &began.asked;
    let typed = &args.selection.place;
    let more_stacks = if typed.more_stacks.is_empty() {
        stacks
    } else {
        &typed.more_stacks
    };
    let catalogue = select::catalogue(&RootArgs {
        root: typed.root.clone().or_else(|| root.clone()),
        more_stacks: more_stacks.clone(),
    })?;
    // A file that somebody changed may have any number.
    let time = |seconds: f64| Duration::try_from_secs_f64(seconds).ok();
    let plan = &began.plan;
    let is_typed = args.explicit.has("--postgres");
    let source = postgres(began, is_typed.then_some(&*args.postgres.postgres))?;
    Ok(SessionOptions {
        cells: Some(cells(plan)),
        heats: HeatOptions {
            until_decided: plan.until_decided,
            ..HeatOptions::default()
        },
        warm_up: (*warm_up_seconds).and_then(time),
        pinning: match plan.pinning {
            Pinning::Apart { .. } => PinningMode::Apart,
            Pinning::Off { .. } => PinningMode::Off,
        },
        hosts: plan.hosts.clone(),
        postgres: select::postgres(&source)?,
        start_timeout: (*start_timeout_seconds)
            .and_then(time)
            .unwrap_or(START_TIMEOUT),
        live: args.live,
        arguments: invocation::arguments(),
        ..SessionOptions::new(
            targets(&catalogue, plan),
            workloads(&catalogue, plan),
            catalogue.workload("plaintext").cloned(),
            plan.seed,
            invocation::supervision(),
        )
    })
}

/// Where PostgreSQL comes from: as `typed` now, or else as the session began.
fn postgres(began: &SessionHeader, typed: Option<&str>) -> Result<String, CommandFailure> {
    if let Some(typed) = typed {
        let hosts = began.plan.hosts.as_ref();
        return match hosts.and_then(|hosts| hosts.database.as_ref()) {
            Some(database) if typed != AUTO => Err(CommandFailure::usage(format!(
                "--postgres: {} has its database on {}, where Deadheat starts PostgreSQL; omit --postgres",
                began.id, database.host
            ))),
            _ => Ok(typed.to_owned()),
        };
    }
    let source = &began.asked.postgres;
    match &began.postgres {
        Some(server) if source.ends_with(WITHOUT_PASSWORD) => Err(CommandFailure::usage(format!(
            "going on with {}: it used {server}, which was named by a URL, and URLs are recorded without their \
             passwords; name it again with --postgres",
            began.id
        ))),
        Some(_) if !source.is_empty() => Ok(source.clone()),
        // No workload needed it, or the option was not given.
        _ => Ok(AUTO.to_owned()),
    }
}

/// What is measured: each target of each load.
fn cells(plan: &Plan) -> BTreeSet<Cell> {
    let loads = plan.loads.iter();
    let cells = loads.flat_map(|load| {
        load.targets.iter().map(|target| Cell {
            target: target.clone(),
            workload: load.workload.clone(),
            point: load.point.id.clone(),
        })
    });
    cells.collect()
}

/// The workloads of the plan at its load points, as far as there are manifests of them. Open loops follow from closed
/// ones, and have nothing of their own to be checked.
fn workloads(catalogue: &Catalogue, plan: &Plan) -> Vec<SelectedWorkload> {
    let mut workloads: Vec<SelectedWorkload> = Vec::new();
    for load in plan.leading() {
        let mut known = workloads.iter_mut();
        if let Some(known) = known.find(|one| one.manifest.id == load.workload) {
            known.points.push(load.point.clone());
        } else if let Some(manifest) = catalogue.workload(&load.workload) {
            workloads.push(SelectedWorkload {
                manifest: manifest.clone(),
                points: vec![load.point.clone()],
            });
        }
    }
    workloads
}

/// The targets of the plan, as far as there are manifests of them.
fn targets(catalogue: &Catalogue, plan: &Plan) -> Vec<SelectedTarget> {
    let planned: BTreeSet<&TargetId> = plan.loads.iter().flat_map(|one| &one.targets).collect();
    planned
        .into_iter()
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
    use clap::Parser;
    use deadheat_model::{heats::SCHEMA, machine::Machine};
    use serde_json::Value;

    use super::*;

    #[derive(Debug, Parser)]
    struct TestArgs {
        #[command(flatten)]
        run: RunArgs,
    }

    #[test]
    fn what_changes_what_is_measured_is_refused() {
        let typed = |options: &[&str]| {
            let all = ["run", "--resume", "x"].iter().chain(options);
            TestArgs::try_parse_from(all).unwrap().run.explicit
        };
        for harmless in [
            &[][..],
            &["--json"],
            &["--format", "csv", "-o", "report.md"],
            &["--no-config"],
            &["--postgres", "auto"],
            &["--root", "."],
            &["--live"],
        ] {
            refuse_others(&typed(harmless), &HARMLESS).unwrap();
        }
        // A default value counts as well.
        let error = refuse_others(
            &typed(&["--pinning", "apart", "--json", "--results", "y"]),
            &HARMLESS,
        );
        let error = error.unwrap_err().to_string();
        assert!(
            error.contains("--results") && error.contains("--pinning") && !error.contains("--json"),
            "{error}"
        );
    }

    #[test]
    fn postgresql_comes_from_its_first_source_or_from_the_one_that_is_named_again() {
        let source = |asked: &str, used: Option<&str>, typed: Option<&str>, hosts: &Value| {
            let header: SessionHeader = serde_json::from_value(serde_json::json!({
            "schema": SCHEMA, "id": "s", "deadheat": "1", "commit": null, "started": "", "arguments": [],
            "machine": Machine::default(), "targets": [], "postgres": used, "asked": {"postgres": asked},
            "plan": {
                "seed": 1, "loads": [], "pinning": {"mode": "off", "cpus": [0]}, "alpha": 0.05, "margin": 0.03,
                "until_decided": true, "budget_seconds": null, "estimate_seconds": 0.0, "hosts": hosts,
            },
        }))
        .unwrap();
            postgres(&header, typed).map_err(|error| error.to_string())
        };
        let began = |asked: &str, used: Option<&str>| source(asked, used, None, &Value::Null);
        let error = began("postgres://…", Some("PostgreSQL 17 of a URL")).unwrap_err();
        assert!(error.contains("name it again with --postgres"), "{error}");
        assert_eq!(began("postgres://…", None).unwrap(), "auto");
        assert_eq!(began("installed", Some("17")).unwrap(), "installed");
        assert_eq!(began("", Some("17")).unwrap(), "auto");
        let again = |typed: &str, hosts: &Value| source("auto", Some("17"), Some(typed), hosts);
        assert_eq!(again("installed", &Value::Null).unwrap(), "installed");
        // PostgreSQL on another host is started there, and comes from nowhere else.
        let elsewhere = serde_json::json!({
            "database": {"host": "db1", "address": "10.0.0.3", "client": "10.0.0.1"},
            "launcher": "ssh {host}", "address": "127.0.0.1",
        });
        let error = again("installed", &elsewhere).unwrap_err();
        assert!(error.contains("its database on db1"), "{error}");
        assert_eq!(again("auto", &elsewhere).unwrap(), "auto");
    }
}
