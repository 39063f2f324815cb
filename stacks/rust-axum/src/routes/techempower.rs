//! The tests of TechEmpower's Framework Benchmarks, below /techempower.

use std::sync::Arc;

use axum::{
    Json, Router,
    extract::{Query, State},
    http::{HeaderValue, StatusCode, header},
    middleware::map_response,
    response::Response,
    routing::get,
};
use deadpool_postgres::Pool;
use rand::RngExt as _;
use serde::{Deserialize, Serialize};
use tokio::{sync::OnceCell, time::timeout};
use tokio_postgres::Row;

use super::{fortunes, greetings};
use crate::{
    database::{self, Cause, PATIENCE},
    state::AppState,
};

const WORLDS: i32 = 10_000;
const MAX_COUNT: usize = 500;

const WORLD: &str = "select id, randomnumber from world where id = $1";
const ALL_WORLDS: &str = "select id, randomnumber from world";
const UPDATE: &str = "update world set randomnumber = new.number \
    from unnest($1::integer[], $2::integer[]) as new(id, number) where world.id = new.id";

pub type Cache = OnceCell<Vec<World>>;

#[derive(Serialize)]
struct Message {
    message: &'static str,
}

#[derive(Clone, Copy, Serialize)]
pub struct World {
    id: i32,
    #[serde(rename = "randomNumber")]
    random_number: i32,
}

/// A text, because anything that is no number means 1.
#[derive(Deserialize)]
struct Count {
    #[serde(alias = "queries")]
    count: Option<String>,
}

impl Count {
    fn get(&self) -> usize {
        let number = self.count.as_ref().and_then(|text| text.parse().ok());
        number.unwrap_or(1).clamp(1, MAX_COUNT)
    }
}

pub fn router() -> Router<Arc<AppState>> {
    Router::new()
        .route("/json", get(json))
        .route("/plaintext", get(greetings::plaintext))
        .route("/db", get(db))
        .route("/queries", get(queries))
        .route("/fortunes", get(fortunes::list))
        .route("/updates", get(updates))
        .route("/cached-queries", get(cached_queries))
        .layer(map_response(with_server))
}

/// These tests ask for a Server header.
async fn with_server(mut response: Response) -> Response {
    let name = HeaderValue::from_static("axum");
    response.headers_mut().insert(header::SERVER, name);
    response
}

async fn json() -> Json<Message> {
    Json(Message {
        message: "Hello, World!",
    })
}

async fn db(State(state): State<Arc<AppState>>) -> Result<Json<World>, StatusCode> {
    let pool = state.pool()?;
    let worlds = read(pool, 1).await.map_err(unavailable)?;
    worlds
        .first()
        .copied()
        .map(Json)
        .ok_or(StatusCode::NOT_FOUND)
}

async fn queries(
    State(state): State<Arc<AppState>>,
    Query(count): Query<Count>,
) -> Result<Json<Vec<World>>, StatusCode> {
    let worlds = read(state.pool()?, count.get()).await;
    worlds.map(Json).map_err(unavailable)
}

async fn updates(
    State(state): State<Arc<AppState>>,
    Query(count): Query<Count>,
) -> Result<Json<Vec<World>>, StatusCode> {
    let worlds = update(state.pool()?, count.get()).await;
    worlds.map(Json).map_err(unavailable)
}

async fn cached_queries(
    State(state): State<Arc<AppState>>,
    Query(count): Query<Count>,
) -> Result<Json<Vec<World>>, StatusCode> {
    let pool = state.pool()?;
    let all = state.worlds.get_or_try_init(|| load(pool));
    let all = all.await.map_err(unavailable)?;
    let mut random = rand::rng();
    let one = |_| all[random.random_range(0..all.len())];
    Ok(Json((0..count.get()).map(one).collect()))
}

/// So many rows at random, each by a statement of its own, over one connection.
async fn read(pool: &Pool, count: usize) -> Result<Vec<World>, Cause> {
    timeout(PATIENCE, async {
        let client = pool.get().await?;
        let statement = client.prepare_cached(WORLD).await?;
        let mut worlds = Vec::with_capacity(count);
        for id in ids(count) {
            worlds.push(world(&client.query_one(&statement, &[&id]).await?)?);
        }
        Ok(worlds)
    })
    .await?
}

async fn update(pool: &Pool, count: usize) -> Result<Vec<World>, Cause> {
    let mut worlds = read(pool, count).await?;
    // PostgreSQL locks the rows in this order, so that two requests never wait for each other.
    worlds.sort_by_key(|world| world.id);
    for world in &mut worlds {
        world.random_number = random_id();
    }
    let ids: Vec<i32> = worlds.iter().map(|world| world.id).collect();
    let numbers: Vec<i32> = worlds.iter().map(|world| world.random_number).collect();
    database::execute(pool, UPDATE, &[&ids, &numbers]).await?;
    Ok(worlds)
}

async fn load(pool: &Pool) -> Result<Vec<World>, Cause> {
    let rows = database::query(pool, ALL_WORLDS, &[]).await?;
    rows.iter().map(world).collect()
}

fn world(row: &Row) -> Result<World, Cause> {
    Ok(World {
        id: row.try_get("id")?,
        random_number: row.try_get("randomnumber")?,
    })
}

fn random_id() -> i32 {
    rand::rng().random_range(1..=WORLDS)
}

/// Ids that differ from each other.
fn ids(count: usize) -> Vec<i32> {
    let chosen = rand::seq::index::sample(&mut rand::rng(), WORLDS as usize, count);
    chosen.into_iter().map(|index| index as i32 + 1).collect()
}

fn unavailable(error: Cause) -> StatusCode {
    eprintln!("cannot ask for the worlds: {error}");
    StatusCode::SERVICE_UNAVAILABLE
}
