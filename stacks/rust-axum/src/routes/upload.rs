//! Bodies that are hashed as they come.

use axum::{body::Body, http::StatusCode};
use base64::{Engine, prelude::BASE64_STANDARD};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use sha2::{Digest, Sha256};

const MAX_BYTES: usize = 16 << 20;

pub async fn digest(body: Body) -> Result<String, StatusCode> {
    let mut body = Limited::new(body, MAX_BYTES);
    let mut digest = Sha256::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| match error.downcast_ref::<LengthLimitError>() {
            Some(_) => StatusCode::PAYLOAD_TOO_LARGE,
            None => StatusCode::BAD_REQUEST,
        })?;
        if let Some(piece) = frame.data_ref() {
            digest.update(piece);
        }
    }
    Ok(BASE64_STANDARD.encode(digest.finalize()))
}
