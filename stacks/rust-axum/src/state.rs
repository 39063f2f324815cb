//! What the handlers share.

use std::path::PathBuf;

use axum::{
    body::Body,
    http::{StatusCode, Uri},
};
use deadpool_postgres::{BuildError, Pool};
use hyper_util::{
    client::legacy::{Client, connect::HttpConnector},
    rt::{TokioExecutor, TokioTimer},
};

use crate::{config::Config, database, routes};

pub type HttpClient = Client<HttpConnector, Body>;

pub struct AppState {
    /// None without a DATABASE_URL: the other routes answer nevertheless.
    pub database: Option<Pool>,
    /// None without an UPSTREAM_URL.
    pub upstream: Option<Uri>,
    pub client: HttpClient,
    pub blob_path: PathBuf,
    pub payload_worker: routes::payload::Worker,
    pub worlds: routes::techempower::Cache,
}

impl AppState {
    /// Must be called within the runtime: it starts the payload's worker.
    pub fn new(config: Config) -> Result<Self, BuildError> {
        let mut connector = HttpConnector::new();
        connector.set_nodelay(true);
        Ok(Self {
            database: config
                .database
                .map(|database| database::pool(database, config.pool_size.get()))
                .transpose()?,
            upstream: config.upstream,
            client: Client::builder(TokioExecutor::new())
                .retry_canceled_requests(false)
                // Without a timer, idle connections would stay for ever.
                .pool_timer(TokioTimer::new())
                .build(connector),
            blob_path: config.blob_path,
            payload_worker: routes::payload::Worker::spawn(),
            worlds: Default::default(),
        })
    }

    pub fn pool(&self) -> Result<&Pool, StatusCode> {
        let pool = self.database.as_ref();
        pool.ok_or(StatusCode::SERVICE_UNAVAILABLE)
    }
}
