//! The thresholds of the analysis, as values that stand in its result.

use serde::Serialize;

/// The thresholds. All are fixed before the session; none looks at a result.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Settings {
    /// The level that intervals aim at (0 to 1).
    pub level: f64,
    /// Two stacks differ only if the Holm-adjusted p is below this.
    pub alpha: f64,
    /// … and if the ratio of their throughputs is farther from 1 than this share (0.01: above 1.01 or below 1/1.01).
    pub practical_difference: f64,
    /// A worker that is busy for this share of its CPU makes a trial generator-limited.
    pub generator_busy: f64,
    /// … unless the server used this share of its CPUs: then it had hardly more to give, whatever held it back.
    pub server_saturated: f64,
    /// A trial is flagged as disturbed when other programs used more than this share of the machine's CPU time, …
    pub other_cpu: f64,
    /// … or when the hypervisor gave more than this share of it to others.
    pub steal: f64,
    /// A trial fails when a larger share of its ended requests failed on the way.
    pub transport_failures: f64,
    /// A closed loop's connections and `throughput × mean service time` may differ by this share of the connections.
    pub little_deviation: f64,
    /// A trial whose throughput changed by more than this share over its measurement is flagged as unsteady.
    pub steady_change: f64,
    /// … if the change is also larger than so many of its standard errors.
    pub steady_errors: f64,
    /// Blocks that a comparison needs.
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
            generator_busy: 0.85,
            server_saturated: 0.90,
            other_cpu: 0.05,
            steal: 0.05,
            transport_failures: 0.001,
            little_deviation: 0.10,
            steady_change: 0.10,
            steady_errors: 2.0,
            blocks_for_comparison: 2,
            blocks_for_evidence: 7,
        }
    }
}
