//! The open loops that follow from a closed one.

use deadheat_model::{
    LoadPoint,
    load::Arrivals,
    workload::{OfferedRate, OpenLoad},
};

/// Shares of a stack's own capacity, in percent: an easy load, a usual one, one near the limit.
const OWN_SHARES: [u32; 3] = [50, 70, 90];
/// The share of the slowest stack's capacity that is offered to all, in percent: what each of them can do.
const COMMON_SHARE: u32 = 70;

/// The open loops that follow from `point`; none where it is no closed loop of a length that the plan chooses.
pub(super) fn derived(point: &LoadPoint) -> Vec<LoadPoint> {
    if !is_closed(point) {
        return Vec::new();
    }
    let open = |name: String, rate: OfferedRate| LoadPoint {
        id: format!("{}-open-{name}", point.id),
        open: Some(OpenLoad {
            capacity_of: point.id.clone(),
            rate,
            arrivals: Arrivals::Poisson,
        }),
        ..point.clone()
    };
    let own = OWN_SHARES.map(|share| open(share.to_string(), OfferedRate::OfOwnCapacity(share)));
    let common = OfferedRate::OfSlowestCapacity(COMMON_SHARE);
    own.into_iter()
        .chain([open("common".to_owned(), common)])
        .collect()
}

/// Whether `point` is a closed loop of a length that the plan chooses.
pub(super) fn is_closed(point: &LoadPoint) -> bool {
    point.counted.is_none() && point.open.is_none()
}

/// Whether stacks meet at `point` under the same load: in a closed loop, or at the rate that is common to all.
pub(super) fn is_common(point: &LoadPoint) -> bool {
    match &point.open {
        Some(open) => matches!(open.rate, OfferedRate::OfSlowestCapacity(_)),
        None => point.counted.is_none(),
    }
}
