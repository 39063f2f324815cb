//! What a longer budget would buy.

use std::time::Duration;

use deadheat_model::choice::{EVIDENCE_BLOCKS, Offer};

use super::choose::{Rung, Rungs};
use crate::session::SessionOptions;

/// An offer's budget is longer than the estimate by this share: servers do not take equally long to start each time.
const MARGIN: f64 = 0.02;

/// What longer budgets would buy instead of `chosen`, the shortest first: that it fits at all, enough blocks, latency,
/// and if there is nothing else to want, the longest measurement. Each is the plan that its budget makes.
pub(super) fn offers(options: &SessionOptions, rungs: &Rungs, chosen: Rung) -> Vec<Offer> {
    let Some(budget) = options.budget else {
        return Vec::new();
    };
    let least = rungs.shortest(|rung| *rung == chosen);
    let evidence = rungs.shortest(|rung| rung.blocks >= EVIDENCE_BLOCKS);
    let latency = rungs.shortest(|rung| rung.latency);
    let mut wanted: Vec<Duration> = [least, evidence, latency].into_iter().flatten().collect();
    if wanted.iter().all(|time| *time <= budget) {
        wanted.extend(rungs.shortest(|rung| {
            let gains = rung.measure > chosen.measure;
            gains && (rung.blocks, rung.latency) == (chosen.blocks, chosen.latency)
        }));
    }
    wanted.sort();
    let mut offers: Vec<Offer> = Vec::new();
    for time in wanted.into_iter().filter(|time| *time > budget) {
        let budget = rounded(time.mul_f64(1.0 + MARGIN));
        let bought = rungs.fitting(Some(budget)).unwrap_or(chosen);
        let offer = Offer {
            budget,
            blocks: bought.blocks,
            measure: bought.measure,
            latency: bought.latency,
        };
        // What a shorter budget buys already, because it was rounded up, is no other offer.
        let buys = |one: &Offer| (one.blocks, one.measure, one.latency);
        if offers.iter().all(|one| buys(one) != buys(&offer)) {
            offers.push(offer);
        }
    }
    offers
}

/// A time that can be typed: tens of seconds below five minutes, then minutes.
fn rounded(time: Duration) -> Duration {
    let step = if time < Duration::from_secs(300) {
        10
    } else {
        60
    };
    let steps = (time.as_secs_f64() / step as f64).ceil();
    Duration::from_secs(steps as u64 * step)
}
