//! A session with two CPU budgets and a yardstick: stacks that may use two CPUs, the same ones with one, what they gain, and
//! a server that is not ranked.

use deadheat_model::heats::SessionRecord;
use deadheat_stats::{
    heats::PairVerdict,
    interval::Interval,
    standings::{AtBudget, Gain, Row, Scaling, Standings, Table},
};

use super::cases;

/// What the first stack of a table may be faster than.
fn yardstick(table: &Table) -> Table {
    let mut alone = table.clone();
    alone.group.yardsticks = true;
    alone.rows.truncate(1);
    let row = &mut alone.rows[0];
    row.target = "nginx".parse().unwrap();
    row.behind = None;
    row.half_width = None;
    let figures = [
        Some(&mut row.throughput_per_second),
        row.cpu_us_per_request.as_mut(),
        row.p50_seconds.as_mut(),
        row.p99_seconds.as_mut(),
    ];
    for figure in figures.into_iter().flatten() {
        figure.rank = None;
    }
    row.throughput_per_second.value *= 1.25;
    let rankings = [&mut alone.ranking, &mut alone.cost];
    for ranking in rankings.into_iter().chain(&mut alone.p50) {
        ranking.group = alone.group;
        ranking.places.truncate(1);
        ranking.pairs.clear();
    }
    alone
}

/// Gains of all kinds, by turns.
fn scaling(one: &Table, two: &Table) -> Vec<Scaling> {
    let gains = [
        (1.8, 0.1, PairVerdict::Faster),
        (1.0, 0.02, PairVerdict::DeadHeat),
        (1.1, 0.3, PairVerdict::Undecided),
        (0.8, 0.1, PairVerdict::Slower),
    ];
    let at = |row: &Row, cpus, gain| AtBudget {
        cpus,
        member: row.member,
        per_second: row.throughput_per_second.value,
        is_bound: row.throughput_per_second.is_bound,
        cpu_us_per_request: row.cpu_us_per_request.map(|cost| cost.value),
        heats: row.heats,
        gain,
    };
    let gain = |(ratio, half, verdict): (f64, f64, PairVerdict)| Gain {
        ratio,
        interval: Some(Interval {
            low: ratio - half,
            high: ratio + half,
            level: 0.99,
        }),
        is_bound: false,
        efficiency: ratio / 2.0,
        verdict,
    };
    let rows = one
        .rows
        .iter()
        .zip(&two.rows)
        .zip(gains.into_iter().cycle());
    rows.map(|((one, two), found)| Scaling {
        target: one.target.clone(),
        budgets: vec![at(one, 1, None), at(two, 2, Some(gain(found)))],
    })
    .collect()
}

pub fn budgets() -> (SessionRecord, Standings) {
    let (record, mut standings) = cases::few();
    for load in &mut standings.loads {
        let mut twice = load.tables[0].clone();
        twice.group.cpus = 2;
        for row in &mut twice.rows {
            row.throughput_per_second.value *= 1.8;
        }
        let yardstick = yardstick(&twice);
        load.scaling = scaling(&load.tables[0], &twice);
        load.tables.insert(0, twice);
        load.tables.push(yardstick);
    }
    (record, standings)
}
