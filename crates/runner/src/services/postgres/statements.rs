//! How often the stacks have asked for a table.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use deadheat_model::workload::Table;
use postgres::{Client, Error};

use super::admin::Admin;
use crate::services::ServiceError;

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
