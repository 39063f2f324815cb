//! Rows of PostgreSQL: read, listed, created, replaced and deleted.

use std::sync::Arc;

use axum::{
    Json,
    extract::{Path, Query, State},
    http::{StatusCode, header::LOCATION},
    response::IntoResponse,
};
use deadpool_postgres::Pool;
use serde::{Deserialize, Serialize};

use crate::{
    database::{self, Cause, Parameter},
    extract::JsonBody,
    state::AppState,
};

const READ: &str = "select id, name, price from items where id = $1";
const LIST: &str = "select id, name, price from items where id > $1 order by id limit $2";
const CREATE: &str = "insert into items (name, price) values ($1, $2) returning id, name, price";
const REPLACE: &str =
    "update items set name = $2, price = $3 where id = $1 returning id, name, price";
const DELETE: &str = "delete from items where id = $1";

#[derive(Serialize)]
pub struct Item {
    id: i32,
    name: String,
    price: i32,
}

/// What a client says of an item.
#[derive(Deserialize)]
#[serde(try_from = "Unchecked")]
pub struct Draft {
    name: String,
    price: i32,
}

#[derive(Deserialize)]
struct Unchecked {
    name: String,
    price: i32,
}

impl TryFrom<Unchecked> for Draft {
    type Error = &'static str;

    fn try_from(Unchecked { name, price }: Unchecked) -> Result<Self, Self::Error> {
        if !(1..=100).contains(&name.chars().count()) {
            return Err("name must have 1 to 100 characters");
        }
        if !(0..=1_000_000).contains(&price) {
            return Err("price must be from 0 to 1,000,000");
        }
        Ok(Self { name, price })
    }
}

#[derive(Deserialize)]
#[serde(default)]
pub struct Page {
    after: i32,
    limit: i64,
}

impl Default for Page {
    fn default() -> Self {
        Self {
            after: 0,
            limit: 20,
        }
    }
}

pub async fn read(
    State(state): State<Arc<AppState>>,
    Path(id): Path<i32>,
) -> Result<Json<Item>, StatusCode> {
    only(items(&state, READ, &[&id]).await?)
}

pub async fn list(
    State(state): State<Arc<AppState>>,
    Query(Page { after, limit }): Query<Page>,
) -> Result<Json<Vec<Item>>, StatusCode> {
    if after < 0 || !(1..=100).contains(&limit) {
        return Err(StatusCode::BAD_REQUEST);
    }
    items(&state, LIST, &[&after, &limit]).await.map(Json)
}

pub async fn create(
    State(state): State<Arc<AppState>>,
    JsonBody(Draft { name, price }): JsonBody<Draft>,
) -> Result<impl IntoResponse, StatusCode> {
    let item = only(items(&state, CREATE, &[&name, &price]).await?)?;
    let location = format!("/items/{}", item.id);
    Ok((StatusCode::CREATED, [(LOCATION, location)], item))
}

pub async fn replace(
    State(state): State<Arc<AppState>>,
    Path(id): Path<i32>,
    JsonBody(Draft { name, price }): JsonBody<Draft>,
) -> Result<Json<Item>, StatusCode> {
    only(items(&state, REPLACE, &[&id, &name, &price]).await?)
}

pub async fn delete(
    State(state): State<Arc<AppState>>,
    Path(id): Path<i32>,
) -> Result<StatusCode, StatusCode> {
    let pool = state.pool()?;
    match database::execute(pool, DELETE, &[&id]).await {
        Ok(0) => Err(StatusCode::NOT_FOUND),
        Ok(_) => Ok(StatusCode::NO_CONTENT),
        Err(error) => Err(failure(&error)),
    }
}

/// The item that a statement about one was to find.
fn only(items: Vec<Item>) -> Result<Json<Item>, StatusCode> {
    let item = items.into_iter().next().ok_or(StatusCode::NOT_FOUND)?;
    Ok(Json(item))
}

/// The items that a statement reads, or gives back once they are written.
async fn items(
    state: &AppState,
    sql: &str,
    parameters: &[Parameter<'_>],
) -> Result<Vec<Item>, StatusCode> {
    let read = read_items(state.pool()?, sql, parameters).await;
    read.map_err(|error| failure(&error))
}

async fn read_items(
    pool: &Pool,
    sql: &str,
    parameters: &[Parameter<'_>],
) -> Result<Vec<Item>, Cause> {
    database::query(pool, sql, parameters)
        .await?
        .iter()
        .map(|row| {
            Ok(Item {
                id: row.try_get("id")?,
                name: row.try_get("name")?,
                price: row.try_get("price")?,
            })
        })
        .collect()
}

fn failure(error: &Cause) -> StatusCode {
    eprintln!("cannot read or write the items: {error}");
    StatusCode::SERVICE_UNAVAILABLE
}
