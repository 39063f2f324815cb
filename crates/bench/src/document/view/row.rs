//! A stack at a load: its figures, or why it has none.

use std::{collections::BTreeSet, ops::Deref};

use deadheat_document::view::{clean, clean_log};
use deadheat_model::{TargetId, figure::counted, heats::SessionHeader, session::TargetRecord};
use deadheat_stats::{
    heats::{Rank, Ranking},
    standings::{
        Absent, AbsentBecause, Behind, Figure, LoadStandings, Measure, Row, Standings, Table,
    },
};

use super::{LoadView, name, shorts};
use crate::document::words;

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
    /// The figure that the table is ranked by: requests per second, or in an open loop the 99th percentile of response
    /// time in seconds. `None` if the stack has no such figure.
    pub main: Option<RankedFigure>,
    /// Its `main` relative to the best's, 1 for the best and less for all others (of times: the best's ÷ its own). A
    /// yardstick's may be more.
    pub share_of_best: Option<f64>,
    /// Verified answers per second.
    pub throughput_per_second: RankedFigure,
    /// CPU time per request, in microseconds.
    pub cpu_us_per_request: Option<RankedFigure>,
    /// The median of service time (open loop: of response time), in seconds.
    pub p50_seconds: Option<RankedFigure>,
    /// Its 99th percentile, in seconds.
    pub p99_seconds: Option<RankedFigure>,
    /// Closed loop: what it does at each of [`LoadView::rates`](super::LoadView::rates).
    pub at_rates: Vec<AtRate>,
}

/// A stack at a rate that is the same for all.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum AtRate {
    /// The stack took the rate.
    Took {
        /// CPU time per request, in microseconds.
        cpu_us_per_request: Option<RankedFigure>,
        /// The 99th percentile of response time, in seconds.
        p99_seconds: Option<RankedFigure>,
    },
    /// The stack has no figures at the rate.
    Lacks(AbsentBecause),
}

impl AtRate {
    /// The figures of the stack `target` at the rate `load` of equal work.
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
    pub fn cost(&self) -> Option<RankedFigure> {
        match self {
            Self::Took {
                cpu_us_per_request, ..
            } => *cpu_us_per_request,
            Self::Lacks(_) => None,
        }
    }

    /// The 99th percentile of response time, in seconds.
    pub fn p99(&self) -> Option<RankedFigure> {
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
pub struct RankedFigure {
    /// The estimate, in the unit that the field names.
    pub value: f64,
    /// Whether it is only a lower bound, because the generator was the limit.
    pub is_bound: bool,
    /// The best and the worst rank that it can have.
    pub rank: Option<Rank>,
    /// How many times better the ranking's best is. `None` for the best itself, or if they cannot be compared.
    pub behind: Option<Behind>,
}

impl RankedFigure {
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
        None => time.map(|time| RankedFigure::alone(time.value)),
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

fn placed(figure: Figure, ranking: &Ranking, member: usize) -> RankedFigure {
    RankedFigure {
        value: figure.value,
        is_bound: figure.is_bound,
        rank: figure.rank,
        behind: Behind::new(ranking, member),
    }
}

/// The number of names in the line; the entries have all.
const MAX_NAMES: usize = 3;

/// Stacks without a figure.
#[derive(Clone, Debug, PartialEq)]
pub struct UnmeasuredStacks {
    /// All of them in one line, without a full stop; `None` if everything that was asked for was measured.
    pub line: Option<String>,
    /// Stacks that could not be measured at all, then those that lack a load.
    pub entries: Vec<LackView>,
    /// Stacks that there are and nobody asked for.
    pub left_out: Vec<String>,
}

/// A stack without a figure.
#[derive(Clone, Debug, PartialEq)]
pub struct LackView {
    /// The stack, under its variant.
    pub target: String,
    /// The stack's id.
    pub id: TargetId,
    /// The load that it lacks, as short as [`LoadView::short`](super::LoadView::short); `None`: all of them.
    pub load: Option<String>,
    /// The kind of the reason.
    pub because: AbsentBecause,
    /// The reason, in a sentence.
    pub reason: String,
    /// The command that fixes it; `None` without one.
    pub remedy: Option<String>,
    /// The last lines of its output.
    pub log: Vec<String>,
}

/// The entry of one stack. The caller fills in its load.
pub(super) fn lack(absent: &Absent) -> LackView {
    LackView {
        target: name(&absent.target),
        id: absent.target.clone(),
        load: None,
        because: absent.is,
        reason: clean(absent.reason.trim_end_matches('.')),
        remedy: absent.remedy.as_deref().map(clean),
        log: clean_log(&absent.log),
    }
}

pub(super) fn not_measured(header: &SessionHeader, standings: &Standings) -> UnmeasuredStacks {
    let mut entries: Vec<LackView> = standings.absent.iter().map(lack).collect();
    for (load, short) in standings.loads.iter().zip(shorts(standings)) {
        // A stack that cannot take a rate was measured. One that failed at the rate alone is named here.
        let has_capacity = |target: &TargetId| {
            let mut closed = standings.leading().filter(|one| load.is_measured_with(one));
            closed.any(|one| {
                let mut rows = one.tables.iter().flat_map(|table| &table.rows);
                rows.any(|row| row.target == *target)
            })
        };
        let lacking = load.lacking.iter().filter(|absent| {
            load.leads() || absent.is == AbsentBecause::Failed && has_capacity(&absent.target)
        });
        let lacking = lacking.map(|absent| LackView {
            load: Some(short.clone()),
            ..lack(absent)
        });
        // A stack without a figure at any load is listed once.
        let nowhere = standings.absent.len();
        for one in lacking.collect::<Vec<_>>() {
            let is_known = entries[..nowhere]
                .iter()
                .any(|known| known.target == one.target);
            if !is_known {
                entries.push(one);
            }
        }
    }
    UnmeasuredStacks {
        line: line(&entries, standings.leading().count()),
        entries,
        left_out: header.plan.left_out.iter().map(name).collect(),
    }
}

/// "1 failed: c (json); 2 unavailable: a and b".
fn line(entries: &[LackView], loads: usize) -> Option<String> {
    let kinds = [
        AbsentBecause::Failed,
        AbsentBecause::Unavailable,
        AbsentBecause::NotOffered,
        AbsentBecause::NotMeasured,
    ];
    let part = |kind: &AbsentBecause| {
        let names = names(entries, *kind, loads);
        (!names.is_empty()).then(|| {
            let shown = words::some(&names, MAX_NAMES);
            format!("{} {}: {shown}", names.len(), words::absent(*kind))
        })
    };
    let parts: Vec<String> = kinds.iter().filter_map(part).collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// Each stack of a kind once, with what it lacks if that is not everything.
fn names(entries: &[LackView], kind: AbsentBecause, loads: usize) -> Vec<String> {
    let of_kind = || entries.iter().filter(|one| one.because == kind);
    let mut targets: Vec<&str> = of_kind().map(|one| one.target.as_str()).collect();
    let mut seen = BTreeSet::new();
    targets.retain(|target| seen.insert(*target));
    let name = |target: &str| {
        let lacking = of_kind().filter(|one| one.target == target);
        let lacking: Vec<&String> = lacking.filter_map(|one| one.load.as_ref()).collect();
        match lacking.as_slice() {
            lacking if lacking.is_empty() || lacking.len() == loads => target.to_owned(),
            [load] => format!("{target} ({load})"),
            many => format!("{target} ({})", counted(many.len(), "load")),
        }
    };
    targets.into_iter().map(name).collect()
}

impl UnmeasuredStacks {
    /// The sentence about stacks that were not requested; `None` without any.
    pub(crate) fn left_out_sentence(&self) -> Option<String> {
        (!self.left_out.is_empty()).then(|| {
            let what = counted(self.left_out.len(), "more stack");
            format!("{what} can be measured with --stack.")
        })
    }
}
