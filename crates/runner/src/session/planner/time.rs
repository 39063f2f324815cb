//! How long measuring will take.

use std::time::Duration;

use deadheat_model::{Cell, plan::Controls, workload::CountedLoad, workload::Oracle};

use super::{
    choose::Rung,
    layout::{Layout, Planned},
    measurement, warm_up,
};
use crate::{services::upstream, session::SessionOptions};

/// Starting, checking and stopping a server, in a trial, beside the time to its first answer.
pub(in crate::session) const OVERHEAD: Duration = Duration::from_millis(400);
/// The time to the first answer, while it is not known.
pub(in crate::session) const USUAL_READY: Duration = Duration::from_millis(300);
/// Requests per second, while nothing is known of them.
const UNKNOWN_RATE: f64 = 1000.0;

impl Layout<'_> {
    /// The time that measuring will take. Trials that are disturbed and repeated are not in it: on a calm machine there
    /// are none.
    pub(super) fn time(&self, options: &SessionOptions, rung: &Rung) -> Duration {
        let trials = self.cells.iter();
        let block: Duration = trials.map(|one| trial(options, one, rung.measure)).sum();
        block * rung.blocks
    }
}

fn trial(options: &SessionOptions, planned: &Planned<'_>, measure: Duration) -> Duration {
    let probes = match planned.workload.manifest.oracle {
        // One probe before and one after the load, each as slow as the upstream; nothing stands behind the null server.
        Oracle::Relayed if planned.cell.target != Controls::null_server_id() => 2 * upstream::DELAY,
        _ => Duration::ZERO,
    };
    let usual = options
        .warm_up
        .unwrap_or_else(|| warm_up(planned.runtime, options.purpose));
    let load = match &planned.point.counted {
        None => measurement(planned.workload, measure, options.measure),
        Some(by_count) => counted(options, &planned.cell, by_count),
    };
    planned.ready.unwrap_or(USUAL_READY) + OVERHEAD + probes + planned.point.warm_up(usual) + load
}

/// About the time of a load of so many requests: what a published run of it took, else a guess.
fn counted(options: &SessionOptions, cell: &Cell, by_count: &CountedLoad) -> Duration {
    let mut tables = options.published.iter();
    let published = tables.find_map(|repeated| {
        let mut rows = repeated.rows.iter().zip(&repeated.table.row);
        let (_, row) = rows.find(|(row, _)| row.cell() == Some(cell))?;
        row.requests_per_second
    });
    let seconds = by_count.requests as f64 / published.unwrap_or(UNKNOWN_RATE);
    let takes = Duration::try_from_secs_f64(seconds).unwrap_or(by_count.limit);
    by_count.limit.min(takes)
}
