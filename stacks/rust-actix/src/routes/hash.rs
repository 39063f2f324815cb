//! SHA-256 of a file, over and over.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use actix_web::web::{self, Data, Query};
use base64::{Engine, prelude::BASE64_STANDARD};
use serde::Deserialize;
use sha2::{Digest, Sha256};

use crate::error::Error;

const MAX_ROUNDS: u32 = 1_000_000;

pub struct BlobPath(pub PathBuf);

#[derive(Deserialize)]
pub struct Params {
    rounds: u32,
}

pub async fn bytes(
    path: Data<BlobPath>,
    Query(Params { rounds }): Query<Params>,
) -> Result<String, Error> {
    if !(1..=MAX_ROUNDS).contains(&rounds) {
        return Err(Error::Rounds { max: MAX_ROUNDS });
    }
    // 10,000 rounds hold a thread for a millisecond, so that they are kept off the thread that serves connections.
    let digest = web::block(move || hash_file(&path.0, rounds))
        .await?
        .map_err(Error::Blob)?;
    Ok(BASE64_STANDARD.encode(digest))
}

fn hash_file(path: &Path, rounds: u32) -> io::Result<[u8; 32]> {
    let first = Sha256::digest(fs::read(path)?);
    Ok((1..rounds)
        .fold(first, |digest, _| Sha256::digest(digest))
        .into())
}
