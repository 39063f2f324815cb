//! Bodies of requests.

use std::time::Duration;

use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::{
    Request,
    body::{Bytes, Incoming},
    header::{CONTENT_TYPE, HeaderMap},
};
use serde::de::DeserializeOwned;
use tokio::time::timeout;

use crate::error::{Cause, Error};

const MAX_BODY_BYTES: usize = 1 << 20;
const BODY_TIMEOUT: Duration = Duration::from_secs(10);

pub async fn json<T: DeserializeOwned>(request: Request<Incoming>) -> Result<T, Error> {
    if !is_json(request.headers()) {
        return Err(Error::ContentType);
    }
    let body = read(request.into_body()).await?;
    serde_json::from_slice(&body).map_err(Error::Json)
}

/// Whether the media type, which parameters such as a charset may follow, is JSON's.
fn is_json(headers: &HeaderMap) -> bool {
    let content_type = headers.get(CONTENT_TYPE);
    let media_type = content_type
        .and_then(|value| value.to_str().ok())
        .and_then(|value| value.split(';').next());
    media_type.is_some_and(|media_type| media_type.trim().eq_ignore_ascii_case("application/json"))
}

async fn read(body: Incoming) -> Result<Bytes, Error> {
    let limited = Limited::new(body, MAX_BODY_BYTES);
    let collected = timeout(BODY_TIMEOUT, limited.collect())
        .await
        .map_err(|_| Error::Slow(BODY_TIMEOUT))?;
    let collected = collected.map_err(|error: Cause| {
        if error.is::<LengthLimitError>() {
            Error::TooLong(MAX_BODY_BYTES)
        } else {
            Error::Body(error)
        }
    })?;
    Ok(collected.to_bytes())
}
