//! Unary gRPC calls: one message each way, each after a prefix, and a status after the answer
//! (<https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md>).

use super::hpack::{NOT_A_NUMBER, Text};

/// The length of the prefix of a message in bytes: a flag for compression, and the length of the message.
const PREFIX: usize = 5;
/// The default headers of a call, unless the request has its own.
pub(super) const HEADERS: [(&str, &str); 2] =
    [("te", "trailers"), ("content-type", "application/grpc")];
/// Bytes of a `grpc-message` that an example shows.
const EXCERPT: usize = 200;

/// Appends an empty prefix for a message.
pub(super) fn begin(out: &mut Vec<u8>) {
    out.extend_from_slice(&[0; PREFIX]);
}

/// Writes the length of the message into its prefix.
pub(super) fn finish(out: &mut [u8]) {
    let length = (out.len() - PREFIX) as u32;
    out[1..PREFIX].copy_from_slice(&length.to_be_bytes());
}

/// The state of reading the answer to a call.
#[derive(Debug, Default)]
pub(crate) struct Call {
    prefix: [u8; PREFIX],
    /// Bytes of the prefix received so far.
    came: usize,
    /// Bytes of the body received so far: prefix, message, and anything after it.
    body: u64,
    /// Bytes of the message that are still to come.
    left: usize,
    /// The problem with the message, if any.
    problem: Option<&'static str>,
    /// `grpc-status`.
    status: Option<u32>,
}

impl Call {
    /// Reads some of the body, and returns the part that belongs to the message.
    pub(crate) fn feed<'a>(&mut self, data: &'a [u8]) -> &'a [u8] {
        self.body += data.len() as u64;
        let (prefix, rest) = data.split_at(data.len().min(PREFIX - self.came));
        self.prefix[self.came..][..prefix.len()].copy_from_slice(prefix);
        self.came += prefix.len();
        if self.came == PREFIX && !prefix.is_empty() {
            let [is_compressed, length @ ..] = self.prefix;
            self.left = u32::from_be_bytes(length) as usize;
            if is_compressed != 0 {
                self.note("the message is compressed, which no request allowed");
            }
        }
        let (message, more) = rest.split_at(rest.len().min(self.left));
        self.left -= message.len();
        if !more.is_empty() {
            self.note("more than one message");
        }
        message
    }

    /// Sets the status that ends the answer.
    pub(crate) fn end(&mut self, status: u32) {
        self.status = Some(status);
    }

    /// Number of received bytes of the body, whether they are a message or not.
    pub(crate) fn body_length(&self) -> u64 {
        self.body
    }

    fn note(&mut self, problem: &'static str) {
        self.problem.get_or_insert(problem);
    }

    /// Why the call failed; `None` if it succeeded.
    pub(crate) fn failure(&self) -> Option<&'static str> {
        match self.status {
            None => Some("no grpc-status"),
            Some(0) if self.problem.is_some() => self.problem,
            Some(0) if self.came == 0 => Some("no message, although grpc-status is 0"),
            Some(0) if self.came < PREFIX || self.left > 0 => {
                Some("the message is shorter than the length in its prefix")
            }
            Some(0) => None,
            Some(status) => Some(name(status)),
        }
    }
}

/// A status other than 0 by its name (<https://github.com/grpc/grpc/blob/master/doc/statuscodes.md>).
fn name(status: u32) -> &'static str {
    const NAMES: [&str; 16] = [
        "CANCELLED",
        "UNKNOWN",
        "INVALID_ARGUMENT",
        "DEADLINE_EXCEEDED",
        "NOT_FOUND",
        "ALREADY_EXISTS",
        "PERMISSION_DENIED",
        "RESOURCE_EXHAUSTED",
        "FAILED_PRECONDITION",
        "ABORTED",
        "OUT_OF_RANGE",
        "UNIMPLEMENTED",
        "INTERNAL",
        "UNAVAILABLE",
        "DATA_LOSS",
        "UNAUTHENTICATED",
    ];
    if status == NOT_A_NUMBER {
        return "a grpc-status that is not a number";
    }
    let name = NAMES.get((status as usize).wrapping_sub(1));
    name.unwrap_or(&"a grpc-status that has no name")
}

/// The start of a `grpc-message`, whose bytes are percent-encoded.
pub(crate) fn message(text: Text<'_>) -> Option<String> {
    let encoded = text.decoded()?;
    let mut rest = &encoded[..];
    let mut out = Vec::new();
    while let Some((&byte, after)) = rest.split_first()
        && out.len() < EXCERPT
    {
        let hex = (byte == b'%').then(|| after.get(..2)).flatten();
        let hex = hex.and_then(|hex| u8::from_str_radix(std::str::from_utf8(hex).ok()?, 16).ok());
        out.push(hex.unwrap_or(byte));
        rest = if hex.is_some() { &after[2..] } else { after };
    }
    Some(String::from_utf8_lossy(&out).into_owned())
}

#[cfg(test)]
mod tests {
    use super::{super::hpack::huffman_encode, *};

    /// What of the pieces is the message, and what comes of the call.
    fn read(pieces: &[&[u8]], status: Option<u32>) -> (Vec<u8>, Option<&'static str>) {
        let mut call = Call::default();
        let mut message = Vec::new();
        for piece in pieces {
            message.extend_from_slice(call.feed(piece));
        }
        if let Some(status) = status {
            call.end(status);
        }
        (message, call.failure())
    }

    #[test]
    fn an_answer_is_one_message_however_it_is_cut() {
        let mut sent = Vec::new();
        begin(&mut sent);
        sent.extend_from_slice(b"hello");
        finish(&mut sent);
        assert_eq!(sent, b"\0\0\0\0\x05hello");
        for at in 0..=sent.len() {
            let (one, other) = sent.split_at(at);
            assert_eq!(read(&[one, other], Some(0)), (b"hello".to_vec(), None));
        }
        let single: Vec<&[u8]> = sent.chunks(1).collect();
        assert_eq!(read(&single, Some(0)), (b"hello".to_vec(), None));
        assert_eq!(read(&[&[0; PREFIX]], Some(0)), (Vec::new(), None));
    }

    #[test]
    fn what_is_wrong_with_a_call_has_a_name() {
        let cases: [(&[u8], Option<u32>, &str); 8] = [
            (b"\0\0\0\0\x01x", None, "no grpc-status"),
            (b"\0\0\0\0\x01x", Some(14), "UNAVAILABLE"),
            (b"", Some(16), "UNAUTHENTICATED"),
            (b"", Some(17), "has no name"),
            (b"", Some(0), "no message"),
            (b"\0\0\0", Some(0), "shorter"),
            (b"\0\0\0\0\x02x", Some(0), "shorter"),
            (b"\x01\0\0\0\x01x", Some(0), "compressed"),
        ];
        for (body, status, why) in cases {
            let failure = read(&[body], status).1.unwrap();
            assert!(failure.contains(why), "{failure} instead of {why}");
        }
        let two = [0, 0, 0, 0, 1, b'x', 0];
        assert_eq!(read(&[&two], Some(0)).1, Some("more than one message"));
        assert_eq!(read(&[&two[..6], &two[6..]], Some(0)).0, b"x");
    }

    #[test]
    fn messages_are_percent_encoded() {
        let shown = |bytes, is_coded| message(Text { bytes, is_coded });
        assert_eq!(
            shown(b"try %C3%A9%25 later", false).unwrap(),
            "try é% later"
        );
        assert_eq!(shown(b"100%, %zz", false).unwrap(), "100%, %zz");
        let coded = huffman_encode(b"a%20b");
        assert_eq!(
            message(Text {
                bytes: &coded,
                is_coded: true
            })
            .unwrap(),
            "a b"
        );
        assert_eq!(shown(&[0xff; 9], true), None);
        assert_eq!(shown(&[b'x'; 999], false).unwrap().len(), EXCERPT);
    }
}
