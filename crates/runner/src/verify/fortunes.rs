//! fortunes: rows of the database and one more, sorted, in a page that a template engine renders.

use std::sync::Arc;

use deadheat_model::workload::Table;
use rand::Rng as _;

use super::{Depth, Fault, Verifier, page::Row, users::fault};
use crate::services::postgres::RowChange;

/// The row that each request adds: id and message, as in the workload of the same name of TechEmpower's Framework
/// Benchmarks (<https://github.com/TechEmpower/FrameworkBenchmarks/wiki/Project-Information-Framework-Tests-Overview>).
const ADDED: (i32, &str) = (0, "Additional fortune added at request time.");
/// More rows than the table ever has.
const ALL: u32 = 1_000;
/// The id of a row that is there for a moment.
const PASSING: i32 = 900;

const ANEW: &str = "rows are read for each request (all were changed after the answer before)";
const ANY_NUMBER: &str =
    "each row of the table is a row of the page (one was added after the answer before)";

impl Verifier<'_> {
    /// The rows of a right answer, in their order.
    pub(super) fn right_fortunes(&mut self) -> Result<Arc<[Row]>, Fault> {
        Ok(page_rows(self.fortunes()?))
    }

    fn fortunes(&mut self) -> Result<Vec<Row>, Fault> {
        let rows = self.postgres()?.first_rows(Table::Fortune, ALL);
        rows.map_err(fault)
    }

    pub(super) fn verify_fortunes(&mut self, depth: Depth) -> Result<(), Fault> {
        let counted = self.begin_count(depth)?;
        self.expect_right()?;
        let rows = self.fortunes()?;
        // Every row gets another place in the page, and something to escape.
        for (id, _) in &rows {
            let message = self.random_message();
            self.change_fortune(*id, RowChange::Set(&message))?;
        }
        let shown = self.expect_now(ANEW);
        // Put back whatever the answer was: the next stack finds the table as this one did.
        for (id, message) in &rows {
            self.change_fortune(*id, RowChange::Set(message))?;
        }
        shown?;
        let mut requests = 2;
        if depth == Depth::Full {
            let message = self.random_message();
            self.change_fortune(PASSING, RowChange::Add(&message))?;
            let shown = self.expect_now(ANY_NUMBER);
            self.change_fortune(PASSING, RowChange::Remove)?;
            shown?;
            requests += 1;
        }
        self.expect_right()?;
        self.end_count(counted, requests + 1)
    }

    /// Asks the workload's request, whose answer is what the table holds now.
    fn expect_now(&mut self, rule: &'static str) -> Result<(), Fault> {
        let rows = self.right_fortunes()?;
        self.expect_content(rule, self.request(), rows)?;
        Ok(())
    }

    fn change_fortune(&mut self, id: i32, change: RowChange<'_>) -> Result<(), Fault> {
        let changed = self.postgres()?.change_row(Table::Fortune, id, change);
        changed.map_err(fault)
    }

    fn random_message(&mut self) -> String {
        let number = self.random.next_u32();
        let first = char::from(b'A' + (number % 26) as u8);
        format!("{first}{number:08x} <b>\"{number}\" & 'more'</b>")
    }
}

/// The rows of a page for a table with `rows`: one more, by message, in the order of code points.
fn page_rows(mut rows: Vec<Row>) -> Arc<[Row]> {
    rows.push((ADDED.0, ADDED.1.to_owned()));
    rows.sort_by(|a, b| a.1.cmp(&b.1));
    rows.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_sorted_by_message_with_the_one_that_is_added() {
        let rows = [(1, "b"), (2, "<script>"), (3, "急がば回れ")];
        let rows = page_rows(rows.map(|(id, text)| (id, text.to_owned())).to_vec());
        let ids: Vec<i32> = rows.iter().map(|row| row.0).collect();
        assert_eq!(ids, [2, 0, 1, 3]);
    }
}
