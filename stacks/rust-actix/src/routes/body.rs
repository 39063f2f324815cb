//! Bodies of requests.

use std::time::Duration;

use actix_web::{
    FromRequest, HttpRequest,
    rt::time::timeout,
    web::{Json, Payload},
};
use serde::de::DeserializeOwned;

use crate::error::Error;

const BODY_TIMEOUT: Duration = Duration::from_secs(10);

/// Extracted here and not by actix, which waits for a body as long as it takes.
pub async fn json<T: DeserializeOwned + 'static>(
    request: &HttpRequest,
    body: Payload,
) -> actix_web::Result<T> {
    let extracted = Json::from_request(request, &mut body.into_inner());
    let Json(value) = timeout(BODY_TIMEOUT, extracted)
        .await
        .map_err(|_| Error::Slow(BODY_TIMEOUT))??;
    Ok(value)
}
