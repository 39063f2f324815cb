//! Where the time of a session went.

use deadheat_model::{HeatRecord, heat::SliceRecord, heats::SessionRecord};

use super::types::TimeSpent;

/// The time of all heats of a session, interrupted ones among them.
pub(super) fn spent(record: &SessionRecord) -> TimeSpent {
    let mut all = TimeSpent::default();
    for heat in record.heats.iter().map(|one| &one.heat) {
        let own = of_heat(heat);
        all.heats_seconds += own.heats_seconds;
        all.counted_seconds += own.counted_seconds;
        all.between_seconds += own.between_seconds;
        all.warm_up_seconds += own.warm_up_seconds;
        all.starting_seconds += own.starting_seconds;
    }
    all
}

fn of_heat(heat: &HeatRecord) -> TimeSpent {
    let wall = heat.wall.as_secs_f64();
    let slices = || heat.rounds.iter().flatten();
    let counted: f64 = slices().map(|slice| slice.window.as_secs_f64()).sum();
    let between = |slice: &SliceRecord| {
        let around = slice.guard + slice.drained + slice.frozen.thaw + slice.frozen.freeze;
        around.as_secs_f64()
    };
    let between: f64 = slices().map(between).sum();
    let warm_ups = heat.members.iter().filter_map(|member| member.warm_up);
    let warm_up: f64 = warm_ups.map(|one| one.took.as_secs_f64()).sum();
    TimeSpent {
        heats_seconds: wall,
        counted_seconds: counted,
        between_seconds: between,
        warm_up_seconds: warm_up,
        starting_seconds: (wall - counted - between - warm_up).max(0.0),
    }
}
