//! A stack under one of its variants, and whether it can be measured here.

use std::path::PathBuf;

use deadheat_model::{
    StackProtocol, TargetId,
    session::FoundVersion,
    stack::{Database, Http, StackManifest},
};
use deadheat_runner::{
    manifest::Stack,
    prepare::{Inspection, Unavailable, is_built},
};
use serde_json::{Value, json};

/// A stack under one of its variants.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) manifest: StackManifest,
    pub(super) target: TargetId,
    pub(super) folder: PathBuf,
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
    pub(super) fn of(
        stack: &Stack,
        target: &TargetId,
        inspection: &Inspection,
        missing: Option<Unavailable>,
    ) -> Self {
        Self {
            manifest: stack.manifest.clone(),
            target: target.clone(),
            folder: stack.dir.clone(),
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

    /// docs/formats.md describes it.
    pub(super) fn as_json(&self) -> Value {
        let Row {
            manifest, target, ..
        } = self;
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
            "class": manifest.class,
            "role": manifest.role,
            "runtime": manifest.runtime(target),
            "workloads": manifest.workloads,
            "cpus": variant.and_then(|variant| variant.cpus),
            "database": self.database(),
            "http": {
                "pipelining": pipelining,
                "chunked_bodies": chunked_bodies,
                "keep_alive": keep_alive,
            },
            "protocols": manifest.protocols(target).iter().map(StackProtocol::key).collect::<Vec<_>>(),
            "limits": manifest.limits(target),
            "command": manifest.command(target),
            "env": manifest.env(target, None),
            "workload_env": manifest.run.workload_env,
            "folder": self.folder,
            "versions": self.versions,
            "state": match &self.state {
                State::Built => json!({ "is": "built" }),
                State::Ready => json!({ "is": "ready" }),
                State::Unavailable(Unavailable { reason, remedy }) => {
                    json!({ "is": "unavailable", "reason": reason, "remedy": remedy })
                }
            },
        })
    }
}
