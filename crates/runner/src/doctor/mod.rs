//! What about this machine would spoil a measurement, and what to do about it. Reads and probes ([`World::here`]), then
//! judges ([`judge`]): pure functions of a [`World`], which tests plant. It changes no setting.

mod clock;
mod container;
mod cpus;
mod examination;
mod finding;
mod here;
mod kernel;
mod limits;
mod link;
mod memory;
mod network;
mod others;
mod own;
mod root;
mod speed;
#[cfg(test)]
mod testing;
mod watch;

use std::{path::Path, time::Duration};

use deadheat_model::{
    machine::{Finding, Machine},
    plan::Pinning,
};

pub use self::{
    examination::Examination,
    link::{Clocks, Trips, judge_link, unreached},
    own::OwnFacts,
    root::Root,
    watch::{Busy, Watched},
};
use crate::session::{PinningMode, describe_machine, share_out};

/// How long `deadheat doctor` watches what others do, unless the user says otherwise.
pub const WATCH: Duration = Duration::from_secs(2);
/// How long `deadheat run` watches before it begins: enough for the bound of 5 % (clock ticks are 10 ms).
pub const WATCH_BEFORE_A_RUN: Duration = Duration::from_secs(1);

/// For so many connections limits are judged where no workload says how many there will be.
pub const CONNECTIONS: u32 = 1000;

/// Everything that is judged.
#[derive(Clone, Debug)]
pub struct World {
    /// `/proc` and `/sys`.
    pub root: Root,
    /// What sessions record of the machine.
    pub machine: Machine,
    /// How a session would share out the CPUs.
    pub pinning: Pinning,
    /// What only this process can find out.
    pub own: OwnFacts,
    /// What others did while they were watched.
    pub watched: Watched,
    /// The most connections of the workloads.
    pub connections: u32,
}

impl World {
    /// This machine, watched for `watch`, for sessions in the folder `results` with `pinning` and at most `connections`.
    pub fn here(watch: Duration, results: &Path, pinning: PinningMode, connections: u32) -> Self {
        let root = Root::here();
        let machine = describe_machine();
        Self {
            watched: Watched::during(watch, &root, &machine.cpus),
            pinning: share_out(pinning),
            own: OwnFacts::gather(results),
            root,
            machine,
            connections,
        }
    }

    /// A command as it is typed here: with `sudo` unless this is root.
    fn as_root(&self, command: &str) -> String {
        if self.own.is_root {
            command.to_owned()
        } else {
            format!("sudo {command}")
        }
    }

    /// The command that writes `value` to a file of the kernel's.
    fn set(&self, path: &str, value: &str) -> String {
        format!("echo {value} | {}", self.as_root(&format!("tee {path}")))
    }
}

/// Every check's finding, the worst first; among equals in the order in which a reader would ask.
pub fn judge(world: &World) -> Vec<Finding> {
    let kinds = [
        here::check,
        others::check,
        speed::check,
        cpus::check,
        container::check,
        limits::check,
        network::check,
        memory::check,
        clock::check,
        kernel::check,
    ];
    let mut findings: Vec<Finding> = kinds.iter().flat_map(|check| check(world)).collect();
    // Stable.
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.level));
    findings
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use deadheat_model::machine::Level;

    use super::{testing::Planted, *};

    #[test]
    fn a_good_machine_has_nothing_but_fine_things() {
        let findings = judge(&Planted::good().world());
        assert!(findings.len() > 30, "{}", findings.len());
        for finding in findings {
            assert_eq!(finding.level, Level::Fine, "{finding:?}");
        }
    }

    #[test]
    fn an_empty_world_is_unknown_and_no_warning_is_made_up() {
        let findings = judge(&Planted::empty().world());
        let known: Vec<&Finding> = findings
            .iter()
            .filter(|finding| finding.level == Level::Warning)
            .collect();
        assert!(known.is_empty(), "{known:?}");
        let unknown = findings.iter().filter(|one| one.level == Level::Unknown);
        assert!(unknown.count() > 15, "{findings:?}");
    }

    #[test]
    fn a_check_has_one_finding() {
        for world in [Planted::good().world(), Planted::empty().world()] {
            let findings = judge(&world);
            let checks: BTreeSet<&str> = findings.iter().map(|one| one.check.as_str()).collect();
            assert_eq!(checks.len(), findings.len());
        }
    }

    #[test]
    fn this_machine_can_be_looked_at() {
        let watch = Duration::from_millis(20);
        let world = World::here(watch, Path::new("."), PinningMode::Apart, CONNECTIONS);
        assert!(world.watched.span >= watch);
        assert!(world.own.clock_cost < Duration::from_millis(1));
        for finding in judge(&world) {
            // What is not fine says why it matters.
            assert_eq!(finding.level == Level::Fine, finding.why.is_empty());
        }
    }
}
