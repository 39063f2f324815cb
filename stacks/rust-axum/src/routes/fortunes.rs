//! Rows from PostgreSQL, in a page of HTML.

use askama::Template;
use std::sync::Arc;

use axum::{extract::State, http::StatusCode, response::Html};
use deadpool_postgres::Pool;

use crate::{
    database::{self, Cause},
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

pub async fn list(State(state): State<Arc<AppState>>) -> Result<Html<String>, StatusCode> {
    let pool = state.pool()?;
    let mut fortunes = all_fortunes(pool).await.map_err(|error| {
        eprintln!("cannot read the fortunes: {error}");
        StatusCode::SERVICE_UNAVAILABLE
    })?;
    fortunes.push(Fortune {
        id: 0,
        message: "Additional fortune added at request time.".to_owned(),
    });
    fortunes.sort_by(|a, b| a.message.cmp(&b.message));
    let page = Page { fortunes }.render().map_err(|error| {
        eprintln!("cannot render the fortunes: {error}");
        StatusCode::INTERNAL_SERVER_ERROR
    })?;
    Ok(Html(page))
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
