//! Pauses that no slice counts.
//!
//! A server that stands still at the end of a slice gives its answers in the drain, after the counted part, and the next
//! slice begins when it is well again. So a pause that is longer than what is left of the counted part is hardly in any
//! figure. The drains have it: each lasts about as long as one answer, and longer by what the server stood still.

use deadheat_model::heat::SliceRecord;

use crate::order_statistic::median;

/// A drain may take this many times as long as usual before it counts as a pause.
const USUAL: f64 = 3.0;
/// Nothing below this is a pause, in seconds: the scheduler's doing.
const LEAST: f64 = 0.005;

/// The share of the time under load, drains included, that was spent in pauses after the counted parts (0 to 1).
pub(super) fn share(slices: &[&SliceRecord]) -> f64 {
    let drains = || slices.iter().map(|slice| slice.drained.as_secs_f64());
    let Some(usual) = median(drains()) else {
        return 0.0;
    };
    let bound = (USUAL * usual).max(LEAST);
    let pauses: f64 = drains()
        .filter(|drain| *drain > bound)
        .map(|drain| drain - usual)
        .sum();
    let spans = slices.iter().map(|slice| slice.guard + slice.window);
    let loaded = spans.map(|span| span.as_secs_f64()).sum::<f64>() + drains().sum::<f64>();
    if loaded > 0.0 { pauses / loaded } else { 0.0 }
}
