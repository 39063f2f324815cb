//! Random rows of the table world, as TechEmpower's Framework Benchmarks ask for them: one, several, several that are updated, and
//! several from memory. The rules are those of its toolset
//! (<https://github.com/TechEmpower/FrameworkBenchmarks/tree/master/toolset/test_types>), and of its description
//! (<https://github.com/TechEmpower/FrameworkBenchmarks/wiki/Project-Information-Framework-Tests-Overview>) that rows are random.
//!
//! The rules that TechEmpower's Framework Benchmarks have for every answer
//! (<https://github.com/TechEmpower/FrameworkBenchmarks/blob/master/toolset/test_types/verifications.py>, `verify_headers`). A
//! stack that was made for that suite need not keep the rest of the contract.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::RangeInclusive,
    thread,
    time::{Duration, Instant},
};

use deadheat_model::{
    load::{Content, RequestSpec, member},
    workload::{Table, WorldTask},
};
use rand::RngExt as _;
use serde_json::Value;

use super::{Depth, Fault, Verifier, question::ProbeRequest, wire::WholeAnswer};
use crate::services::{Postgres, postgres::WORLDS};

/// Values of the parameter for the number of rows, and the number of rows that the answer must have
/// (`verify_query_cases` in `verifications.py`).
const CASES: [(&str, u32); 5] = [("2", 2), ("0", 1), ("foo", 1), ("501", 500), ("", 1)];
/// The number of answers whose rows are compared with each other.
const ANSWERS: u32 = 4;
/// The minimum number of rows for checks of randomness.
const MANY: usize = 10;

pub(super) const STATEMENTS: &str =
    "each row is read by a statement of its own, and updated by one of its own or by one for all";
const ANEW: &str = "rows are read for each request (all were changed after the answer before)";
const CLAMPED: &str =
    "the number of rows is 1 to 500: of a larger number 500, of anything else that is asked for 1";
const RANDOM: &str = "rows are chosen at random for each request";
const UPDATED: &str = "the table has the numbers of an answer when it comes";
const CHANGED: &str = "an update writes other numbers than before";
const NO_OTHERS: &str = "an update changes the rows of its answer, and no others";

/// The number of statements of a request for this many rows. A request for cached rows runs no statement that counts.
pub(super) fn statements(task: WorldTask, queries: u32) -> RangeInclusive<u64> {
    let queries = u64::from(queries);
    match task {
        WorldTask::One | WorldTask::Several | WorldTask::Cached => queries..=queries,
        WorldTask::Update => queries + 1..=2 * queries,
    }
}

/// A row of an answer: id and number.
type WorldRow = (i32, i32);

impl<'a> Verifier<'a> {
    pub(super) fn verify_worlds(&mut self, task: WorldTask, depth: Depth) -> Result<(), Fault> {
        let salt = self.random.random_range(0..WORLDS / 2);
        self.own_table(|postgres, seat| postgres.fill_worlds(seat, salt))?;
        self.expect_worlds(task, "the answer is right", self.worlds_question(task))?;
        self.own_table(|postgres, seat| postgres.fill_worlds(seat, salt + WORLDS / 2))?;
        let before = self.own_statements(Table::World)?;
        let mut answers = Vec::new();
        for _ in 0..ANSWERS {
            answers.push(self.expect_worlds(task, ANEW, self.worlds_question(task))?);
        }
        if task != WorldTask::Cached {
            let after = self.own_statements(Table::World)?;
            if let (Some(before), Some(after)) = (before, after) {
                let counted = StatementCounts {
                    reads: after.reads.saturating_sub(before.reads),
                    writes: after.writes.saturating_sub(before.writes),
                    rows_updated: after.updated.saturating_sub(before.updated),
                };
                self.expect_statements(task, &answers, counted)?;
            }
        }
        self.expect_random(&answers)?;
        if depth == Depth::Full && task != WorldTask::One {
            for (asked, rows) in CASES {
                let request = RequestSpec::get(format!("{}{asked}", self.path));
                let question = self.question(request, records(Some(rows)));
                self.expect_worlds(task, CLAMPED, question)?;
            }
        }
        Ok(())
    }

    /// The load point's request with its expected answer.
    pub(super) fn worlds_question(&self, task: WorldTask) -> ProbeRequest {
        let rows = (task != WorldTask::One).then(|| self.queries());
        self.question(self.request(), records(rows))
    }

    /// The request of the load, with its right answer.
    pub(super) fn worlds_to_load(&mut self) -> (RequestSpec, Content) {
        let rows = self.point.queries;
        (self.request(), records(rows))
    }

    /// The number of rows that the load point asks for.
    pub(super) fn queries(&self) -> u32 {
        self.point.queries.unwrap_or(1)
    }

    /// Sends a request, and compares the answer with the table. Returns the answer's rows.
    fn expect_worlds(
        &mut self,
        task: WorldTask,
        rule: &'static str,
        question: ProbeRequest,
    ) -> Result<Vec<WorldRow>, Fault> {
        let before = self.own_table(Postgres::worlds)?;
        let answer = self.expect(rule, &question)?;
        let rows = rows_of(&answer.body);
        let asked = question.name();
        match task {
            WorldTask::One | WorldTask::Several => {
                expect_rows(&asked, ANEW, &before, &rows)?;
            }
            WorldTask::Update => {
                let after = self.own_table(Postgres::worlds)?;
                expect_updated(&asked, &before, &after, &rows)?;
            }
            WorldTask::Cached => {}
        }
        Ok(rows)
    }

    /// Checks that these answers took the right number of statements.
    fn expect_statements(
        &self,
        task: WorldTask,
        answers: &[Vec<WorldRow>],
        counted: StatementCounts,
    ) -> Result<(), Fault> {
        let rows: u64 = answers.iter().map(|rows| rows.len() as u64).sum();
        let (writes, rows_updated) = match task {
            WorldTask::Update => {
                let ids = answers.iter().map(|rows| by_id(rows).len() as u64);
                (answers.len() as u64..=rows, ids.sum()..=rows)
            }
            _ => (0..=0, 0..=0),
        };
        if counted.reads == rows
            && writes.contains(&counted.writes)
            && rows_updated.contains(&counted.rows_updated)
        {
            return Ok(());
        }
        let in_words = |range: RangeInclusive<u64>| match range.into_inner() {
            (least, most) if least == most => least.to_string(),
            (least, most) => format!("{least} to {most}"),
        };
        Err(Fault::new(
            format!("{} requests for {}", answers.len(), self.workload.id),
            STATEMENTS,
            format!(
                "{rows} statements that read, {} that write, {} rows written",
                in_words(writes),
                in_words(rows_updated)
            ),
            format!(
                "PostgreSQL counted {}, {} and {}",
                counted.reads, counted.writes, counted.rows_updated
            ),
        ))
    }

    /// Checks that the rows differ between these answers, and that long answers do not repeat the same row.
    fn expect_random(&self, answers: &[Vec<WorldRow>]) -> Result<(), Fault> {
        let ids = |rows: &Vec<WorldRow>| rows.iter().map(|(id, _)| *id).collect::<Vec<_>>();
        let different: BTreeSet<Vec<i32>> = answers.iter().map(ids).collect();
        let repeats =
            |rows: &&Vec<WorldRow>| rows.len() >= MANY && by_id(rows).len() * 2 < rows.len();
        let got = match (different.len(), answers.iter().find(repeats)) {
            (1, _) => format!("the same ids in {} answers", answers.len()),
            (_, Some(rows)) => format!("{} different ids of {}", by_id(rows).len(), rows.len()),
            _ => return Ok(()),
        };
        Err(Fault::new(
            format!("GET {}", self.point.fill(&self.path)),
            RANDOM,
            "ids that differ".to_owned(),
            got,
        ))
    }
}

/// PostgreSQL's counts of statements on the table world.
struct StatementCounts {
    reads: u64,
    writes: u64,
    rows_updated: u64,
}

/// The expected content with this many rows; `None` is a single row without an array.
fn records(count: Option<u32>) -> Content {
    Content::Records {
        count,
        members: ["id", "randomNumber"].map(str::to_owned).to_vec(),
        most: WORLDS as u64,
    }
}

/// The rows of a body whose form has been checked.
fn rows_of(body: &[u8]) -> Vec<WorldRow> {
    let parsed: Value = serde_json::from_slice(body).unwrap_or_default();
    let records = match &parsed {
        Value::Array(records) => records.as_slice(),
        one => std::slice::from_ref(one),
    };
    let number = |record: &Value, name: &str| Some(member(record, name)?.as_i64()? as i32);
    let row = |record| Some((number(record, "id")?, number(record, "randomNumber")?));
    records.iter().filter_map(row).collect()
}

/// The numbers of each id. A row may be chosen twice.
fn by_id(rows: &[WorldRow]) -> BTreeMap<i32, Vec<i32>> {
    let mut all: BTreeMap<i32, Vec<i32>> = BTreeMap::new();
    for (id, number) in rows {
        all.entry(*id).or_default().push(*number);
    }
    all
}

/// The number in the table for an id.
fn number_in(table: &[i32], id: i32) -> Option<i32> {
    let index = usize::try_from(id - 1).ok()?;
    table.get(index).copied()
}

/// Checks that `rows` match `table`. If an id occurs twice, one of its numbers must match.
fn expect_rows(
    asked: &str,
    rule: &'static str,
    table: &[i32],
    rows: &[WorldRow],
) -> Result<(), Fault> {
    for (id, numbers) in by_id(rows) {
        let own = number_in(table, id);
        if !own.is_some_and(|own| numbers.contains(&own)) {
            return Err(Fault::new(
                asked.to_owned(),
                rule,
                format!("the row {id} with {}", own.unwrap_or_default()),
                numbers[0].to_string(),
            ));
        }
    }
    Ok(())
}

/// Checks that an update of these rows changed a table from `before` to `after`.
fn expect_updated(
    asked: &str,
    before: &[i32],
    after: &[i32],
    rows: &[WorldRow],
) -> Result<(), Fault> {
    expect_rows(asked, UPDATED, after, rows)?;
    let updated = by_id(rows);
    let mut changed = 0;
    for ((id, old), new) in (1..).zip(before).zip(after) {
        if old == new {
            continue;
        }
        if !updated.contains_key(&id) {
            return Err(Fault::new(
                asked.to_owned(),
                NO_OTHERS,
                format!("the row {id} with {old}"),
                new.to_string(),
            ));
        }
        changed += 1;
    }
    // A new random number equals the old one once in 10,000 times. The toolset requires that nine of ten change.
    if updated.len() >= MANY && changed * 10 < updated.len() * 9 {
        return Err(Fault::new(
            asked.to_owned(),
            CHANGED,
            format!("{} changed rows", updated.len()),
            changed.to_string(),
        ));
    }
    Ok(())
}

/// The maximum time that the Date header, which has a resolution of one second, may stay the same.
const SAME_DATE: Duration = Duration::from_secs(3);
const POLL: Duration = Duration::from_millis(250);

const HEADERS: &str = "every answer has the headers that the suite asks for";

impl Verifier<'_> {
    pub(super) fn verify_suite(&mut self, depth: Depth) -> Result<(), Fault> {
        for question in self.questions(1)? {
            let answer = self.expect("the answer is right", &question)?;
            expect_headers(&question.name(), &answer)?;
        }
        if depth == Depth::Full {
            self.verify_date()?;
            self.verify_concurrent_connections()?;
        }
        Ok(())
    }

    /// Repeats a request until the Date header changes.
    fn verify_date(&mut self) -> Result<(), Fault> {
        let question = self.questions(1)?.remove(0);
        let date = |answer: &WholeAnswer| answer.header("date").map(str::to_owned);
        let first = date(&self.client.send(&question.request)?);
        let until = Instant::now() + SAME_DATE;
        while Instant::now() < until {
            thread::sleep(POLL);
            if date(&self.client.send(&question.request)?) != first {
                self.passed += 1;
                return Ok(());
            }
        }
        Err(Fault::new(
            question.name(),
            "the Date header is of the answer's own time",
            format!("another one after {} s", SAME_DATE.as_secs()),
            format!("`{}` in both answers", first.unwrap_or_default()),
        ))
    }
}

fn expect_headers(asked: &str, answer: &WholeAnswer) -> Result<(), Fault> {
    let fault = |expected: &str, got: &str| {
        let (expected, got) = (expected.to_owned(), got.to_owned());
        Err(Fault::new(asked.to_owned(), HEADERS, expected, got))
    };
    if answer.header("server").is_none() {
        return fault("a Server header", "none");
    }
    let has_size = ["content-length", "transfer-encoding"]
        .iter()
        .any(|name| answer.header(name).is_some());
    if !has_size {
        return fault("Content-Length or Transfer-Encoding", "neither");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_update_writes_what_it_answers_into_its_rows_alone() {
        let before: Vec<i32> = (1..=20).collect();
        let rows: Vec<WorldRow> = (1..=10).map(|id| (id, 100 + id)).collect();
        let write = |rows: &[WorldRow]| {
            let mut table = before.clone();
            for (id, number) in rows {
                table[*id as usize - 1] = *number;
            }
            table
        };
        let judged = |after: &[i32], rows: &[WorldRow]| {
            let judged = expect_updated("GET /updates", &before, after, rows);
            judged.map_err(|fault| fault.rule)
        };
        assert_eq!(judged(&write(&rows), &rows), Ok(()));
        assert_eq!(judged(&before, &rows), Err(UPDATED));
        let twice = [&rows[..], &[(3, 7)]].concat();
        assert_eq!(judged(&write(&twice), &twice), Ok(()));
        assert_eq!(judged(&write(&rows), &twice), Ok(()), "in another order");
        let others = [&rows[..], &[(15, 7)]].concat();
        assert_eq!(judged(&write(&others), &rows), Err(NO_OTHERS));
        let same: Vec<WorldRow> = (1..=10).map(|id| (id, id)).collect();
        assert_eq!(judged(&before, &same), Err(CHANGED));
    }

    #[test]
    fn a_row_is_read_whatever_the_capitals_of_its_members() {
        let body = br#"[{"Id":1,"randomnumber":2},{"id":3,"randomNumber":4}]"#;
        assert_eq!(rows_of(body), [(1, 2), (3, 4)]);
        assert_eq!(rows_of(br#"{"id":5,"randomNumber":6}"#), [(5, 6)]);
    }

    #[test]
    fn an_update_takes_a_statement_for_each_row_or_one_for_all() {
        assert_eq!(statements(WorldTask::Several, 20), 20..=20);
        assert_eq!(statements(WorldTask::Update, 20), 21..=40);
        assert_eq!(statements(WorldTask::Update, 1), 2..=2);
    }
}
