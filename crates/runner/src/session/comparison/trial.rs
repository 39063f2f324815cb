//! One trial of one side: a server that runs is loaded; a command is started, loaded, and stopped.

use std::{
    net::SocketAddr,
    path::PathBuf,
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use deadheat_load::{LoadEvent, Phase as LoadPhase};
use deadheat_model::{
    LoadSpec, Observation, StopRule,
    comparison::{ComparedCommand, ComparisonOutcome, MeasuredServer, Side},
    load::{Endpoint, Target},
    plan::Pinning,
    trial::{Phase, TrialFailure},
};

use super::ComparisonOptions;
use crate::{
    prepare::search_path,
    sampling::{Sampler, Surroundings},
    session::server::{Program, Server, StartError},
    verify::{Client, status_answer},
};

/// How long one question may take until a command is ready.
const ATTEMPT: Duration = Duration::from_secs(2);

/// A trial to run.
pub(super) struct Request<'a> {
    pub(super) options: &'a ComparisonOptions,
    pub(super) side: Side,
    pub(super) pinning: &'a Pinning,
    pub(super) log: PathBuf,
    pub(super) seed: u64,
}

/// A trial that was run.
pub(super) struct Run {
    pub(super) command: Vec<String>,
    pub(super) outcome: ComparisonOutcome,
}

/// Runs a trial; `None` when the user asked to stop meanwhile.
pub(super) fn run(request: &Request<'_>, interrupt: &AtomicBool) -> Option<Run> {
    let server = request.options.server(request.side);
    let run = match &server.command {
        None => Run {
            command: Vec::new(),
            outcome: running(request, interrupt),
        },
        Some(command) => started(request, command, interrupt)?,
    };
    // A measurement that the user's wish to stop cut short is no trial; one that was whole by then is.
    let whole = match (&run.outcome, server.load.stop) {
        (ComparisonOutcome::Measured(measured), StopRule::Duration { length }) => {
            measured.load.window >= length
        }
        _ => false,
    };
    let cut_short = interrupt.load(Ordering::Relaxed) && !whole;
    (!cut_short).then_some(run)
}

/// Loads a server that runs already.
fn running(request: &Request<'_>, interrupt: &AtomicBool) -> ComparisonOutcome {
    let spec = spec(request, None);
    let (mut begun, mut noise) = (None, None);
    let mut on_event = |event| match event {
        LoadEvent::Phase(LoadPhase::MeasurementStarted) => begun = Some(Surroundings::begin()),
        LoadEvent::Phase(LoadPhase::MeasurementEnded) => {
            noise = begun.take().map(Surroundings::end);
        }
        LoadEvent::Phase(LoadPhase::WarmUpStarted) | LoadEvent::Interval(_) => {}
    };
    let load = match deadheat_load::run(&spec, &mut on_event, interrupt) {
        Ok(load) => load,
        Err(error) => return failed(error.to_string(), None),
    };
    match noise {
        Some(noise) => ComparisonOutcome::Measured(Box::new(MeasuredServer {
            ready: None,
            load,
            resources: None,
            noise,
        })),
        None => failed(NO_MEASUREMENT.to_owned(), Some(load)),
    }
}

const NO_MEASUREMENT: &str = "the load ended before its measurement began";

fn failed(reason: String, load: Option<Observation>) -> ComparisonOutcome {
    ComparisonOutcome::Failed(TrialFailure {
        phase: Phase::Load,
        reason,
        log_tail: Vec::new(),
        load: load.map(Box::new),
    })
}

/// Starts a command's server, loads it and stops it.
fn started(
    request: &Request<'_>,
    command: &ComparedCommand,
    interrupt: &AtomicBool,
) -> Option<Run> {
    let options = request.options;
    let (pinned, cpus) = match request.pinning {
        Pinning::Apart { server, .. } => (Some(server.clone()), server.len()),
        Pinning::Off { cpus } => (None, cpus.len()),
    };
    let program = Program {
        name: options.server(request.side).name.clone(),
        command: command.words.clone(),
        dir: command.folder.clone(),
        env: vec![
            ("PATH".to_owned(), search_path()),
            ("CPUS".to_owned(), cpus.to_string()),
        ],
        fills_arguments: true,
        supervision: &options.supervision,
        pinned,
        log: request.log.clone(),
        timeout: options.start_timeout,
    };
    let mut probe = |address| ready(&options.server(request.side).load, address);
    let mut server = match Server::start_program(&program, interrupt, &mut probe) {
        Ok(server) => server,
        Err(StartError::Interrupted) => return None,
        Err(StartError::Failed(failure)) => {
            return Some(Run {
                command: command.words.clone(),
                outcome: ComparisonOutcome::Failed(failure),
            });
        }
    };
    let outcome = match measure(request, &mut server, interrupt) {
        Ok(measured) => ComparisonOutcome::Measured(Box::new(measured)),
        Err(failure) => ComparisonOutcome::Failed(failure),
    };
    let command = server.command.clone();
    // It is gone all the same, and has been measured.
    if let Err(failure) = server.stop() {
        tracing::warn!("{}: {}", request.side, failure.reason);
    }
    Some(Run { command, outcome })
}

fn ready(load: &LoadSpec, address: SocketAddr) -> Result<(), String> {
    let Some(exchange) = load.exchanges.first() else {
        return Ok(());
    };
    let mut client = Client::with_timeout(address, ATTEMPT);
    status_answer(&mut client, &exchange.request, &exchange.expect.status)
        .map_err(|fault| fault.to_string())
}

fn measure(
    request: &Request<'_>,
    server: &mut Server,
    interrupt: &AtomicBool,
) -> Result<MeasuredServer, TrialFailure> {
    let spec = spec(request, Some(server.address));
    let measure = match spec.stop {
        StopRule::Duration { length } => length,
        // May be short.
        _ => Duration::ZERO,
    };
    // Now, before anything but readiness was asked: this is its idle memory.
    let mut sampler = Sampler::new(server.child(), request.pinning, measure);
    let mut sampled = None;
    let mut on_event = |event| match event {
        LoadEvent::Phase(LoadPhase::MeasurementStarted) => sampler.begin(),
        LoadEvent::Phase(LoadPhase::MeasurementEnded) => sampled = sampler.end(),
        LoadEvent::Phase(LoadPhase::WarmUpStarted) | LoadEvent::Interval(_) => {}
    };
    let load = deadheat_load::run(&spec, &mut on_event, interrupt)
        .map_err(|error| server.failure(Phase::Load, error.to_string()))?;
    let reason = match server.child().exit() {
        Some(exit) => Some(format!("it {exit} under load")),
        None => sampled.is_none().then(|| NO_MEASUREMENT.to_owned()),
    };
    match (reason, sampled) {
        (None, Some((resources, noise))) => Ok(MeasuredServer {
            ready: Some(server.ready),
            load,
            resources: Some(resources),
            noise,
        }),
        (reason, _) => Err(TrialFailure {
            load: Some(Box::new(load)),
            ..server.failure(Phase::Load, reason.unwrap_or_default())
        }),
    }
}

/// The side's load with what is known only now.
fn spec(request: &Request<'_>, address: Option<SocketAddr>) -> LoadSpec {
    let mut spec = request.options.server(request.side).load.clone();
    if let Some(address) = address {
        spec.target = Target {
            endpoint: Endpoint::Tcp { address },
            authority: address.to_string(),
            ..spec.target
        };
    }
    if let Pinning::Apart { generator, .. } = request.pinning {
        spec.cpus = generator.clone();
    }
    spec.seed = request.seed;
    spec
}
