//! `deadheat stacks list`: what there is, and what it lacks here.

use deadheat_model::{
    TargetId,
    session::FoundVersion,
    stack::{Database, Http, StackManifest},
};
use deadheat_runner::{
    manifest::{self, Stack},
    prepare::{Host, Inspection, Unavailable, inspect, is_built},
    session::{self, PinningMode},
};
use serde_json::{Value, json};

use super::table;
use crate::{
    args::ListArgs,
    exit::{Exit, Failure},
    interrupt, output,
    run::supervision,
    select,
};

pub(crate) fn list(args: &ListArgs) -> Result<Exit, Failure> {
    let catalogue = select::catalogue(args.root.as_deref())?;
    let wanted = manifest::select_targets(&catalogue, &args.stacks).map_err(Failure::usage)?;
    let interrupted = interrupt::on_signals().map_err(Failure::nothing)?;
    let host = Host::here(supervision()?, &interrupted);
    let pinning = session::share_out(PinningMode::Apart);
    let mut rows = Vec::new();
    for stack in &catalogue.stacks {
        let mut targets = stack.manifest.targets();
        targets.retain(|target| wanted.contains(target));
        if targets.is_empty() {
            continue;
        }
        let inspection = inspect(&host, stack);
        for target in targets {
            let missing = inspection.availability(&host, stack, &target, &pinning);
            rows.push(Row::of(stack, &target, &inspection, missing));
        }
    }
    output::data(&match args.json {
        true => format!("{:#}\n", rows.iter().map(as_json).collect::<Value>()),
        false => table::as_text(&rows, output::width()),
    })?;
    Ok(Exit::Fine)
}

/// A stack under one of its variants.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) manifest: StackManifest,
    pub(super) target: TargetId,
    pub(super) versions: Vec<FoundVersion>,
    pub(super) state: State,
}

/// Whether it can be measured here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// It was built here before, and what was made is still there.
    Built,
    /// What it needs is here; it is built when it is used.
    Ready,
    /// Something that it needs is not here.
    Unavailable(Unavailable),
}

impl Row {
    fn of(
        stack: &Stack,
        target: &TargetId,
        inspection: &Inspection,
        missing: Option<Unavailable>,
    ) -> Self {
        Self {
            manifest: stack.manifest.clone(),
            target: target.clone(),
            versions: inspection.versions(target),
            state: match missing {
                Some(unavailable) => State::Unavailable(unavailable),
                None if is_built(stack) => State::Built,
                None => State::Ready,
            },
        }
    }

    pub(super) fn database(&self) -> Option<&Database> {
        self.manifest.database(&self.target)
    }
}

/// docs/formats.md describes it.
fn as_json(row: &Row) -> Value {
    let Row {
        manifest, target, ..
    } = row;
    let variant = manifest.variant_of(target);
    let Http {
        pipelining,
        chunked_bodies,
        keep_alive,
    } = manifest.http(target);
    json!({
        "target": target,
        "stack": target.stack,
        "variant": target.variant,
        "variant_description": variant.map(|variant| &variant.description),
        "language": manifest.language,
        "framework": manifest.framework,
        "runtime": manifest.runtime(target),
        "workloads": manifest.workloads,
        "cpus": variant.and_then(|variant| variant.cpus),
        "database": row.database(),
        "http": {
            "pipelining": pipelining,
            "chunked_bodies": chunked_bodies,
            "keep_alive": keep_alive,
        },
        "limits": manifest.limits(target),
        "versions": row.versions,
        "state": match &row.state {
            State::Built => json!({ "is": "built" }),
            State::Ready => json!({ "is": "ready" }),
            State::Unavailable(Unavailable { reason, remedy }) => {
                json!({ "is": "unavailable", "reason": reason, "remedy": remedy })
            }
        },
    })
}
