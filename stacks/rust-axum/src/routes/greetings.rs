//! Plain text and JSON.

use axum::{Json, extract::rejection::JsonRejection, http::StatusCode};
use serde::{Deserialize, Serialize};

#[derive(Serialize)]
pub struct User {
    name: &'static str,
    username: &'static str,
}

#[derive(Deserialize)]
pub struct Greeted {
    name: String,
    #[expect(
        dead_code,
        reason = "a person has a username; the greeting does not use it"
    )]
    username: String,
}

pub async fn plaintext() -> &'static str {
    "Hello, World!"
}

pub async fn encode() -> Json<[User; 1]> {
    Json([User {
        name: "John",
        username: "Doe",
    }])
}

pub async fn decode(
    greeted: Result<Json<Greeted>, JsonRejection>,
) -> Result<String, (StatusCode, String)> {
    let Json(Greeted { name, .. }) = greeted.map_err(refusal)?;
    Ok(format!("Hello, {name}!"))
}

/// axum's own answers, but 400 instead of 422 to JSON that lacks a field.
fn refusal(rejection: JsonRejection) -> (StatusCode, String) {
    let status = match rejection.status() {
        StatusCode::UNPROCESSABLE_ENTITY => StatusCode::BAD_REQUEST,
        status => status,
    };
    (status, rejection.body_text())
}
