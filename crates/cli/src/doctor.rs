//! `deadheat doctor`: what about this machine would spoil a measurement. And the lines that `deadheat run` says of it.

mod text;

use std::{path::Path, time::Duration};

use deadheat_model::{
    hosts::Hosts,
    machine::{Finding, Level, Machine},
};
use deadheat_runner::{
    doctor::{CONNECTIONS, WATCH, WATCH_BEFORE_A_RUN, Watched, World, judge},
    manifest::{self, ROOT_VARIABLE},
    session::{PinningMode, SessionOptions},
};
use serde_json::{Value, json};

use crate::{
    args::DoctorArgs,
    exit::{Exit, Failure},
    output,
};

pub(crate) fn doctor(args: &DoctorArgs) -> Result<Exit, Failure> {
    let watch = args.watch.unwrap_or(WATCH);
    if output::watched() {
        output::note(&format!(
            "watching what others do for {}",
            humantime::format_duration(watch)
        ));
    }
    let connections = connections();
    let world = World::here(
        watch,
        Path::new("results"),
        PinningMode::Apart,
        connections.unwrap_or(CONNECTIONS),
    );
    let findings = judge(&world);
    output::data(&if args.json {
        format!("{:#}\n", as_json(&findings, &world.machine, &world.watched))
    } else {
        text::as_text(&findings, world.watched.span, output::colour())
    })?;
    Ok(match text::warnings(&findings).count() {
        0 => Exit::Fine,
        _ => Exit::Failed,
    })
}

/// What is not fine, for the session's record. Warnings are told of in a line or two.
pub(crate) fn before_a_run(options: &SessionOptions) -> Vec<Finding> {
    let points = options.workloads.iter().flat_map(|one| &one.points);
    let connections = points.map(|point| point.connections).max();
    let mut findings = judge(&World::here(
        WATCH_BEFORE_A_RUN,
        &options.results,
        options.pinning,
        connections.unwrap_or(CONNECTIONS),
    ));
    let loaded_elsewhere = options.hosts.as_ref().is_some_and(Hosts::load_it);
    findings.retain(|finding| {
        // They are judged for a generator on this machine.
        finding.level != Level::Fine && !(loaded_elsewhere && finding.check == "cpus")
    });
    if let Some(lines) = text::in_short(&findings) {
        output::note(&lines);
    }
    findings
}

/// The most connections of all workloads; `None` outside a folder with workloads, and where they cannot be read.
fn connections() -> Option<u32> {
    let variable = std::env::var_os(ROOT_VARIABLE);
    let current = std::env::current_dir().ok()?;
    let root = manifest::find_root(None, variable.as_deref().map(Path::new), &current).ok()?;
    let catalogue = manifest::load(&root, &[]).ok()?;
    let points = catalogue.workloads.iter().flat_map(|one| &one.point);
    points.map(|point| point.connections).max()
}

/// docs/doctor.md describes it.
fn as_json(findings: &[Finding], machine: &Machine, watched: &Watched) -> Value {
    let Watched {
        span, disturbance, ..
    } = watched;
    json!({
        "warnings": text::warnings(findings).count(),
        "watched_seconds": Duration::as_secs_f64(span),
        "other_cpu": disturbance.other_cpu,
        "steal": disturbance.steal,
        "machine": machine,
        "findings": findings,
    })
}
