//! What the null server answers.

use hyper::{
    body::Bytes,
    header::{HeaderValue, InvalidHeaderValue},
};

use super::request_counter::Then;

/// The answer: of HTTP/1.1, once for each thing that can follow it, and its parts for HTTP/2.
#[derive(Debug)]
pub(super) struct Answers {
    keep: Vec<u8>,
    close: Vec<u8>,
    pub(super) content_type: HeaderValue,
    pub(super) body: Bytes,
}

impl Answers {
    pub(super) fn new(content_type: &str, body: &[u8]) -> Result<Self, InvalidHeaderValue> {
        let write = |connection: &str| {
            let length = body.len();
            let head = format!(
                "HTTP/1.1 200 OK\r\nContent-Type: {content_type}\r\nContent-Length: {length}\r\n{connection}\r\n"
            );
            [head.as_bytes(), body].concat()
        };
        Ok(Self {
            keep: write(""),
            close: write("Connection: close\r\n"),
            content_type: HeaderValue::from_str(content_type)?,
            body: Bytes::copy_from_slice(body),
        })
    }

    pub(super) fn get(&self, then: Then) -> &[u8] {
        match then {
            Then::Keep => &self.keep,
            Then::Close => &self.close,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_whole_messages() {
        let answers = Answers::new("text/plain", b"hi").unwrap();
        let head = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n";
        assert_eq!(answers.get(Then::Keep), format!("{head}\r\nhi").as_bytes());
        let closing = format!("{head}Connection: close\r\n\r\nhi");
        assert_eq!(answers.get(Then::Close), closing.as_bytes());
    }
}
