//! Bodies that are hashed as they come.

use base64::{Engine, prelude::BASE64_STANDARD};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::body::Incoming;
use sha2::{Digest, Sha256};

use crate::{
    error::{Cause, Error},
    respond::{self, Answer},
};

const MAX_BYTES: usize = 16 << 20;

pub async fn digest(body: Incoming) -> Result<Answer, Error> {
    let mut body = Limited::new(body, MAX_BYTES);
    let mut digest = Sha256::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error: Cause| match error.downcast_ref() {
            Some(LengthLimitError { .. }) => Error::TooLong(MAX_BYTES),
            None => Error::Body(error),
        })?;
        if let Some(piece) = frame.data_ref() {
            digest.update(piece);
        }
    }
    Ok(respond::text(BASE64_STANDARD.encode(digest.finalize())))
}
