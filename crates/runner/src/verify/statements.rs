//! What a stack says to PostgreSQL for each request: one statement, prepared once for each connection; and over how many
//! connections, which is no more than its pool, or one for each answer.
//!
//! Many clients ask at once, as under load, so that the pool is at work: asked by one client on a slow machine, each of
//! its connections idles between two requests for as long as makes some pools test a connection before they lend it
//! (HikariCP: 500 ms, `com.zaxxer.hikari.aliveBypassWindowMs`).

use std::{
    thread,
    time::{Duration, Instant},
};

use deadheat_model::{stack::Pool, workload::Table};

use super::{
    Declared, Depth, Fault, Verifier, connections::ask_together, question::ProbeRequest,
    users::fault,
};
use crate::services::{LoggedStatements, Postgres, postgres::Item};

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
            format!("GET {}", self.path),
            "each request runs one statement",
            format!("{requests} statements for {requests} requests"),
            format!("PostgreSQL counted {asked}"),
        ))
    }

    /// Statements so far that ask for the workload's table; `None` if it asks for none, and for one that is counted by scans
    /// and written to.
    pub(super) fn statements(&mut self) -> Result<Option<u64>, Fault> {
        let Some(table) = self.workload.oracle.table() else {
            return Ok(None);
        };
        if table.is_own() && self.counts_late()? {
            return Ok(None);
        }
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
        let requests: &[Requests] = match table {
            Table::Items => &[Requests::ItemsAndPages, Requests::Writes],
            Table::Users | Table::Fortune => &[Requests::Reads(table)],
            // Its suite has no rule about these.
            Table::World => return Ok(()),
        };
        let mut parsed = None;
        for requests in requests {
            if let Some(said) = self.verify_logged_statements(size, *requests)? {
                // The statements of some are prepared, and those of others are not: what the manifest says is of all.
                parsed = Some(
                    parsed
                        .filter(|one: &ParseCount| one.is_often())
                        .unwrap_or(said),
                );
            }
        }
        let Some(parsed) = parsed else { return Ok(()) };
        parsed.judge(&self.declared, &self.workload.id)
    }

    /// Checks what it says to PostgreSQL for requests of this kind.
    fn verify_logged_statements(
        &mut self,
        pool: u32,
        requests: Requests,
    ) -> Result<Option<ParseCount>, Fault> {
        let statements = pool * requests.statements();
        let (before, _) = self.requests(requests, statements * BEFORE)?;
        ask_together(self.address, self.declared.http, &before, self.stop)?;
        self.passed += statements * BEFORE;
        if requests == Requests::Writes {
            self.own_table(Postgres::reset_items)?;
        }
        let count = statements * COUNTED;
        let (questions, written) = self.requests(requests, count)?;
        let Some(said) = self.logged_statements(&questions)? else {
            return Ok(None);
        };
        self.passed += count;
        if requests == Requests::Writes {
            self.expect_all_written(written, (count / 3).into())?;
        }
        let asked = requests.in_words(count, self);
        let parsed = ParseCount {
            asked: asked.clone(),
            parsed: said.parsed,
            statements: said.asked,
            requests: count.into(),
        };
        judge(&self.declared, requests, asked, count.into(), said)?;
        Ok(Some(parsed))
    }

    /// So many of these, and the items that they write.
    fn requests(
        &mut self,
        requests: Requests,
        count: u32,
    ) -> Result<(Vec<ProbeRequest>, Vec<Item>), Fault> {
        match requests {
            Requests::Writes => Ok(self.crud_writes(count as usize)),
            Requests::Reads(_) | Requests::ItemsAndPages => {
                Ok((self.questions(count as usize)?, Vec::new()))
            }
        }
    }

    /// The statements that the stack executed for these requests; `None` if they cannot be read.
    fn logged_statements(
        &mut self,
        questions: &[ProbeRequest],
    ) -> Result<Option<LoggedStatements>, Fault> {
        let Some(table) = self.workload.oracle.table() else {
            return Ok(None);
        };
        let mut asked = Ok(());
        let postgres = self
            .fixtures
            .postgres
            .as_ref()
            .ok_or_else(|| super::users::missing("PostgreSQL"))?;
        let said = postgres.listen(self.seat, table, || {
            asked = ask_together(self.address, self.declared.http, questions, self.stop);
        });
        asked?;
        said.map_err(fault)
    }
}

/// Requests whose statements are checked together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Requests {
    /// Requests of a workload with one statement, which reads this table.
    Reads(Table),
    /// Reads of crud: of items and of pages.
    ItemsAndPages,
    /// Writes of crud: insert, update, delete.
    Writes,
}

impl Requests {
    /// The number of different statements for these requests.
    fn statements(self) -> u32 {
        match self {
            Self::Reads(_) => 1,
            Self::ItemsAndPages => 2,
            Self::Writes => 3,
        }
    }

    fn in_words(self, count: u32, verifier: &Verifier<'_>) -> String {
        let workload = &verifier.workload.id;
        match self {
            Self::Reads(_) => format!("{count} times GET {}", verifier.path),
            Self::ItemsAndPages => format!("{count} reads of {workload}"),
            Self::Writes => format!("{count} writes of {workload}"),
        }
    }
}

/// How often statements were parsed for a number of requests.
struct ParseCount {
    asked: String,
    parsed: u64,
    statements: u64,
    requests: u64,
}

impl ParseCount {
    /// Whether statements were parsed for each request, and not once per connection.
    fn is_often(&self) -> bool {
        self.parsed > self.requests / EXCUSED
    }

    /// Checks that this matches the declarations of the stack for the workload.
    fn judge(self, declared: &Declared, workload: &str) -> Result<(), Fault> {
        let prepares = declared.prepares(workload);
        if self.is_often() != prepares {
            return Ok(());
        }
        let expected = if prepares {
            format!(
                "a prepared statement that is used again (a stack that cannot do that declares `prepared = false` \
                 under [database], or `unprepared = [\"{workload}\"]` for this workload alone)"
            )
        } else {
            "a statement that is parsed for each request, as its manifest declares".to_owned()
        };
        Err(Fault::new(
            self.asked,
            "a connection prepares its statement once",
            expected,
            format!(
                "{} times parsed for {} statements",
                self.parsed, self.statements
            ),
        ))
    }
}

/// The keyword with which a statement does work that the server must do itself, if any.
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

/// Checks that the statements for `count` requests match the declarations of the stack.
fn judge(
    declared: &Declared,
    requests: Requests,
    asked: String,
    count: u64,
    said: LoggedStatements,
) -> Result<(), Fault> {
    let often = |times: u64| times > count / EXCUSED;
    let fault = |rule, expected: String, got: String| Err(Fault::new(asked, rule, expected, got));
    if let Requests::Reads(table) = requests
        && let Some(word) = sorts(table, &said.last)
    {
        return fault(
            "the server adds the row and sorts, not the database",
            "select id, message from fortune".to_owned(),
            format!("a statement with `{word}`: {}", said.last),
        );
    }
    // What a mapper does around its writes is its own: a transaction, and a look at the row before.
    let is_mapped = requests == Requests::Writes && declared.is_orm;
    let most = if is_mapped { 2 * count } else { count };
    if said.asked > most + count / EXCUSED {
        return fault(
            "a request sends one statement to PostgreSQL",
            format!("at most {most} statements"),
            format!("{} statements", said.asked),
        );
    }
    if !is_mapped && often(said.others) != declared.other_statements {
        let expected = if declared.other_statements {
            "further statements, as its manifest declares (other-statements = true)"
        } else {
            "nothing else (a stack that sends more declares `other-statements = true` under [database])"
        };
        let got = format!("{} other statements and {}", said.others, said.asked);
        return fault(
            "a request sends one statement to PostgreSQL",
            expected.to_owned(),
            got,
        );
    }
    Ok(())
}

/// A pool may replace its connections, but not all the time: during a load it may open this many times its size.
const REPLACED: u64 = 2;
/// A client without a pool may open its next connection while the server still ends the one before.
const OVERLAP: u32 = 2;
/// PostgreSQL notes a connection's end some time after the stack closed it. It only ends a broken check.
const ENDING: Duration = Duration::from_secs(10);
const POLL: Duration = Duration::from_millis(20);

impl Verifier<'_> {
    /// The number of database connections opened so far; `None` for a workload without a database, or if the server
    /// does not count them.
    ///
    /// # Errors
    /// When the database cannot be queried.
    pub fn sessions(&mut self) -> Result<Option<u64>, Fault> {
        if !self.workload.oracle.needs_database() {
            return Ok(None);
        }
        self.postgres()?.sessions().map_err(fault)
    }

    /// Checks that PostgreSQL has enough free connections for the stack when `clients` send requests concurrently.
    ///
    /// # Errors
    /// When it has not, or cannot be queried.
    pub fn check_free_connections(&mut self, clients: u32) -> Result<(), Fault> {
        if !self.workload.oracle.needs_database() {
            return Ok(());
        }
        let (needed, why) = match self.declared.pool {
            Pool::Size(size) => (size, format!("a pool of {size}")),
            Pool::None => (
                clients * OVERLAP,
                format!("{clients} clients without a pool, whose connections overlap"),
            ),
        };
        let connections = self.postgres()?.free_connections().map_err(fault)?;
        if needed <= connections.free {
            return Ok(());
        }
        Err(Fault::new(
            self.postgres()?.describe().to_owned(),
            "it takes as many connections as the stack may open",
            format!("{needed} free ones ({why})"),
            format!(
                "{} free ones of {}; raise max_connections, or omit the workload",
                connections.free, connections.most
            ),
        ))
    }

    /// Checks after `answers` right answers that the stack holds no more connections than it declares, and opened no
    /// more of them since `before` than a pool does, or as many as no pool does.
    ///
    /// # Errors
    /// When it does not, or the database cannot be asked.
    pub(crate) fn check_pool(
        &mut self,
        asked: &str,
        before: Option<u64>,
        answers: u64,
    ) -> Result<(), Fault> {
        if !self.workload.oracle.needs_database() {
            return Ok(());
        }
        match self.declared.pool {
            Pool::Size(size) => self.check_pooled(asked, before, answers, size),
            // Of a mixed workload, not all answers take a connection.
            Pool::None if self.workload.oracle.table().is_none() => {
                self.check_unpooled(asked, before, 0)
            }
            Pool::None => self.check_unpooled(asked, before, answers),
        }
    }

    fn check_pooled(
        &mut self,
        asked: &str,
        before: Option<u64>,
        answers: u64,
        size: u32,
    ) -> Result<(), Fault> {
        let most = u64::from(size) * REPLACED;
        if let Some(opened) = self.opened(before)?.filter(|opened| *opened > most) {
            return Err(Fault::new(
                asked.to_owned(),
                "a pool keeps its connections",
                format!("at most {most} new connections (a pool of {size}, each replaced once)"),
                format!("{opened} new connections for {answers} answers"),
            ));
        }
        let held = self.held()?;
        if held > size {
            return Err(Fault::new(
                asked.to_owned(),
                "the pool has the declared size",
                format!("at most {size} connections to PostgreSQL"),
                format!("{held} connections"),
            ));
        }
        Ok(())
    }

    fn check_unpooled(
        &mut self,
        asked: &str,
        before: Option<u64>,
        answers: u64,
    ) -> Result<(), Fault> {
        let until = Instant::now() + ENDING;
        let (held, opened) = loop {
            let (held, opened) = (self.held()?, self.opened(before)?);
            let settled = held == 0 && opened.is_none_or(|opened| opened >= answers);
            if settled || Instant::now() > until {
                break (held, opened);
            }
            thread::sleep(POLL);
        };
        let expected = || "a connection for each answer (pool = \"none\")".to_owned();
        match opened {
            Some(opened) if opened < answers => Err(Fault::new(
                asked.to_owned(),
                "a stack without a pool connects for each request",
                expected(),
                format!("{answers} answers took {opened} connections"),
            )),
            _ if held > 0 => Err(Fault::new(
                asked.to_owned(),
                "a stack without a pool keeps no connection",
                "none to PostgreSQL after the last answer".to_owned(),
                format!("{held} that stayed open for {} s", ENDING.as_secs()),
            )),
            _ => Ok(()),
        }
    }

    /// Connections that it holds; 0 where that cannot be told from what others hold.
    fn held(&mut self) -> Result<u32, Fault> {
        let seat = self.seat;
        let held = self.postgres()?.connections_of(seat).map_err(fault)?;
        Ok(held.unwrap_or(0))
    }

    fn opened(&mut self, before: Option<u64>) -> Result<Option<u64>, Fault> {
        let now = self.sessions()?;
        Ok(before
            .zip(now)
            .map(|(before, now)| now.saturating_sub(before)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_each_connection_says_once_is_no_statement_of_each_request() {
        let pool = 16;
        let requests = pool * u64::from(COUNTED);
        let plain = LoggedStatements {
            asked: requests,
            ..LoggedStatements::default()
        };
        let judged = |said: LoggedStatements| {
            let users = Requests::Reads(Table::Users);
            let parsed = ParseCount {
                asked: String::new(),
                parsed: said.parsed,
                statements: said.asked,
                requests,
            };
            let declared = Declared::default();
            judge(&declared, users, String::new(), requests, said).is_ok()
                && parsed.judge(&declared, "users").is_ok()
        };
        assert!(judged(plain.clone()));
        // Each is tested after it has idled, and once more; each parses once more.
        assert!(judged(LoggedStatements {
            others: 2 * pool,
            parsed: pool,
            ..plain.clone()
        }));
        assert!(!judged(LoggedStatements {
            others: requests,
            ..plain.clone()
        }));
        assert!(!judged(LoggedStatements {
            parsed: requests,
            ..plain
        }));
    }

    #[test]
    fn a_mapper_may_read_a_row_before_it_writes_it_and_use_a_transaction() {
        let said = |asked, others| LoggedStatements {
            asked,
            others,
            ..LoggedStatements::default()
        };
        let judged = |is_orm, said| {
            let declared = Declared {
                is_orm,
                ..Declared::default()
            };
            judge(&declared, Requests::Writes, String::new(), 300, said).is_ok()
        };
        for is_orm in [false, true] {
            assert!(judged(is_orm, said(300, 0)));
            assert_eq!(judged(is_orm, said(500, 0)), is_orm);
            assert_eq!(judged(is_orm, said(300, 600)), is_orm);
            assert!(!judged(is_orm, said(900, 0)));
        }
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
