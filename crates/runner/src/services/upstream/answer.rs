//! The bytes of the answers.

use super::request::{Refusal, Then};

/// The body of every slow answer: 20 bytes of text/plain.
pub const ANSWER: &str = "slow upstream answer";
const _: () = assert!(ANSWER.len() == 20);

/// The slow answer, once for each thing that can follow it.
#[derive(Debug)]
pub(super) struct SlowAnswers {
    keep: Vec<u8>,
    keep_explicitly: Vec<u8>,
    close: Vec<u8>,
}

impl SlowAnswers {
    /// Writes the answers that are sent from now on.
    pub(super) fn new() -> Self {
        Self {
            keep: ok(ANSWER, Then::Keep),
            keep_explicitly: ok(ANSWER, Then::KeepExplicitly),
            close: ok(ANSWER, Then::Close),
        }
    }

    /// The one that `then` follows.
    pub(super) fn get(&self, then: Then) -> &[u8] {
        match then {
            Then::Keep => &self.keep,
            Then::KeepExplicitly => &self.keep_explicitly,
            Then::Close => &self.close,
        }
    }
}

/// 200 with `body`.
pub(super) fn ok(body: &str, then: Then) -> Vec<u8> {
    write("200 OK", "", body, then)
}

/// The answer to a request that is refused.
pub(super) fn refusal(refusal: Refusal, then: Then) -> Vec<u8> {
    let (status, fields) = match refusal {
        Refusal::Malformed => ("400 Bad Request", ""),
        Refusal::Method => ("405 Method Not Allowed", "allow: GET\r\n"),
        Refusal::Coded => ("411 Length Required", ""),
        Refusal::TooLarge => ("431 Request Header Fields Too Large", ""),
    };
    write(status, fields, "", then)
}

fn write(status: &str, fields: &str, body: &str, then: Then) -> Vec<u8> {
    let connection = match then {
        Then::Keep => "",
        Then::KeepExplicitly => "connection: keep-alive\r\n",
        Then::Close => "connection: close\r\n",
    };
    let length = body.len();
    let head = "content-type: text/plain\r\ncontent-length";
    format!("HTTP/1.1 {status}\r\n{head}: {length}\r\n{fields}{connection}\r\n{body}").into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_whole_messages() {
        let text = String::from_utf8(SlowAnswers::new().get(Then::Close).to_vec()).unwrap();
        assert_eq!(
            text,
            "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 20\r\n\
             connection: close\r\n\r\nslow upstream answer"
        );
        let text = String::from_utf8(refusal(Refusal::TooLarge, Then::Close)).unwrap();
        assert!(text.starts_with("HTTP/1.1 431 "), "{text}");
        assert!(text.contains("\r\ncontent-length: 0\r\n"), "{text}");
    }
}
