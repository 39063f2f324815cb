//! What a session of heats is asked to do beyond what any session is.

use std::time::Duration;

use deadheat_model::{TargetId, heats::LEAST_HEATS, workload::OfferedRate};

/// How a session is measured in heats.
#[derive(Clone, Debug, PartialEq)]
pub struct HeatOptions {
    /// So many heats of each stack at each load, whatever the budget; `None`: what fits it.
    pub heats: Option<u32>,
    /// How long rounds go on in a heat; `None`: what tells most in the time.
    pub time: Option<Duration>,
    /// The counted part of a slice, at least.
    pub slice: Duration,
    /// The part before it that does not count, at least.
    pub guard: Duration,
    /// Two stacks whose ratio lies between 1/(1 + this) and 1 + this are as good as equal.
    pub margin: f64,
    /// The fewest heats of both stacks with which a pair can be a dead heat.
    pub least_heats: u32,
    /// The share of sessions that may call any pair of a ranking different that is not (0 to 1).
    pub alpha: f64,
    /// Whether heats have controls beside their members.
    pub controls: bool,
    /// Whether each heat starts its processes, in place of one start that serves a heat at each load.
    pub separate_loads: bool,
    /// Whether a load gets no more heats once its ranking is decided.
    pub until_decided: bool,
    /// The half width of ratios at which a load gets no more heats (0.05: ±5 %), in place of heats or a budget.
    pub precision: Option<f64>,
    /// The rates of equal work at each load.
    pub rates: Vec<OfferedRate>,
    /// What an hour of a CPU costs, for the record.
    pub price_per_cpu_hour: Option<f64>,
    /// Stacks that there are and that nobody asked for, for the record.
    pub left_out: Vec<TargetId>,
}

impl Default for HeatOptions {
    fn default() -> Self {
        Self {
            heats: None,
            time: None,
            slice: Duration::from_millis(100),
            guard: Duration::from_millis(30),
            margin: 0.03,
            least_heats: LEAST_HEATS,
            alpha: 0.05,
            controls: true,
            separate_loads: false,
            until_decided: true,
            precision: None,
            rates: Vec::new(),
            price_per_cpu_hour: None,
            left_out: Vec::new(),
        }
    }
}
