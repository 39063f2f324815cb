//! Measures two things in alternation.

use deadheat_stats::versus::Versus;

use super::{args::CompareArgs, resolve::Live};
use crate::exit::Failure;

/// Measures both sides until every cell has a verdict at a look, or looks or budget end. `None` after `--dry-run`,
/// which has printed the plan.
pub(crate) fn measure(live: &Live, args: &CompareArgs) -> Result<Option<Versus>, Failure> {
    let _ = (live, args);
    Err(Failure::nothing(
        "comparing what is to be measured is not built yet",
    ))
}
