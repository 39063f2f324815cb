//! The null server as something to measure: a stack of Deadheat's own, started as the others are.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use deadheat_model::{
    LoadPoint, Protocols, TargetId, WorkloadManifest,
    stack::{Build, Class, Http, Run, Runtime, StackManifest, StackRole},
};

use super::SelectedTarget;
use crate::{
    manifest::Stack,
    services::null,
    verify::{Canned, Fixtures},
};

/// The file in a session's folder that has what the null server answers. One name for all heats: what a kill left is
/// overwritten by the next one.
pub(super) const ANSWER_FILE: &str = "null-answer";

/// That file, deleted with this.
struct Body(PathBuf);

impl Body {
    fn write(folder: &Path, content: &[u8]) -> io::Result<Self> {
        let body = Self(folder.join(ANSWER_FILE));
        fs::write(&body.0, content)?;
        Ok(body)
    }
}

impl Drop for Body {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// The null server with the answer to one workload.
pub(super) struct Ceiling {
    /// What is started.
    pub(super) target: SelectedTarget,
    /// What it answers.
    pub(super) canned: Canned,
    /// Deleted with this.
    _body: Body,
}

impl Ceiling {
    /// The null server, run by `program`, with the answer to `workload`, which is kept in `folder` for as long as this
    /// lives.
    ///
    /// # Errors
    /// Why the answer is not known or cannot be written.
    pub(super) fn new(
        program: &Path,
        folder: &Path,
        workload: &WorkloadManifest,
        point: &LoadPoint,
        fixtures: &mut Fixtures,
        seed: u64,
    ) -> Result<Self, String> {
        let canned =
            Canned::new(workload, point, fixtures, seed).map_err(|fault| fault.to_string())?;
        let body = Body::write(folder, &canned.body).map_err(|error| {
            format!(
                "writing the null server's answer in {}: {error}; free some space there",
                folder.display()
            )
        })?;
        let name = TargetId::null_server();
        let mut command = vec![program.display().to_string(), null::COMMAND.to_owned()];
        command.extend(null::ServeOptions::args(&canned.content_type, &body.0));
        let manifest = StackManifest {
            id: name.stack.clone(),
            language: "Rust".to_owned(),
            framework: "none".to_owned(),
            class: Class::Platform,
            role: StackRole::Yardstick,
            runtime: Runtime::Native,
            runtime_from: Vec::new(),
            warm_up_seconds: None,
            usual: None,
            limits: Vec::new(),
            workloads: None,
            routes: Default::default(),
            http: Http::default(),
            protocols: Protocols {
                tls: true,
                h2: true,
                h2c: true,
            },
            database: None,
            toolchain: Vec::new(),
            locked: Vec::new(),
            build: Build::default(),
            run: Run {
                command,
                env: Default::default(),
                workload_env: Default::default(),
            },
            variant: Vec::new(),
        };
        Ok(Self {
            target: SelectedTarget {
                stack: Stack {
                    dir: folder.to_owned(),
                    manifest,
                    added: None,
                },
                target: name,
            },
            canned,
            _body: body,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_kill_left_is_overwritten_and_nothing_stays() {
        let folder = tempfile::tempdir().unwrap();
        std::mem::forget(Body::write(folder.path(), b"the longer one, left behind").unwrap());
        let body = Body::write(folder.path(), b"short").unwrap();
        assert_eq!(fs::read(&body.0).unwrap(), b"short");
        drop(body);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
