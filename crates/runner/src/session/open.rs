//! The open loops that follow from a closed one.

use deadheat_model::{
    LoadPoint,
    choice::{COMMON_SHARE, OWN_SHARES},
    load::Arrivals,
    workload::{OfferedRate, OpenLoad},
};

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

/// Whether `point` is a closed loop.
pub(super) fn is_closed(point: &LoadPoint) -> bool {
    point.open.is_none()
}
