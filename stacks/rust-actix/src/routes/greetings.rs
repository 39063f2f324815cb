//! Plain text and JSON.

use std::time::Duration;

use actix_web::{
    FromRequest, HttpRequest,
    rt::time::timeout,
    web::{Json, Payload},
};
use serde::{Deserialize, Serialize};

use crate::error::Error;

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

pub async fn decode(request: HttpRequest, body: Payload) -> actix_web::Result<String> {
    // Extracted here and not by actix, which waits for a body as long as it takes.
    let person = Json::from_request(&request, &mut body.into_inner());
    let Json(Greeted { name, .. }) = timeout(BODY_TIMEOUT, person)
        .await
        .map_err(|_| Error::Slow(BODY_TIMEOUT))??;
    Ok(format!("Hello, {name}!"))
}
