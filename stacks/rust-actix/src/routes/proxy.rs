//! A slow upstream, relayed.

use actix_web::{HttpResponse, http::header::CONTENT_TYPE, web::Data};

use crate::{error::Error, upstream::Upstream};

pub async fn relay(upstream: Data<Upstream>) -> Result<HttpResponse, Error> {
    let answer = upstream.fetch().await?;
    let mut response = HttpResponse::Ok();
    if let Some(content_type) = answer.content_type {
        response.insert_header((CONTENT_TYPE, content_type));
    }
    Ok(response.body(answer.body))
}
