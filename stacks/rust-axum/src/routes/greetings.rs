//! Plain text and JSON.

use axum::{Json, body::Bytes, http::StatusCode};
use serde::{Deserialize, Serialize};

#[derive(Serialize)]
pub struct User {
    name: &'static str,
    username: &'static str,
}

#[derive(Deserialize)]
struct Greeted {
    name: String,
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

/// Reads the bytes and not `Json<Greeted>`, which answers 422 when a field is missing and asks for a content type.
pub async fn decode(body: Bytes) -> Result<String, StatusCode> {
    let Greeted { name } = serde_json::from_slice(&body).map_err(|_| StatusCode::BAD_REQUEST)?;
    Ok(format!("Hello, {name}!"))
}
