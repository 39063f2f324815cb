//! What the handlers share.

use std::path::Path;

use deadpool_postgres::{BuildError, Pool};
use hyper_staticfile::Resolver;

use crate::{
    config::Config,
    database,
    routes::{payload, proxy::Upstream},
};

pub struct AppState {
    /// None without a DATABASE_URL: the other routes answer nevertheless.
    pub database: Option<Pool>,
    /// None without an UPSTREAM_URL.
    pub upstream: Option<Upstream>,
    pub blob_path: Box<Path>,
    pub files: Resolver,
    pub payload_worker: payload::Worker,
}

impl AppState {
    /// Must be called within the runtime: it starts the payload's worker.
    pub fn new(config: Config) -> Result<Self, BuildError> {
        Ok(Self {
            database: config
                .database
                .map(|database| database::pool(database, config.pool_size.get()))
                .transpose()?,
            upstream: config.upstream.map(Upstream::new),
            blob_path: config.blob_path.into(),
            files: Resolver::new(config.static_dir),
            payload_worker: payload::Worker::spawn(),
        })
    }
}
