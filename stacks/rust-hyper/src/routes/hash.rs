//! SHA-256 of a file, over and over.

use std::{fs, io, path::Path};

use base64::{Engine, prelude::BASE64_STANDARD};
use sha2::{Digest, Sha256};
use tokio::task;

use crate::{
    error::Error,
    respond::{self, Answer},
    state::AppState,
};

const MAX_ROUNDS: u32 = 1_000_000;

pub async fn bytes(state: &AppState, query: Option<&str>) -> Result<Answer, Error> {
    let rounds = rounds(query.unwrap_or_default()).ok_or(Error::Rounds { max: MAX_ROUNDS })?;
    let path = state.blob_path.clone();
    // 10,000 rounds hold a thread for a millisecond, so that they are kept off the threads that serve connections.
    let digest = task::spawn_blocking(move || hash_file(&path, rounds))
        .await?
        .map_err(Error::Blob)?;
    Ok(respond::text(BASE64_STANDARD.encode(digest)))
}

fn rounds(query: &str) -> Option<u32> {
    let mut parameters = form_urlencoded::parse(query.as_bytes());
    let (_, rounds) = parameters.find(|(name, _)| name == "rounds")?;
    let rounds = rounds.parse().ok()?;
    (1..=MAX_ROUNDS).contains(&rounds).then_some(rounds)
}

fn hash_file(path: &Path, rounds: u32) -> io::Result<[u8; 32]> {
    let first = Sha256::digest(fs::read(path)?);
    Ok((1..rounds)
        .fold(first, |digest, _| Sha256::digest(digest))
        .into())
}
