//! What shows that the generator, and not the server, set the pace of a trial.

use deadheat_model::trial::Measured;
use schemars::JsonSchema;
use serde::Serialize;

use crate::{ceiling::CeilingRates, trial::Judge};

/// A reason to call a trial generator-limited.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "limit", rename_all = "kebab-case")]
pub enum Limit {
    /// A worker was (almost) always busy.
    Worker {
        /// CPU share of the busiest worker, 0 to 1.
        busy: f64,
    },
    /// Generator, database and upstream were busy on their CPUs, and the server had time left on its own.
    Cpus {
        /// How busy they were, 0 to 1.
        busy: f64,
        /// How busy the server's were, 0 to 1.
        server: f64,
    },
    /// The throughput came near the null server's.
    Ceiling {
        /// The throughput over the null server's (more than 1: it passed it).
        share: f64,
        /// The null server's throughput, in answers per second.
        ceiling_per_second: f64,
        /// Whether that is the one of the same block; else the median over the others.
        same_block: bool,
    },
    /// Closed loop: connections waited for something that is in no service time, and that neither new connections nor
    /// failed requests nor an uneven server explain.
    Little {
        /// Connections of the load point.
        connections: u32,
        /// Throughput × mean service time: requests in flight on average.
        in_flight: f64,
    },
    /// Open loop: requests were not sent in time although connections were free.
    Late {
        /// Requests whose intended start lay in the measurement.
        offered: u64,
        /// The share of them that was sent, 0 to 1.
        sent_share: f64,
        /// The percentile at which the send lag is given.
        percent: f64,
        /// The send lag there, in seconds.
        send_lag_seconds: f64,
    },
    /// Open loop: the response times are the generator's lateness more than the server's.
    SendLag {
        /// The percentile at which both were compared.
        percent: f64,
        /// The send lag there, in seconds.
        send_lag_seconds: f64,
        /// … as a share of the response time there.
        response_share: f64,
    },
}

impl Limit {
    /// Whether both are of one kind, whatever their figures.
    pub fn is_like(&self, other: &Self) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other)
    }
}

/// The busiest worker, when it was too busy.
pub(crate) fn worker(measured: &Measured, judge: &Judge<'_>) -> Option<Limit> {
    let busy = measured.load.busiest_worker();
    (busy >= judge.settings.generator_busy).then_some(Limit::Worker { busy })
}

/// The generator's side of the machine, when it was busy while the server had time left.
pub(crate) fn cpus(measured: &Measured, judge: &Judge<'_>) -> Option<Limit> {
    let busy = measured.noise.generator_cpus_busy?;
    let server = measured.noise.server_cpus_busy?;
    let limited = busy >= judge.settings.generator_busy && server < judge.settings.server_saturated;
    limited.then_some(Limit::Cpus { busy, server })
}

/// The null server, when the rate came near its own.
pub(crate) fn ceiling(
    rates: &CeilingRates,
    block: u32,
    throughput: f64,
    judge: &Judge<'_>,
) -> Option<Limit> {
    let (ceiling_per_second, same_block) = rates.at(block)?;
    let share = throughput / ceiling_per_second;
    (share >= judge.settings.ceiling_share).then_some(Limit::Ceiling {
        share,
        ceiling_per_second,
        same_block,
    })
}
