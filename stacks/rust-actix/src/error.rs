//! What a request can fail with, and its answer.

use std::time::Duration;

use actix_web::{HttpResponse, ResponseError, error::BlockingError, http::StatusCode};

use crate::database::Cause;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("the body took longer than {} s", .0.as_secs())]
    Slow(Duration),
    #[error("after must be 0 or more, and limit from 1 to {most}")]
    Page { most: i64 },
    #[error("there is no such item")]
    NoItem,
    #[error("the body is longer than {0} bytes")]
    TooLong(usize),
    #[error("from must be from 1 to {max}")]
    From { max: u32 },
    #[error("rounds must be from 1 to {max}")]
    Rounds { max: u32 },
    #[error("cannot read the file at BLOB_PATH: {0}")]
    Blob(std::io::Error),
    #[error("the hash was cancelled: {0}")]
    Cancelled(#[from] BlockingError),
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
    Upstream(String),
}

impl ResponseError for Error {
    fn status_code(&self) -> StatusCode {
        match self {
            Self::Slow(_) => StatusCode::REQUEST_TIMEOUT,
            Self::TooLong(_) => StatusCode::PAYLOAD_TOO_LARGE,
            Self::Page { .. } | Self::From { .. } | Self::Rounds { .. } => StatusCode::BAD_REQUEST,
            Self::NoItem => StatusCode::NOT_FOUND,
            Self::Blob(_) | Self::Cancelled(_) | Self::WorkerGone | Self::Render(_) => {
                StatusCode::INTERNAL_SERVER_ERROR
            }
            Self::NoDatabase | Self::Database(_) => StatusCode::SERVICE_UNAVAILABLE,
            Self::NoUpstream | Self::Upstream(_) => StatusCode::BAD_GATEWAY,
        }
    }

    /// The client is told what it did wrong; what went wrong here is for the log.
    fn error_response(&self) -> HttpResponse {
        let status = self.status_code();
        if status.is_client_error() {
            return HttpResponse::build(status).body(self.to_string());
        }
        eprintln!("{self}");
        HttpResponse::new(status)
    }
}
