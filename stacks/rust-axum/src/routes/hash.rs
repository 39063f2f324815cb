//! SHA-256 of a file, over and over.

use std::{fs, io, path::Path, sync::Arc};

use axum::{
    extract::{Query, State},
    http::StatusCode,
};
use base64::{Engine, prelude::BASE64_STANDARD};
use serde::Deserialize;
use sha2::{Digest, Sha256};
use tokio::task;

use crate::state::AppState;

const MAX_ROUNDS: u32 = 1_000_000;

#[derive(Deserialize)]
pub struct Params {
    rounds: u32,
}

pub async fn bytes(
    State(state): State<Arc<AppState>>,
    Query(Params { rounds }): Query<Params>,
) -> Result<String, StatusCode> {
    if !(1..=MAX_ROUNDS).contains(&rounds) {
        return Err(StatusCode::BAD_REQUEST);
    }
    // 10,000 rounds hold a thread for a millisecond, so they are kept off the threads that serve connections.
    let digest = task::spawn_blocking(move || hash_file(&state.blob_path, rounds))
        .await
        .map_err(|_| StatusCode::INTERNAL_SERVER_ERROR)?
        .map_err(|error| {
            eprintln!("cannot read the file at BLOB_PATH: {error}");
            StatusCode::INTERNAL_SERVER_ERROR
        })?;
    Ok(BASE64_STANDARD.encode(digest))
}

fn hash_file(path: &Path, rounds: u32) -> io::Result<[u8; 32]> {
    let first = Sha256::digest(fs::read(path)?);
    Ok((1..rounds)
        .fold(first, |digest, _| Sha256::digest(digest))
        .into())
}
