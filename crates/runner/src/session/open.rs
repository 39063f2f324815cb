//! Equal work: the open loops that are measured in the heats of a closed one.

use deadheat_model::{
    LoadPoint,
    workload::{OfferedRate, OpenLoad},
};

/// The open loop at `rate` in the heats of `closed`.
pub(super) fn at_rate(closed: &LoadPoint, rate: OfferedRate) -> LoadPoint {
    let id = match rate {
        OfferedRate::Common => format!("{}-rate", closed.id),
        OfferedRate::PerSecond(rate) => format!("{}-rate-{rate}", closed.id),
    };
    LoadPoint {
        id,
        open: Some(OpenLoad {
            capacity_of: closed.id.clone(),
            rate,
        }),
        ..closed.clone()
    }
}
