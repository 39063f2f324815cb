//! Plain text and JSON.

use axum::Json;
use serde::{Deserialize, Serialize};

use crate::extract::JsonBody;

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

pub async fn decode(JsonBody(Greeted { name, .. }): JsonBody<Greeted>) -> String {
    format!("Hello, {name}!")
}
