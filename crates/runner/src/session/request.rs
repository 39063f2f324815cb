//! What a server is asked for as a member of a heat, and the load that follows from it.

use std::time::Duration;

use deadheat_model::{
    Exchange, LoadPoint, LoadSpec, Schedule, StopRule, WorkloadManifest, load::Target,
};

use super::{
    SelectedTarget,
    launch::Launch,
    readiness::{self, NotReady, Readiness},
};
use crate::verify::{Canned, Ports, Route};

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
    /// Against one answer that was told beforehand: the null server's.
    Canned(&'a Canned),
}

impl Checks<'_> {
    /// Asks a server once whether it is ready.
    pub(crate) fn probe(&self, route: Route) -> Result<(), NotReady> {
        match self {
            Checks::Oracle(readiness) => readiness.probe(route),
            Checks::Canned(canned) => Ok(canned.ask(route, readiness::ATTEMPT)?),
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
