//! fortunes: rows of the database and one more, sorted, in a page that a template engine renders.

use std::sync::Arc;

use deadheat_model::workload::Table;
use rand::Rng as _;
use rand_chacha::ChaCha8Rng;

use super::{Depth, Fault, Verifier, page::Row};
use crate::services::postgres::RowChange;

/// The row that each request adds: id and message, as in the workload of the same name of TechEmpower's Framework
/// Benchmarks (<https://github.com/TechEmpower/FrameworkBenchmarks/wiki/Project-Information-Framework-Tests-Overview>).
const ADDED: (i32, &str) = (0, "Additional fortune added at request time.");
/// More rows than the table ever has.
const ALL: u32 = 1_000;
/// The id of a row that is there for a moment.
const PASSING: i32 = 900;

const ANY_NUMBER: &str =
    "each row of the table is a row of the page (one was added after the answer before)";

impl Verifier<'_> {
    /// The rows of a right answer, in their order.
    pub(super) fn right_fortunes(&mut self) -> Result<Arc<[Row]>, Fault> {
        Ok(page_rows(self.rows(Table::Fortune, ALL)?))
    }

    pub(super) fn verify_fortunes(&mut self, depth: Depth) -> Result<(), Fault> {
        let counted = self.begin_count(depth)?;
        self.expect_right()?;
        let rows = self.rows(Table::Fortune, ALL)?;
        self.expect_changed(Table::Fortune, &rows, random_message)?;
        let mut requests = 2;
        if depth == Depth::Full {
            let message = random_message(&mut self.random);
            self.change_row(Table::Fortune, PASSING, RowChange::Add(&message))?;
            let shown = self.expect_right_by(ANY_NUMBER);
            self.change_row(Table::Fortune, PASSING, RowChange::Remove)?;
            shown?;
            requests += 1;
        }
        self.expect_right()?;
        self.end_count(counted, requests + 1)
    }
}

/// A message with another place in the page, and something to escape.
fn random_message(random: &mut ChaCha8Rng) -> String {
    let number = random.next_u32();
    let first = char::from(b'A' + (number % 26) as u8);
    format!("{first}{number:08x} <b>\"{number}\" & 'more'</b>")
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
