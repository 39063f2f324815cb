//! A machine's findings with what they were found on: what `deadheat doctor` has of each host.

use std::{path::Path, time::Duration};

use deadheat_model::machine::{Finding, Machine};
use serde::{Deserialize, Serialize};

use super::{World, judge};
use crate::session::PinningMode;

/// Checks that are judged for a generator and a server on one machine.
const OF_ONE_MACHINE: [&str; 2] = ["cpus", "smt"];

/// What was found on a machine.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Examination {
    /// What sessions record of it.
    pub machine: Machine,
    /// Every check's finding, the worst first.
    pub findings: Vec<Finding>,
    /// How long others were watched.
    pub watched_seconds: f64,
    /// The share (0 to 1) of CPU time that other programs used meanwhile.
    pub other_cpu: f64,
    /// The share (0 to 1) that the hypervisor gave to others.
    pub steal: f64,
}

impl Examination {
    /// Of this machine, watched for `watch`, for results in the folder `results` and at most `connections`.
    pub fn here(watch: Duration, results: &Path, connections: u32) -> Self {
        let world = World::here(watch, results, PinningMode::Apart, connections);
        let findings = judge(&world);
        let disturbance = world.watched.disturbance;
        Self {
            machine: world.machine,
            findings,
            watched_seconds: world.watched.span.as_secs_f64(),
            other_cpu: disturbance.other_cpu,
            steal: disturbance.steal,
        }
    }

    /// Without checks that ask whether server and generator fit on one machine: the load comes from another one.
    #[must_use]
    pub fn of_several(mut self) -> Self {
        self.findings
            .retain(|finding| !OF_ONE_MACHINE.contains(&finding.check.as_str()));
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_the_load_comes_from_elsewhere_nobody_asks_whether_both_fit() {
        let watch = Duration::from_millis(1);
        let alone = Examination::here(watch, Path::new("."), 10);
        let several = alone.clone().of_several();
        let left_out = alone.findings.len() - several.findings.len();
        assert_eq!(left_out, OF_ONE_MACHINE.len());
        assert!(several.watched_seconds >= watch.as_secs_f64());
    }
}
