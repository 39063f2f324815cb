//! What the handlers share.

use std::path::Path;

use deadpool_postgres::Pool;

use crate::{
    config::Config,
    routes::{payload, proxy::Upstream, users},
};

pub struct AppState {
    /// None without a usable DATABASE_URL: the other routes answer nevertheless.
    pub database: Option<Pool>,
    /// None without a usable UPSTREAM_URL.
    pub upstream: Option<Upstream>,
    pub blob_path: Box<Path>,
    pub payload_worker: payload::Worker,
}

impl AppState {
    /// Must be called within the runtime: it starts the payload's worker.
    pub fn new(config: Config) -> Self {
        Self {
            database: config
                .database_url
                .and_then(|url| users::pool(&url, config.pool_size)),
            upstream: config
                .upstream_url
                .and_then(|url| url.parse().ok())
                .map(Upstream::new),
            blob_path: config.blob_path.into(),
            payload_worker: payload::Worker::spawn(),
        }
    }
}
