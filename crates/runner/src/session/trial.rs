//! One trial: a fresh server, checked, warmed up, measured, checked again, stopped.

use std::{
    net::SocketAddr,
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use deadheat_load::{LoadEvent, Phase as LoadPhase};
use deadheat_model::{
    Exchange, LoadPoint, LoadSpec, Observation, Schedule, TrialOutcome, WorkloadManifest,
    load::{Stage, Target, Timeouts},
    plan::Pinning,
    trial::{Measured, Noise, Phase, Resources, TrialFailure},
};

use super::{
    SelectedTarget,
    readiness::{self, Readiness},
    server::{Launch, Server, StartError},
};
use crate::{
    sampling::Sampler,
    verify::{Canned, Declared, Depth, Fault, Fixtures, Verifier},
};

/// The width of the bins of the time series, …
const BIN: Duration = Duration::from_millis(500);
/// … and how many a measurement has at least, so that it can be told whether it was steady.
const LEAST_BINS: u32 = 8;
/// How long the notice of a server's end may take on a busy machine.
const END_NOTICE: Duration = Duration::from_millis(500);
/// The most that first requests are spread over; the slow upstream's delay, so that its answers do not come in waves.
const RAMP: Duration = crate::services::upstream::DELAY;

/// A trial to run.
pub struct TrialRequest<'a> {
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
    /// How CPUs are shared out.
    pub pinning: &'a Pinning,
    /// The warm-up.
    pub warm_up: Duration,
    /// The measurement.
    pub measure: Duration,
    /// The rate of an open loop, in requests per second.
    pub offered_per_second: Option<f64>,
    /// The seed of random requests and arrivals.
    pub seed: u64,
}

/// How answers are checked.
pub enum Checks<'a> {
    /// By the workload's oracle; ready is who answers this question.
    Oracle(Readiness),
    /// Against one answer that was told beforehand: the null server's.
    Canned(&'a Canned),
}

impl Checks<'_> {
    /// Asks a server once whether it is ready.
    pub(crate) fn probe(&self, address: SocketAddr) -> Result<(), String> {
        match self {
            Checks::Oracle(readiness) => readiness.probe(address),
            Checks::Canned(canned) => canned
                .ask(address, readiness::ATTEMPT)
                .map_err(|fault| fault.to_string()),
        }
    }
}

/// A trial that was run.
pub struct TrialRun {
    /// The server's command.
    pub command: Vec<String>,
    /// The server's port; 0 when it never came up.
    pub port: u16,
    /// What came of it.
    pub outcome: TrialOutcome,
}

/// Runs a trial; `None` when the user asked to stop meanwhile.
pub fn run(
    request: &TrialRequest<'_>,
    fixtures: &mut Fixtures,
    interrupt: &AtomicBool,
) -> Option<TrialRun> {
    let mut probe = |address| request.checks.probe(address);
    let mut server = match Server::start(&request.launch, fixtures, interrupt, &mut probe) {
        Ok(server) => server,
        Err(StartError::Interrupted) => return None,
        Err(StartError::Failed(failure)) => {
            return Some(TrialRun {
                command: request
                    .target
                    .stack
                    .manifest
                    .command(&request.target.target)
                    .to_vec(),
                port: 0,
                outcome: TrialOutcome::Failed(failure),
            });
        }
    };
    let (command, port) = (server.command.clone(), server.address.port());
    let outcome = match measure(request, &mut server, fixtures, interrupt) {
        Ok(measured) => TrialOutcome::Measured(Box::new(measured)),
        Err(failure) => TrialOutcome::Failed(failure),
    };
    // A measurement that the user's wish to stop cut short is no trial; one that was whole by then is.
    let whole =
        matches!(&outcome, TrialOutcome::Measured(measured) if is_whole(request, &measured.load));
    let cut_short = interrupt.load(Ordering::Relaxed) && !whole;
    // The preparation has seen it end as it should; a trial that is measured stays one.
    if let Err(failure) = server.stop() {
        tracing::warn!("{}: {}", request.target.target, failure.reason);
    }
    (!cut_short).then_some(TrialRun {
        command,
        port,
        outcome,
    })
}

fn is_whole(request: &TrialRequest<'_>, load: &Observation) -> bool {
    match &request.point.counted {
        None => load.window >= request.measure,
        Some(by_count) => {
            load.measured.ended() >= by_count.requests || load.window >= by_count.limit
        }
    }
}

fn measure(
    request: &TrialRequest<'_>,
    server: &mut Server,
    fixtures: &mut Fixtures,
    interrupt: &AtomicBool,
) -> Result<Measured, TrialFailure> {
    // Now, before anything but readiness was asked: this is its idle memory.
    let sampler = Sampler::new(server.child(), request.pinning, request.measure)
        .serving_on(request.launch.pinned.clone());
    match &request.checks {
        Checks::Oracle(_) => verified(request, server, sampler, fixtures, interrupt),
        Checks::Canned(canned) => answered(request, canned, server, sampler, interrupt),
    }
}

/// Measures a stack between two verifications.
fn verified(
    request: &TrialRequest<'_>,
    server: &mut Server,
    mut sampler: Sampler,
    fixtures: &mut Fixtures,
    interrupt: &AtomicBool,
) -> Result<Measured, TrialFailure> {
    let address = server.address;
    let mut verifier = Verifier::new(
        address,
        Declared::by(&request.target.stack.manifest, &request.target.target),
        request.workload,
        request.point,
        fixtures,
        request.seed,
    );
    let verified_before = verifier
        .verify(Depth::Brief)
        .map_err(|fault| wrong(server, Phase::VerifyBefore, fault))?;
    let exchanges = verifier
        .exchanges()
        .map_err(|fault| wrong(server, Phase::VerifyBefore, fault))?;
    let counted = verifier
        .service_count()
        .map_err(|fault| wrong(server, Phase::Service, fault))?;
    let sessions = verifier
        .sessions()
        .map_err(|fault| wrong(server, Phase::Service, fault))?;

    let (load, resources, noise) = loaded(request, exchanges, server, &mut sampler, interrupt)?;
    let after = |phase, fault| with_load(wrong(server, phase, fault), &load);
    verifier
        .check_service_count(counted, &load)
        .map_err(|fault| after(Phase::Load, fault))?;
    verifier
        .check_pool("users under load", sessions, load.total.succeeded)
        .map_err(|fault| after(Phase::Load, fault))?;
    let verified_after = verifier
        .verify(Depth::Brief)
        .map_err(|fault| after(Phase::VerifyAfter, fault))?;
    Ok(Measured {
        ready: server.ready,
        verified_before,
        verified_after,
        load,
        resources,
        noise,
    })
}

/// Measures a server that gives one answer, which is checked once before and once after.
fn answered(
    request: &TrialRequest<'_>,
    canned: &Canned,
    server: &mut Server,
    mut sampler: Sampler,
    interrupt: &AtomicBool,
) -> Result<Measured, TrialFailure> {
    let address = server.address;
    let ask = || canned.ask(address, readiness::ATTEMPT);
    ask().map_err(|fault| wrong(server, Phase::VerifyBefore, fault))?;
    let exchanges = vec![canned.exchange.clone()];
    let (load, resources, noise) = loaded(request, exchanges, server, &mut sampler, interrupt)?;
    ask().map_err(|fault| with_load(wrong(server, Phase::VerifyAfter, fault), &load))?;
    Ok(Measured {
        ready: server.ready,
        verified_before: 1,
        verified_after: 1,
        load,
        resources,
        noise,
    })
}

fn wrong(server: &Server, phase: Phase, fault: Fault) -> TrialFailure {
    server.failure(phase, fault.to_string())
}

fn with_load(failure: TrialFailure, load: &Observation) -> TrialFailure {
    TrialFailure {
        load: Some(Box::new(load.clone())),
        ..failure
    }
}

/// Loads a server that is there and stays there.
fn loaded(
    request: &TrialRequest<'_>,
    exchanges: Vec<Exchange>,
    server: &mut Server,
    sampler: &mut Sampler,
    interrupt: &AtomicBool,
) -> Result<(Observation, Resources, Noise), TrialFailure> {
    let spec = load_spec(request, server.address, exchanges);
    let (load, sampled) = load_and_sample(&spec, sampler, server, interrupt)?;
    // Where requests failed, the server's end may be the reason, and its notice still on its way.
    let patience = match load.total.failed.total() {
        0 => Duration::ZERO,
        _ => END_NOTICE,
    };
    if let Some(exit) = server.child().wait_exit(patience) {
        let reason = format!("{} {exit} under load", request.target.target);
        return Err(with_load(server.failure(Phase::Load, reason), &load));
    }
    let Some((resources, noise)) = sampled else {
        let reason = "the load ended before its measurement began".to_owned();
        return Err(with_load(server.failure(Phase::Load, reason), &load));
    };
    Ok((load, resources, noise))
}

type Sampled = Option<(Resources, Noise)>;

fn load_and_sample(
    spec: &LoadSpec,
    sampler: &mut Sampler,
    server: &Server,
    interrupt: &AtomicBool,
) -> Result<(Observation, Sampled), TrialFailure> {
    let mut sampled = None;
    let mut on_event = |event| match event {
        LoadEvent::Phase(LoadPhase::MeasurementStarted) => sampler.begin(),
        LoadEvent::Phase(LoadPhase::MeasurementEnded) => sampled = sampler.end(),
        LoadEvent::Phase(LoadPhase::WarmUpStarted) | LoadEvent::Interval(_) => {}
    };
    let load = deadheat_load::run(spec, &mut on_event, interrupt)
        .map_err(|error| server.failure(Phase::Load, error.to_string()))?;
    Ok((load, sampled))
}

/// The load of a trial on the server at `address`, which is asked for `exchanges`.
pub(crate) fn load_spec(
    request: &TrialRequest<'_>,
    address: SocketAddr,
    exchanges: Vec<Exchange>,
) -> LoadSpec {
    let schedule = schedule(request);
    let by_count = request.point.counted.as_ref();
    let framing = request.point.sending.bodies;
    let exchanges = exchanges.into_iter().map(|mut exchange| {
        exchange.request.body = framing.apply(exchange.request.body);
        exchange
    });
    let stop = request.point.stop(request.measure);
    LoadSpec {
        protocol: request.point.protocol(),
        limit: by_count.map(|by_count| by_count.limit),
        timeouts: timeouts(request.point),
        warm_up: request.warm_up,
        content_sample: request.workload.content_sample,
        cpus: match request.pinning {
            Pinning::Apart { generator, .. } => generator.clone(),
            Pinning::Off { .. } => Vec::new(),
        },
        bin: bin(request.measure),
        seed: request.seed,
        ..LoadSpec::new(Target::plain(address), exchanges.collect(), schedule, stop)
    }
}

/// The width of the bins of a measurement that is to take so long.
fn bin(measure: Duration) -> Duration {
    BIN.min(measure / LEAST_BINS).max(Duration::from_nanos(1))
}

/// When requests are sent: at the rate, or each when the answer before it has come.
fn schedule(request: &TrialRequest<'_>) -> Schedule {
    let connections = request.point.connections;
    match (&request.point.open, request.offered_per_second) {
        (Some(open), Some(rate)) => Schedule::Open {
            arrivals: open.arrivals,
            stages: vec![Stage::constant(rate)],
            connections,
            most_connections: connections,
        },
        _ => Schedule::Closed {
            connections,
            ramp: RAMP.min(request.warm_up),
        },
    }
}

/// A counted load that its limit ends leaves no request behind, however slow the answers are: the server would still
/// be at work on them when it is checked.
fn timeouts(point: &LoadPoint) -> Timeouts {
    let usual = Timeouts::default();
    match point.counted {
        None => usual,
        Some(_) => Timeouts {
            cool_down: usual.request,
            ..usual
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_measurement_has_enough_bins_to_be_checked_for_steadiness() {
        for (measure, width) in [(0.1, 0.0125), (1.0, 0.125), (4.0, 0.5), (60.0, 0.5)] {
            let seconds = Duration::from_secs_f64;
            assert_eq!(bin(seconds(measure)), seconds(width), "{measure} s");
        }
    }
}
