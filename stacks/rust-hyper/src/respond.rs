//! The answers' kinds of content.

use askama::Template;
use http_body_util::{Either, Full};
use hyper::{
    Response, StatusCode,
    body::Bytes,
    header::{CONTENT_TYPE, HeaderValue, LOCATION},
};
use serde::Serialize;

use crate::error::Error;

/// Of bytes, or of a file.
pub type Answer = Response<Either<Full<Bytes>, hyper_staticfile::Body>>;

pub fn text(body: impl Into<Bytes>) -> Answer {
    with_type("text/plain; charset=utf-8", body)
}

pub fn json(value: &impl Serialize) -> Result<Answer, Error> {
    Ok(json_text(serde_json::to_vec(value)?))
}

/// JSON that is written already.
pub fn json_text(body: Vec<u8>) -> Answer {
    with_type("application/json", body)
}

/// A new resource, and where it is.
pub fn created(location: &str, value: &impl Serialize) -> Result<Answer, Error> {
    let mut answer = json(value)?;
    *answer.status_mut() = StatusCode::CREATED;
    answer.headers_mut().insert(LOCATION, location.try_into()?);
    Ok(answer)
}

pub fn html(page: &impl Template) -> Result<Answer, Error> {
    Ok(with_type("text/html; charset=utf-8", page.render()?))
}

pub fn octets(body: Bytes) -> Answer {
    with_type("application/octet-stream", body)
}

pub fn empty(status: StatusCode) -> Answer {
    let mut answer = Response::new(Either::Left(Full::default()));
    *answer.status_mut() = status;
    answer
}

fn with_type(content_type: &'static str, body: impl Into<Bytes>) -> Answer {
    let mut answer = Response::new(Either::Left(Full::new(body.into())));
    let content_type = HeaderValue::from_static(content_type);
    answer.headers_mut().insert(CONTENT_TYPE, content_type);
    answer
}
