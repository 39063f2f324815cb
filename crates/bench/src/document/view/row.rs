//! A stack at a load.

use std::ops::Deref;

use deadheat_document::view::clean;
use deadheat_model::session::TargetRecord;
use deadheat_stats::{
    heats::{Rank, Ranking},
    standings::{AbsentBecause, Behind, Figure, LoadStandings, Measure, Row, Table},
};

use super::{LoadView, names::name};

/// A stack's line in a table: its row, and where its figures are in their rankings.
#[derive(Clone, Debug, PartialEq)]
pub struct RowView {
    row: Row,
    /// The stack, under its variant.
    pub target: String,
    /// Its language; empty if it is not known.
    pub language: String,
    /// Its framework; empty if it is not known.
    pub framework: String,
    /// What the table is ranked by: requests per second, or in an open loop the 99th percentile of response time in
    /// seconds. `None`: it has no such figure.
    pub main: Option<Placed>,
    /// Its `main` beside the best's, 1 for the best and less for all others (of times: the best's ÷ its own). A
    /// yardstick's may be more.
    pub share_of_best: Option<f64>,
    /// Verified answers per second.
    pub throughput_per_second: Placed,
    /// CPU time per request, in microseconds.
    pub cpu_us_per_request: Option<Placed>,
    /// The median of service time (open loop: of response time), in seconds.
    pub p50_seconds: Option<Placed>,
    /// Its 99th percentile, in seconds.
    pub p99_seconds: Option<Placed>,
    /// Closed loop: what it does at each of [`LoadView::rates`](super::LoadView::rates).
    pub at_rates: Vec<AtRate>,
}

/// A stack at a rate that is the same for all.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum AtRate {
    /// It took the rate.
    Took {
        /// CPU time per request, in microseconds.
        cpu_us_per_request: Option<Placed>,
        /// The 99th percentile of response time, in seconds.
        p99_seconds: Option<Placed>,
    },
    /// It has no figures there.
    Lacks(AbsentBecause),
}

impl AtRate {
    /// That of a stack in the view of this equal work.
    pub(super) fn new(load: &LoadView, target: &str) -> Self {
        let mut rows = load.rows();
        if let Some(row) = rows.find(|row| row.target == target) {
            return Self::Took {
                cpu_us_per_request: row.cpu_us_per_request,
                p99_seconds: row.p99_seconds,
            };
        }
        let mut lacking = load.lacking.iter();
        let lack = lacking.find(|lack| lack.target == target);
        Self::Lacks(lack.map_or(AbsentBecause::NotMeasured, |lack| lack.because))
    }

    /// CPU time per request, in microseconds.
    pub fn cost(&self) -> Option<Placed> {
        match self {
            Self::Took {
                cpu_us_per_request, ..
            } => *cpu_us_per_request,
            Self::Lacks(_) => None,
        }
    }

    /// The 99th percentile of response time, in seconds.
    pub fn p99(&self) -> Option<Placed> {
        match self {
            Self::Took { p99_seconds, .. } => *p99_seconds,
            Self::Lacks(_) => None,
        }
    }
}

impl Deref for RowView {
    type Target = Row;

    fn deref(&self) -> &Row {
        &self.row
    }
}

/// A figure with its place in the ranking of its table.
#[derive(Clone, Copy, Debug, PartialEq)]
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
    /// The stack as its parts.
    pub fn id(&self) -> &deadheat_model::TargetId {
        &self.row.target
    }

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
    let best = table.ranking.places.first();
    let is_best = best.is_some_and(|best| best.member == row.member);
    RowView {
        target: name(&row.target),
        language: known.map_or(String::new(), |known| clean(&known.language)),
        framework: known.map_or(String::new(), |known| clean(&known.framework)),
        main,
        share_of_best: match row.behind {
            Some(behind) => Some(1.0 / behind.ratio),
            None => is_best.then_some(1.0),
        },
        throughput_per_second: throughput,
        cpu_us_per_request: figure(row.cpu_us_per_request, &table.cost),
        p50_seconds: time(row.p50_seconds, table.p50.as_ref()),
        p99_seconds: p99,
        at_rates: Vec::new(),
        row: row.clone(),
    }
}

fn placed(figure: Figure, ranking: &Ranking, member: usize) -> Placed {
    Placed {
        value: figure.value,
        is_bound: figure.is_bound,
        rank: figure.rank,
        behind: Behind::new(ranking, member),
    }
}
