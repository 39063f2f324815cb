//! Rows from PostgreSQL.

use deadpool_postgres::Pool;
use serde::Serialize;

use crate::{
    database,
    error::{Cause, Error},
    respond::{self, Answer},
    state::AppState,
};

const FIRST_USERS: &str = "select id, email from users order by id limit 10";

#[derive(Serialize)]
struct User {
    id: i32,
    email: String,
}

pub async fn list(state: &AppState) -> Result<Answer, Error> {
    let pool = state.database.as_ref().ok_or(Error::NoDatabase)?;
    let users = first_users(pool).await.map_err(Error::Database)?;
    respond::json(&users)
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
