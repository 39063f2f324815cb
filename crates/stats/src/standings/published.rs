//! Published tables compared with what was measured: the same ratios on both sides, against the same row.

use deadheat_model::{
    Cell, RepeatedTable,
    heats::SessionRecord,
    published::{PublishedRow, RepeatedRow},
};

use super::{
    load::unanswered_by,
    types::{
        Absent, AbsentBecause, Agreement, Bound, LoadStandings, MeasuredRatio, MeasuredSide, Row,
        RowSides, Table, TableSides,
    },
};
use crate::interval::Interval;

/// All published tables that a session repeats.
pub(super) fn tables(
    record: &SessionRecord,
    loads: &[LoadStandings],
    absent: &[Absent],
) -> Vec<TableSides> {
    let session = RepeatedTables {
        record,
        loads,
        absent,
    };
    let published = record.header.published.iter();
    published.map(|table| session.table(table)).collect()
}

struct RepeatedTables<'a> {
    record: &'a SessionRecord,
    loads: &'a [LoadStandings],
    absent: &'a [Absent],
}

/// A stack's row, and where it is.
#[derive(Clone, Copy)]
struct PublishedStack<'a> {
    load: &'a LoadStandings,
    table: &'a Table,
    row: &'a Row,
}

impl RepeatedTables<'_> {
    fn table(&self, repeated: &RepeatedTable) -> TableSides {
        let table = &repeated.table;
        let pairs = || table.row.iter().zip(&repeated.rows);
        let baseline = pairs().find(|(row, _)| row.name == table.baseline);
        let rows = pairs().map(|(row, planned)| self.row(row, planned, baseline));
        TableSides {
            document: repeated.document.clone(),
            table: table.id.clone(),
            baseline: table.baseline.clone(),
            rows: rows.collect(),
        }
    }

    fn row(
        &self,
        row: &PublishedRow,
        planned: &RepeatedRow,
        baseline: Option<(&PublishedRow, &RepeatedRow)>,
    ) -> RowSides {
        let rate = row.valid_rate();
        let baseline_rate = baseline.and_then(|(row, _)| row.valid_rate());
        let published_ratio = rate.zip(baseline_rate).map(|(own, other)| own / other);
        let found = |planned: &RepeatedRow| self.find(planned.cell()?);
        let other = baseline.filter(|(other, _)| other.name != row.name);
        let other = other.and_then(|(_, planned)| found(planned));
        let measured_ratio = found(planned)
            .zip(other)
            .and_then(|(own, other)| own.over(&other));
        let interval = measured_ratio.and_then(|ratio| ratio.interval);
        RowSides {
            name: row.name.clone(),
            target: planned
                .cell()
                .map_or(&row.target, |cell| &cell.target)
                .clone(),
            published_per_second: row.requests_per_second,
            published_valid: rate.is_some(),
            published_ratio,
            measured: self.measured(planned),
            measured_ratio,
            agreement: published_ratio.zip(interval).map(|(published, interval)| {
                agreement(published, &interval, self.record.header.plan.margin)
            }),
        }
    }

    fn load(&self, cell: &Cell) -> Option<&LoadStandings> {
        let mut loads = self.loads.iter();
        loads.find(|load| load.workload == cell.workload && load.point.id == cell.point)
    }

    fn find(&self, cell: &Cell) -> Option<PublishedStack<'_>> {
        let load = self.load(cell)?;
        load.tables.iter().find_map(|table| {
            let row = table.rows.iter().find(|row| row.target == cell.target)?;
            Some(PublishedStack { load, table, row })
        })
    }

    fn measured(&self, planned: &RepeatedRow) -> MeasuredSide {
        let cell = match planned {
            RepeatedRow::Asked { cell } => cell,
            RepeatedRow::LeftOut { reason } => {
                return MeasuredSide::LeftOut {
                    reason: reason.clone(),
                };
            }
        };
        if let Some(PublishedStack { row, .. }) = self.find(cell) {
            return MeasuredSide::Measured {
                per_second: row.throughput_per_second.value,
                is_bound: row.throughput_per_second.is_bound,
            };
        }
        let absent = self.absent(cell);
        MeasuredSide::Absent {
            because: absent.is,
            reason: absent.reason,
            remedy: absent.remedy,
        }
    }

    /// Why a cell has no figure.
    fn absent(&self, cell: &Cell) -> Absent {
        let here = self.load(cell).map_or(&[][..], |load| &load.lacking);
        let mut known = self.absent.iter().chain(here);
        let known = known.find(|absent| absent.target == cell.target).cloned();
        let unanswered = || unanswered_by(self.record.header.target(&cell.target)?, &cell.workload);
        known.or_else(unanswered).unwrap_or_else(|| Absent {
            target: cell.target.clone(),
            is: AbsentBecause::NotMeasured,
            reason: "no heat of it was planned".to_owned(),
            remedy: None,
            log: Vec::new(),
        })
    }
}

impl PublishedStack<'_> {
    /// The ratio of this row's throughput to another's; `None` if both are lower bounds, of which nothing follows.
    fn over(&self, other: &PublishedStack<'_>) -> Option<MeasuredRatio> {
        let [own, against] = [self, other].map(|one| one.row.throughput_per_second);
        let bound = match (own.is_bound, against.is_bound) {
            (false, false) => Bound::Exact,
            (true, false) => Bound::AtLeast,
            (false, true) => Bound::AtMost,
            (true, true) => return None,
        };
        let compared = self.compared(other);
        let (ratio, interval) = compared.unwrap_or((own.value / against.value, None));
        let has_interval = bound == Bound::Exact && self.load.look.is_some();
        Some(MeasuredRatio {
            ratio,
            interval: interval.filter(|_| has_interval),
            bound,
        })
    }

    /// The same by the ranking of both, if there is one.
    fn compared(&self, other: &PublishedStack<'_>) -> Option<(f64, Option<Interval>)> {
        if !std::ptr::eq(self.table, other.table) {
            return None;
        }
        let (own, against) = (self.row.member, other.row.member);
        self.table.ranking.pairs.iter().find_map(|pair| {
            if (pair.better, pair.worse) == (own, against) {
                return Some((pair.ratio?, pair.interval));
            }
            let is_reversed = (pair.better, pair.worse) == (against, own);
            let ratio = pair.ratio.filter(|_| is_reversed)?;
            Some((1.0 / ratio, pair.interval.map(Interval::reversed)))
        })
    }
}

/// Another order needs a difference of more than the margin on both sides: a smaller published one does not count.
fn agreement(published: f64, measured: &Interval, margin: f64) -> Agreement {
    let (more, less) = (1.0 + margin, 1.0 / (1.0 + margin));
    let ahead = published > more && measured.high < less;
    let behind = published < less && measured.low > more;
    if ahead || behind {
        Agreement::Reversed
    } else if published < measured.low {
        Agreement::Higher
    } else if published > measured.high {
        Agreement::Lower
    } else {
        Agreement::Within
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_order_needs_a_difference_on_both_sides() {
        let judged = |published, low, high| {
            let level = 0.95;
            agreement(published, &Interval { low, high, level }, 0.03)
        };
        assert_eq!(judged(0.7, 1.1, 1.3), Agreement::Reversed);
        assert_eq!(judged(1.4, 0.8, 0.9), Agreement::Reversed);
        // 194.33 to 194.40 requests/s, at an upstream that lets nobody have more than 200: no order.
        assert_eq!(judged(0.9996, 1.0005, 1.0007), Agreement::Higher);
        assert_eq!(judged(0.9996, 1.1, 1.3), Agreement::Higher);
        assert_eq!(judged(0.7, 0.9, 1.02), Agreement::Higher);
        assert_eq!(judged(1.4, 1.1, 1.5), Agreement::Within);
        assert_eq!(judged(1.4, 1.1, 1.3), Agreement::Lower);
    }
}
