//! Plain text and JSON.

use hyper::{Request, body::Incoming};
use serde::{Deserialize, Serialize};

use crate::{
    body,
    error::Error,
    respond::{self, Answer},
};

#[derive(Serialize, Deserialize)]
struct Person<Text> {
    name: Text,
    username: Text,
}

pub fn plaintext() -> Answer {
    respond::text("Hello, World!")
}

pub fn encode() -> Result<Answer, Error> {
    respond::json(&[Person {
        name: "John",
        username: "Doe",
    }])
}

pub async fn decode(request: Request<Incoming>) -> Result<Answer, Error> {
    let person: Person<String> = body::json(request).await?;
    Ok(respond::text(format!("Hello, {}!", person.name)))
}
