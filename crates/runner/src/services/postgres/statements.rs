//! How often the stacks have asked for a table, and what a role says to the server: read from the server's own log, which is
//! switched on for a moment.

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

/// A statement that asks for the table, as any driver or mapper may write it: `FROM users`, `from "users" u`,
/// `FROM public.users`, `INSERT INTO items`. One of PostgreSQL's own regular expressions.
fn asks_for(table: Table) -> String {
    follows(r"from|into|update", table)
}

/// A statement in which the table's name follows one of these words.
fn follows(words: &str, table: Table) -> String {
    format!(r#"\m({words})\s+(only\s+)?("?\w+"?\.)?("{table}"|{table}\M)"#)
}

/// What a server's statements did to a table of its own.
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
/// Whether the texts of another role's statements can be seen.
const SEES_OTHERS: &str = "select rolsuper or pg_has_role(current_user, 'pg_read_all_stats', 'usage') \
    from pg_roles where rolname = current_user";
const BY_SCAN: &str = "select (coalesce(seq_scan, 0) + coalesce(idx_scan, 0))::bigint from pg_stat_user_tables \
    where schemaname = 'public' and relname = $1";

/// A backend that idles flushes its statistics after 10 s at the latest (PostgreSQL 15 and newer,
/// `PGSTAT_IDLE_INTERVAL`); older ones do so with their next statement or when they disconnect.
const SCAN_LAG: Duration = Duration::from_secs(11);

/// The way statements are counted.
#[derive(Debug)]
pub(super) enum Counting {
    /// By the extension pg_stat_statements, which tells roles apart: exact at once.
    Statements {
        /// The stacks' roles.
        roles: Vec<String>,
    },
    /// By the table's own scan counters, where the extension is missing. Each read of the table is one scan. They
    /// lag, and do not tell roles apart, so Deadheat's own scans are subtracted.
    Scans {
        /// Deadheat's own of each table.
        own: [AtomicU64; Table::ALL.len()],
    },
}

impl Counting {
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
                return Counting::Statements { roles };
            }
            Ok(_) => tracing::warn!(
                "statements are counted by scans, because roles cannot be told apart here"
            ),
            Err(error) => tracing::warn!("statements are counted by scans: {}", error.summary()),
        }
        // What making the table took is not the stacks'.
        flush(admin);
        let own = Table::ALL.map(|table| {
            let scans = admin.run("counting scans", |client| scans(client, table));
            AtomicU64::new(scans.unwrap_or_default().max(0) as u64)
        });
        Counting::Scans { own }
    }

    /// How long after a statement its count may be short of it.
    pub(super) fn lag(&self) -> Duration {
        match self {
            Counting::Statements { .. } => Duration::ZERO,
            Counting::Scans { .. } => SCAN_LAG,
        }
    }

    /// Deadheat itself has read `table` once.
    pub(super) fn note_own_scan(&self, admin: &Admin, table: Table) {
        if let Counting::Scans { own } = self {
            own[table as usize].fetch_add(1, Ordering::Relaxed);
            flush(admin);
        }
    }

    /// What the statements of `role` did so far to `table`, which is its own; `None` where roles cannot be told apart.
    pub(super) fn of_own(
        &self,
        admin: &Admin,
        role: &str,
        table: Table,
    ) -> Result<Option<OwnStatements>, ServiceError> {
        let Counting::Statements { .. } = self else {
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

    /// Statements so far that ask for `table`.
    pub(super) fn count(&self, admin: &Admin, table: Table) -> Result<u64, ServiceError> {
        let attempt = format!("counting the statements that ask for the table {table}");
        let found: i64 = match self {
            Counting::Statements { roles } => admin.run(&attempt, |client| {
                client
                    .query_one(BY_STATEMENT, &[roles, &asks_for(table)])?
                    .try_get(0)
            }),
            Counting::Scans { .. } => admin.run(&attempt, |client| scans(client, table)),
        }?;
        let own = match self {
            Counting::Statements { .. } => 0,
            Counting::Scans { own } => own[table as usize].load(Ordering::Relaxed),
        };
        Ok((found.max(0) as u64).saturating_sub(own))
    }
}

fn scans(client: &mut Client, table: Table) -> Result<i64, Error> {
    client.query_one(BY_SCAN, &[&table.to_string()])?.try_get(0)
}

/// Makes Deadheat's own scans count at once. That is there from PostgreSQL 15 on; before, they lag as all others do.
fn flush(admin: &Admin) {
    let statement = "select pg_stat_force_next_flush()";
    let _ = admin.run("flushing statistics", |client| {
        client.batch_execute(statement)
    });
}

/// How long the server may take to follow a setting, or a line to its log. It only ends a broken check.
const PATIENCE: Duration = Duration::from_secs(10);
const POLL: Duration = Duration::from_millis(5);
/// The setting that has each message of the extended protocol logged with its text (PostgreSQL's documentation, section
/// "Error Reporting and Logging").
const SETTING: &str = "log_min_duration_statement";

/// What a role asked the server for, while it was listened to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Said {
    /// Statements that ask for the table and were executed.
    pub asked: u64,
    /// Of these, the ones whose text was parsed for them: by a Parse message, or as a simple query.
    pub parsed: u64,
    /// Other statements that were executed.
    pub others: u64,
    /// The text of the last one that asks for the table; empty without one.
    pub last: String,
}

/// A log that is listened to. Ends at [`Listening::end`], or when it is dropped.
pub(super) struct Listening<'a> {
    admin: &'a Admin,
    log: &'a Path,
    /// What the log says before whatever is listened to.
    first: String,
    is_on: bool,
}

impl<'a> Listening<'a> {
    /// Has every statement logged from now on, on connections that are open already as well.
    pub(super) fn begin(admin: &'a Admin, log: &'a Path) -> Result<Self, ServiceError> {
        let listening = Self {
            admin,
            log,
            first: random_word(16),
            is_on: true,
        };
        set(admin, Some("0"))?;
        // The server's processes follow one after the other; what this one says after that is not before the others.
        listening.mark(&listening.first)?;
        Ok(listening)
    }

    /// Ends it: what `role` has said, of which statements that ask for `table` are counted apart.
    pub(super) fn end(mut self, role: &str, table: Table) -> Result<Said, ServiceError> {
        let last = random_word(16);
        let text = self.mark(&last)?;
        self.is_on = false;
        set(self.admin, None)?;
        let Some(said) = between(&text, &self.first, &last) else {
            return Err(failed(self.log, "more was logged than it keeps"));
        };
        Ok(said_by(role, table, said))
    }

    /// Says something that is like nothing else until it is in the log; the end of the log.
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

/// What a log says after the last time that it has the word `first`, and before the next time that it has `last`.
fn between<'t>(text: &'t str, first: &str, last: &str) -> Option<&'t str> {
    let (_, rest) = text.rsplit_once(first)?;
    Some(rest.split_once(last)?.0)
}

impl Drop for Listening<'_> {
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

/// The end of a log. Not by places in it: of a long one, the middle is taken out.
fn end_of(log: &Path) -> std::io::Result<String> {
    let mut file = File::open(log)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(LOG_END)))?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// What `role` says in lines such as `deadheat_stack LOG:  duration: 0.07 ms  execute s1: select …`. A statement's further
/// lines begin with a tab.
fn said_by(role: &str, table: Table, log: &str) -> Said {
    let mut said = Said::default();
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
            Step::Parse => said.parsed += u64::from(is_asked),
            Step::Execute if is_asked => said.asked += 1,
            Step::Query if is_asked => {
                said.asked += 1;
                said.parsed += 1;
            }
            Step::Execute | Step::Query => said.others += 1,
        }
    }
    said
}

#[derive(Clone, Copy)]
enum Step {
    Parse,
    Execute,
    /// A simple query: parsed and executed.
    Query,
}

fn step_of<'l>(role: &str, line: &'l str) -> Option<(Step, &'l str)> {
    let line = line.strip_prefix(role)?.strip_prefix(" LOG:  duration: ")?;
    let (_, line) = line.split_once(" ms  ")?;
    let (step, statement) = line.split_once(": ")?;
    let step = match step.split(' ').next()? {
        "parse" => Step::Parse,
        "execute" => Step::Execute,
        "statement" => Step::Query,
        _ => return None,
    };
    Some((step, statement))
}

/// Whether a statement asks for `table`, as any driver or mapper may write it.
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
        let expected = Said {
            asked: 3,
            parsed: 2,
            others: 2,
            last: "select u.id from Users u;".to_owned(),
        };
        assert_eq!(said_by("deadheat_stack", Table::Users, log), expected);
    }
}
