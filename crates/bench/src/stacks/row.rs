//! A stack under one of its variants, and whether it can be measured here.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use deadheat_document::json::Body;
use deadheat_model::{
    StackProtocol, TargetId,
    session::FoundVersion,
    stack::{Class, Database, Http, Runtime, StackManifest, StackRole},
};
use deadheat_runner::{
    manifest::Stack,
    prepare::{Inspection, Unavailable, is_built},
};
use serde::Serialize;

/// A stack under one of its variants.
#[derive(Clone, Debug)]
pub struct Row {
    pub(super) manifest: StackManifest,
    pub(super) target: TargetId,
    pub(super) folder: PathBuf,
    pub(super) versions: Vec<FoundVersion>,
    pub(super) state: Availability,
}

/// Whether it can be measured here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "is", rename_all = "kebab-case")]
pub(super) enum Availability {
    /// It was built here before, and what was made is still there.
    Built,
    /// What it needs is here; it is built when it is used.
    Ready,
    /// Something that it needs is not here.
    Unavailable(Unavailable),
}

impl Row {
    pub(super) fn new(
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
                Some(unavailable) => Availability::Unavailable(unavailable),
                None if is_built(stack) => Availability::Built,
                None => Availability::Ready,
            },
        }
    }

    pub(super) fn database(&self) -> Option<&Database> {
        self.manifest.database(&self.target)
    }

    fn for_programs(&self) -> ListedStack<'_> {
        let Row {
            manifest, target, ..
        } = self;
        let variant = manifest.variant_of(target);
        ListedStack {
            target,
            stack: &target.stack,
            variant: target.variant.as_deref(),
            variant_description: variant.map(|variant| variant.description.as_str()),
            language: &manifest.language,
            framework: &manifest.framework,
            class: manifest.class,
            role: manifest.role,
            runtime: manifest.runtime(target),
            workloads: manifest.workloads.as_deref(),
            cpus: variant.and_then(|variant| variant.cpus),
            database: self.database(),
            http: manifest.http(target),
            protocols: manifest
                .protocols(target)
                .iter()
                .map(StackProtocol::key)
                .collect(),
            limits: manifest.limits(target),
            command: manifest.command(target),
            env: manifest.env(target, None),
            workload_env: &manifest.run.workload_env,
            folder: &self.folder,
            versions: &self.versions,
            state: &self.state,
        }
    }
}

/// What `stacks list --json` prints; docs/formats.md describes it.
#[derive(Serialize)]
pub(super) struct ListReport<'a> {
    stacks: Vec<ListedStack<'a>>,
}

impl Body for ListReport<'_> {
    const FORMAT: &'static str = "deadheat-stacks";
    const SCHEMA: u32 = 1;
}

impl<'a> ListReport<'a> {
    pub(super) fn new(rows: &'a [Row]) -> Self {
        Self {
            stacks: rows.iter().map(Row::for_programs).collect(),
        }
    }
}

/// A stack under one of its variants.
#[derive(Serialize)]
struct ListedStack<'a> {
    target: &'a TargetId,
    stack: &'a str,
    variant: Option<&'a str>,
    variant_description: Option<&'a str>,
    language: &'a str,
    framework: &'a str,
    class: Class,
    role: StackRole,
    runtime: Runtime,
    /// `None`: all of them.
    workloads: Option<&'a [String]>,
    cpus: Option<u32>,
    database: Option<&'a Database>,
    http: Http,
    protocols: Vec<&'static str>,
    limits: Vec<String>,
    command: &'a [String],
    env: BTreeMap<String, String>,
    workload_env: &'a BTreeMap<String, BTreeMap<String, String>>,
    folder: &'a Path,
    versions: &'a [FoundVersion],
    state: &'a Availability,
}
