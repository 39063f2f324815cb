//! Rows from PostgreSQL, in a page of HTML.

use askama::Template;
use deadpool_postgres::Pool;

use crate::{
    database,
    error::{Cause, Error},
    respond::{self, Answer},
    state::AppState,
};

const ALL_FORTUNES: &str = "select id, message from fortune";

struct Fortune {
    id: i32,
    message: String,
}

#[derive(Template)]
#[template(path = "fortunes.html")]
struct Page {
    fortunes: Vec<Fortune>,
}

pub async fn list(state: &AppState) -> Result<Answer, Error> {
    let pool = state.database.as_ref().ok_or(Error::NoDatabase)?;
    let mut fortunes = all_fortunes(pool).await.map_err(Error::Database)?;
    fortunes.push(Fortune {
        id: 0,
        message: "Additional fortune added at request time.".to_owned(),
    });
    fortunes.sort_by(|a, b| a.message.cmp(&b.message));
    respond::html(&Page { fortunes })
}

async fn all_fortunes(pool: &Pool) -> Result<Vec<Fortune>, Cause> {
    database::query(pool, ALL_FORTUNES, &[])
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
