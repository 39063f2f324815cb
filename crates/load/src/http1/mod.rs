//! HTTP/1.1 on the client's side: encoding of requests, reading of answers.
//!
//! Nothing here knows sockets or time: bytes go in as they come, and any split of the same bytes gives the same
//! result. "Incomplete" is no error.

mod answer;
#[cfg(any(test, fuzzing))]
pub(crate) mod fuzzing;
mod head;
mod request;

pub(crate) use answer::{AnswerProgress, AnswerReader, Ending, FeedOutcome, Sink};
pub(crate) use head::{Head, Heads, NOT_HTTP};
pub(crate) use request::{DEFINE_CONTENT, EncodedRequest, RequestFormat};

use deadheat_model::Failure;

/// Why an answer cannot be read: a kind for the counter and a reason for the example. `Copy`, so that nothing is
/// allocated for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Malformed {
    pub(crate) kind: Failure,
    pub(crate) why: &'static str,
}

impl Malformed {
    pub(crate) const fn head(why: &'static str) -> Self {
        Self {
            kind: Failure::BadHead,
            why,
        }
    }

    pub(crate) const fn framing(why: &'static str) -> Self {
        Self {
            kind: Failure::BadFraming,
            why,
        }
    }
}
