//! The files of a folder.

use http_body_util::Either;
use hyper::{
    Method, Request, StatusCode,
    body::Incoming,
    header::{
        CONTENT_LENGTH, CONTENT_RANGE, CONTENT_TYPE, ETAG, HeaderMap, HeaderValue, IF_NONE_MATCH,
    },
};
use hyper_staticfile::{AcceptEncoding, ResolveResult, ResponseBuilder};

use crate::{
    error::Error,
    respond::{self, Answer},
    state::AppState,
};

pub async fn serve(
    state: &AppState,
    name: &str,
    request: &Request<Incoming>,
) -> Result<Answer, Error> {
    if request.method() != Method::GET {
        return Err(Error::Method("GET"));
    }
    let found = state.files.resolve_path(name, AcceptEncoding::none()).await;
    let found = match found.map_err(Error::File)? {
        found @ ResolveResult::Found(_) => found,
        _ => return Err(Error::NotFound),
    };
    let mut builder = ResponseBuilder::new();
    builder.request(request);
    if request.headers().contains_key(IF_NONE_MATCH) {
        // The tag alone decides (RFC 9110, section 13.2.2).
        builder.file_response_builder.if_modified_since(None);
    }
    let answer = builder.build(found)?;
    // hyper-staticfile makes ETags and compares only times.
    match answer.headers().get(ETAG) {
        Some(tag) if is_known(tag, request.headers()) => {
            let mut unchanged = respond::empty(StatusCode::NOT_MODIFIED);
            *unchanged.headers_mut() = answer.headers().clone();
            for name in [CONTENT_LENGTH, CONTENT_RANGE, CONTENT_TYPE] {
                unchanged.headers_mut().remove(name);
            }
            Ok(unchanged)
        }
        _ => Ok(answer.map(Either::Right)),
    }
}

/// Whether the client has what this tag is of, by the weak comparison (RFC 9110, section 8.8.3.2).
fn is_known(tag: &HeaderValue, headers: &HeaderMap) -> bool {
    let opaque = |tag: &str| tag.trim().trim_start_matches("W/").to_owned();
    let Ok(tag) = tag.to_str().map(opaque) else {
        return false;
    };
    let lists = headers.get_all(IF_NONE_MATCH).iter();
    let lists = lists.filter_map(|value| value.to_str().ok());
    lists
        .flat_map(|list| list.split(','))
        .any(|one| opaque(one) == tag || one.trim() == "*")
}
