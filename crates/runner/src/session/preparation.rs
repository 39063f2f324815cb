//! Before the first trial: is each stack available, does it build, start, and answer rightly?

use std::{
    collections::BTreeMap,
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use deadheat_model::{
    Event,
    plan::Pinning,
    session::{BuildRecord, TargetRecord, TargetState, WorkloadFailure},
    trial::{Phase, TrialFailure},
};

use super::{
    Participant, SelectedTarget, SelectedWorkload, SessionOptions,
    cpus::server_cpus,
    folder::SessionFolder,
    readiness::Readiness,
    server::{Launch, Server, StartError},
    services::Services,
};
use crate::{
    prepare,
    verify::{Depth, Verifier},
};

/// Prepares all targets of a session.
pub(super) struct Preparing<'a> {
    pub(super) options: &'a SessionOptions,
    pub(super) folder: &'a SessionFolder,
    pub(super) pinning: &'a Pinning,
    pub(super) services: Services,
    pub(super) on_event: &'a mut dyn FnMut(&Event),
    pub(super) interrupt: &'a AtomicBool,
}

/// A target that was prepared.
pub(super) struct Prepared {
    /// For the record.
    pub(super) record: TargetRecord,
    /// For the plan, when it can be measured.
    pub(super) participant: Option<Participant>,
}

/// A target that answers those of `workloads` that its manifest has.
pub(super) fn participant(
    target: &SelectedTarget,
    workloads: &[SelectedWorkload],
    ready: Option<Duration>,
) -> Participant {
    Participant {
        target: target.target.clone(),
        runtime: target.manifest.runtime,
        workloads: answered(target, workloads).map(|one| one.manifest.id.clone()).collect(),
        ready,
    }
}

fn answered<'a>(
    target: &'a SelectedTarget,
    workloads: &'a [SelectedWorkload],
) -> impl Iterator<Item = &'a SelectedWorkload> {
    workloads.iter().filter(|one| target.manifest.answers(&one.manifest.id))
}

type Builds = BTreeMap<String, Result<BuildRecord, TrialFailure>>;

impl Preparing<'_> {
    /// Prepares every target; stops early when the user asks to.
    pub(super) fn all(&mut self) -> Vec<Prepared> {
        let mut builds = Builds::new();
        let mut prepared = Vec::new();
        for target in &self.options.targets {
            if self.interrupt.load(Ordering::Relaxed) {
                break;
            }
            let one = self.one(target, &mut builds);
            (self.on_event)(&Event::Prepared {
                target: target.target.clone(),
                state: one.record.state.clone(),
                failed_workloads: one.record.failed_workloads.clone(),
            });
            prepared.push(one);
        }
        prepared
    }

    fn one(&mut self, target: &SelectedTarget, builds: &mut Builds) -> Prepared {
        let mut prepared = Prepared {
            record: record_of(target),
            participant: None,
        };
        let server_cpus = self.pinning.server_cpus();
        if let Some(state) = prepare::availability(&target.manifest, &target.target, server_cpus) {
            prepared.record.state = state;
            return prepared;
        }
        let build = match self.build(target, builds) {
            Ok(build) => build,
            Err(failure) => {
                prepared.record.state = TargetState::Failed(failure);
                return prepared;
            }
        };
        prepared.record.versions = prepare::versions(&target.folder, &target.manifest);
        match self.verify(target) {
            Err(failure) => prepared.record.state = TargetState::Failed(failure),
            Ok((ready, failed)) => {
                let mut participant = participant(target, &self.options.workloads, Some(ready));
                participant
                    .workloads
                    .retain(|id| !failed.iter().any(|one| one.workload == *id));
                prepared.participant = Some(participant);
                prepared.record.failed_workloads = failed;
                prepared.record.state = TargetState::Ready { build };
            }
        }
        prepared
    }

    /// Builds the target's stack, once for all its variants.
    fn build(
        &mut self,
        target: &SelectedTarget,
        builds: &mut Builds,
    ) -> Result<BuildRecord, TrialFailure> {
        if let Some(done) = builds.get(&target.manifest.id) {
            return done.clone();
        }
        let mut on_step = |step: &str| {
            (self.on_event)(&Event::PrepareStarted {
                target: target.target.clone(),
                step: step.to_owned(),
            });
        };
        let job = prepare::BuildJob {
            folder: &target.folder,
            manifest: &target.manifest,
            log: self.folder.log(&format!("{}-build", target.manifest.id)),
            supervision: &self.options.supervision,
            interrupt: self.interrupt,
        };
        let built = prepare::build(&job, &mut on_step);
        if let Ok(build) = &built {
            (self.on_event)(&Event::Built {
                target: target.target.clone(),
                build: build.clone(),
            });
        }
        builds.insert(target.manifest.id.clone(), built.clone());
        built
    }

    /// Starts the target once and asks it everything: the time to its first answer, and what it does not do.
    fn verify(&mut self, target: &SelectedTarget) -> Result<(Duration, Vec<WorkloadFailure>), TrialFailure> {
        let options = self.options;
        let Some(first) = answered(target, &options.workloads).next() else {
            return Err(not_one_workload(target));
        };
        let (pinned, cpus) = server_cpus(target, self.pinning);
        let launch = Launch {
            target,
            supervision: &options.supervision,
            pinned,
            cpus,
            log: self.folder.log(&format!("{}-check", target.target.file_stem())),
            timeout: options.start_timeout,
        };
        let readiness = Readiness::of(options.plaintext.as_ref(), target, &first.manifest, &first.points[0]);
        let mut probe = |address| readiness.probe(address);
        let fixtures = &mut self.services.fixtures;
        let server = match Server::start(&launch, fixtures, self.interrupt, &mut probe) {
            Ok(server) => server,
            Err(StartError::Failed(failure)) => return Err(failure),
            Err(StartError::Interrupted) => return Err(interrupted(target)),
        };
        let mut failed = Vec::new();
        for workload in answered(target, &options.workloads) {
            (self.on_event)(&Event::PrepareStarted {
                target: target.target.clone(),
                step: format!("verify {}", workload.manifest.id),
            });
            if let Err(failure) = self.verify_workload(&server, workload) {
                failed.push(WorkloadFailure {
                    workload: workload.manifest.id.clone(),
                    failure,
                });
            }
        }
        let ready = server.ready;
        server.stop();
        Ok((ready, failed))
    }

    fn verify_workload(&mut self, server: &Server, workload: &SelectedWorkload) -> Result<(), TrialFailure> {
        if let Some(failure) = self.services.failure_for(&workload.manifest.oracle) {
            return Err(failure.clone());
        }
        for (index, point) in workload.points.iter().enumerate() {
            let fixtures = &mut self.services.fixtures;
            let seed = self.options.seed;
            let mut verifier = Verifier::new(server.address, &workload.manifest, point, fixtures, seed);
            // What must be refused is the same at every load point.
            let depth = if index == 0 { Depth::Full } else { Depth::Brief };
            verifier
                .verify(depth)
                .map_err(|fault| server.failure(Phase::VerifyBefore, fault.to_string()))?;
        }
        Ok(())
    }
}

fn record_of(target: &SelectedTarget) -> TargetRecord {
    let manifest = &target.manifest;
    let database = manifest.database(&target.target);
    let variant = manifest.variant_of(&target.target);
    TargetRecord {
        target: target.target.clone(),
        language: manifest.language.clone(),
        framework: manifest.framework.clone(),
        runtime: manifest.runtime,
        variant_description: variant.map(|variant| variant.description.clone()),
        database: database.access,
        driver: database.driver.clone(),
        pool: database.pool,
        limits: manifest.limits(&target.target),
        versions: prepare::versions(&target.folder, manifest),
        state: TargetState::Failed(interrupted(target)),
        failed_workloads: Vec::new(),
    }
}

fn interrupted(target: &SelectedTarget) -> TrialFailure {
    TrialFailure {
        phase: Phase::Start,
        reason: format!("{} was not prepared: the session was interrupted", target.target),
        log_tail: Vec::new(),
        load: None,
    }
}

fn not_one_workload(target: &SelectedTarget) -> TrialFailure {
    TrialFailure {
        phase: Phase::VerifyBefore,
        reason: format!("{} answers none of the workloads that were asked for", target.target),
        log_tail: Vec::new(),
        load: None,
    }
}
