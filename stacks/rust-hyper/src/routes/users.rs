//! Rows from PostgreSQL.

use std::{error::Error as StdError, time::Duration};

use deadpool_postgres::{
    Manager, ManagerConfig, Pool, PoolError, RecyclingMethod, Runtime, Timeouts,
};
use serde::Serialize;
use tokio_postgres::{Config, NoTls};

use crate::{
    error::Error,
    respond::{self, Answer},
    state::AppState,
};

const FIRST_USERS: &str = "select id, email from users order by id limit 10";
const PATIENCE: Duration = Duration::from_secs(10);

#[derive(Serialize)]
struct User {
    id: i32,
    email: String,
}

/// A pool that connects when it is first asked; None when the URL is none.
pub fn pool(url: &str, size: usize) -> Option<Pool> {
    build_pool(url, size)
        .inspect_err(|error| eprintln!("no database, DATABASE_URL is unusable: {error}"))
        .ok()
}

fn build_pool(url: &str, size: usize) -> Result<Pool, Box<dyn StdError>> {
    let config: Config = url.parse()?;
    let recycling = ManagerConfig {
        // Asks the client whether its connection is closed, and not the database.
        recycling_method: RecyclingMethod::Fast,
    };
    let timeouts = Timeouts {
        wait: Some(PATIENCE),
        create: Some(PATIENCE),
        recycle: None,
    };
    let pool = Pool::builder(Manager::from_config(config, NoTls, recycling))
        .max_size(size)
        .timeouts(timeouts)
        .runtime(Runtime::Tokio1)
        .build()?;
    Ok(pool)
}

pub async fn list(state: &AppState) -> Result<Answer, Error> {
    let pool = state.database.as_ref().ok_or(Error::NoDatabase)?;
    respond::json(&first_users(pool).await?)
}

async fn first_users(pool: &Pool) -> Result<Vec<User>, PoolError> {
    let client = pool.get().await?;
    let statement = client.prepare_cached(FIRST_USERS).await?;
    client
        .query(&statement, &[])
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
