//! One module for each kind of work.

mod fortunes;
mod greetings;
mod hash;
mod items;
pub mod payload;
mod proxy;
mod users;

use axum::{Router, routing::get};

use crate::state::AppState;

pub fn router(state: AppState) -> Router {
    Router::new()
        .route("/plaintext", get(greetings::plaintext))
        .route("/json", get(greetings::encode).post(greetings::decode))
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
        .with_state(state)
}
