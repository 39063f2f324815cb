//! A stack as a member of a heat: what its server is asked for, the load that follows from it, how it is warmed up and waited
//! for, and how long it takes to bring it up.

use std::{
    path::PathBuf,
    sync::{Arc, Mutex, atomic::AtomicBool},
    time::Duration,
};

use deadheat_model::{
    Exchange, LoadPoint, LoadSpec, Protocols, Schedule, StopRule, TargetId, Wait, WorkloadManifest,
    heat::{HeatPlan, Role, WarmUpRule},
    load::Target,
    plan::Pinning,
    stack::Runtime,
};

use super::{
    SelectedTarget, SessionOptions,
    cpus::server_cpus,
    launch::Launch,
    readiness::{ATTEMPT, NotReady, Readiness},
};
use crate::{
    certificate::Certificate,
    heat::{Entry, Generator, Identity, KeptAt, KeptServers, ServerMember, WarmUps},
    verify::{Canned, Fixtures, Ports, Route},
};

/// How often a server's memory is read at most.
pub(super) const MEMORY_EVERY: Duration = Duration::from_secs(1);
/// What a warm-up usually takes beyond the least that its rule asks for: until the trend is within its bounds.
const STEADYING: Duration = Duration::from_millis(700);

/// How a stack that is executed like this is warmed up: after a start for as long as was `asked`, or as it needs.
pub(super) fn warm_ups(
    asked: Option<Duration>,
    target: &SelectedTarget,
    runtime: Runtime,
) -> WarmUps {
    if target.target == TargetId::null_server() {
        return WarmUps::of_null_server(asked);
    }
    WarmUps::new(runtime, target.stack.manifest.warm_up_seconds).lasting(asked)
}

/// About what a warm-up by `rule` takes.
pub(super) fn warm_up_time(rule: WarmUpRule) -> Duration {
    (rule.least.max(rule.looked_at()) + STEADYING).min(rule.most)
}

/// About what starting, checking and stopping a server takes. `ready` is what it took to its first correct answer, if
/// that is known.
pub(super) fn starting_time(ready: Option<Duration>) -> Duration {
    ready.unwrap_or(USUAL_READY) + OVERHEAD
}

/// How the load generator waits for answers: awake, if it has CPUs that nothing else needs.
pub(super) fn wait(
    session: &SessionOptions,
    workload: &WorkloadManifest,
    pinning: &Pinning,
) -> Wait {
    // PostgreSQL and the slow upstream work on the generator's CPUs, which they need.
    let own = || match (session.needs_service(workload), pinning) {
        (false, Pinning::Apart { .. }) => Wait::Poll,
        _ => Wait::Sleep,
    };
    session.wait_elsewhere().unwrap_or_else(own)
}

/// A heat at a load, as all its members share it.
#[derive(Clone, Copy)]
pub(super) struct HeatSetting<'a> {
    pub(super) session: &'a SessionOptions,
    pub(super) workload: &'a WorkloadManifest,
    pub(super) point: &'a LoadPoint,
    pub(super) plan: &'a HeatPlan,
    pub(super) pinning: &'a Pinning,
    pub(super) seed: u64,
    pub(super) generator: Generator<'a>,
    pub(super) interrupt: &'a Arc<AtomicBool>,
    /// The session's certificate, if a server of it is asked over TLS.
    pub(super) certificate: Option<&'a Certificate>,
    /// The servers of the heat before that go on.
    pub(super) kept: &'a KeptServers,
}

/// What is a member's own.
pub(super) struct Seat<'a> {
    pub(super) target: &'a SelectedTarget,
    /// How its code is executed here.
    pub(super) runtime: Runtime,
    /// Its number among the servers that are alive together.
    pub(super) number: usize,
    pub(super) role: Role,
    /// Whether the next heat goes on with it.
    pub(super) is_kept: bool,
    pub(super) log: PathBuf,
}

impl<'a> HeatSetting<'a> {
    /// A stack as a member, checked by its workload's oracle.
    pub(super) fn stack(&self, seat: Seat<'a>, fixtures: &'a Mutex<&'a mut Fixtures>) -> Entry<'a> {
        let plaintext = self.session.plaintext.as_ref();
        let readiness = Readiness::new(plaintext, seat.target, self.workload, self.point);
        self.entry(seat, Checks::Oracle(readiness), fixtures)
    }

    /// The null server as a member, which gives the answer that it was told.
    pub(super) fn ceiling(
        &self,
        seat: Seat<'a>,
        canned: &'a Canned,
        fixtures: &'a Mutex<&'a mut Fixtures>,
    ) -> Entry<'a> {
        self.entry(seat, Checks::Canned(canned), fixtures)
    }

    fn entry(
        &self,
        seat: Seat<'a>,
        checks: Checks<'a>,
        fixtures: &'a Mutex<&'a mut Fixtures>,
    ) -> Entry<'a> {
        let Seat {
            target,
            runtime,
            role,
            is_kept,
            ..
        } = seat;
        let identity = identity(&target.target, role);
        let goes_on = self.kept.seat(&identity).is_some();
        let (pinned, cpus) = match role {
            // Beside the smallest budget the generator has the most CPUs.
            Role::Ceiling => server_cpus(
                &target.on_cpus(self.session.smallest_budget()),
                self.pinning,
            ),
            Role::Member | Role::Twin { .. } => server_cpus(target, self.pinning),
        };
        let request = MemberRequest {
            target,
            checks,
            workload: self.workload,
            point: self.point,
            launch: Launch {
                target,
                supervision: &self.session.supervision,
                pinned,
                cpus,
                host: self.session.address(),
                protocols: match role {
                    // It is started for this load alone.
                    Role::Ceiling => [self.point.protocol].into_iter().collect(),
                    Role::Member | Role::Twin { .. } => self.session.protocols(target),
                },
                certificate: self.certificate.cloned(),
                workload: self.workload,
                seat: seat.number,
                log: seat.log,
                timeout: self.session.start_timeout,
            },
            workers: self.session.workers(self.pinning).unwrap_or_default(),
            measure: self.plan.slice,
            seed: self.seed,
        };
        let stop = Arc::clone(self.interrupt);
        let warm_ups = warm_ups(self.session.warm_up, target, runtime);
        Entry {
            target: target.target.clone(),
            role,
            warm_ups: if goes_on {
                warm_ups.when_kept()
            } else {
                warm_ups
            },
            is_kept,
            member: Box::new(
                ServerMember::new(request, self.plan.wait, fixtures, self.generator, stop).kept_at(
                    KeptAt {
                        servers: self.kept,
                        identity,
                        seat: seat.number,
                    },
                ),
            ),
        }
    }
}

/// Which of the servers that are alive together a member is.
pub(super) fn identity(target: &TargetId, role: Role) -> Identity {
    Identity {
        target: target.clone(),
        is_twin: matches!(role, Role::Twin { .. }),
    }
}

/// Starting, checking and stopping a server, beside the time to its first answer.
const OVERHEAD: Duration = Duration::from_millis(400);
/// The time to the first answer, while it is not known.
const USUAL_READY: Duration = Duration::from_millis(300);

/// A target that takes part, and how long it took to its first correct answer when it was prepared.
#[derive(Clone, Debug)]
pub struct Participant {
    /// The stack, under its variant.
    pub target: TargetId,
    /// How its code is executed.
    pub runtime: Runtime,
    /// How it is warmed up in a heat.
    pub warm_ups: WarmUps,
    /// Workloads that it answers.
    pub workloads: Vec<String>,
    /// What it speaks beside HTTP/1.1 without TLS.
    pub protocols: Protocols,
    /// To its first correct answer, once that is known.
    pub ready: Option<Duration>,
}

/// The width of the bins of the time series, …
const BIN: Duration = Duration::from_millis(500);
/// … and how many a slice has at least.
const LEAST_BINS: u32 = 8;

/// What a server is asked for as a member of a heat.
pub struct MemberRequest<'a> {
    /// The stack, under its variant.
    pub target: &'a SelectedTarget,
    /// How its answers are checked.
    pub checks: Checks<'a>,
    /// The workload.
    pub workload: &'a WorkloadManifest,
    /// The load point.
    pub point: &'a LoadPoint,
    /// How the server is started.
    pub launch: Launch<'a>,
    /// The generator's CPUs, one for each worker; none: one worker, not pinned.
    pub workers: Vec<usize>,
    /// The counted part of a slice.
    pub measure: Duration,
    /// The seed of random requests and arrivals.
    pub seed: u64,
}

/// How answers are checked.
pub enum Checks<'a> {
    /// By the workload's oracle; ready is who answers this question.
    Oracle(Readiness),
    /// Against one answer that is known in advance: the null server's.
    Canned(&'a Canned),
}

impl Checks<'_> {
    /// Asks a server once whether it is ready.
    pub(crate) fn probe(&self, route: Route) -> Result<(), NotReady> {
        match self {
            Checks::Oracle(readiness) => readiness.probe(route),
            Checks::Canned(canned) => Ok(canned.ask(route, ATTEMPT)?),
        }
    }
}

/// The load of a member on the server with these ports, which is asked for `exchanges`.
pub(crate) fn load_spec(
    request: &MemberRequest<'_>,
    ports: &Ports,
    exchanges: Vec<Exchange>,
) -> LoadSpec {
    let schedule = Schedule::Closed {
        connections: request.point.connections,
        ramp: Duration::ZERO,
    };
    let framing = request.point.sending.bodies;
    let exchanges = exchanges.into_iter().map(|mut exchange| {
        exchange.request.body = framing.apply(exchange.request.body);
        exchange
    });
    let stop = StopRule::Duration {
        length: request.measure,
    };
    let Route {
        address,
        certificate,
        protocol,
    } = request.launch.route(ports, request.point.protocol);
    let certificate = certificate.filter(|_| protocol.is_over_tls());
    let target = Target {
        tls: certificate.map(|certificate| certificate.load(address.ip())),
        ..Target::plain(address)
    };
    LoadSpec {
        protocol: request.point.load_protocol(),
        content_sample: request.workload.content_sample,
        cpus: request.workers.clone(),
        bin: bin(request.measure),
        seed: request.seed,
        ..LoadSpec::new(target, exchanges.collect(), schedule, stop)
    }
}

/// The width of the bins of a measurement that is to take so long.
fn bin(measure: Duration) -> Duration {
    BIN.min(measure / LEAST_BINS).max(Duration::from_nanos(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_slice_has_enough_bins() {
        for (measure, width) in [(0.1, 0.0125), (1.0, 0.125), (4.0, 0.5), (60.0, 0.5)] {
            let seconds = Duration::from_secs_f64;
            assert_eq!(bin(seconds(measure)), seconds(width), "{measure} s");
        }
    }
}
