//! A slow upstream, relayed.

use std::time::Duration;

use http_body_util::{BodyExt, Either, Empty, Full};
use hyper::{Request, Response, Uri, body::Bytes, header::CONTENT_TYPE};
use hyper_util::{
    client::legacy::{Client, connect::HttpConnector},
    rt::{TokioExecutor, TokioTimer},
};
use tokio::time::timeout;

use crate::{
    error::{Cause, Error},
    respond::Answer,
    state::AppState,
};

const PATIENCE: Duration = Duration::from_secs(10);

/// The upstream's address, and a client that keeps connections to it.
pub struct Upstream {
    uri: Uri,
    client: Client<HttpConnector, Empty<Bytes>>,
}

impl Upstream {
    pub fn new(uri: Uri) -> Self {
        let mut connector = HttpConnector::new();
        connector.set_nodelay(true);
        let client = Client::builder(TokioExecutor::new())
            .retry_canceled_requests(false)
            // Without a timer, idle connections would stay for ever.
            .pool_timer(TokioTimer::new())
            .build(connector);
        Self { uri, client }
    }

    async fn fetch(&self) -> Result<Answer, Cause> {
        let request = Request::get(&self.uri).body(Empty::new())?;
        let (head, body) = self.client.request(request).await?.into_parts();
        if !head.status.is_success() {
            return Err(format!("it answered {}", head.status).into());
        }
        let body = Full::new(body.collect().await?.to_bytes());
        let mut answer = Response::new(Either::Left(body));
        if let Some(content_type) = head.headers.get(CONTENT_TYPE) {
            let headers = answer.headers_mut();
            headers.insert(CONTENT_TYPE, content_type.clone());
        }
        Ok(answer)
    }
}

pub async fn relay(state: &AppState) -> Result<Answer, Error> {
    let upstream = state.upstream.as_ref().ok_or(Error::NoUpstream)?;
    match timeout(PATIENCE, upstream.fetch()).await {
        Ok(fetched) => fetched.map_err(Error::Upstream),
        Err(elapsed) => Err(Error::Upstream(elapsed.into())),
    }
}
