//! The slow upstream, through awc: one client in each worker, as it stays in its thread.

use std::time::Duration;

use actix_web::{
    http::{Uri, header},
    web::Bytes,
};
use awc::{Client, Connector};

use crate::error::Error;

const PATIENCE: Duration = Duration::from_secs(10);

pub struct Upstream {
    uri: Option<Uri>,
    client: Client,
}

pub struct Answer {
    pub content_type: Option<header::HeaderValue>,
    pub body: Bytes,
}

impl Upstream {
    /// Must be called in the worker that will use it.
    pub fn new(uri: Option<Uri>) -> Self {
        // 0 is no limit: with awc's own of 100 connections, further requests would wait for a free one.
        let connector = Connector::new().limit(0);
        let client = Client::builder()
            .connector(connector)
            .timeout(PATIENCE)
            .finish();
        Self { uri, client }
    }

    pub async fn fetch(&self) -> Result<Answer, Error> {
        let uri = self.uri.as_ref().ok_or(Error::NoUpstream)?;
        let mut response = self.client.get(uri).send().await.map_err(failed)?;
        if !response.status().is_success() {
            return Err(failed(format_args!("it answered {}", response.status())));
        }
        Ok(Answer {
            content_type: response.headers().get(header::CONTENT_TYPE).cloned(),
            body: response.body().await.map_err(failed)?,
        })
    }
}

fn failed(reason: impl ToString) -> Error {
    Error::Upstream(reason.to_string())
}
