//! The thresholds of the analysis, as values that stand in its result.
//!
//! Those by which an open loop's generator is judged are the ones of `deadheat load`
//! ([`LoadSettings`](crate::load::LoadSettings)); they stand beside these in the result.

use deadheat_model::fault::TRANSPORT_FAILURES;
use schemars::JsonSchema;
use serde::Serialize;

use crate::steadiness::LEAST_BINS;

/// The thresholds. All are fixed before the session; none looks at a result. The bound for noise is not among them: it
/// stands in the session's plan, because trials are repeated by it while the session runs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Settings {
    /// The level that intervals aim at (0 to 1).
    pub level: f64,
    /// Two stacks differ only if the Holm-adjusted p is below this.
    pub alpha: f64,
    /// … and if the ratio of their throughputs is farther from 1 than this share (0.01: above 1.01 or below 1/1.01), or
    /// than the noise floor of the load point, if that is more. Nobody chooses a stack for less.
    pub practical_difference: f64,
    /// The same for response times at a rate common to all. More than for throughput, because times scatter more: a
    /// histogram with three significant digits, a machine's timer and its caches move a percentile by some percent.
    pub practical_latency: f64,
    /// A worker that is busy for this share of its CPU makes a trial generator-limited. Not 1: near it, requests wait
    /// for the generator already.
    pub generator_busy: f64,
    /// A throughput of this share of the null server's makes a trial generator-limited: what is left of the time is too
    /// little for the stack alone to explain the rate.
    pub ceiling_share: f64,
    /// Busy CPUs of the generator's side do not make a trial generator-limited if the server used this share of its own:
    /// then it had hardly more to give, whatever held it back.
    pub server_saturated: f64,
    /// A trial of a plan without a bound for noise is flagged as disturbed when other programs used more than this share
    /// of the machine's CPU time, …
    pub other_cpu: f64,
    /// … or when the hypervisor gave more than this share of it to others.
    pub steal: f64,
    /// A trial fails when a larger share of its ended requests failed on the way.
    pub transport_failures: f64,
    /// A closed loop's connections and `throughput × mean service time` may differ by this share of the connections.
    /// The histogram's digits make a hundredth of it; the ends of the measurement more only where connections have fewer
    /// than ten answers each, and then so much more is tolerated.
    pub little_deviation: f64,
    /// … which is asked only of a trial with so many verified answers, and at least one for each connection: the mean
    /// of fewer says little.
    pub little_answers: u64,
    /// A server that closes connections may take up to so many seconds from an answer that announces it until it does:
    /// then the generator closes itself (`GOODBYE` in `deadheat-load`). That wait stands in no histogram.
    pub goodbye_seconds: f64,
    /// Of connections that were all held over the load, one had fewer answers than this share of another's: the server
    /// lets some wait while it serves others, and their requests stand in no service time.
    pub uneven: f64,
    /// … if the one with the most had at least so many: with fewer, chance alone makes them differ.
    pub uneven_answers: u64,
    /// A trial whose throughput changed by more than this share over its measurement is flagged as unsteady.
    pub steady_change: f64,
    /// … if the change is also larger than so many of its standard errors.
    pub steady_errors: f64,
    /// Whole bins that a trial needs to be checked so: with fewer, the standard error says nothing.
    pub steady_bins: usize,
    /// Blocks that a comparison needs: a single one has no scatter to compare with.
    pub blocks_for_comparison: usize,
    /// With fewer complete blocks than this, a session is indicative.
    pub blocks_for_evidence: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            level: 0.95,
            alpha: 0.05,
            practical_difference: 0.01,
            practical_latency: 0.05,
            generator_busy: 0.85,
            ceiling_share: 0.85,
            server_saturated: 0.90,
            other_cpu: 0.05,
            steal: 0.05,
            transport_failures: TRANSPORT_FAILURES,
            little_deviation: 0.10,
            little_answers: 100,
            goodbye_seconds: 0.2,
            uneven: 0.5,
            uneven_answers: 100,
            steady_change: 0.10,
            steady_errors: 2.0,
            steady_bins: LEAST_BINS,
            blocks_for_comparison: 2,
            blocks_for_evidence: 7,
        }
    }
}
