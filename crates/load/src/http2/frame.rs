//! Frames (RFC 9113 §4.1, §6) and error codes (§7), and the frames that a connection has to send, in one buffer.

use std::collections::VecDeque;

use super::stream::Streams;

/// Bytes of a frame's header.
pub(super) const HEADER: usize = 9;
/// The longest payload that this client accepts, which is also the least that every server does (RFC 9113 §4.2).
pub(super) const MAX_PAYLOAD: usize = 16_384;

pub(super) const DATA: u8 = 0x0;
pub(super) const HEADERS: u8 = 0x1;
pub(super) const PRIORITY: u8 = 0x2;
pub(super) const RST_STREAM: u8 = 0x3;
pub(super) const SETTINGS: u8 = 0x4;
pub(super) const PING: u8 = 0x6;
pub(super) const GOAWAY: u8 = 0x7;
pub(super) const WINDOW_UPDATE: u8 = 0x8;
pub(super) const CONTINUATION: u8 = 0x9;

pub(super) const END_STREAM: u8 = 0x1;
pub(super) const ACK: u8 = 0x1;
pub(super) const END_HEADERS: u8 = 0x4;
pub(super) const PADDED: u8 = 0x8;
pub(super) const WITH_PRIORITY: u8 = 0x20;

pub(super) const NO_ERROR: u32 = 0x0;
pub(super) const PROTOCOL_ERROR: u32 = 0x1;
pub(super) const CANCEL: u32 = 0x8;

/// The header of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) length: usize,
    pub(super) kind: u8,
    pub(super) flags: u8,
    pub(super) stream: u32,
}

impl Header {
    /// The header at the start of `bytes`, if it is all there.
    #[inline]
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let header = bytes.first_chunk::<HEADER>()?;
        let [a, b, c, kind, flags, id @ ..] = *header;
        Some(Self {
            length: u32::from_be_bytes([0, a, b, c]) as usize,
            kind,
            flags,
            // The highest bit has no meaning (RFC 9113 §4.1).
            stream: u32::from_be_bytes(id) & LAST_STREAM,
        })
    }

    #[inline]
    pub(super) fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    #[inline]
    pub(super) fn bytes(self) -> [u8; HEADER] {
        let [_, a, b, c] = (self.length as u32).to_be_bytes();
        let [d, e, f, g] = self.stream.to_be_bytes();
        [a, b, c, self.kind, self.flags, d, e, f, g]
    }
}

/// The highest number of a stream.
pub(super) const LAST_STREAM: u32 = 0x7fff_ffff;

/// Appends a whole frame.
pub(super) fn write(kind: u8, flags: u8, stream: u32, payload: &[u8], out: &mut Vec<u8>) {
    let header = Header {
        length: payload.len(),
        kind,
        flags,
        stream,
    };
    out.extend_from_slice(&header.bytes());
    out.extend_from_slice(payload);
}

/// Turns the header block after `from` into frames. At `from` there must be room for a frame's header.
#[inline]
pub(super) fn finish_block(out: &mut Vec<u8>, from: usize, stream: u32, ends: u8) {
    let length = out.len() - from - HEADER;
    let header = |kind, flags, length| Header {
        length,
        kind,
        flags,
        stream,
    };
    if length <= MAX_PAYLOAD {
        let header = header(HEADERS, ends | END_HEADERS, length).bytes();
        out[from..from + HEADER].copy_from_slice(&header);
        return;
    }
    let block = out.split_off(from + HEADER);
    out.truncate(from);
    let mut pieces = block.chunks(MAX_PAYLOAD).peekable();
    let (mut kind, mut flags) = (HEADERS, ends);
    while let Some(piece) = pieces.next() {
        if pieces.peek().is_none() {
            flags |= END_HEADERS;
        }
        out.extend_from_slice(&header(kind, flags, piece.len()).bytes());
        out.extend_from_slice(piece);
        (kind, flags) = (CONTINUATION, 0);
    }
}

/// A number of 32 bits at the start of a payload.
#[inline]
pub(super) fn number(payload: &[u8]) -> Option<u32> {
    payload.first_chunk().copied().map(u32::from_be_bytes)
}

/// The reason of a request that the server reset with this error code.
pub(super) fn reset(code: u32) -> &'static str {
    match code {
        0x0 => "the server reset the stream: NO_ERROR",
        0x1 => "the server reset the stream: PROTOCOL_ERROR",
        0x2 => "the server reset the stream: INTERNAL_ERROR",
        0x3 => "the server reset the stream: FLOW_CONTROL_ERROR",
        0x4 => "the server reset the stream: SETTINGS_TIMEOUT",
        0x5 => "the server reset the stream: STREAM_CLOSED",
        0x6 => "the server reset the stream: FRAME_SIZE_ERROR",
        0x7 => "the server reset the stream: REFUSED_STREAM",
        0x8 => "the server reset the stream: CANCEL",
        0x9 => "the server reset the stream: COMPRESSION_ERROR",
        0xa => "the server reset the stream: CONNECT_ERROR",
        0xb => "the server reset the stream: ENHANCE_YOUR_CALM",
        0xc => "the server reset the stream: INADEQUATE_SECURITY",
        0xd => "the server reset the stream: HTTP_1_1_REQUIRED",
        _ => "the server reset the stream with an unknown error code",
    }
}

/// The reason for the end of a connection after a GOAWAY with this error code.
pub(super) fn goaway_reason(code: u32) -> &'static str {
    match code {
        0x0 => "the server closed the connection after GOAWAY: NO_ERROR",
        0x1 => "the server closed the connection after GOAWAY: PROTOCOL_ERROR",
        0x2 => "the server closed the connection after GOAWAY: INTERNAL_ERROR",
        0x3 => "the server closed the connection after GOAWAY: FLOW_CONTROL_ERROR",
        0x4 => "the server closed the connection after GOAWAY: SETTINGS_TIMEOUT",
        0x5 => "the server closed the connection after GOAWAY: STREAM_CLOSED",
        0x6 => "the server closed the connection after GOAWAY: FRAME_SIZE_ERROR",
        0x7 => "the server closed the connection after GOAWAY: REFUSED_STREAM",
        0x8 => "the server closed the connection after GOAWAY: CANCEL",
        0x9 => "the server closed the connection after GOAWAY: COMPRESSION_ERROR",
        0xa => "the server closed the connection after GOAWAY: CONNECT_ERROR",
        0xb => "the server closed the connection after GOAWAY: ENHANCE_YOUR_CALM",
        0xc => "the server closed the connection after GOAWAY: INADEQUATE_SECURITY",
        0xd => "the server closed the connection after GOAWAY: HTTP_1_1_REQUIRED",
        _ => "the server closed the connection after GOAWAY with an unknown error code",
    }
}

/// The size up to which bodies fill the buffer, in bytes: few system calls, and little memory for a connection.
const FILL: usize = 128 * 1024;
/// Number of written bytes at the start of the buffer from which on the rest is moved to the front.
const WORTH_MOVING: usize = 64 * 1024;
/// Room for frames apart from requests, such as answers to the server's frames, in bytes.
const OWN_FRAMES: usize = 1024;
/// The largest window (RFC 9113 §6.9.1).
pub(super) const MAX_WINDOW: i64 = 0x7fff_ffff;
/// The initial window of a connection, before the server's settings (RFC 9113 §6.9.2).
pub(super) const FIRST_WINDOW: i64 = 65_535;

/// The unwritten bytes, and the streams whose bodies are sent next.
#[derive(Debug)]
pub(super) struct Sending {
    pub(super) out: Vec<u8>,
    written: usize,
    /// The most unwritten bytes that can belong to frames apart from requests.
    own: usize,
    /// A place in the buffer, and how many of those bytes can lie before it: none once it is written.
    mark: (usize, usize),
    /// The slots of streams whose bodies wait for their turn, and not for the server's window.
    queue: VecDeque<usize>,
    /// The send window of the connection, in bytes.
    pub(super) window: i64,
}

impl Sending {
    /// An empty buffer for this many streams. `longest_head` and `longest_body` are the lengths of the longest header
    /// block and body in bytes, as far as known. The buffer holds the output of all streams at once without another
    /// allocation.
    pub(super) fn new(streams: usize, longest_head: usize, longest_body: usize) -> Self {
        let heads = streams * (HEADER + longest_head);
        let bodies = streams.saturating_mul(longest_body).min(FILL + MAX_PAYLOAD);
        let frames = streams + bodies / MAX_PAYLOAD + 1;
        Self {
            out: Vec::with_capacity(OWN_FRAMES + heads + bodies + frames * HEADER),
            written: 0,
            own: 0,
            mark: (0, 0),
            queue: VecDeque::with_capacity(streams),
            window: FIRST_WINDOW,
        }
    }

    pub(super) fn clear(&mut self) {
        self.clear_buffer();
        self.queue.clear();
        self.window = FIRST_WINDOW;
    }

    /// The unwritten bytes.
    #[inline]
    pub(super) fn unwritten(&self) -> &[u8] {
        &self.out[self.written..]
    }

    fn clear_buffer(&mut self) {
        self.out.clear();
        (self.written, self.own, self.mark) = (0, 0, (0, 0));
    }

    /// The most unwritten bytes that can belong to frames apart from requests, such as answers to the server's frames.
    #[inline]
    pub(super) fn own_unwritten(&self) -> usize {
        self.own.min(self.unwritten().len())
    }

    /// Notes that this many more bytes were written.
    #[inline]
    pub(super) fn wrote(&mut self, count: usize) {
        self.written += count;
        let (place, before) = self.mark;
        if self.written >= place {
            self.own -= before;
            self.mark = (self.out.len(), self.own);
        }
        if self.written >= self.out.len() {
            self.clear_buffer();
        } else if self.written >= WORTH_MOVING && self.written >= self.out.len() / 2 {
            self.drop_written();
        }
    }

    fn drop_written(&mut self) {
        self.out.drain(..self.written);
        self.mark.0 -= self.written;
        self.written = 0;
    }

    /// Whether a body can be added to the buffer now.
    #[inline]
    pub(super) fn can_fill(&self) -> bool {
        self.window > 0 && !self.queue.is_empty()
    }

    /// Queues the body of the stream in `slot`, if some of it is unsent and the window of the stream allows more.
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

    /// Removes the stream in `slot` from the queue.
    pub(super) fn dequeue(&mut self, slot: usize) {
        self.queue.retain(|other| *other != slot);
    }

    /// Adds pieces of bodies to the buffer, a frame of each stream in turn. `body` returns the body of a slot.
    pub(super) fn fill<'a>(&mut self, streams: &mut Streams, body: impl Fn(usize) -> &'a [u8]) {
        if self.written > 0 {
            self.drop_written();
        }
        while self.window > 0 && self.unwritten().len() < FILL {
            let Some(slot) = self.queue.pop_front() else {
                return;
            };
            let Some(stream) = streams.get_mut(slot) else {
                continue;
            };
            let most = self.window.min(stream.send_window);
            let most = usize::try_from(most).unwrap_or(0).min(MAX_PAYLOAD);
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

    /// Appends a whole frame that is no part of a request.
    pub(super) fn put(&mut self, kind: u8, flags: u8, stream: u32, payload: &[u8]) {
        self.own += HEADER + payload.len();
        write(kind, flags, stream, payload, &mut self.out);
    }
}

#[cfg(test)]
mod tests {
    use super::{PING, *};
    use crate::http2::{client::Client, fuzzing::read};

    #[test]
    fn the_buffer_has_room_for_what_requests_put_into_it_at_once() {
        let body = vec![b'x'; 20_000];
        let mut client = Client::new(8, 40, body.len());
        let room = client.sending.out.capacity();
        client.begin();
        let said = |kind, payload: &[u8]| {
            let mut bytes = Vec::new();
            write(kind, 0, 0, payload, &mut bytes);
            bytes
        };
        let greeting = said(SETTINGS, &[]);
        let window = said(WINDOW_UPDATE, &(1u32 << 30).to_be_bytes());
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
