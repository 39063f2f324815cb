//! The null server as something to measure: a stack of Deadheat's own, started as the others are.

use std::{io::Write, path::Path};

use deadheat_model::{
    LoadPoint, WorkloadManifest,
    plan::Controls,
    stack::{Build, Http, Run, Runtime, StackManifest},
};
use tempfile::NamedTempFile;

use super::SelectedTarget;
use crate::{
    manifest::Stack,
    services::null,
    verify::{Canned, Fixtures},
};

/// The null server with the answer to one workload.
pub(super) struct Ceiling {
    /// What is started.
    pub(super) target: SelectedTarget,
    /// What it answers.
    pub(super) canned: Canned,
    /// Deleted with this.
    _body: NamedTempFile,
}

impl Ceiling {
    /// The null server, run by `program`, with the answer to `workload`, which is kept in `folder` for as long as this
    /// lives.
    ///
    /// # Errors
    /// Why the answer is not known or cannot be written.
    pub(super) fn of(
        program: &Path,
        folder: &Path,
        workload: &WorkloadManifest,
        point: &LoadPoint,
        fixtures: &mut Fixtures,
        seed: u64,
    ) -> Result<Self, String> {
        let canned =
            Canned::of(workload, point, fixtures, seed).map_err(|fault| fault.to_string())?;
        let write = || {
            let mut body = NamedTempFile::with_prefix_in("null-answer-", folder)?;
            body.write_all(&canned.body)?;
            Ok(body)
        };
        let body = write().map_err(|error: std::io::Error| {
            format!(
                "writing the null server's answer in {}: {error}; free some space there",
                folder.display()
            )
        })?;
        let name = Controls::null_server_id();
        let mut command = vec![program.display().to_string(), null::COMMAND.to_owned()];
        command.extend(null::ServeOptions::args(&canned.content_type, body.path()));
        let manifest = StackManifest {
            id: name.stack.clone(),
            language: "Rust".to_owned(),
            framework: "none".to_owned(),
            runtime: Runtime::Native,
            limits: Vec::new(),
            workloads: None,
            http: Http::default(),
            database: None,
            toolchain: Vec::new(),
            locked: Vec::new(),
            build: Build::default(),
            run: Run {
                command,
                env: Default::default(),
            },
            variant: Vec::new(),
        };
        Ok(Self {
            target: SelectedTarget {
                stack: Stack {
                    dir: folder.to_owned(),
                    manifest,
                },
                target: name,
            },
            canned,
            _body: body,
        })
    }
}
