//! Rows from PostgreSQL.

use std::{error::Error, time::Duration};

use axum::{Json, extract::State, http::StatusCode};
use deadpool_postgres::{
    Manager, ManagerConfig, Pool, PoolError, RecyclingMethod, Runtime, Timeouts,
};
use serde::Serialize;
use tokio_postgres::{Config, NoTls};

use crate::state::AppState;

const FIRST_USERS: &str = "select id, email from users order by id limit 10";
const DATABASE_PATIENCE: Duration = Duration::from_secs(10);

#[derive(Serialize)]
pub struct User {
    id: i32,
    email: String,
}

/// A pool that connects when it is first asked; None when the URL is none.
pub fn pool(url: &str, size: usize) -> Option<Pool> {
    build_pool(url, size)
        .inspect_err(|error| eprintln!("no database, DATABASE_URL is unusable: {error}"))
        .ok()
}

fn build_pool(url: &str, size: usize) -> Result<Pool, Box<dyn Error>> {
    let config: Config = url.parse()?;
    let recycling = ManagerConfig {
        recycling_method: RecyclingMethod::Fast,
    };
    let timeouts = Timeouts {
        wait: Some(DATABASE_PATIENCE),
        create: Some(DATABASE_PATIENCE),
        recycle: None,
    };
    let pool = Pool::builder(Manager::from_config(config, NoTls, recycling))
        .max_size(size)
        .timeouts(timeouts)
        .runtime(Runtime::Tokio1)
        .build()?;
    Ok(pool)
}

pub async fn list(State(state): State<AppState>) -> Result<Json<Vec<User>>, StatusCode> {
    let pool = state.database.ok_or(StatusCode::SERVICE_UNAVAILABLE)?;
    let users = first_users(&pool).await.map_err(|error| {
        eprintln!("cannot read the users: {error}");
        StatusCode::SERVICE_UNAVAILABLE
    })?;
    Ok(Json(users))
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
