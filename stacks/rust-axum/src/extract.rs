//! What handlers extract beside axum's own.

use std::time::Duration;

use axum::{
    Json,
    extract::{FromRequest, Request, rejection::JsonRejection},
    http::StatusCode,
};
use serde::de::DeserializeOwned;
use tokio::time::timeout;

const BODY_TIMEOUT: Duration = Duration::from_secs(10);

/// axum's `Json`, which alone would wait for a body as long as it takes.
pub struct JsonBody<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for JsonBody<T> {
    type Rejection = (StatusCode, String);

    async fn from_request(request: Request, state: &S) -> Result<Self, Self::Rejection> {
        let extracted = timeout(BODY_TIMEOUT, Json::from_request(request, state)).await;
        let Json(value) = extracted.map_err(|_| too_slow())?.map_err(refusal)?;
        Ok(Self(value))
    }
}

/// axum's own answers, but 400 instead of 422 to JSON that is not what was asked for.
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
