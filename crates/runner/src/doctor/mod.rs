//! What about this machine would spoil a measurement, and what to do about it. Reads and probes ([`World::here`]), then
//! judges ([`judge`]): pure functions of a [`World`], which tests plant. It changes no setting.

mod checks;
mod clock;
mod container;
mod cpus;
mod found;
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

use deadheat_model::{machine::Machine, plan::Pinning};

pub use self::{
    checks::{Examination, judge, of_several},
    found::Fact,
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use deadheat_model::warning::Level;

    use super::{testing::Planted, *};

    fn of_level(facts: &[Fact], level: Level) -> usize {
        let warnings = facts.iter().filter_map(|fact| fact.warning.as_ref());
        warnings.filter(|one| one.level == level).count()
    }

    #[test]
    fn a_good_machine_has_nothing_but_fine_things() {
        for fact in judge(&Planted::good().world()) {
            assert_eq!(fact.warning, None, "{fact:?}");
        }
    }

    #[test]
    fn an_empty_world_is_unknown_and_no_warning_is_made_up() {
        let facts = judge(&Planted::empty().world());
        assert_eq!(of_level(&facts, Level::Doubt), 0, "{facts:?}");
        assert!(of_level(&facts, Level::Routine) > 15, "{facts:?}");
    }

    #[test]
    fn the_worst_comes_first_and_each_id_once() {
        let mut world = Planted::empty().world();
        world.own.debug_build = true;
        let facts = judge(&world);
        assert_eq!(facts[0].id, "build");
        assert_eq!(facts.last().map(|fact| &fact.warning), Some(&None));
        let ids: BTreeSet<&str> = facts.iter().map(|one| one.id.as_str()).collect();
        assert_eq!(ids.len(), facts.len());
        assert_eq!(of_several(facts.clone()).len(), facts.len() - 2);
        let warning = facts[0].warning.as_ref().unwrap();
        assert_eq!(warning.id, "build");
        assert!(
            warning
                .sentence
                .starts_with("Build: not optimised. An unoptimised")
        );
        assert_eq!(warning.advice, "cargo run --release -- run");
    }

    #[test]
    fn this_machine_can_be_looked_at() {
        let watch = Duration::from_millis(20);
        let world = World::here(watch, Path::new("."), PinningMode::Apart, CONNECTIONS);
        assert!(world.watched.span >= watch);
        assert!(world.own.clock_cost < Duration::from_millis(1));
        assert!(judge(&world).len() > 30);
    }
}
