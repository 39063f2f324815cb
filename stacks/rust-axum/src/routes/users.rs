//! Rows from PostgreSQL.

use std::{convert::identity, error::Error, time::Duration};

use axum::{Json, extract::State, http::StatusCode};
use deadpool_postgres::{BuildError, Manager, ManagerConfig, Pool, RecyclingMethod};
use serde::Serialize;
use tokio::time::timeout;
use tokio_postgres::{Config, NoTls};

use crate::state::AppState;

const FIRST_USERS: &str = "select id, email from users order by id limit 10";

/// For all that a request needs: a free connection or a new one, and the rows.
const PATIENCE: Duration = Duration::from_secs(10);

#[derive(Serialize)]
pub struct User {
    id: i32,
    email: String,
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

pub async fn list(State(state): State<AppState>) -> Result<Json<Vec<User>>, StatusCode> {
    let pool = state.database.ok_or(StatusCode::SERVICE_UNAVAILABLE)?;
    let queried = timeout(PATIENCE, first_users(&pool)).await;
    match queried.map_err(Into::into).and_then(identity) {
        Ok(users) => Ok(Json(users)),
        Err(error) => {
            eprintln!("cannot read the users: {error}");
            Err(StatusCode::SERVICE_UNAVAILABLE)
        }
    }
}

async fn first_users(pool: &Pool) -> Result<Vec<User>, Box<dyn Error + Send + Sync>> {
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
