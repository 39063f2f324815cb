//! What stacks and loads are called.

use deadheat_model::TargetId;
use deadheat_stats::standings::{LoadStandings, Standings};

use crate::view::clean;

/// A target's name as it is shown.
pub(super) fn name(target: &TargetId) -> String {
    clean(&target.to_string())
}

/// What each load is called in a sentence.
pub(super) fn shorts(standings: &Standings) -> Vec<String> {
    let alone = |load: &LoadStandings| {
        let same = standings.loads.iter();
        same.filter(|other| other.workload == load.workload).count() == 1
    };
    let short = |load: &LoadStandings| {
        if alone(load) {
            clean(&load.workload)
        } else {
            clean(&load.name())
        }
    };
    standings.loads.iter().map(short).collect()
}
