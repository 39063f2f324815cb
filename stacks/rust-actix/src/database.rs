//! PostgreSQL, over a pool that all workers share.

use std::{error::Error, time::Duration};

use actix_web::rt::time::timeout;
use deadpool_postgres::{BuildError, Manager, ManagerConfig, Pool, RecyclingMethod};
use serde::Serialize;
use tokio_postgres::{Config, NoTls, Row, types::ToSql};

const FIRST_USERS: &str = "select id, email from users order by id limit 10";
const ALL_FORTUNES: &str = "select id, message from fortune";
const ITEM: &str = "select id, name, price from items where id = $1";
const ITEMS_AFTER: &str = "select id, name, price from items where id > $1 order by id limit $2";
const CREATE_ITEM: &str =
    "insert into items (name, price) values ($1, $2) returning id, name, price";
const REPLACE_ITEM: &str =
    "update items set name = $2, price = $3 where id = $1 returning id, name, price";
const DELETE_ITEM: &str = "delete from items where id = $1";

/// For all that a request needs: a free connection or a new one, and the rows.
const PATIENCE: Duration = Duration::from_secs(10);

pub type Cause = Box<dyn Error>;
type Parameter<'a> = &'a (dyn ToSql + Sync);

#[derive(Serialize)]
pub struct User {
    id: i32,
    email: String,
}

pub struct Fortune {
    pub id: i32,
    pub message: String,
}

#[derive(Serialize)]
pub struct Item {
    pub id: i32,
    name: String,
    price: i32,
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

pub async fn first_users(pool: &Pool) -> Result<Vec<User>, Cause> {
    query(pool, FIRST_USERS, &[])
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

pub async fn all_fortunes(pool: &Pool) -> Result<Vec<Fortune>, Cause> {
    query(pool, ALL_FORTUNES, &[])
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

/// None if there is none with this id.
pub async fn item(pool: &Pool, id: i32) -> Result<Option<Item>, Cause> {
    Ok(items(pool, ITEM, &[&id]).await?.pop())
}

pub async fn items_after(pool: &Pool, after: i32, limit: i64) -> Result<Vec<Item>, Cause> {
    items(pool, ITEMS_AFTER, &[&after, &limit]).await
}

pub async fn create_item(pool: &Pool, name: &str, price: i32) -> Result<Item, Cause> {
    let created = items(pool, CREATE_ITEM, &[&name, &price]).await?.pop();
    created.ok_or_else(|| "no row of a new item".into())
}

/// The item as it is now; None if there is none with this id.
pub async fn replace_item(
    pool: &Pool,
    id: i32,
    name: &str,
    price: i32,
) -> Result<Option<Item>, Cause> {
    Ok(items(pool, REPLACE_ITEM, &[&id, &name, &price])
        .await?
        .pop())
}

/// Whether there was one.
pub async fn delete_item(pool: &Pool, id: i32) -> Result<bool, Cause> {
    Ok(execute(pool, DELETE_ITEM, &[&id]).await? > 0)
}

/// The items that a statement reads, or gives back once they are written.
async fn items(pool: &Pool, sql: &str, parameters: &[Parameter<'_>]) -> Result<Vec<Item>, Cause> {
    query(pool, sql, parameters)
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

/// The rows of a statement, which each connection prepares once.
async fn query(pool: &Pool, sql: &str, parameters: &[Parameter<'_>]) -> Result<Vec<Row>, Cause> {
    timeout(PATIENCE, async {
        let client = pool.get().await?;
        let statement = client.prepare_cached(sql).await?;
        Ok(client.query(&statement, parameters).await?)
    })
    .await?
}

/// How many rows a statement has changed; it is prepared as for [`query`].
async fn execute(pool: &Pool, sql: &str, parameters: &[Parameter<'_>]) -> Result<u64, Cause> {
    timeout(PATIENCE, async {
        let client = pool.get().await?;
        let statement = client.prepare_cached(sql).await?;
        Ok(client.execute(&statement, parameters).await?)
    })
    .await?
}
