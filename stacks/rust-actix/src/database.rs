//! PostgreSQL, over a pool that all workers share.

use std::{error::Error, time::Duration};

use actix_web::rt::time::timeout;
use deadpool_postgres::{BuildError, Manager, ManagerConfig, Pool, RecyclingMethod};
use serde::Serialize;
use tokio_postgres::{Config, NoTls, Row};

const FIRST_USERS: &str = "select id, email from users order by id limit 10";
const ALL_FORTUNES: &str = "select id, message from fortune";

/// For all that a request needs: a free connection or a new one, and the rows.
const PATIENCE: Duration = Duration::from_secs(10);

pub type Cause = Box<dyn Error>;

#[derive(Serialize)]
pub struct User {
    id: i32,
    email: String,
}

pub struct Fortune {
    pub id: i32,
    pub message: String,
}

/// A pool that connects when it is first asked.
pub fn pool(mut config: Config, size: usize) -> Result<Pool, BuildError> {
    // PostgreSQL ends a statement that nobody waits for any more: its connection is back in the pool.
    let options = config.get_options().unwrap_or_default();
    let options = format!("{options} -c statement_timeout=10s");
    config.options(options).tcp_user_timeout(PATIENCE);
    let recycling = ManagerConfig {
        // Asks the client whether its connection is closed, and not the database.
        recycling_method: RecyclingMethod::Fast,
    };
    Pool::builder(Manager::from_config(config, NoTls, recycling))
        .max_size(size)
        .build()
}

pub async fn first_users(pool: &Pool) -> Result<Vec<User>, Cause> {
    query(pool, FIRST_USERS)
        .await?
        .iter()
        .map(|row| {
            Ok(User {
                id: row.try_get("id")?,
                email: row.try_get("email")?,
            })
        })
        .collect()
}

pub async fn all_fortunes(pool: &Pool) -> Result<Vec<Fortune>, Cause> {
    query(pool, ALL_FORTUNES)
        .await?
        .iter()
        .map(|row| {
            Ok(Fortune {
                id: row.try_get("id")?,
                message: row.try_get("message")?,
            })
        })
        .collect()
}

async fn query(pool: &Pool, sql: &str) -> Result<Vec<Row>, Cause> {
    timeout(PATIENCE, run(pool, sql)).await?
}

async fn run(pool: &Pool, sql: &str) -> Result<Vec<Row>, Cause> {
    let client = pool.get().await?;
    let statement = client.prepare_cached(sql).await?;
    Ok(client.query(&statement, &[]).await?)
}
