//! Rows of PostgreSQL: read, listed, created, replaced and deleted.

use deadpool_postgres::Pool;
use hyper::{Method, Request, StatusCode, body::Incoming};
use serde::{Deserialize, Serialize};

use crate::{
    body,
    database::{self, Parameter},
    error::{Cause, Error},
    respond::{self, Answer},
    state::AppState,
};

const READ: &str = "select id, name, price from items where id = $1";
const LIST: &str = "select id, name, price from items where id > $1 order by id limit $2";
const CREATE: &str = "insert into items (name, price) values ($1, $2) returning id, name, price";
const REPLACE: &str =
    "update items set name = $2, price = $3 where id = $1 returning id, name, price";
const DELETE: &str = "delete from items where id = $1";

const MOST_PER_PAGE: i64 = 100;

#[derive(Serialize)]
struct Item {
    id: i32,
    name: String,
    price: i32,
}

/// What a client says of an item.
#[derive(Deserialize)]
#[serde(try_from = "Unchecked")]
struct Draft {
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

/// The item with this id.
pub async fn one(state: &AppState, id: i32, request: Request<Incoming>) -> Result<Answer, Error> {
    match *request.method() {
        Method::GET => respond::json(&only(items(state, READ, &[&id]).await?)?),
        Method::PUT => {
            let Draft { name, price } = body::json(request).await?;
            respond::json(&only(items(state, REPLACE, &[&id, &name, &price]).await?)?)
        }
        Method::DELETE => delete(state, id).await,
        _ => Err(Error::Method("GET, PUT, DELETE")),
    }
}

pub async fn list(state: &AppState, query: Option<&str>) -> Result<Answer, Error> {
    let (after, limit) = page(query.unwrap_or_default()).ok_or(Error::Page {
        most: MOST_PER_PAGE,
    })?;
    respond::json(&items(state, LIST, &[&after, &limit]).await?)
}

pub async fn create(state: &AppState, request: Request<Incoming>) -> Result<Answer, Error> {
    let Draft { name, price } = body::json(request).await?;
    let item = only(items(state, CREATE, &[&name, &price]).await?)?;
    respond::created(&format!("/items/{}", item.id), &item)
}

async fn delete(state: &AppState, id: i32) -> Result<Answer, Error> {
    let pool = state.database.as_ref().ok_or(Error::NoDatabase)?;
    match database::execute(pool, DELETE, &[&id]).await {
        Ok(0) => Err(Error::NotFound),
        Ok(_) => Ok(respond::empty(StatusCode::NO_CONTENT)),
        Err(error) => Err(Error::Database(error)),
    }
}

/// The id that a page's items are above, and how many they may be.
fn page(query: &str) -> Option<(i32, i64)> {
    let (mut after, mut limit) = (0, 20);
    for (name, value) in form_urlencoded::parse(query.as_bytes()) {
        match &*name {
            "after" => after = value.parse().ok()?,
            "limit" => limit = value.parse().ok()?,
            _ => {}
        }
    }
    (after >= 0 && (1..=MOST_PER_PAGE).contains(&limit)).then_some((after, limit))
}

/// The item that a statement about one was to find.
fn only(items: Vec<Item>) -> Result<Item, Error> {
    items.into_iter().next().ok_or(Error::NotFound)
}

/// The items that a statement reads, or gives back once they are written.
async fn items(
    state: &AppState,
    sql: &str,
    parameters: &[Parameter<'_>],
) -> Result<Vec<Item>, Error> {
    let pool = state.database.as_ref().ok_or(Error::NoDatabase)?;
    read(pool, sql, parameters).await.map_err(Error::Database)
}

async fn read(pool: &Pool, sql: &str, parameters: &[Parameter<'_>]) -> Result<Vec<Item>, Cause> {
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
