//! What stacks and loads are called.

use deadheat_document::view::clean;
use deadheat_model::TargetId;
use deadheat_stats::standings::{Standings, short_names};

/// A target's name as it is shown.
pub(super) fn name(target: &TargetId) -> String {
    clean(&target.to_string())
}

/// What each load is called in a sentence.
pub(super) fn shorts(standings: &Standings) -> Vec<String> {
    let names = short_names(&standings.loads).into_iter();
    names.map(|name| clean(&name)).collect()
}
