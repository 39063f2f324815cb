//! What a comparison will do, and how long that takes: pure functions.

use std::time::Duration;

use deadheat_model::{
    LoadSpec, StopRule,
    comparison::{ComparisonPlan, Side},
};

use super::ComparisonOptions;
use crate::session::share_out;

/// Connecting before a load and waiting for its last answers.
const OVERHEAD: Duration = Duration::from_millis(100);
/// Starting a command until its first answer, and stopping it.
const STARTING: Duration = Duration::from_millis(600);

/// The plan of a comparison.
pub fn plan(options: &ComparisonOptions) -> ComparisonPlan {
    let blocks = options.looks.last().copied().unwrap_or(0);
    let starts = options.a.command.is_some();
    ComparisonPlan {
        seed: options.seed,
        blocks,
        looks: options.looks.clone(),
        alpha: options.alpha,
        noise_bound: options.noise_bound,
        pinning: share_out(options.pinning),
        budget_seconds: options.budget.map(|budget| budget.as_secs_f64()),
        estimate: block_time([&options.a.load, &options.b.load], starts) * blocks,
    }
}

/// About the time of a block of trials with these loads; `starts`: each begins with a start of the server.
pub fn block_time(loads: [&LoadSpec; 2], starts: bool) -> Duration {
    let start = if starts { STARTING } else { Duration::ZERO };
    let trial = |load: &LoadSpec| {
        let measurement = match load.stop {
            StopRule::Duration { length } => length,
            StopRule::Count { .. } | StopRule::Interrupt => Duration::ZERO,
        };
        load.warm_up + measurement + OVERHEAD + start
    };
    loads.into_iter().map(trial).sum()
}

impl ComparisonOptions {
    /// The server of a side.
    pub(super) fn server(&self, side: Side) -> &deadheat_model::comparison::ComparedServer {
        match side {
            Side::A => &self.a,
            Side::B => &self.b,
        }
    }
}

#[cfg(test)]
mod tests {
    use deadheat_model::{Schedule, load::Target};

    use super::*;

    #[test]
    fn a_block_is_two_trials() {
        let schedule = Schedule::Closed {
            connections: 1,
            ramp: Duration::ZERO,
        };
        let stop = StopRule::Duration {
            length: Duration::from_secs(2),
        };
        let address = "127.0.0.1:1".parse().unwrap();
        let mut load = LoadSpec::new(Target::plain(address), Vec::new(), schedule, stop);
        load.warm_up = Duration::from_secs(1);
        // 2 × (1 + 2 + 0.1) s, and 2 × 0.6 s more for starts.
        let time = |starts| block_time([&load, &load], starts).as_millis();
        assert_eq!((time(false), time(true)), (6_200, 7_400));
    }
}
