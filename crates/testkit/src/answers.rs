//! What a server does, as values: the steps of a script, and answers as bytes and steps.

use std::{sync::Arc, time::Duration};

use crate::Request;

/// The body that right answers have here.
pub const BODY: &[u8] = b"Hello, World!";

/// An answer with a content-length. `headers` are whole lines, each with its CR LF.
pub fn sized(status: u16, headers: &str, body: &[u8]) -> Vec<u8> {
    let head = format!(
        "HTTP/1.1 {status} Status\r\n{headers}Content-Length: {}\r\n\r\n",
        body.len()
    );
    [head.as_bytes(), body].concat()
}

/// An answer in chunks of at most `size` bytes.
pub fn chunked(status: u16, body: &[u8], size: usize) -> Vec<u8> {
    let head = format!("HTTP/1.1 {status} Status\r\nTransfer-Encoding: chunked\r\n\r\n");
    let mut bytes = head.into_bytes();
    for chunk in body.chunks(size) {
        bytes.extend_from_slice(format!("{:x}\r\n", chunk.len()).as_bytes());
        bytes.extend_from_slice(chunk);
        bytes.extend_from_slice(b"\r\n");
    }
    bytes.extend_from_slice(b"0\r\n\r\n");
    bytes
}

/// A body of `pieces` times `piece` bytes with a content-length, out of one buffer: no memory holds it.
pub fn endless(piece: usize, pieces: u64) -> Vec<Action> {
    let length = piece as u64 * pieces;
    let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n");
    vec![
        Action::Send(head.into_bytes()),
        Action::Repeat(vec![b'd'; piece].into(), pieces),
    ]
}

/// The same in chunks of `piece` bytes.
pub fn endless_chunks(piece: usize, pieces: u64) -> Vec<Action> {
    let chunk = [
        format!("{piece:x}\r\n").into_bytes(),
        vec![b'd'; piece],
        b"\r\n".to_vec(),
    ];
    vec![
        Action::Send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec()),
        Action::Repeat(chunk.concat().into(), pieces),
        Action::Send(b"0\r\n\r\n".to_vec()),
    ]
}

/// 200 with [`BODY`].
pub fn hello() -> Vec<u8> {
    sized(200, "", BODY)
}

/// Sends `bytes` in one piece.
pub fn send(bytes: impl Into<Vec<u8>>) -> Vec<Action> {
    vec![Action::Send(bytes.into())]
}

/// Sends `bytes` in pieces that end at `cuts`, with a pause after each but the last.
pub fn send_cut(bytes: &[u8], cuts: &[usize], pause: Duration) -> Vec<Action> {
    let mut steps = Vec::new();
    let mut from = 0;
    for cut in cuts.iter().copied().chain([bytes.len()]) {
        if cut > from {
            if from > 0 {
                steps.push(Action::Pause(pause));
            }
            steps.push(Action::Send(bytes[from..cut].to_vec()));
            from = cut;
        }
    }
    steps
}

/// One thing that a server does on a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Sends these bytes, at once and in a segment of their own.
    Send(Vec<u8>),
    /// Sends the same bytes this many times, out of one buffer: bodies that no memory holds.
    Repeat(Arc<[u8]>, u64),
    /// Waits.
    Pause(Duration),
    /// Waits until so long after the server's start: [`Turn::arrived`] and some time, for an answer after a known
    /// time however busy the machine is.
    Until(Duration),
    /// Says that nothing follows (with TLS close_notify, then FIN), and continues reading without an answer.
    Fin,
    /// FIN without TLS's close_notify: the end that anybody could have sent. Without TLS the same as `Fin`.
    Cut,
    /// Sends these bytes and FIN in one segment, so that the peer learns of both at once. For small bytes.
    SendFin(Vec<u8>),
    /// Resets the connection (RST).
    Reset,
    /// Answers nothing any more, and continues reading.
    Silence,
}

/// A request's place among the others.
#[derive(Clone, Copy, Debug)]
pub struct Turn<'a> {
    /// Which connection, from 0.
    pub connection: u64,
    /// Which request on this connection, from 0.
    pub nth: u64,
    /// Which request of all, from 0.
    pub index: u64,
    /// When its last byte arrived, since the server's start.
    pub arrived: Duration,
    /// The request.
    pub request: &'a Request,
}

/// What a server does when.
pub trait Script: Send + Sync + 'static {
    /// When a connection is accepted, before anything is read from it.
    fn greet(&self, _connection: u64) -> Vec<Action> {
        Vec::new()
    }

    /// When a request has arrived. The connection continues unless a step ends it.
    fn answer(&self, turn: &Turn<'_>) -> Vec<Action>;
}

impl<F: Fn(&Turn<'_>) -> Vec<Action> + Send + Sync + 'static> Script for F {
    fn answer(&self, turn: &Turn<'_>) -> Vec<Action> {
        self(turn)
    }
}

/// Does `right` for the first `count` requests and `then` for all others.
pub fn right_then(count: u64, right: Vec<Action>, then: Vec<Action>) -> impl Script {
    move |turn: &Turn<'_>| {
        if turn.index < count {
            right.clone()
        } else {
            then.clone()
        }
    }
}

/// Does `usual` for the first requests of a connection and `last` for its `count`th: a server that ends its
/// connections after this many.
pub fn for_the_last_of(count: u64, usual: Vec<Action>, last: Vec<Action>) -> impl Script {
    move |turn: &Turn<'_>| {
        if turn.nth + 1 < count {
            usual.clone()
        } else {
            last.clone()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cutting_loses_nothing() {
        let steps = send_cut(b"abcdef", &[0, 2, 2, 5], Duration::ZERO);
        let sent = steps.iter().filter_map(|step| match step {
            Action::Send(bytes) => Some(bytes.as_slice()),
            _ => None,
        });
        assert_eq!(sent.collect::<Vec<_>>(), [&b"ab"[..], b"cde", b"f"]);
        assert_eq!(steps.len(), 5);
    }
}
