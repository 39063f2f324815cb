//! A stack's server, or the null server, as a member of a heat.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError, atomic::AtomicBool},
    time::{Duration, Instant},
};

use deadheat_model::{
    Exchange, LoadSpec, Observation, SliceEvent, StackProtocol, Wait,
    heat::{Compression, CpuUsed, Freezing},
    session::{Phase, StackFailure},
};

use super::{
    MeasuredSlice, Member, Started,
    load::{Generator, Load, at_rate},
    member::{Identity, KeptServer, KeptServers},
};
use crate::{
    sampling::Tree,
    session::{
        members::{Checks, MemberRequest, load_spec},
        readiness,
        server::{Server, StartError},
    },
    verify::{self, Acknowledged, Declared, Depth, Fault, Fixtures, ItemsSeen, Ports, Verifier},
};

/// The part of a slice (one tenth) by which the span of a CPU time, or the load's beginning, may be off at most.
const OFF: u32 = 10;

/// A server that can be started, checked and loaded in a heat.
pub(crate) trait Startable: Send {
    /// Starts the server and waits until it is ready, or until `stop` is set.
    fn start(&self, stop: &AtomicBool) -> Result<Server, StartError>;

    /// Checks the server's answers. Setting `stop` ends the check with an error that is not the server's.
    fn verify(&self, server: &Server, stop: &AtomicBool) -> Result<Verified, Fault>;

    /// The load of the server at `ports`.
    fn load(&self, ports: &Ports, exchanges: Vec<Exchange>) -> LoadSpec;

    /// The names of the load's request groups. The default is no groups.
    fn routes(&self) -> Vec<String> {
        Vec::new()
    }

    /// The counts of the services behind the server so far. The default is no services.
    fn services(&self, _: &Server) -> Result<Services, Fault> {
        Ok(Services::default())
    }

    /// Checks that the services received one request for each answer that the load found since the earlier counts.
    fn check_services(&self, _: &Server, _: &Services, _: &Observation) -> Result<(), Fault> {
        Ok(())
    }

    /// Checks that the database has the writes that were acknowledged since `before`; how many these are, if it writes.
    fn check_acknowledged(
        &self,
        _: &Server,
        _: &Services,
        _: &Acknowledged,
    ) -> Result<Option<u64>, Fault> {
        Ok(None)
    }
}

/// What a check of a server found.
#[derive(Default)]
pub(crate) struct Verified {
    /// Checks that passed.
    pub(crate) checks: u32,
    /// What its load is to ask.
    pub(crate) exchanges: Vec<Exchange>,
    /// How much shorter compression makes its answers.
    pub(crate) compression: Option<Compression>,
}

/// Counts of the services behind a server at one moment.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Services {
    /// Requests that the upstream service received.
    asked: Option<u64>,
    /// Connections that the database accepted.
    sessions: Option<u64>,
    /// Rows and statements of the table items.
    items: Option<ItemsSeen>,
}

/// A server that takes part in a heat.
pub struct ServerMember<'a> {
    startable: Box<dyn Startable + 'a>,
    generator: Generator<'a>,
    stop: Arc<AtomicBool>,
    kept_at: Option<KeptAt<'a>>,
    running: Option<Running<'a>>,
}

/// The store that keeps a server between heats, and the server's identity in it.
pub(crate) struct KeptAt<'a> {
    pub(crate) servers: &'a KeptServers,
    pub(crate) identity: Identity,
    /// The server's number among those that run together.
    pub(crate) seat: usize,
}

/// A running server with its load.
struct Running<'a> {
    server: Server,
    tree: Tree,
    verified: Verified,
    load: Option<Load<'a>>,
    seen: LoadSeen,
    /// The number of loads that the server served before this one.
    loads_before: u32,
}

impl Running<'_> {
    fn new(server: Server, tree: Tree, loads_before: u32) -> Self {
        Self {
            server,
            tree,
            verified: Verified::default(),
            load: None,
            seen: LoadSeen::default(),
            loads_before,
        }
    }
}

/// The counts of the services behind a server before its warm-up, and the results of its load since then.
#[derive(Default)]
struct LoadSeen {
    is_warm_up: bool,
    before: Services,
    /// In the warm-up alone: meanwhile no other server is loaded.
    warm_up: Observation,
    /// From the warm-up on.
    acknowledged: Acknowledged,
}

impl<'a> ServerMember<'a> {
    /// A member for `request`, which `generator` loads, waiting as `wait` says. Setting `stop` ends a start and a slice.
    pub fn new(
        request: MemberRequest<'a>,
        wait: Wait,
        fixtures: &'a Mutex<&'a mut Fixtures>,
        generator: Generator<'a>,
        stop: Arc<AtomicBool>,
    ) -> Self {
        let startable = StartableStack {
            request,
            wait,
            fixtures,
        };
        Self::of_startable(startable, generator, stop)
    }

    /// This member with the server that an earlier heat left there, if any.
    pub(crate) fn kept_at(self, at: KeptAt<'a>) -> Self {
        Self {
            kept_at: Some(at),
            ..self
        }
    }

    /// A member that starts, checks and loads `startable`.
    pub(crate) fn of_startable(
        startable: impl Startable + 'a,
        generator: Generator<'a>,
        stop: Arc<AtomicBool>,
    ) -> Self {
        Self {
            startable: Box::new(startable),
            generator,
            stop,
            kept_at: None,
            running: None,
        }
    }

    /// Thaws the server that an earlier heat kept; `None` without one.
    fn kept(&self) -> Result<Option<KeptServer>, StackFailure> {
        let Some(at) = &self.kept_at else {
            return Ok(None);
        };
        let Some(mut kept) = at.servers.take(&at.identity) else {
            return Ok(None);
        };
        let child = kept.server.child();
        let goes_on = child.thaw().map_err(|error| error.to_string());
        let goes_on = goes_on.and_then(|()| match child.wait_exit(Duration::ZERO) {
            None => Ok(()),
            Some(exit) => Err(format!("it {exit} while it was frozen between two loads")),
        });
        match goes_on {
            Ok(()) => Ok(Some(kept)),
            Err(reason) => {
                let failure = kept.server.failure(Phase::Load, reason);
                kept.server.stop_soon();
                Err(failure)
            }
        }
    }
}

/// Whether `cpu` covers the `length` in which answers were counted, which began this `late`. On a busy machine, the
/// events of a slice can arrive late, and the CPU time of another span would be a wrong cost.
fn is_of_answers(cpu: &CpuUsed, length: Duration, late: Duration) -> bool {
    let most = length / OFF;
    let off = (cpu.span_seconds - length.as_secs_f64()).abs();
    late < most && off < most.as_secs_f64()
}

/// The running server, or the failure that none is running.
fn require_running<'r, 'a>(
    running: &'r mut Option<Running<'a>>,
) -> Result<&'r mut Running<'a>, StackFailure> {
    running.as_mut().ok_or_else(|| {
        let reason = "the server is not running".to_owned();
        without_server(Phase::Start, reason)
    })
}

pub(super) fn without_server(phase: Phase, reason: String) -> StackFailure {
    StackFailure {
        phase,
        reason,
        log_tail: Vec::new(),
        load: None,
    }
}

impl Member for ServerMember<'_> {
    fn start(&mut self) -> Result<Option<Started>, StackFailure> {
        let (running, ready) = match self.kept()? {
            Some(kept) => (Running::new(kept.server, kept.tree, kept.loads), None),
            None => {
                let mut server = match self.startable.start(&self.stop) {
                    Ok(server) => server,
                    Err(StartError::Interrupted) => return Ok(None),
                    Err(StartError::Failed(failure)) => return Err(failure),
                };
                let (tree, ready) = (Tree::new(server.child()), server.ready);
                (Running::new(server, tree, 0), Some(ready))
            }
        };
        let started = Started {
            command: running.server.command.clone(),
            ready,
            cpu_source: Some(running.tree.cpu_source()),
            loads_before: running.loads_before,
        };
        self.running = Some(running);
        Ok(Some(started))
    }

    fn verify(&mut self, phase: Phase) -> Result<u32, StackFailure> {
        let running = require_running(&mut self.running)?;
        let verified = self.startable.verify(&running.server, &self.stop);
        running.verified =
            verified.map_err(|fault| running.server.failure(phase, fault.to_string()))?;
        Ok(running.verified.checks)
    }

    fn check_written(&mut self) -> Result<Option<u64>, StackFailure> {
        let running = require_running(&mut self.running)?;
        let LoadSeen {
            before,
            acknowledged,
            ..
        } = &running.seen;
        let checked = self
            .startable
            .check_acknowledged(&running.server, before, acknowledged);
        checked.map_err(|fault| running.server.failure(Phase::Load, fault.to_string()))
    }

    fn open(&mut self, per_second: Option<f64>) -> Result<(), StackFailure> {
        let stop = Arc::clone(&self.stop);
        let running = require_running(&mut self.running)?;
        running.load = None;
        let ports = &running.server.ports;
        let spec = self
            .startable
            .load(ports, running.verified.exchanges.clone());
        let load = Load::open(at_rate(spec, per_second), self.generator, stop);
        let load = load.map_err(|error| running.server.failure(Phase::Load, error.to_string()));
        running.load = Some(load?);
        if per_second.is_some() {
            // Its warm-up is over.
            return Ok(());
        }
        running.seen.is_warm_up = true;
        let told = |fault: Fault| running.server.failure(Phase::Service, fault.to_string());
        running.seen.before = self.startable.services(&running.server).map_err(told)?;
        Ok(())
    }

    fn settle(&mut self) -> Result<(), StackFailure> {
        let running = require_running(&mut self.running)?;
        let LoadSeen {
            is_warm_up,
            before,
            warm_up,
            ..
        } = &mut running.seen;
        *is_warm_up = false;
        let found = std::mem::take(warm_up);
        let checked = self
            .startable
            .check_services(&running.server, before, &found);
        checked.map_err(|fault| running.server.failure(Phase::Load, fault.to_string()))
    }

    fn slice(
        &mut self,
        guard: Duration,
        length: Duration,
        on_edge: &mut dyn FnMut(SliceEvent),
    ) -> Result<MeasuredSlice, StackFailure> {
        let running = require_running(&mut self.running)?;
        let Some(load) = &mut running.load else {
            let reason = "its load has not been opened".to_owned();
            return Err(running.server.failure(Phase::Load, reason));
        };
        let (mut first, mut last, mut drained) = (None, None, None);
        let tree = &running.tree;
        // The member's own time is read at the inner side of the edges.
        let mut on_edge = |edge| match edge {
            SliceEvent::CountingStarted => {
                on_edge(edge);
                first = Some((tree.cpu(), Instant::now()));
            }
            SliceEvent::CountingEnded => {
                last = Some((tree.cpu(), Instant::now()));
                on_edge(edge);
            }
            SliceEvent::Drained => {
                drained = tree.cpu();
                on_edge(edge);
            }
        };
        let seen = load.slice(guard, length, &mut on_edge);
        let cpu = first.zip(last).and_then(|((first, begun), (last, ended))| {
            let (first, last) = (first?, last?);
            Some(CpuUsed {
                seconds: last.saturating_sub(first).as_secs_f64(),
                span_seconds: ended.duration_since(begun).as_secs_f64(),
                drain_seconds: drained.map(|cpu| cpu.saturating_sub(last).as_secs_f64()),
            })
        });
        match seen {
            Ok(result) => {
                let found = &result.observation;
                if running.seen.is_warm_up {
                    // Only what was asked is wanted of it.
                    running.seen.warm_up.total.merge(&found.total);
                }
                if running.seen.before.items.is_some() {
                    let routes = self.startable.routes();
                    running.seen.acknowledged.add(found, &routes);
                }
                let cpu = cpu.filter(|cpu| is_of_answers(cpu, length, result.late));
                Ok(MeasuredSlice { result, cpu })
            }
            Err(error) => {
                // Nobody knows what it has acknowledged meanwhile.
                running.seen.before.items = None;
                Err(running.server.failure(Phase::Load, error.to_string()))
            }
        }
    }

    fn freeze(&mut self) -> Result<(), StackFailure> {
        let server = &mut require_running(&mut self.running)?.server;
        let frozen = server.child().freeze();
        frozen.map_err(|error| server.failure(Phase::Load, error.to_string()))
    }

    fn thaw(&mut self) -> Result<(), StackFailure> {
        let server = &mut require_running(&mut self.running)?.server;
        let thawed = server.child().thaw();
        thawed.map_err(|error| server.failure(Phase::Load, error.to_string()))
    }

    fn routes(&self) -> Vec<String> {
        self.startable.routes()
    }

    fn compression(&self) -> Option<Compression> {
        self.running.as_ref()?.verified.compression
    }

    fn freezing(&mut self) -> Freezing {
        match &mut self.running {
            Some(running) => running.server.child().freezing().clone(),
            None => Freezing::Off,
        }
    }

    fn memory(&mut self) -> Option<u64> {
        self.running.as_ref()?.tree.pss_bytes()
    }

    fn cpu(&mut self) -> Option<Duration> {
        self.running.as_ref()?.tree.cpu()
    }

    fn exit(&mut self, patience: Duration) -> Option<String> {
        self.running.as_mut()?.server.child().wait_exit(patience)
    }

    fn failure(&mut self, phase: Phase, reason: String) -> StackFailure {
        match &self.running {
            Some(running) => running.server.failure(phase, reason),
            None => without_server(phase, reason),
        }
    }

    fn stop(&mut self) -> Result<(), StackFailure> {
        let Some(running) = self.running.take() else {
            return Ok(());
        };
        // First, so that the server waits for no connection of ours.
        drop(running.load);
        running.server.stop()
    }

    fn keep(&mut self) {
        let Some(at) = &self.kept_at else {
            return self.stop_soon();
        };
        if let Some(running) = self.running.take() {
            drop(running.load);
            at.servers.leave(KeptServer {
                identity: at.identity.clone(),
                seat: at.seat,
                loads: running.loads_before + 1,
                server: running.server,
                tree: running.tree,
            });
        }
    }

    fn stop_soon(&mut self) {
        if let Some(running) = self.running.take() {
            drop(running.load);
            running.server.stop_soon();
        }
    }
}

/// A stack's server, or the null server.
struct StartableStack<'a> {
    request: MemberRequest<'a>,
    wait: Wait,
    fixtures: &'a Mutex<&'a mut Fixtures>,
}

impl Startable for StartableStack<'_> {
    fn start(&self, stop: &AtomicBool) -> Result<Server, StartError> {
        let mut probe = |ports: &Ports, protocol| {
            let route = self.request.launch.route(ports, protocol);
            self.request.checks.probe(route, stop)
        };
        Server::start(&self.request.launch, &lock(self.fixtures), stop, &mut probe)
    }

    /// Checks by the workload's oracle, or against the given answer.
    fn verify(&self, server: &Server, stop: &AtomicBool) -> Result<Verified, Fault> {
        if let Checks::Canned(canned) = &self.request.checks {
            let protocol = self.request.point.protocol;
            let route = self.request.launch.route(&server.ports, protocol);
            canned.ask(route, readiness::ATTEMPT, stop)?;
            return Ok(Verified {
                checks: 1,
                exchanges: vec![canned.exchange.clone()],
                compression: None,
            });
        }
        let mut fixtures = lock(self.fixtures);
        let mut verifier = verifier(&self.request, server, &mut fixtures).until(stop);
        Ok(Verified {
            checks: verifier.verify(Depth::Brief)?,
            exchanges: verifier.exchanges()?,
            compression: verifier.compression()?,
        })
    }

    fn load(&self, ports: &Ports, exchanges: Vec<Exchange>) -> LoadSpec {
        LoadSpec {
            wait: self.wait,
            ..load_spec(&self.request, ports, exchanges)
        }
    }

    fn routes(&self) -> Vec<String> {
        verify::routes(self.request.launch.workload)
    }

    fn services(&self, server: &Server) -> Result<Services, Fault> {
        if let Checks::Canned(_) = self.request.checks {
            return Ok(Services::default());
        }
        let mut fixtures = lock(self.fixtures);
        let mut verifier = verifier(&self.request, server, &mut fixtures);
        Ok(Services {
            asked: verifier.service_count()?,
            sessions: verifier.sessions()?,
            items: verifier.items_seen()?,
        })
    }

    fn check_services(
        &self,
        server: &Server,
        before: &Services,
        found: &Observation,
    ) -> Result<(), Fault> {
        if let Checks::Canned(_) = self.request.checks {
            return Ok(());
        }
        let mut fixtures = lock(self.fixtures);
        let mut verifier = verifier(&self.request, server, &mut fixtures);
        verifier.check_service_count(before.asked, found)?;
        let asked = format!("{} under load", self.request.launch.workload.id);
        verifier.check_pool(&asked, before.sessions, found.total.succeeded)
    }

    fn check_acknowledged(
        &self,
        server: &Server,
        before: &Services,
        acknowledged: &Acknowledged,
    ) -> Result<Option<u64>, Fault> {
        if before.items.is_none() {
            return Ok(None);
        }
        let mut fixtures = lock(self.fixtures);
        verifier(&self.request, server, &mut fixtures)
            .check_acknowledged(before.items, acknowledged)
    }
}

fn verifier<'v>(
    request: &MemberRequest<'v>,
    server: &Server,
    fixtures: &'v mut Fixtures,
) -> Verifier<'v> {
    let target = request.launch.target;
    Verifier::new(
        server.ports.at(StackProtocol::Http1),
        Declared::by(&target.stack.manifest, &target.target),
        request.launch.workload,
        request.point,
        fixtures,
        request.seed,
    )
    .over(request.launch.route(&server.ports, request.point.protocol))
    .seated(request.launch.seat)
}

fn lock<'l, 'f>(fixtures: &'l Mutex<&'f mut Fixtures>) -> MutexGuard<'l, &'f mut Fixtures> {
    fixtures.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cpu_time_of_another_span_than_the_answers_is_none_of_theirs() {
        let length = Duration::from_millis(37);
        let is_kept = |span_seconds, late| {
            let cpu = CpuUsed {
                span_seconds,
                ..CpuUsed::default()
            };
            is_of_answers(&cpu, length, Duration::from_millis(late))
        };
        assert!(is_kept(0.037, 0));
        assert!(is_kept(0.039, 1));
        assert!(!is_kept(0.007, 0), "both readings came late");
        assert!(!is_kept(0.050, 0), "the second came late");
        assert!(!is_kept(0.037, 5), "the load began late");
    }
}
