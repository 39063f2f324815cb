//! What a request can fail with, and its answer.

use std::{error::Error as StdError, time::Duration};

use hyper::{
    StatusCode,
    header::{ALLOW, HeaderValue, InvalidHeaderValue},
};
use tokio::task::JoinError;

use crate::respond::{Answer, empty, text};

pub type Cause = Box<dyn StdError + Send + Sync>;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("there is nothing at this path")]
    NotFound,
    #[error("the method must be one of {0}")]
    Method(&'static str),
    #[error("the content type must be application/json")]
    ContentType,
    #[error("the body is longer than {0} bytes")]
    TooLong(usize),
    #[error("the body took longer than {} s", .0.as_secs())]
    Slow(Duration),
    #[error("the body broke off: {0}")]
    Body(Cause),
    #[error("the body is not the JSON that is asked for: {0}")]
    Json(serde_json::Error),
    #[error("after must be 0 or more, and limit from 1 to {most}")]
    Page { most: i64 },
    #[error("from must be from 1 to {max}")]
    From { max: u32 },
    #[error("rounds must be from 1 to {max}")]
    Rounds { max: u32 },
    #[error("cannot write JSON: {0}")]
    Serialise(#[from] serde_json::Error),
    #[error("cannot write a header: {0}")]
    Header(#[from] InvalidHeaderValue),
    #[error("cannot compress: {0}")]
    Compress(std::io::Error),
    #[error("cannot read a file: {0}")]
    File(std::io::Error),
    #[error("cannot make an answer: {0}")]
    Answer(#[from] hyper::http::Error),
    #[error("cannot read the file at BLOB_PATH: {0}")]
    Blob(std::io::Error),
    #[error("the hash was cancelled: {0}")]
    Cancelled(#[from] JoinError),
    #[error("the payload's worker has ended")]
    WorkerGone,
    #[error("DATABASE_URL is missing")]
    NoDatabase,
    #[error("the database failed: {0}")]
    Database(Cause),
    #[error("cannot render a page: {0}")]
    Render(#[from] askama::Error),
    #[error("UPSTREAM_URL is missing")]
    NoUpstream,
    #[error("the upstream failed: {0}")]
    Upstream(Cause),
}

impl Error {
    fn status(&self) -> StatusCode {
        match self {
            Self::NotFound => StatusCode::NOT_FOUND,
            Self::Method(_) => StatusCode::METHOD_NOT_ALLOWED,
            Self::ContentType => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::TooLong(_) => StatusCode::PAYLOAD_TOO_LARGE,
            Self::Slow(_) => StatusCode::REQUEST_TIMEOUT,
            Self::Body(_)
            | Self::Json(_)
            | Self::Page { .. }
            | Self::From { .. }
            | Self::Rounds { .. } => StatusCode::BAD_REQUEST,
            Self::Serialise(_)
            | Self::Header(_)
            | Self::Render(_)
            | Self::Blob(_)
            | Self::Compress(_)
            | Self::File(_)
            | Self::Answer(_)
            | Self::Cancelled(_)
            | Self::WorkerGone => StatusCode::INTERNAL_SERVER_ERROR,
            Self::NoDatabase | Self::Database(_) => StatusCode::SERVICE_UNAVAILABLE,
            Self::NoUpstream | Self::Upstream(_) => StatusCode::BAD_GATEWAY,
        }
    }

    /// The client is told what it did wrong; what went wrong here is for the log.
    pub fn into_answer(self) -> Answer {
        let status = self.status();
        if status.is_server_error() {
            eprintln!("{self}");
            return empty(status);
        }
        let mut answer = text(self.to_string());
        *answer.status_mut() = status;
        if let Self::Method(allowed) = self {
            let allowed = HeaderValue::from_static(allowed);
            answer.headers_mut().insert(ALLOW, allowed);
        }
        answer
    }
}
