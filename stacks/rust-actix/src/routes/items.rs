//! Rows of PostgreSQL: read, listed, created, replaced and deleted.

use actix_web::{
    HttpRequest, HttpResponse,
    http::header::LOCATION,
    web::{Data, Json, Path, Payload, Query},
};
use deadpool_postgres::Pool;
use serde::Deserialize;

use super::body;
use crate::{
    database::{self, Item},
    error::Error,
};

const MOST_PER_PAGE: i64 = 100;

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

pub async fn read(database: Data<Option<Pool>>, id: Path<i32>) -> Result<Json<Item>, Error> {
    let item = database::item(pool(&database)?, *id).await;
    found(item.map_err(Error::Database)?)
}

pub async fn list(
    database: Data<Option<Pool>>,
    Query(Page { after, limit }): Query<Page>,
) -> Result<Json<Vec<Item>>, Error> {
    if after < 0 || !(1..=MOST_PER_PAGE).contains(&limit) {
        return Err(Error::Page {
            most: MOST_PER_PAGE,
        });
    }
    let items = database::items_after(pool(&database)?, after, limit).await;
    items.map(Json).map_err(Error::Database)
}

pub async fn create(
    database: Data<Option<Pool>>,
    request: HttpRequest,
    body: Payload,
) -> actix_web::Result<HttpResponse> {
    let Draft { name, price } = body::json(&request, body).await?;
    let item = database::create_item(pool(&database)?, &name, price).await;
    let item = item.map_err(Error::Database)?;
    let location = format!("/items/{}", item.id);
    Ok(HttpResponse::Created()
        .insert_header((LOCATION, location))
        .json(item))
}

pub async fn replace(
    database: Data<Option<Pool>>,
    id: Path<i32>,
    request: HttpRequest,
    body: Payload,
) -> actix_web::Result<Json<Item>> {
    let Draft { name, price } = body::json(&request, body).await?;
    let item = database::replace_item(pool(&database)?, *id, &name, price).await;
    Ok(found(item.map_err(Error::Database)?)?)
}

pub async fn delete(database: Data<Option<Pool>>, id: Path<i32>) -> Result<HttpResponse, Error> {
    let deleted = database::delete_item(pool(&database)?, *id).await;
    if !deleted.map_err(Error::Database)? {
        return Err(Error::NoItem);
    }
    Ok(HttpResponse::NoContent().finish())
}

fn pool(database: &Data<Option<Pool>>) -> Result<&Pool, Error> {
    database.as_ref().as_ref().ok_or(Error::NoDatabase)
}

fn found(item: Option<Item>) -> Result<Json<Item>, Error> {
    item.map(Json).ok_or(Error::NoItem)
}
