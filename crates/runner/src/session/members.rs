//! A stack as a member of a heat: its requests, its load, its warm-up, how answers are waited for, and how long its
//! start takes.

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

/// The minimum interval between two readings of a server's memory.
pub(super) const MEMORY_EVERY: Duration = Duration::from_secs(1);
/// The usual time of a warm-up beyond its rule's minimum, until the trend is within its bounds.
const STEADYING: Duration = Duration::from_millis(700);

/// The warm-ups of a stack with this runtime. After a start, a warm-up takes the time `asked`, or as long as it needs.
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

/// The approximate time of a warm-up by `rule`.
pub(super) fn warm_up_time(rule: WarmUpRule) -> Duration {
    (rule.least.max(rule.looked_at()) + STEADYING).min(rule.most)
}

/// The approximate time of starting, checking and stopping a server. `ready` is its time to the first correct answer,
/// if known.
pub(super) fn starting_time(ready: Option<Duration>) -> Duration {
    ready.unwrap_or(USUAL_READY) + OVERHEAD
}

/// How the load generator waits for answers: busy if it has CPUs that nothing else needs.
pub(super) fn wait(
    session: &SessionOptions,
    workload: &WorkloadManifest,
    pinning: &Pinning,
) -> Wait {
    // PostgreSQL and the slow upstream need the generator's CPUs.
    let own = || match (session.needs_service(workload), pinning) {
        (false, Pinning::Apart { .. }) => Wait::Poll,
        _ => Wait::Sleep,
    };
    session.wait_elsewhere().unwrap_or_else(own)
}

/// The settings of a heat at a load, which its members share.
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
    /// The session's certificate; `None` if no server uses TLS.
    pub(super) certificate: Option<&'a Certificate>,
    /// The servers kept from the previous heat.
    pub(super) kept: &'a KeptServers,
}

/// The settings of one member.
pub(super) struct Seat<'a> {
    pub(super) target: &'a SelectedTarget,
    /// How its code is executed on this machine.
    pub(super) runtime: Runtime,
    /// Its number among the servers that run together.
    pub(super) number: usize,
    pub(super) role: Role,
    /// Whether the server is kept for the next heat.
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

    /// The null server as a member, which gives a predefined answer.
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
            // The smallest CPU budget leaves the most CPUs to the generator.
            Role::Ceiling => server_cpus(
                &target.on_cpus(self.session.smallest_budget()),
                self.pinning,
            ),
            Role::Member | Role::Twin { .. } => server_cpus(target, self.pinning),
        };
        let request = MemberRequest {
            checks,
            point: self.point,
            launch: Launch {
                target,
                supervision: &self.session.supervision,
                pinned,
                cpus,
                host: self.session.address(),
                protocols: match role {
                    // It is only started for this load.
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

/// Identifies a member among the servers that run together.
pub(super) fn identity(target: &TargetId, role: Role) -> Identity {
    Identity {
        target: target.clone(),
        is_twin: matches!(role, Role::Twin { .. }),
    }
}

/// The time of starting, checking and stopping a server, without the time to its first answer.
const OVERHEAD: Duration = Duration::from_millis(400);
/// The assumed time to the first answer, until it is known.
const USUAL_READY: Duration = Duration::from_millis(300);

/// A target that takes part in the session.
#[derive(Clone, Debug)]
pub struct Participant {
    /// The stack, under its variant.
    pub target: TargetId,
    /// How its code is executed.
    pub runtime: Runtime,
    /// Its warm-ups in a heat.
    pub warm_ups: WarmUps,
    /// The ids of the workloads that it supports.
    pub workloads: Vec<String>,
    /// Its protocols in addition to HTTP/1.1 without TLS.
    pub protocols: Protocols,
    /// The time to its first correct answer in the preparation; `None` if unknown.
    pub ready: Option<Duration>,
}

/// The maximum width of the bins of a time series.
const BIN: Duration = Duration::from_millis(500);
/// The minimum number of bins of a slice.
const MIN_BINS: u32 = 8;

/// The requests to a server as a member of a heat.
pub struct MemberRequest<'a> {
    /// How its answers are checked.
    pub checks: Checks<'a>,
    /// The load point.
    pub point: &'a LoadPoint,
    /// How the server is started.
    pub launch: Launch<'a>,
    /// The generator's CPUs, one for each worker; empty means one worker that is not pinned.
    pub workers: Vec<usize>,
    /// The length of a slice's counted part.
    pub measure: Duration,
    /// The seed of random requests and arrivals.
    pub seed: u64,
}

/// How answers are checked.
pub enum Checks<'a> {
    /// By the workload's oracle. The server is ready when this check passes.
    Oracle(Readiness),
    /// Against a predefined answer, the null server's.
    Canned(&'a Canned),
}

impl Checks<'_> {
    /// Sends one request to check whether a server is ready. Setting `stop` ends the wait for the answer.
    pub(crate) fn probe(&self, route: Route, stop: &AtomicBool) -> Result<(), NotReady> {
        match self {
            Checks::Oracle(readiness) => readiness.probe(route, stop),
            Checks::Canned(canned) => Ok(canned.ask(route, ATTEMPT, stop)?),
        }
    }
}

/// The load `exchanges` of a member on the server with these ports.
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
        content_sample: request.launch.workload.content_sample,
        cpus: request.workers.clone(),
        bin: bin(request.measure),
        seed: request.seed,
        ..LoadSpec::new(target, exchanges.collect(), schedule, stop)
    }
}

/// The width of the bins of a measurement of length `measure`.
fn bin(measure: Duration) -> Duration {
    BIN.min(measure / MIN_BINS).max(Duration::from_nanos(1))
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
