//! One connection: what it still has to say and to hear.

use std::{
    io::{self, Read, Write},
    net::Shutdown,
};

use mio::net::TcpStream;

use super::request::{Request, Requests};

/// Requests that may wait on one connection before no more are read from it.
const MAX_WAITING: u32 = 1024;
/// Bytes that a peer may leave unread before no more requests are read from it.
const MAX_OUTPUT: usize = 256 * 1024;
/// Bytes that are thrown away after the last answer before the connection is closed under the peer.
const MAX_DRAINED: usize = 256 * 1024;

/// How a connection goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Going {
    /// It stays.
    On,
    /// There is nothing more to do for it; it can be dropped.
    Over,
}

/// An accepted connection.
#[derive(Debug)]
pub(super) struct Connection {
    pub(super) stream: TcpStream,
    /// Answers that are in the queue.
    pub(super) waiting: u32,
    requests: Requests,
    output: Vec<u8>,
    readable: bool,
    /// The peer's end of the stream is near, so reading goes on until it is seen.
    ending: bool,
    /// The peer has said its last.
    ended: bool,
    /// The last answer has been given to `send`.
    closing: bool,
    drained: usize,
}

impl Connection {
    pub(super) fn new(stream: TcpStream) -> Self {
        Self {
            stream,
            waiting: 0,
            requests: Requests::default(),
            output: Vec::new(),
            readable: false,
            ending: false,
            ended: false,
            closing: false,
            drained: 0,
        }
    }

    /// There may be bytes to read; `ending` when the peer has closed its side.
    pub(super) fn note_readable(&mut self, ending: bool) {
        self.readable = true;
        self.ending |= ending;
    }

    /// The next request that has arrived, unless too much is waiting already.
    pub(super) fn next_request(&mut self) -> Option<Request> {
        let full = self.waiting >= MAX_WAITING || self.output.len() >= MAX_OUTPUT;
        if full { None } else { self.requests.next() }
    }

    /// Reads once if there is something to read and room for it. Whether bytes came.
    pub(super) fn read(&mut self, chunk: &mut [u8]) -> io::Result<bool> {
        let full = self.waiting >= MAX_WAITING || self.output.len() >= MAX_OUTPUT;
        if !self.readable || self.ended || full {
            return Ok(false);
        }
        match self.stream.read(chunk) {
            Ok(0) => {
                self.ended = true;
                Ok(false)
            }
            Ok(count) => {
                // A short read has emptied the socket: what comes later makes a new event. That saves a call.
                self.readable = count == chunk.len() || self.ending;
                if self.closing {
                    self.drained += count;
                    if self.drained > MAX_DRAINED {
                        return Err(io::ErrorKind::ConnectionAborted.into());
                    }
                } else {
                    self.requests.push(&chunk[..count]);
                }
                Ok(true)
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                self.readable = false;
                Ok(false)
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(true),
            Err(error) => Err(error),
        }
    }

    /// Sends an answer, or keeps what the socket does not take.
    pub(super) fn send(&mut self, answer: &[u8]) -> io::Result<()> {
        let sent = if self.output.is_empty() {
            write_some(&mut self.stream, answer)?
        } else {
            0
        };
        self.output.extend_from_slice(&answer[sent..]);
        Ok(())
    }

    /// Sends what was kept.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        if !self.output.is_empty() {
            let sent = write_some(&mut self.stream, &self.output)?;
            self.output.drain(..sent);
            if self.closing && self.output.is_empty() {
                self.stream.shutdown(Shutdown::Write)?;
            }
        }
        Ok(())
    }

    /// No answer follows. The peer is told so; what it still sends is thrown away, because closing over unread
    /// bytes resets the connection and can destroy the answer on its way (RFC 9112, section 9.6).
    pub(super) fn close_after_output(&mut self) -> io::Result<()> {
        self.closing = true;
        if self.output.is_empty() {
            self.stream.shutdown(Shutdown::Write)?;
        }
        Ok(())
    }

    /// Whether anything is still to come or to go. A peer that closed its side gets the answers it waits for.
    pub(super) fn going(&self) -> Going {
        let owed = self.waiting > 0 || !self.output.is_empty();
        if self.ended && !owed {
            Going::Over
        } else {
            Going::On
        }
    }
}

fn write_some(stream: &mut TcpStream, bytes: &[u8]) -> io::Result<usize> {
    let mut sent = 0;
    while sent < bytes.len() {
        match stream.write(&bytes[sent..]) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(count) => sent += count,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(sent)
}
