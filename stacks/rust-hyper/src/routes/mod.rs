//! One module for each kind of work.

mod files;
mod fortunes;
mod greetings;
mod hash;
mod items;
pub mod payload;
mod products;
pub mod proxy;
mod upload;
mod users;

use std::{convert::Infallible, sync::Arc};

use hyper::{Method, Request, body::Incoming};

use crate::{error::Error, respond::Answer, state::AppState};

pub async fn answer(
    state: Arc<AppState>,
    request: Request<Incoming>,
) -> Result<Answer, Infallible> {
    let answer = route(&state, request).await;
    Ok(answer.unwrap_or_else(Error::into_answer))
}

async fn route(state: &AppState, request: Request<Incoming>) -> Result<Answer, Error> {
    if let Some(id) = request.uri().path().strip_prefix("/items/") {
        let id = id.parse().map_err(|_| Error::NotFound)?;
        return items::one(state, id, request).await;
    }
    if let Some(name) = request.uri().path().strip_prefix("/static/") {
        return files::serve(state, name, &request).await;
    }
    match (request.uri().path(), request.method()) {
        ("/plaintext", &Method::GET) => Ok(greetings::plaintext()),
        ("/json", &Method::GET) => greetings::encode(),
        ("/json", &Method::POST) => greetings::decode(request).await,
        ("/products", &Method::GET) => products::list(request.uri().query(), request.headers()),
        ("/upload", &Method::POST) => upload::digest(request.into_body()).await,
        ("/payload", &Method::GET) => Ok(payload::direct()),
        ("/ping-pong", &Method::GET) => payload::handed_over(state).await,
        ("/bytes", &Method::GET) => hash::bytes(state, request.uri().query()).await,
        ("/users", &Method::GET) => users::list(state).await,
        ("/fortunes", &Method::GET) => fortunes::list(state).await,
        ("/items", &Method::GET) => items::list(state, request.uri().query()).await,
        ("/items", &Method::POST) => items::create(state, request).await,
        ("/proxy", &Method::GET) => proxy::relay(state).await,
        ("/json" | "/items", _) => Err(Error::Method("GET, POST")),
        (
            "/plaintext" | "/products" | "/payload" | "/ping-pong" | "/bytes" | "/users"
            | "/fortunes" | "/proxy",
            _,
        ) => Err(Error::Method("GET")),
        ("/upload", _) => Err(Error::Method("POST")),
        _ => Err(Error::NotFound),
    }
}
