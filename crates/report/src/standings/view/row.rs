//! A stack at a load.

use deadheat_model::{TargetId, session::TargetRecord};
use deadheat_stats::{
    heats::{LimitedBy, Rank, Ranking},
    load::Uneven,
    standings::{Behind, Figure, HeatFigure, LoadStandings, Measure, Memory, Row, Table},
};
use serde::Serialize;

use super::names::name;
use crate::view::clean;

/// A stack's line in a table.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RowView {
    /// The stack, under its variant.
    pub target: String,
    /// The same as its parts.
    pub id: TargetId,
    /// Its language; empty if it is not known.
    pub language: String,
    /// Its framework; empty if it is not known.
    pub framework: String,
    /// What the table is ranked by: requests per second, or in an open loop the 99th percentile of response time in
    /// seconds. `None`: it has no such figure.
    pub main: Option<Placed>,
    /// Half the width of the interval of its ratio to the best that is no lower bound; of that one itself, to the next
    /// such (0.03: ±3 %). `None`: it is a lower bound, or cannot be compared.
    pub half_width: Option<f64>,
    /// Its `main` beside the best's, 1 for the best and less for all others (of times: the best's ÷ its own). A
    /// yardstick's may be more.
    pub share_of_best: Option<f64>,
    /// Verified answers per second.
    pub throughput_per_second: Placed,
    /// CPU time per request, in microseconds.
    pub cpu_us_per_request: Option<Placed>,
    /// Closed loop: the mean of service time, connections ÷ throughput, in seconds.
    pub mean_seconds: Option<f64>,
    /// The median of service time (open loop: of response time), in seconds.
    pub p50_seconds: Option<Placed>,
    /// Its 99th percentile, in seconds.
    pub p99_seconds: Option<Placed>,
    /// Closed loop: how its connections were served unevenly, if so.
    pub uneven: Option<Uneven>,
    /// The rate that was offered in an open loop.
    pub offered_per_second: Option<f64>,
    /// The standard deviation between its heats, each with a fresh process (0.03: 3 %).
    pub spread: Option<f64>,
    /// Memory of its process tree.
    pub memory: Memory,
    /// From its start to its first correct answer, in seconds.
    pub ready_seconds: Option<f64>,
    /// Load until it was steady, in seconds.
    pub warm_up_seconds: Option<f64>,
    /// Heats after whose warm-up it was not steady.
    pub unsteady_heats: u32,
    /// Complete heats in which it took part.
    pub heats: u32,
    /// Slices that count.
    pub slices: u32,
    /// Slices that were discarded.
    pub discarded_slices: u32,
    /// Verified answers in counted slices.
    pub answers: u64,
    /// Requests that failed in them.
    pub failed_requests: u64,
    /// Connections that had to be made again.
    pub reconnected: u64,
    /// The share of its CPUs' time that the server was busy (0 to 1).
    pub busy: Option<f64>,
    /// What the limit was in most slices.
    pub limited_by: Option<LimitedBy>,
    /// Why it failed in heats, if it did; it counts for nothing in these.
    pub failures: Vec<String>,
    /// What it answered in each heat that counts, in their order.
    pub course: Vec<HeatFigure>,
}

/// A figure with its place in the ranking of its table.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Placed {
    /// The estimate, in the unit that the field names.
    pub value: f64,
    /// Whether it is only a lower bound, because the generator was the limit.
    pub is_bound: bool,
    /// The best and the worst rank that it can have.
    pub rank: Option<Rank>,
    /// How many times better the ranking's best is. `None` for the best itself, or if they cannot be compared.
    pub behind: Option<Behind>,
}

impl Placed {
    /// A figure that is not ranked.
    pub(crate) const fn alone(value: f64) -> Self {
        Self {
            value,
            is_bound: false,
            rank: None,
            behind: None,
        }
    }
}

impl RowView {
    /// The share of requests that failed (0 to 1).
    pub fn failed_share(&self) -> f64 {
        match self.failed_requests + self.answers {
            0 => 0.0,
            all => self.failed_requests as f64 / all as f64,
        }
    }
}

/// The rows of a table, the best first.
pub(super) fn rows(targets: &[TargetRecord], load: &LoadStandings, table: &Table) -> Vec<RowView> {
    let rows = table.rows.iter();
    rows.map(|row| of_row(targets, load, table, row)).collect()
}

fn of_row(targets: &[TargetRecord], load: &LoadStandings, table: &Table, row: &Row) -> RowView {
    let known = targets.iter().find(|known| known.target == row.target);
    let figure = |figure: Option<Figure>, ranking: &Ranking| {
        figure.map(|figure| placed(figure, ranking, row.member))
    };
    let mut throughput = placed(row.throughput_per_second, &table.ranking, row.member);
    let time = |time: Option<Figure>, ranking: Option<&Ranking>| match ranking {
        Some(ranking) => figure(time, ranking),
        None => time.map(|time| Placed::alone(time.value)),
    };
    let is_open = load.measure == Measure::ResponseTime;
    let p99 = time(row.p99_seconds, is_open.then_some(&table.ranking));
    let main = if is_open {
        // An open loop's throughput is what was offered, which ranks nobody.
        throughput.behind = None;
        p99
    } else {
        Some(throughput)
    };
    let is_best = is_best(&table.ranking, row.member);
    RowView {
        target: name(&row.target),
        id: row.target.clone(),
        language: known.map_or(String::new(), |known| clean(&known.language)),
        framework: known.map_or(String::new(), |known| clean(&known.framework)),
        main,
        half_width: row.half_width,
        share_of_best: match row.behind {
            Some(behind) => Some(1.0 / behind.ratio),
            None => is_best.then_some(1.0),
        },
        throughput_per_second: throughput,
        cpu_us_per_request: figure(row.cpu_us_per_request, &table.cost),
        mean_seconds: row.mean_seconds,
        p50_seconds: time(row.p50_seconds, table.p50.as_ref()),
        p99_seconds: p99,
        uneven: row.uneven,
        offered_per_second: row.offered_per_second,
        spread: row.spread,
        memory: row.memory,
        ready_seconds: row.ready_seconds,
        warm_up_seconds: row.warm_up_seconds,
        unsteady_heats: row.unsteady_heats,
        heats: row.heats,
        slices: row.slices,
        discarded_slices: row.discarded_slices,
        answers: row.answers,
        failed_requests: row.failed_requests,
        reconnected: row.reconnected,
        busy: row.busy,
        limited_by: row.limited_by,
        failures: row.failures.iter().map(|reason| clean(reason)).collect(),
        course: row.course.clone(),
    }
}

fn is_best(ranking: &Ranking, member: usize) -> bool {
    let best = ranking.places.first();
    best.is_some_and(|best| best.member == member)
}

fn placed(figure: Figure, ranking: &Ranking, member: usize) -> Placed {
    Placed {
        value: figure.value,
        is_bound: figure.is_bound,
        rank: figure.rank,
        behind: behind(ranking, member),
    }
}

/// How the best of a ranking stands to one of its members.
fn behind(ranking: &Ranking, member: usize) -> Option<Behind> {
    let best = ranking.places.first()?.member;
    let mut pairs = ranking.pairs.iter();
    let pair = pairs.find(|pair| (pair.better, pair.worse) == (best, member))?;
    Some(Behind {
        ratio: pair.ratio?,
        interval: pair.interval,
        verdict: pair.verdict,
    })
}
