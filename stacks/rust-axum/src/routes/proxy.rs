//! A slow upstream, relayed.

use std::{convert::identity, error::Error, sync::Arc, time::Duration};

use axum::{
    body::Body,
    extract::State,
    http::{Request, StatusCode, Uri, header::CONTENT_TYPE},
    response::{IntoResponse, Response},
};
use http_body_util::BodyExt;
use tokio::time::timeout;

use crate::state::{AppState, HttpClient};

const UPSTREAM_PATIENCE: Duration = Duration::from_secs(10);

pub async fn relay(State(state): State<Arc<AppState>>) -> Result<Response, StatusCode> {
    let uri = state.upstream.clone().ok_or(StatusCode::BAD_GATEWAY)?;
    let fetched = timeout(UPSTREAM_PATIENCE, fetch(&state.client, uri)).await;
    match fetched.map_err(Into::into).and_then(identity) {
        Ok(response) => Ok(response),
        Err(error) => {
            eprintln!("the upstream failed: {error}");
            Err(StatusCode::BAD_GATEWAY)
        }
    }
}

async fn fetch(client: &HttpClient, uri: Uri) -> Result<Response, Box<dyn Error + Send + Sync>> {
    let request = Request::get(uri).body(Body::empty())?;
    let response = client.request(request).await?;
    if !response.status().is_success() {
        return Err(format!("it answered {}", response.status()).into());
    }
    let content_type = response.headers().get(CONTENT_TYPE).cloned();
    let body = response.into_body().collect().await?.to_bytes();
    let mut relayed = body.into_response();
    if let Some(content_type) = content_type {
        relayed.headers_mut().insert(CONTENT_TYPE, content_type);
    }
    Ok(relayed)
}
