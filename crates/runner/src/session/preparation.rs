//! The preparation before the first heat: checks whether each stack is available, builds, starts, and gives right
//! answers.

use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use deadheat_model::{
    Event, LoadPoint, Protocols, StackProtocol, TargetId,
    plan::Pinning,
    session::{BuildRecord, Phase, StackFailure, TargetRecord, TargetState, WorkloadFailure},
    stack::Runtime,
};

use super::{
    Participant, SelectedTarget, SessionError, SessionOptions,
    cpus::server_cpus,
    folder::SessionFolder,
    launch::{Launch, own_environment},
    members::warm_ups,
    readiness::Readiness,
    server::{Server, StartError},
    services::Services,
    sources::hash_sources,
    survey::{Inspections, answered, answers_nothing},
};
use crate::{
    agent::Agents,
    manifest::{SelectedWorkload, Stack},
    prepare::{
        BuildProgress, Builder, DEFAULT_COMMAND_LIMIT, Host, Inspection, NotPrepared, Unavailable,
        inspect,
    },
    verify::{CONNECTIONS, Declared, Depth, Ports, Verifier},
};

/// Prepares all targets of a session.
pub(super) struct Preparing<'a> {
    pub(super) options: &'a SessionOptions,
    pub(super) folder: &'a SessionFolder,
    pub(super) pinning: &'a Pinning,
    pub(super) services: Services,
    pub(super) on_event: &'a mut dyn FnMut(&Event),
    pub(super) interrupt: &'a AtomicBool,
    /// Whether the session will load the stacks.
    pub(super) loads: bool,
}

/// Starts the services of a session that will load its stacks, and prepares the stacks.
///
/// # Errors
/// When a file of the services cannot be written.
pub(super) fn prepare(
    options: &SessionOptions,
    folder: &SessionFolder,
    pinning: &Pinning,
    database_host: Option<Agents>,
    on_event: &mut dyn FnMut(&Event),
    interrupt: &AtomicBool,
) -> Result<(Services, Vec<Prepared>), SessionError> {
    let services = Services::start(options, folder, pinning, database_host, on_event, interrupt)?;
    let mut preparing = Preparing {
        options,
        folder,
        pinning,
        services,
        on_event,
        interrupt,
        loads: true,
    };
    let prepared = preparing.all();
    Ok((preparing.services, prepared))
}

/// A target that was prepared.
pub(super) struct Prepared {
    /// The target's record.
    pub(super) record: TargetRecord,
    /// Workloads with right answers.
    pub(super) passed: Vec<Passed>,
    /// The target as a participant of the plan; `None` if it cannot be measured.
    pub(super) participant: Option<Participant>,
}

/// A workload that a target answers correctly.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passed {
    /// Its id.
    pub workload: String,
    /// The number of probes that passed.
    pub probes: u32,
}

/// The results of checking a target that was started.
struct Verified {
    /// The time to its first right answer.
    ready: Duration,
    passed: Vec<Passed>,
    failed: Vec<WorkloadFailure>,
}

/// A target with the session's workloads that it supports and is selected for.
pub(super) fn participant(
    target: &SelectedTarget,
    options: &SessionOptions,
    runtime: Runtime,
    ready: Option<Duration>,
) -> Participant {
    Participant {
        target: target.target.clone(),
        runtime,
        warm_ups: warm_ups(options.warm_up, target, runtime),
        workloads: answered(target, options)
            .map(|one| one.manifest.id.clone())
            .collect(),
        protocols: target.stack.manifest.protocols(&target.target),
        ready,
    }
}

/// The workloads that the target supports and is selected for, in groups with the same environment of a server that may
/// use this number of CPUs.
fn by_environment<'a>(
    target: &'a SelectedTarget,
    options: &'a SessionOptions,
    cpus: usize,
) -> Vec<Vec<&'a SelectedWorkload>> {
    let mut groups: Vec<(BTreeMap<String, String>, Vec<&SelectedWorkload>)> = Vec::new();
    for workload in answered(target, options) {
        let env = own_environment(target, &workload.manifest, cpus);
        match groups.iter_mut().find(|(known, _)| *known == env) {
            Some((_, group)) => group.push(workload),
            None => groups.push((env, vec![workload])),
        }
    }
    groups.into_iter().map(|(_, group)| group).collect()
}

/// The state that the variants of a stack share, by the stack's id and folder. A comparison of revisions has the same
/// stack in two folders.
type Stacks = BTreeMap<(String, PathBuf), StackState>;

struct StackState {
    inspection: Inspection,
    /// The checksum of the sources when it was built; `None` if they could not be read.
    sources: Option<String>,
    /// The result of the build; `None` if no variant was available so far.
    build: Option<Result<BuildRecord, NotPrepared>>,
}

impl Preparing<'_> {
    /// Prepares all targets. Stops early if the user asks to.
    pub(super) fn all(&mut self) -> Vec<Prepared> {
        let mut stacks = Stacks::new();
        let mut prepared = Vec::new();
        let inspections = self.inspections();
        for target in &self.options.targets {
            let one = self.one(target, &inspections, &mut stacks);
            // A check that the user interrupted has no result.
            if self.interrupt.load(Ordering::Relaxed) {
                break;
            }
            (self.on_event)(&Event::Prepared {
                target: target.target.clone(),
                state: one.record.state.clone(),
                failed_workloads: one.record.failed_workloads.clone(),
            });
            prepared.push(one);
        }
        prepared
    }

    /// The toolchains of the stacks, as inspected before the session, or inspected now.
    fn inspections(&self) -> Inspections {
        let known = &self.options.inspections;
        if !known.is_empty() {
            return known.clone();
        }
        let host = Host::here(self.options.supervision.clone(), self.interrupt);
        Inspections::new(&host, self.options.stacks(), &mut |_| {})
    }

    fn one(
        &mut self,
        target: &SelectedTarget,
        inspections: &Inspections,
        stacks: &mut Stacks,
    ) -> Prepared {
        let host = Host::here(self.options.supervision.clone(), self.interrupt);
        let stack = stacks
            .entry((target.stack.manifest.id.clone(), target.stack.dir.clone()))
            .or_insert_with(|| StackState {
                inspection: inspections
                    .get(&target.stack)
                    .cloned()
                    .unwrap_or_else(|| inspect(&host, &target.stack)),
                sources: sources_of(&target.stack),
                build: None,
            });
        let missing = stack
            .inspection
            .availability(&host, &target.stack, &target.target, self.pinning)
            .or_else(|| answers_nothing(target, self.options));
        let (state, verified) = match missing {
            Some(Unavailable { reason, remedy }) => {
                (TargetState::Unavailable { reason, remedy }, None)
            }
            None => self.build_and_verify(&host, target, stack),
        };
        let participant = verified.as_ref().map(|verified| {
            let ready = Some(verified.ready);
            let runtime = stack.inspection.runtime(&target.stack, &target.target);
            let mut participant = participant(target, self.options, runtime, ready);
            participant
                .workloads
                .retain(|id| !verified.failed.iter().any(|one| one.workload == *id));
            participant
        });
        let (passed, failed) = verified.map_or_else(Default::default, |verified| {
            (verified.passed, verified.failed)
        });
        let inspection = &stack.inspection;
        Prepared {
            record: record_of(target, inspection, stack.sources.clone(), state, failed),
            passed,
            participant,
        }
    }

    fn build_and_verify(
        &mut self,
        host: &Host<'_>,
        target: &SelectedTarget,
        stack: &mut StackState,
    ) -> (TargetState, Option<Verified>) {
        let build = match &stack.build {
            Some(done) => done.clone(),
            None => {
                let built = self.build(host, target, &stack.inspection);
                stack.inspection.read_locked_again(&target.stack);
                // A fetch may have completed a lock file.
                stack.sources = sources_of(&target.stack);
                stack.build.insert(built).clone()
            }
        };
        let verified = build.and_then(|build| Ok((build, self.verify(target)?)));
        match verified {
            Ok((build, verified)) => (TargetState::Ready { build }, Some(verified)),
            Err(NotPrepared::Failed(failure)) => (TargetState::Failed(failure), None),
            Err(NotPrepared::Unavailable(Unavailable { reason, remedy })) => {
                (TargetState::Unavailable { reason, remedy }, None)
            }
        }
    }

    fn build(
        &mut self,
        host: &Host<'_>,
        target: &SelectedTarget,
        inspection: &Inspection,
    ) -> Result<BuildRecord, NotPrepared> {
        let logs = self.folder.logs();
        let builder = Builder {
            host,
            logs: &logs,
            limit: DEFAULT_COMMAND_LIMIT,
        };
        let mut tell = |progress: BuildProgress| {
            let step = match progress {
                BuildProgress::Waiting { lock } => {
                    format!(
                        "waiting for another deadheat, which uses {}",
                        lock.display()
                    )
                }
                BuildProgress::AlreadyFetched => return,
                BuildProgress::Running { command, .. } => command,
            };
            (self.on_event)(&Event::PrepareStarted {
                target: target.target.clone(),
                step,
            });
        };
        let build = builder.build(&target.stack, inspection, &mut tell)?;
        (self.on_event)(&Event::Built {
            target: target.target.clone(),
            build: build.clone(),
        });
        Ok(build)
    }

    /// Starts the target and checks all its workloads: the time to its first answer, and its failures. Workloads with
    /// the same environment share a server.
    fn verify(&mut self, target: &SelectedTarget) -> Result<Verified, StackFailure> {
        let options = self.options;
        let mut verified = Verified {
            ready: Duration::ZERO,
            passed: Vec::new(),
            failed: Vec::new(),
        };
        let (_, cpus) = server_cpus(target, self.pinning);
        for workloads in by_environment(target, options, cpus) {
            let server = self.start(target, workloads[0])?;
            if verified.ready.is_zero() {
                verified.ready = server.ready;
            }
            for workload in workloads {
                if self.interrupt.load(Ordering::Relaxed) {
                    break;
                }
                (self.on_event)(&Event::PrepareStarted {
                    target: target.target.clone(),
                    step: format!("verify {}", workload.manifest.id),
                });
                let id = workload.manifest.id.clone();
                match self.verify_workload(&server, target, workload, &verified.passed) {
                    Ok(probes) => verified.passed.push(Passed {
                        workload: id,
                        probes,
                    }),
                    Err(failure) => verified.failed.push(WorkloadFailure {
                        workload: id,
                        failure,
                    }),
                }
            }
            server.stop()?;
        }
        Ok(verified)
    }

    /// Starts the target's server with the environment of `workload`.
    fn start(
        &mut self,
        target: &SelectedTarget,
        workload: &SelectedWorkload,
    ) -> Result<Server, StackFailure> {
        let options = self.options;
        let (pinned, cpus) = server_cpus(target, self.pinning);
        let launch = Launch {
            target,
            supervision: &options.supervision,
            pinned,
            cpus,
            host: options.address(),
            protocols: options.protocols(target),
            certificate: self.services.certificate.clone(),
            workload: &workload.manifest,
            seat: 0,
            log: self.folder.log(&log_name(&target.target)),
            timeout: options.start_timeout,
        };
        let readiness = Readiness::new(
            options.plaintext.as_ref(),
            target,
            &workload.manifest,
            &workload.points[0],
        );
        let interrupt = self.interrupt;
        let mut probe =
            |ports: &Ports, protocol| readiness.probe(launch.route(ports, protocol), interrupt);
        let fixtures = &mut self.services.fixtures;
        match Server::start(&launch, fixtures, self.interrupt, &mut probe) {
            Ok(server) => Ok(server),
            Err(StartError::Failed(failure)) => Err(failure),
            Err(StartError::Interrupted) => Err(interrupted(target)),
        }
    }

    /// Checks a workload after those in `passed`. Returns the number of probes that passed.
    fn verify_workload(
        &mut self,
        server: &Server,
        target: &SelectedTarget,
        workload: &SelectedWorkload,
        passed: &[Passed],
    ) -> Result<u32, StackFailure> {
        if let Some(failure) = self.services.failure_for(&workload.manifest.oracle) {
            return Err(failure.clone());
        }
        let declared = Declared::by(&target.stack.manifest, &target.target);
        let asked = |point: &&LoadPoint| self.options.asks_at(target, workload, point);
        let points: Vec<&LoadPoint> = workload.points.iter().filter(asked).collect();
        let protocols = self.options.protocols_at(target, workload);
        let loads = points.iter().map(|point| point.in_flight());
        let most = loads.filter(|_| self.loads).max().unwrap_or(0);
        let clients = most.max(CONNECTIONS as u32);
        let mut probes = 0;
        for (index, check) in checks(&points, protocols).into_iter().enumerate() {
            let certificate = self.services.certificate.clone();
            let fixtures = &mut self.services.fixtures;
            let seed = self.options.seed;
            let (ports, manifest) = (server.ports, &workload.manifest);
            let address = ports.at(StackProtocol::Http1);
            let verifier = Verifier::new(
                address,
                declared.clone(),
                manifest,
                check.point,
                fixtures,
                seed,
            );
            let passed = passed.iter().map(|one| one.workload.as_str());
            let mut verifier = verifier
                .over(ports.route(check.protocol, certificate))
                .after(passed)
                .until(self.interrupt);
            if index == 0 {
                verifier
                    .check_free_connections(clients)
                    .map_err(|fault| server.failure(Phase::Service, fault.to_string()))?;
            }
            probes += verifier
                .verify(check.depth)
                .map_err(|fault| server.failure(Phase::VerifyBefore, fault.to_string()))?;
        }
        Ok(probes)
    }
}

/// One check of a stack at a workload.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Check<'p> {
    point: &'p LoadPoint,
    protocol: StackProtocol,
    depth: Depth,
}

/// The checks of a stack at these load points: a full one for each of `protocols` (always including HTTP/1.1), then a
/// brief one at each point with other requests.
fn checks<'p>(points: &[&'p LoadPoint], protocols: Protocols) -> Vec<Check<'p>> {
    let Some(first) = points.first() else {
        return Vec::new();
    };
    let full = protocols.iter().map(|protocol| Check {
        point: first,
        protocol,
        depth: Depth::Full,
    });
    let mut checks: Vec<Check<'p>> = full.collect();
    for point in points {
        let is_asked = |check: &Check<'_>| {
            check.protocol == point.protocol
                && check.point.rounds == point.rounds
                && check.point.queries == point.queries
        };
        if !checks.iter().any(is_asked) {
            checks.push(Check {
                point,
                protocol: point.protocol,
                depth: Depth::Brief,
            });
        }
    }
    checks
}

/// The log of a target's server while it is checked.
pub(super) fn log_name(target: &TargetId) -> String {
    format!("{}-check", target.file_stem())
}

fn sources_of(stack: &Stack) -> Option<String> {
    let hashed = hash_sources(&stack.dir);
    let warned = hashed.inspect_err(|error| {
        tracing::warn!(
            "hashing the sources of {}: {error}; this session cannot be resumed",
            stack.manifest.id
        );
    });
    warned.ok()
}

fn record_of(
    target: &SelectedTarget,
    inspection: &Inspection,
    sources: Option<String>,
    state: TargetState,
    failed_workloads: Vec<WorkloadFailure>,
) -> TargetRecord {
    let manifest = &target.stack.manifest;
    let variant = manifest.variant_of(&target.target);
    TargetRecord {
        target: target.target.clone(),
        language: manifest.language.clone(),
        framework: manifest.framework.clone(),
        class: manifest.class,
        role: manifest.role,
        runtime: inspection.runtime(&target.stack, &target.target),
        variant_description: variant.map(|variant| variant.description.clone()),
        cpus: manifest.cpus(&target.target),
        database: manifest.database(&target.target).cloned(),
        protocols: Some(manifest.protocols(&target.target)),
        limits: manifest.limits(&target.target),
        versions: inspection.versions(&target.target),
        sources,
        added: target.stack.added.clone(),
        state,
        failed_workloads,
    }
}

fn interrupted(target: &SelectedTarget) -> StackFailure {
    StackFailure {
        phase: Phase::Start,
        reason: format!(
            "{} was not prepared: the session was interrupted",
            target.target
        ),
        log_tail: Vec::new(),
        load: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::fixtures::point;

    #[test]
    fn each_protocol_is_checked_once_for_all_and_each_other_request_briefly() {
        use StackProtocol::{H2c, Http1, Tls};
        let points = [
            ("c50", Http1, None),
            ("c100", Http1, None),
            ("more", Http1, Some(2)),
            ("h2c", H2c, None),
        ];
        let points = points.map(|(id, protocol, rounds)| LoadPoint {
            protocol,
            rounds,
            ..point(id)
        });
        let of = |points: &[LoadPoint], protocols: &[StackProtocol]| -> Vec<_> {
            let points: Vec<&LoadPoint> = points.iter().collect();
            let checks = checks(&points, protocols.iter().copied().collect()).into_iter();
            checks
                .map(|one| (one.point.id.clone(), one.protocol, one.depth))
                .collect()
        };
        let check = |id: &str, protocol, depth| (id.to_owned(), protocol, depth);
        let full = |protocol| check("c50", protocol, Depth::Full);
        assert_eq!(
            of(&points, &[Tls, H2c]),
            [
                full(Http1),
                full(Tls),
                full(H2c),
                check("more", Http1, Depth::Brief)
            ]
        );
        // HTTP/1.1 is checked even if only another protocol is loaded.
        let alone = [Http1, H2c].map(|protocol| check("h2c", protocol, Depth::Full));
        assert_eq!(of(&points[3..], &[H2c]), alone);
    }
}
