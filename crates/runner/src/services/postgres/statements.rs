//! Counts of the stacks' statements: by table, from the server's statistics; and by role, from the server's log, which
//! is switched on for a short time.

use std::{
    fs::File,
    io::{Read as _, Seek as _, SeekFrom},
    path::Path,
    sync::atomic::{AtomicU64, Ordering},
    thread,
    time::{Duration, Instant},
};

use deadheat_model::workload::Table;
use postgres::{Client, Error};

use super::{admin::Admin, endpoint::random_word};
use crate::{process::LOG_END, services::ServiceError};

/// The regular expression (in PostgreSQL's syntax) for a statement on `table`, however a driver or ORM writes it:
/// `FROM users`, `from "users" u`, `FROM public.users`, `INSERT INTO items`.
fn asks_for(table: Table) -> String {
    follows(r"from|into|update", table)
}

/// The regular expression for a statement in which the table's name follows one of these words.
fn follows(words: &str, table: Table) -> String {
    format!(r#"\m({words})\s+(only\s+)?("?\w+"?\.)?("{table}"|{table}\M)"#)
}

/// Counts of the statements of one server on its own table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OwnStatements {
    /// Statements that read.
    pub reads: u64,
    /// Statements that wrote, whether they found a row or not.
    pub writes: u64,
    /// Rows that were changed.
    pub updated: u64,
}

const BY_KIND: &str = "select coalesce(sum(s.calls) filter (where s.query !~* $3), 0)::bigint, \
    coalesce(sum(s.calls) filter (where s.query ~* $3), 0)::bigint, \
    coalesce(sum(s.rows) filter (where s.query ~* $4), 0)::bigint \
    from pg_stat_statements s join pg_roles r on r.oid = s.userid join pg_database d on d.oid = s.dbid \
    where r.rolname::text = $1 and d.datname = current_database() and s.query ~* $2";

const BY_STATEMENT: &str = "select coalesce(sum(s.calls), 0)::bigint \
    from pg_stat_statements s join pg_roles r on r.oid = s.userid join pg_database d on d.oid = s.dbid \
    where r.rolname::text = any($1) and d.datname = current_database() and s.query ~* $2";
/// Queries whether this role may read the texts of other roles' statements.
const SEES_OTHERS: &str = "select rolsuper or pg_has_role(current_user, 'pg_read_all_stats', 'usage') \
    from pg_roles where rolname = current_user";
const BY_SCAN: &str = "select (coalesce(seq_scan, 0) + coalesce(idx_scan, 0))::bigint from pg_stat_user_tables \
    where schemaname = 'public' and relname = $1";

/// A backend that idles flushes its statistics after 10 s at the latest (PostgreSQL 15 and newer,
/// `PGSTAT_IDLE_INTERVAL`); older ones do so with their next statement or when they disconnect.
const SCAN_LAG: Duration = Duration::from_secs(11);

/// How statements are counted.
#[derive(Debug)]
pub(super) enum StatementCounter {
    /// By the extension pg_stat_statements, which distinguishes roles and does not lag.
    Statements {
        /// The stacks' roles.
        roles: Vec<String>,
    },
    /// By the table's scan counters, if the extension is missing. Each read of the table is one scan. The counters lag
    /// and do not distinguish roles, so Deadheat's own scans are subtracted.
    Scans {
        /// Deadheat's own scans of each table.
        own: [AtomicU64; Table::ALL.len()],
    },
}

impl StatementCounter {
    /// The extension if it works here and the stacks have roles of their own, otherwise scans.
    pub(super) fn choose(admin: &Admin, roles: &[String], own_roles: bool) -> Self {
        let tried = admin.run("setting up pg_stat_statements", |client| {
            client.batch_execute("create extension if not exists pg_stat_statements")?;
            client.query_one(BY_STATEMENT, &[&roles, &asks_for(Table::Users)])?;
            client.query_one(SEES_OTHERS, &[])?.try_get::<_, bool>(0)
        });
        match tried {
            Ok(true) if own_roles => {
                let roles = roles.to_owned();
                return StatementCounter::Statements { roles };
            }
            Ok(_) => tracing::warn!(
                "statements are counted by scans, because roles cannot be told apart here"
            ),
            Err(error) => tracing::warn!("statements are counted by scans: {}", error.summary()),
        }
        // Flush first, so that the scans of creating the table are not counted as the stacks'.
        flush(admin);
        let own = Table::ALL.map(|table| {
            let scans = admin.run("counting scans", |client| scans(client, table));
            AtomicU64::new(scans.unwrap_or_default().max(0) as u64)
        });
        StatementCounter::Scans { own }
    }

    /// How long the counter may lag behind an executed statement.
    pub(super) fn lag(&self) -> Duration {
        match self {
            StatementCounter::Statements { .. } => Duration::ZERO,
            StatementCounter::Scans { .. } => SCAN_LAG,
        }
    }

    /// Records that Deadheat itself read `table` once.
    pub(super) fn note_own_scan(&self, admin: &Admin, table: Table) {
        if let StatementCounter::Scans { own } = self {
            own[table as usize].fetch_add(1, Ordering::Relaxed);
            flush(admin);
        }
    }

    /// The effects so far of the statements of `role` on `table`, which belongs to it. `None` if the counter does not
    /// distinguish roles.
    pub(super) fn of_own(
        &self,
        admin: &Admin,
        role: &str,
        table: Table,
    ) -> Result<Option<OwnStatements>, ServiceError> {
        let StatementCounter::Statements { .. } = self else {
            return Ok(None);
        };
        let writes = follows(r"insert\s+into|update|delete\s+from", table);
        let attempt = format!("counting the statements on the table {table}");
        let row = admin.run(&attempt, |client| {
            let update = follows("update", table);
            client.query_one(BY_KIND, &[&role, &asks_for(table), &writes, &update])
        })?;
        let count = |index| row.get::<_, i64>(index).max(0) as u64;
        Ok(Some(OwnStatements {
            reads: count(0),
            writes: count(1),
            updated: count(2),
        }))
    }

    /// The number of statements on `table` so far.
    pub(super) fn count(&self, admin: &Admin, table: Table) -> Result<u64, ServiceError> {
        let attempt = format!("counting the statements that ask for the table {table}");
        let found: i64 = match self {
            StatementCounter::Statements { roles } => admin.run(&attempt, |client| {
                client
                    .query_one(BY_STATEMENT, &[roles, &asks_for(table)])?
                    .try_get(0)
            }),
            StatementCounter::Scans { .. } => admin.run(&attempt, |client| scans(client, table)),
        }?;
        let own = match self {
            StatementCounter::Statements { .. } => 0,
            StatementCounter::Scans { own } => own[table as usize].load(Ordering::Relaxed),
        };
        Ok((found.max(0) as u64).saturating_sub(own))
    }
}

fn scans(client: &mut Client, table: Table) -> Result<i64, Error> {
    client.query_one(BY_SCAN, &[&table.to_string()])?.try_get(0)
}

/// Makes the server count Deadheat's own scans now. PostgreSQL before 15 cannot do this, so they lag there.
fn flush(admin: &Admin) {
    let statement = "select pg_stat_force_next_flush()";
    let _ = admin.run("flushing statistics", |client| {
        client.batch_execute(statement)
    });
}

/// The maximum time until a setting takes effect or a statement is logged. Only a broken check reaches it.
const PATIENCE: Duration = Duration::from_secs(10);
const POLL: Duration = Duration::from_millis(5);
/// The setting that has each message of the extended protocol logged with its text (PostgreSQL's documentation, section
/// "Error Reporting and Logging").
const SETTING: &str = "log_min_duration_statement";

/// Counts of the statements of a role that the server logged during a capture.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoggedStatements {
    /// Executed statements on the table.
    pub asked: u64,
    /// How often the text of a statement on the table was parsed: by a Parse message, or as a simple query.
    pub parsed: u64,
    /// Other executed statements.
    pub others: u64,
    /// The text of the last statement on the table; empty if there was none.
    pub last: String,
}

/// A capture of the statements that the server logs. It ends at [`LogCapture::end`], or when it is dropped.
pub(super) struct LogCapture<'a> {
    admin: &'a Admin,
    log: &'a Path,
    /// The unique word that the log contains just before the captured statements.
    first: String,
    is_on: bool,
}

impl<'a> LogCapture<'a> {
    /// Makes the server log every statement from now on, also on connections that are open already.
    pub(super) fn begin(admin: &'a Admin, log: &'a Path) -> Result<Self, ServiceError> {
        let capture = Self {
            admin,
            log,
            first: random_word(16),
            is_on: true,
        };
        set(admin, Some("0"))?;
        // Server processes apply the setting at different times. Only statements logged after this marker count.
        capture.mark(&capture.first)?;
        Ok(capture)
    }

    /// Stops listening. Returns the statements of `role`, with those on `table` counted separately.
    pub(super) fn end(
        mut self,
        role: &str,
        table: Table,
    ) -> Result<LoggedStatements, ServiceError> {
        let last = random_word(16);
        let text = self.mark(&last)?;
        self.is_on = false;
        set(self.admin, None)?;
        let Some(said) = between(&text, &self.first, &last) else {
            return Err(failed(self.log, "more was logged than it keeps"));
        };
        Ok(parse_log(role, table, said))
    }

    /// Executes a statement with a unique word until the log contains it. Returns the end of the log.
    fn mark(&self, word: &str) -> Result<String, ServiceError> {
        let statement = format!("select '{word}'");
        let until = Instant::now() + PATIENCE;
        loop {
            self.admin
                .run("marking its log", |client| client.batch_execute(&statement))?;
            let text = end_of(self.log).map_err(|error| failed(self.log, error))?;
            if text.contains(word) {
                return Ok(text);
            }
            if Instant::now() > until {
                return Err(failed(self.log, "its statements do not appear there"));
            }
            thread::sleep(POLL);
        }
    }
}

/// The text between the last `first` in a log and the next `last`; `None` if one of these words is missing.
fn between<'t>(text: &'t str, first: &str, last: &str) -> Option<&'t str> {
    let (_, rest) = text.rsplit_once(first)?;
    Some(rest.split_once(last)?.0)
}

impl Drop for LogCapture<'_> {
    fn drop(&mut self) {
        if self.is_on
            && let Err(error) = set(self.admin, None)
        {
            tracing::warn!("{error}");
        }
    }
}

fn set(admin: &Admin, value: Option<&str>) -> Result<(), ServiceError> {
    let change = match value {
        Some(value) => format!("alter system set {SETTING} = {value}"),
        None => format!("alter system reset {SETTING}"),
    };
    admin.run("setting what it logs", |client| {
        client.batch_execute(&change)?;
        client.batch_execute("select pg_reload_conf()")
    })
}

fn failed(log: &Path, problem: impl std::fmt::Display) -> ServiceError {
    ServiceError::new(
        format!("reading PostgreSQL's log {}", log.display()),
        problem,
        "free some space there",
    )
}

/// The last [`LOG_END`] bytes of a log. Offsets do not work, because the middle of a long log is removed.
fn end_of(log: &Path) -> std::io::Result<String> {
    let mut file = File::open(log)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(LOG_END)))?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Counts the statements of `role` in lines such as `deadheat_stack LOG:  duration: 0.07 ms  execute s1: select …`. The
/// further lines of a statement begin with a tab.
fn parse_log(role: &str, table: Table, log: &str) -> LoggedStatements {
    let mut said = LoggedStatements::default();
    let joined = log.replace("\n\t", " ");
    for line in joined.lines() {
        let Some((step, statement)) = step_of(role, line) else {
            continue;
        };
        let is_asked = is_for(table, statement);
        if is_asked {
            said.last = statement.to_owned();
        }
        match step {
            LogStep::Parse => said.parsed += u64::from(is_asked),
            LogStep::Execute if is_asked => said.asked += 1,
            LogStep::Query if is_asked => {
                said.asked += 1;
                said.parsed += 1;
            }
            LogStep::Execute | LogStep::Query => said.others += 1,
        }
    }
    said
}

/// A step of the protocol that the server logged.
#[derive(Clone, Copy)]
enum LogStep {
    Parse,
    Execute,
    /// A simple query: parsed and executed.
    Query,
}

fn step_of<'l>(role: &str, line: &'l str) -> Option<(LogStep, &'l str)> {
    let line = line.strip_prefix(role)?.strip_prefix(" LOG:  duration: ")?;
    let (_, line) = line.split_once(" ms  ")?;
    let (step, statement) = line.split_once(": ")?;
    let step = match step.split(' ').next()? {
        "parse" => LogStep::Parse,
        "execute" => LogStep::Execute,
        "statement" => LogStep::Query,
        _ => return None,
    };
    Some((step, statement))
}

/// Whether a statement reads or writes `table`, however a driver or ORM writes it.
fn is_for(table: Table, statement: &str) -> bool {
    let name = table.to_string();
    let words = statement
        .to_lowercase()
        .replace('"', "")
        .replace([',', ';', '(', ')'], " ");
    let words: Vec<&str> = words.split_whitespace().collect();
    words.windows(2).any(|pair| {
        let table = pair[1].rsplit('.').next().unwrap_or_default();
        ["from", "into", "update"].contains(&pair[0]) && table == name
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_listened_to_lies_between_two_words() {
        let log = "old A new A\nsaid\nB more B";
        assert_eq!(between(log, "A", "B"), Some("\nsaid\n"));
        assert_eq!(between(log, "C", "B"), None);
        assert_eq!(between(log, "A", "C"), None);
    }

    #[test]
    fn what_a_role_said_is_counted_by_its_steps() {
        let log = "\
deadheat_stack LOG:  duration: 0.1 ms  parse s1: select id, email from users order by id limit 10
deadheat_stack LOG:  duration: 0.1 ms  bind s1: select id, email from users order by id limit 10
deadheat_stack LOG:  duration: 0.1 ms  execute s1: select id, email
\tfrom users order by id limit 10
deadheat_stack LOG:  duration: 0.1 ms  execute s1: SELECT \"users\".\"id\" FROM \"public\".\"users\" ORDER BY 1
deadheat_stack LOG:  duration: 0.1 ms  statement: select u.id from Users u;
deadheat_stack LOG:  duration: 0.1 ms  statement: BEGIN
deadheat_stack LOG:  duration: 0.1 ms  execute <unnamed>: DISCARD ALL
deadheat_stack_2 LOG:  duration: 0.1 ms  statement: select 1 from users
deadheat LOG:  duration: 0.1 ms  statement: select 'mark'
deadheat_stack ERROR:  relation \"users\" does not exist
";
        let expected = LoggedStatements {
            asked: 3,
            parsed: 2,
            others: 2,
            last: "select u.id from Users u;".to_owned(),
        };
        assert_eq!(parse_log("deadheat_stack", Table::Users, log), expected);
    }
}
