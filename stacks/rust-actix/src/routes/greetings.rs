//! Plain text and JSON.

use actix_web::{
    HttpRequest,
    web::{Json, Payload},
};
use serde::{Deserialize, Serialize};

use super::body;

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

pub async fn decode(request: HttpRequest, body: Payload) -> actix_web::Result<String> {
    let Greeted { name, .. } = body::json(&request, body).await?;
    Ok(format!("Hello, {name}!"))
}
