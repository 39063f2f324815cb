//! Rows from PostgreSQL.

use std::sync::Arc;

use axum::{Json, extract::State, http::StatusCode};
use deadpool_postgres::Pool;
use serde::Serialize;

use crate::{
    database::{self, Cause},
    state::AppState,
};

const FIRST_USERS: &str = "select id, email from users order by id limit 10";

#[derive(Serialize)]
pub struct User {
    id: i32,
    email: String,
}

pub async fn list(State(state): State<Arc<AppState>>) -> Result<Json<Vec<User>>, StatusCode> {
    let pool = state.pool()?;
    match first_users(pool).await {
        Ok(users) => Ok(Json(users)),
        Err(error) => {
            eprintln!("cannot read the users: {error}");
            Err(StatusCode::SERVICE_UNAVAILABLE)
        }
    }
}

async fn first_users(pool: &Pool) -> Result<Vec<User>, Cause> {
    database::query(pool, FIRST_USERS, &[])
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
