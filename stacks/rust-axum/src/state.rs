//! What the handlers share.

use std::{path::Path, sync::Arc};

use axum::{body::Body, http::Uri};
use deadpool_postgres::Pool;
use hyper_util::{
    client::legacy::{Client, connect::HttpConnector},
    rt::TokioExecutor,
};

use crate::{config::Config, routes};

pub type HttpClient = Client<HttpConnector, Body>;

#[derive(Clone)]
pub struct AppState {
    /// None without a usable DATABASE_URL: the other routes answer nevertheless.
    pub database: Option<Pool>,
    pub upstream: Option<Uri>,
    pub client: HttpClient,
    pub blob_path: Arc<Path>,
    pub payload_worker: routes::payload::Worker,
}

impl AppState {
    /// Must be called within the runtime: it starts the payload's worker.
    pub fn new(config: Config) -> Self {
        let mut connector = HttpConnector::new();
        connector.set_nodelay(true);
        Self {
            database: config
                .database_url
                .and_then(|url| routes::users::pool(&url, config.pool_size)),
            upstream: config.upstream_url.and_then(|url| url.parse().ok()),
            client: Client::builder(TokioExecutor::new())
                .retry_canceled_requests(false)
                .build(connector),
            blob_path: config.blob_path.into(),
            payload_worker: routes::payload::Worker::spawn(),
        }
    }
}
