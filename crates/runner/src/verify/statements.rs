//! What a stack says to PostgreSQL for each request: one statement, prepared once for each connection.
//!
//! Many clients ask at once, as under load, so that the pool is at work: asked by one client on a slow machine, each of
//! its connections idles between two requests for as long as makes some pools test a connection before they lend it
//! (HikariCP: 500 ms, `com.zaxxer.hikari.aliveBypassWindowMs`).

use deadheat_model::{stack::Pool, workload::Table};

use super::{Declared, Depth, Fault, Verifier, concurrency::ask_together, users::fault};
use crate::services::Said;

/// Requests for each connection of the pool that come before: drivers prepare a statement when it has come a few times
/// (psycopg at the sixth), and a pool takes its connections in any order.
const BEFORE: u32 = 8;
/// Requests for each connection while the statements are counted.
const COUNTED: u32 = 16;
/// One in this many requests may do it: a connection may be new, may not have prepared its statement yet, or may have
/// idled while the log was turned on.
const EXCUSED: u64 = 4;

impl Verifier<'_> {
    /// Statements of the stacks so far, before some requests whose statements are counted. `None` where that would take
    /// too long: a server without pg_stat_statements counts late, which is waited for once a session, not around each load.
    pub(super) fn begin_count(&mut self, depth: Depth) -> Result<Option<u64>, Fault> {
        if depth == Depth::Brief && self.counts_late()? {
            return Ok(None);
        }
        self.statements()
    }

    /// Checks that the stack ran one statement for each of the `requests` since [`Verifier::begin_count`].
    pub(super) fn end_count(&mut self, before: Option<u64>, requests: u64) -> Result<(), Fault> {
        let Some(before) = before else {
            return Ok(());
        };
        std::thread::sleep(self.postgres()?.count_lag());
        let asked = self.statements()?.unwrap_or(before).saturating_sub(before);
        if asked == requests {
            return Ok(());
        }
        Err(Fault::new(
            format!("GET {}", self.workload.path),
            "each request runs one statement",
            format!("{requests} statements for {requests} requests"),
            format!("PostgreSQL counted {asked}"),
        ))
    }

    /// Statements so far that read the workload's table; `None` if it reads none.
    pub(super) fn statements(&mut self) -> Result<Option<u64>, Fault> {
        let Some(table) = self.workload.oracle.table() else {
            return Ok(None);
        };
        self.postgres()?.statements(table).map(Some).map_err(fault)
    }

    pub(super) fn counts_late(&mut self) -> Result<bool, Fault> {
        Ok(!self.postgres()?.count_lag().is_zero())
    }

    /// Checks what the manifest says of statements. Not without a pool, and not on a server of somebody else's, whose log
    /// cannot be read.
    pub(super) fn verify_statements(&mut self) -> Result<(), Fault> {
        let (Pool::Size(size), Some(table)) = (self.declared.pool, self.workload.oracle.table())
        else {
            return Ok(());
        };
        let before = self.questions((size * BEFORE) as usize)?;
        ask_together(self.address, self.declared.http, &before)?;
        self.passed += size * BEFORE;
        let requests = size * COUNTED;
        let Some(said) = self.said_for(requests, table)? else {
            return Ok(());
        };
        let asked = format!("{requests} times GET {}", self.workload.path);
        judge(
            self.declared,
            &self.workload.id,
            table,
            asked,
            u64::from(requests),
            said,
        )
    }

    /// What it said to PostgreSQL for so many requests.
    fn said_for(&mut self, requests: u32, table: Table) -> Result<Option<Said>, Fault> {
        let questions = self.questions(requests as usize)?;
        let mut asked = Ok(());
        let postgres = self
            .fixtures
            .postgres
            .as_ref()
            .ok_or_else(|| super::users::missing("PostgreSQL"))?;
        let said = postgres.listen(self.seat, table, || {
            asked = ask_together(self.address, self.declared.http, &questions);
        });
        asked?;
        said.map_err(fault)
    }
}

/// The part of a statement that does the work of the server that asks, if there is one.
fn sorts(table: Table, statement: &str) -> Option<&'static str> {
    if table != Table::Fortune {
        return None;
    }
    let words = statement.to_lowercase();
    let words: Vec<&str> = words.split_whitespace().collect();
    if words.windows(2).any(|pair| pair == ["order", "by"]) {
        Some("order by")
    } else if words.contains(&"union") {
        Some("union")
    } else {
        None
    }
}

/// Checks that what was said for these requests is what `declared` promises.
fn judge(
    declared: Declared,
    workload: &str,
    table: Table,
    asked: String,
    requests: u64,
    said: Said,
) -> Result<(), Fault> {
    let often = |count: u64| count > requests / EXCUSED;
    let is_prepared = !often(said.parsed);
    if is_prepared != declared.prepared {
        let expected = if declared.prepared {
            format!(
                "a prepared statement that is used again (a stack that cannot do that declares `prepared = false` \
                 under [database], or `unprepared = [\"{workload}\"]` for this workload alone)"
            )
        } else {
            "a statement that is parsed for each request, as its manifest declares".to_owned()
        };
        return Err(Fault::new(
            asked,
            "a connection prepares its statement once",
            expected,
            format!("{} times parsed for {} reads", said.parsed, said.reads),
        ));
    }
    if let Some(word) = sorts(table, &said.read) {
        return Err(Fault::new(
            asked,
            "the server adds the row and sorts, not the database",
            "select id, message from fortune".to_owned(),
            format!("a statement with `{word}`: {}", said.read),
        ));
    }
    if often(said.others) != declared.other_statements {
        let expected = if declared.other_statements {
            "further statements, as its manifest declares (other-statements = true)"
        } else {
            "nothing but the reads (a stack that sends more declares `other-statements = true` under [database])"
        };
        return Err(Fault::new(
            asked,
            "a request sends one statement to PostgreSQL",
            expected.to_owned(),
            format!(
                "{} other statements beside {} reads",
                said.others, said.reads
            ),
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_each_connection_says_once_is_no_statement_of_each_request() {
        let pool = 16;
        let requests = pool * u64::from(COUNTED);
        let plain = Said {
            reads: requests,
            ..Said::default()
        };
        let judged = |said| {
            judge(
                Declared::default(),
                "users",
                Table::Users,
                String::new(),
                requests,
                said,
            )
            .is_ok()
        };
        assert!(judged(plain.clone()));
        // Each is tested after it has idled, and once more; each parses once more.
        assert!(judged(Said {
            others: 2 * pool,
            parsed: pool,
            ..plain.clone()
        }));
        assert!(!judged(Said {
            others: requests,
            ..plain.clone()
        }));
        assert!(!judged(Said {
            parsed: requests,
            ..plain
        }));
    }

    #[test]
    fn the_database_sorts_no_fortunes() {
        let plain = r#"SELECT "fortune".* FROM "fortune""#;
        let sorted = "select id, message from fortune\torder  by message";
        assert_eq!(sorts(Table::Fortune, plain), None);
        assert_eq!(sorts(Table::Fortune, sorted), Some("order by"));
        let added = "select id, message from fortune UNION all select 0, 'x'";
        assert_eq!(sorts(Table::Fortune, added), Some("union"));
        assert_eq!(
            sorts(Table::Users, "select id from users order by id"),
            None
        );
    }
}
