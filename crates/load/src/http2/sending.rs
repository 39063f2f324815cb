//! What a connection has to send: the frames of requests and answers to the server's own, in one buffer.

use std::collections::VecDeque;

use super::{
    frame::{self, DATA, END_STREAM, HEADER, Header, MOST_PAYLOAD},
    stream::Streams,
};

/// What the buffer is filled up to with bodies: few system calls, and little memory for a connection.
const FILL: usize = 128 * 1024;
/// Bytes at the buffer's start that have been written and are worth being moved away.
const WORTH_MOVING: usize = 64 * 1024;
/// Room for frames besides those of requests, such as answers to the server's own.
const OWN_FRAMES: usize = 1024;
/// The largest window (RFC 9113 §6.9.1).
pub(super) const MOST_WINDOW: i64 = 0x7fff_ffff;
/// The window of a connection before the server has said anything (RFC 9113 §6.9.2).
pub(super) const FIRST_WINDOW: i64 = 65_535;

/// The bytes to be written, and whose bodies come next.
#[derive(Debug)]
pub(super) struct Sending {
    pub(super) out: Vec<u8>,
    written: usize,
    /// The slots of streams whose bodies wait for their turn and, as far as is known, not for the server.
    queue: VecDeque<usize>,
    /// What the server takes on the whole connection.
    pub(super) window: i64,
}

impl Sending {
    /// For this many streams. The lengths, in bytes, are those of the longest header block and body, as far as they are
    /// known: the buffer holds all that the streams can put into it at once, without another allocation.
    pub(super) fn new(streams: usize, longest_head: usize, longest_body: usize) -> Self {
        let heads = streams * (HEADER + longest_head);
        let bodies = streams
            .saturating_mul(longest_body)
            .min(FILL + MOST_PAYLOAD);
        let frames = streams + bodies / MOST_PAYLOAD + 1;
        Self {
            out: Vec::with_capacity(OWN_FRAMES + heads + bodies + frames * HEADER),
            written: 0,
            queue: VecDeque::with_capacity(streams),
            window: FIRST_WINDOW,
        }
    }

    pub(super) fn clear(&mut self) {
        self.out.clear();
        self.written = 0;
        self.queue.clear();
        self.window = FIRST_WINDOW;
    }

    /// Bytes that are still to be written.
    #[inline]
    pub(super) fn unwritten(&self) -> &[u8] {
        &self.out[self.written..]
    }

    /// So many more have been.
    #[inline]
    pub(super) fn wrote(&mut self, count: usize) {
        self.written += count;
        if self.written >= self.out.len() {
            self.out.clear();
            self.written = 0;
        } else if self.written >= WORTH_MOVING && self.written >= self.out.len() / 2 {
            self.out.drain(..self.written);
            self.written = 0;
        }
    }

    /// Whether more can be put into the buffer.
    #[inline]
    pub(super) fn can_fill(&self) -> bool {
        self.window > 0 && !self.queue.is_empty()
    }

    /// The body of the stream in `slot` waits for its turn, if it has not been sent and the server takes some of it.
    pub(super) fn enqueue(&mut self, slot: usize, streams: &mut Streams) {
        if let Some(stream) = streams.get_mut(slot)
            && !stream.is_queued
            && stream.send_left > 0
            && stream.send_window > 0
        {
            stream.is_queued = true;
            self.queue.push_back(slot);
        }
    }

    /// The stream in `slot` sends nothing more.
    pub(super) fn dequeue(&mut self, slot: usize) {
        self.queue.retain(|other| *other != slot);
    }

    /// Puts pieces of bodies into the buffer, a frame of each in turn. `body` is what the stream in a slot sends.
    pub(super) fn fill<'a>(&mut self, streams: &mut Streams, body: impl Fn(usize) -> &'a [u8]) {
        if self.written > 0 {
            self.out.drain(..self.written);
            self.written = 0;
        }
        while self.window > 0 && self.unwritten().len() < FILL {
            let Some(slot) = self.queue.pop_front() else {
                return;
            };
            let Some(stream) = streams.get_mut(slot) else {
                continue;
            };
            let most = self.window.min(stream.send_window);
            let most = usize::try_from(most).unwrap_or(0).min(MOST_PAYLOAD);
            let length = most.min(stream.send_left);
            let body = body(slot);
            let from = body.len().saturating_sub(stream.send_left);
            stream.send_left -= length;
            stream.send_window -= length as i64;
            self.window -= length as i64;
            stream.is_queued = stream.send_left > 0 && stream.send_window > 0;
            if stream.is_queued {
                self.queue.push_back(slot);
            }
            if length == 0 {
                continue;
            }
            let header = Header {
                length,
                kind: DATA,
                flags: if stream.send_left == 0 { END_STREAM } else { 0 },
                stream: stream.id,
            };
            self.out.extend_from_slice(&header.bytes());
            self.out.extend_from_slice(&body[from..from + length]);
        }
    }

    /// Appends a whole frame.
    pub(super) fn put(&mut self, kind: u8, flags: u8, stream: u32, payload: &[u8]) {
        frame::write(kind, flags, stream, payload, &mut self.out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http2::{client::Client, frame::PING, fuzzing::read};

    #[test]
    fn the_buffer_has_room_for_what_requests_put_into_it_at_once() {
        let body = vec![b'x'; 20_000];
        let mut client = Client::new(8, 40, body.len());
        let room = client.sending.out.capacity();
        client.begin();
        let said = |kind, payload: &[u8]| {
            let mut bytes = Vec::new();
            frame::write(kind, 0, 0, payload, &mut bytes);
            bytes
        };
        let greeting = said(frame::SETTINGS, &[]);
        let window = said(frame::WINDOW_UPDATE, &(1u32 << 30).to_be_bytes());
        let pings = said(PING, &[0; 8]).repeat(20);
        let mut sink = read([&greeting[..]], 8);
        for bytes in [greeting, window, pings] {
            client.feed(&bytes, &mut sink).unwrap();
        }
        for written in [0, 1, 100_000, 150_000] {
            for slot in 0..8 {
                client.cancel(slot);
                client.send(slot, false, |out| {
                    out.extend_from_slice(&[0x82; 40]);
                    body.len()
                });
            }
            client.fill(|_| &body);
            client.wrote(written.min(client.unwritten().len()));
            client.fill(|_| &body);
            assert_eq!(client.sending.out.capacity(), room, "after {written}");
            client.wrote(client.unwritten().len());
        }
    }
}
