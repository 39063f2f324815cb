//! A session with two CPU budgets: stacks that may use two CPUs, and the same ones with one.

use deadheat_model::heats::SessionRecord;
use deadheat_stats::standings::Standings;

use super::cases;

pub fn budgets() -> (SessionRecord, Standings) {
    let (record, mut standings) = cases::few();
    for load in &mut standings.loads {
        let mut twice = load.tables[0].clone();
        twice.cpus = 2;
        for row in &mut twice.rows {
            row.throughput_per_second.value *= 1.8;
        }
        load.tables.insert(0, twice);
    }
    (record, standings)
}
