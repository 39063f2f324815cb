//! Connections to the server: open now, opened so far, and how many more it takes.

use super::admin::Admin;
use crate::services::ServiceError;

/// Without a role of their own, Deadheat's connection is the one that asks.
const HELD: &str = "select count(*) from pg_stat_activity \
    where usename::text = any($1) and datname = current_database() and pid <> pg_backend_pid()";
/// The column came with PostgreSQL 14, whose collector may lose what it is told (over UDP) when many sessions end at
/// once; from 15 on the figures are in shared memory.
const COUNTS_SESSIONS: &str = "select current_setting('server_version_num')::integer >= 150000";
const SESSIONS: &str = "select sessions from pg_stat_database where datname = current_database()";
/// What is reserved is of no use to stacks. (`reserved_connections` came with PostgreSQL 16.)
const ROOM: &str = "select current_setting('max_connections')::integer, \
    current_setting('max_connections')::integer \
    - current_setting('superuser_reserved_connections')::integer \
    - coalesce(current_setting('reserved_connections', true), '0')::integer \
    - (select coalesce(sum(numbackends), 0) from pg_stat_database)::integer";

/// How many connections a server takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// At most, in all (`max_connections`).
    pub most: u32,
    /// How many more it takes now.
    pub free: u32,
}

pub(super) fn held(admin: &Admin, roles: &[String]) -> Result<u32, ServiceError> {
    let held: i64 = admin.run("counting the stacks' connections", |client| {
        client.query_one(HELD, &[&roles])?.try_get(0)
    })?;
    Ok(held as u32)
}

pub(super) fn sessions(admin: &Admin) -> Result<Option<u64>, ServiceError> {
    let opened: Option<i64> = admin.run("counting the connections so far", |client| {
        if client.query_one(COUNTS_SESSIONS, &[])?.try_get(0)? {
            client.query_one(SESSIONS, &[])?.try_get(0).map(Some)
        } else {
            Ok(None)
        }
    })?;
    Ok(opened.map(|opened| opened.max(0) as u64))
}

pub(super) fn room(admin: &Admin) -> Result<Room, ServiceError> {
    let (most, free): (i32, i32) = admin.run("asking how many connections it takes", |client| {
        let row = client.query_one(ROOM, &[])?;
        Ok((row.try_get(0)?, row.try_get(1)?))
    })?;
    Ok(Room {
        most: most.max(0) as u32,
        free: free.max(0) as u32,
    })
}
