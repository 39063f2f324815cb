//! Bodies that are hashed as they come.

use actix_web::web::Payload;
use base64::{Engine, prelude::BASE64_STANDARD};
use futures_util::StreamExt;
use sha2::{Digest, Sha256};

use crate::error::Error;

const MAX_BYTES: usize = 16 << 20;

pub async fn digest(mut body: Payload) -> actix_web::Result<String> {
    let mut digest = Sha256::new();
    let mut length = 0;
    while let Some(piece) = body.next().await {
        let piece = piece?;
        length += piece.len();
        if length > MAX_BYTES {
            return Err(Error::TooLong(MAX_BYTES).into());
        }
        digest.update(piece);
    }
    Ok(BASE64_STANDARD.encode(digest.finalize()))
}
