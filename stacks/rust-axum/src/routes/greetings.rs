//! Plain text and JSON.

use std::time::Duration;

use axum::{
    Json,
    extract::{FromRequest, Request, rejection::JsonRejection},
    http::StatusCode,
};
use serde::{Deserialize, Serialize};
use tokio::time::timeout;

const BODY_TIMEOUT: Duration = Duration::from_secs(10);

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

pub async fn decode(request: Request) -> Result<String, (StatusCode, String)> {
    // Extracted here and not by axum, which waits for a body as long as it takes.
    let extracted = timeout(BODY_TIMEOUT, Json::from_request(request, &())).await;
    let Json(Greeted { name, .. }) = extracted.map_err(|_| too_slow())?.map_err(refusal)?;
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

fn too_slow() -> (StatusCode, String) {
    let seconds = BODY_TIMEOUT.as_secs();
    let reason = format!("the body took longer than {seconds} s");
    (StatusCode::REQUEST_TIMEOUT, reason)
}
