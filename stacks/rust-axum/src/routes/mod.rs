//! One module for each kind of work.

mod fortunes;
mod greetings;
mod hash;
mod items;
pub mod payload;
mod products;
mod proxy;
pub mod techempower;
mod upload;
mod users;

use std::{path::Path, sync::Arc};

use axum::{
    Router,
    routing::{get, post},
};
use tower_http::{compression::CompressionLayer, services::ServeDir};

use crate::state::AppState;

pub fn router(state: Arc<AppState>, static_dir: &Path) -> Router {
    Router::new()
        .route("/plaintext", get(greetings::plaintext))
        .route("/json", get(greetings::encode).post(greetings::decode))
        .nest_service("/static", ServeDir::new(static_dir))
        .route(
            "/products",
            get(products::list).layer(CompressionLayer::new()),
        )
        .route("/upload", post(upload::digest))
        .route("/payload", get(payload::direct))
        .route("/ping-pong", get(payload::handed_over))
        .route("/bytes", get(hash::bytes))
        .route("/users", get(users::list))
        .route("/fortunes", get(fortunes::list))
        .route("/items", get(items::list).post(items::create))
        .route(
            "/items/{id}",
            get(items::read).put(items::replace).delete(items::delete),
        )
        .route("/proxy", get(proxy::relay))
        .nest("/techempower", techempower::router())
        .with_state(state)
}
