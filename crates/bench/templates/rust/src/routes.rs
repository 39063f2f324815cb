//! What answers each path and method.

use crate::http::{Answer, Request};

pub fn answer(request: &Request) -> Answer {
    match (request.method.as_str(), request.path.as_str()) {
        ("GET", "/plaintext") => Answer::text(200, "Hello, World!"),
        (_, "/plaintext") => Answer::text(405, "method not allowed"),
        _ => Answer::text(404, "not found"),
    }
}
