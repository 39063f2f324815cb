//! The client side of an HTTP/2 connection. A reconnect reuses the buffers.

use super::{
    Http2Failure,
    frame::{
        self, ACK, CANCEL, CONTINUATION, DATA, END_STREAM, FIRST_WINDOW, GOAWAY, HEADER, HEADERS,
        Header, LAST_STREAM, MAX_PAYLOAD, PING, PRIORITY, PROTOCOL_ERROR, RST_STREAM, SETTINGS,
        Sending, WINDOW_UPDATE,
    },
    hpack::{self, Text},
    stream::{Phase, Stream, Streams},
};

/// The receive window of each stream and of the connection, in bytes: so large that no answer waits for the client.
pub(super) const WINDOW: i64 = 1 << 30;
/// The most bytes of the headers of one answer.
pub(super) const MAX_HEADERS: usize = 64 * 1024;
/// A frame with at least this many bytes of a header block counts as progress; of a body, each byte does.
pub(super) const PROGRESS: usize = 1024;
/// The most frames in a row without progress, between two answers.
const MAX_IDLE_FRAMES: u32 = 10_000;
/// The most unwritten bytes of frames apart from requests. Beyond it, the server asks for more answers than it reads.
const MAX_UNWRITTEN: usize = 1024 * 1024;

/// The connection preface of the client (RFC 9113 §3.4).
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// The client's SETTINGS after it: no header table, no pushes, the window, and the longest header list.
const OWN_SETTINGS: [(u16, u32); 4] = [
    (0x1, 0),
    (0x2, 0),
    (0x4, WINDOW as u32),
    (0x6, MAX_HEADERS as u32),
];

/// Receives the parts of answers. A slot is the slot of the request.
pub(crate) trait Sink {
    /// The status of the final head.
    fn head(&mut self, slot: usize, status: u16);
    /// Some of the body. Never empty.
    fn body(&mut self, slot: usize, data: &[u8]);
    /// `grpc-status` and `grpc-message` at the answer's end, if it has the first.
    fn call_ended(&mut self, slot: usize, status: u32, message: Option<Text<'_>>);
}

/// The result of feeding bytes to a [`Client`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// All bytes were read, and the caller has nothing to do.
    More,
    /// The server has sent its settings.
    Greeted,
    /// The answer in this slot is whole.
    Whole { slot: usize },
    /// The request in this slot has failed. The connection stays in use.
    Failed {
        slot: usize,
        broken: Http2Failure,
        phase: Phase,
    },
    /// The server will not process the request in this slot (RFC 9113 §6.8): another connection can send it.
    Unprocessed { slot: usize },
}

/// The kind of bytes that come next.
#[derive(Clone, Copy, Debug)]
pub(super) enum ReadState {
    /// A frame's header, or a frame that is buffered and read as a whole.
    Frame,
    /// The length of the padding of a DATA frame.
    Padding(Header),
    /// A DATA frame's content, for the request in `slot`; `None`: it is dropped.
    Data {
        slot: Option<usize>,
        left: usize,
        padding: usize,
        ends: bool,
    },
    /// Bytes that are ignored.
    Skipped { left: usize },
}

/// An unfinished header block, which arrives in several frames.
#[derive(Clone, Copy, Debug)]
pub(super) struct Block {
    pub(super) stream: u32,
    pub(super) ends: bool,
}

/// An HTTP/2 client for a fixed number of requests at once.
#[derive(Debug)]
pub(crate) struct Client {
    pub(super) streams: Streams,
    pub(super) sending: Sending,
    pub(super) state: ReadState,
    /// The bytes of an incomplete frame.
    pub(super) carry: Vec<u8>,
    /// The bytes of an unfinished header block, and its stream.
    pub(super) block: Vec<u8>,
    pub(super) block_of: Option<Block>,
    pub(super) next_id: u32,
    /// Whether the server has sent its settings, and how it limits streams.
    pub(super) is_greeted: bool,
    pub(super) most_streams: u32,
    pub(super) first_window: i64,
    /// Bytes that the server may still send on the connection.
    pub(super) receive_window: i64,
    /// Frames since the last progress.
    pub(super) idle_frames: u32,
    /// Whether the client has reset streams on this connection: frames of them may still come.
    pub(super) has_reset: bool,
    /// Whether nothing new is sent.
    pub(super) is_draining: bool,
    /// From the server's GOAWAY: the last stream that it processes, and the error code.
    pub(super) goaway: Option<(u32, u32)>,
}

impl Client {
    /// For at most `streams` requests at once. The lengths, in bytes, are those of the longest header block and body, as far
    /// as they are known.
    pub(crate) fn new(streams: usize, longest_head: usize, longest_body: usize) -> Self {
        Self {
            streams: Streams::new(streams),
            sending: Sending::new(streams, longest_head, longest_body),
            state: ReadState::Frame,
            carry: Vec::with_capacity(HEADER + MAX_PAYLOAD),
            block: Vec::new(),
            block_of: None,
            next_id: 1,
            is_greeted: false,
            most_streams: u32::MAX,
            first_window: FIRST_WINDOW,
            receive_window: WINDOW,
            idle_frames: 0,
            has_reset: false,
            is_draining: false,
            goaway: None,
        }
    }

    /// Resets the state for a new connection, and queues the preface and SETTINGS.
    pub(crate) fn begin(&mut self) {
        self.streams.clear();
        self.sending.clear();
        self.state = ReadState::Frame;
        self.carry.clear();
        self.block_of = None;
        self.next_id = 1;
        self.is_greeted = false;
        self.most_streams = u32::MAX;
        self.first_window = FIRST_WINDOW;
        self.receive_window = WINDOW;
        self.idle_frames = 0;
        self.has_reset = false;
        self.is_draining = false;
        self.goaway = None;
        self.sending.out.extend_from_slice(PREFACE);
        let mut payload = [0; 6 * OWN_SETTINGS.len()];
        for (bytes, (name, value)) in payload.chunks_exact_mut(6).zip(OWN_SETTINGS) {
            bytes[..2].copy_from_slice(&name.to_be_bytes());
            bytes[2..].copy_from_slice(&value.to_be_bytes());
        }
        self.sending.put(SETTINGS, 0, 0, &payload);
        let more = (WINDOW - FIRST_WINDOW) as u32;
        self.sending.put(WINDOW_UPDATE, 0, 0, &more.to_be_bytes());
    }

    /// Whether requests can be sent: the server has said what it allows, and that is one stream or more.
    pub(crate) fn is_ready(&self) -> bool {
        self.is_greeted && self.most_streams > 0
    }

    /// Whether the server has sent its settings.
    pub(crate) fn is_greeted(&self) -> bool {
        self.is_greeted
    }

    /// Open streams: requests that were sent or queued and have not ended.
    #[inline]
    pub(crate) fn open(&self) -> usize {
        self.streams.open()
    }

    /// How many streams the server allows at once.
    #[inline]
    pub(crate) fn most_streams(&self) -> u32 {
        self.most_streams
    }

    /// Whether nothing new may be sent on this connection.
    #[inline]
    pub(crate) fn is_draining(&self) -> bool {
        self.is_draining
    }

    /// Sends nothing new on this connection.
    pub(crate) fn drain(&mut self) {
        self.is_draining = true;
    }

    /// The reason in the server's GOAWAY, if it sent one.
    pub(crate) fn goaway_reason(&self) -> Option<&'static str> {
        self.goaway.map(|(_, code)| frame::goaway_reason(code))
    }

    /// Whether `is` accepts all bytes received so far, before the first frame.
    pub(crate) fn has_only(&self, is: impl Fn(&[u8]) -> bool) -> bool {
        !self.is_greeted && is(&self.carry)
    }

    /// How much of the answer in a slot has come.
    pub(crate) fn phase(&self, slot: usize) -> Option<Phase> {
        self.streams.get(slot).map(|stream| stream.phase)
    }

    /// Whether some of the request in a slot is still to be sent, and nothing of its answer has come.
    pub(crate) fn is_sending(&self, slot: usize) -> bool {
        let stream = self.streams.get(slot);
        stream.is_some_and(|stream| stream.send_left > 0 && stream.phase == Phase::Head)
    }

    /// Bytes of incomplete frames and header blocks.
    #[cfg(any(test, fuzzing))]
    pub(super) fn held(&self) -> usize {
        self.carry.len() + self.block.len()
    }

    /// Lets the server send nothing more.
    #[cfg(test)]
    pub(super) fn shrink_window(&mut self) {
        self.receive_window = 0;
    }

    /// Queues a request. `write` appends its header block, and returns the length of its body.
    #[inline]
    pub(crate) fn send(
        &mut self,
        slot: usize,
        to_head: bool,
        write: impl FnOnce(&mut Vec<u8>) -> usize,
    ) {
        let id = self.next_id;
        self.next_id += 2;
        self.is_draining |= self.next_id >= LAST_STREAM;
        let out = &mut self.sending.out;
        let from = out.len();
        out.extend_from_slice(&[0; HEADER]);
        if id == 1 {
            out.push(hpack::NO_TABLE);
        }
        let send_left = write(out);
        let ends = if send_left == 0 { END_STREAM } else { 0 };
        frame::finish_block(out, from, id, ends);
        let stream = Stream {
            id,
            phase: Phase::Head,
            to_head,
            body_left: None,
            send_left,
            send_window: self.first_window,
            is_queued: false,
            receive_window: WINDOW,
        };
        self.streams.insert(slot, stream);
        if send_left > 0 {
            self.sending.enqueue(slot, &mut self.streams);
        }
    }

    /// Cancels the request in a slot.
    pub(crate) fn cancel(&mut self, slot: usize) {
        self.reset(slot, CANCEL);
    }

    /// Appends pieces of request bodies to the unwritten bytes. `body` returns the body of the request in a slot.
    #[inline]
    pub(crate) fn fill<'a>(&mut self, body: impl Fn(usize) -> &'a [u8]) {
        if self.sending.can_fill() {
            self.sending.fill(&mut self.streams, body);
        }
    }

    /// The bytes to be written.
    #[inline]
    pub(crate) fn unwritten(&self) -> &[u8] {
        self.sending.unwritten()
    }

    /// Notes that this many bytes were written.
    #[inline]
    pub(crate) fn wrote(&mut self, count: usize) {
        self.sending.wrote(count);
    }

    /// Whether nothing can be written now.
    #[inline]
    pub(crate) fn has_written(&self) -> bool {
        self.sending.unwritten().is_empty() && !self.sending.can_fill()
    }

    /// Reads bytes until an event. Returns the number of bytes read and the event. An error ends the connection.
    #[inline]
    pub(crate) fn feed(
        &mut self,
        bytes: &[u8],
        sink: &mut impl Sink,
    ) -> Result<(usize, Event), Http2Failure> {
        if let Some(slot) = self.next_unprocessed() {
            return Ok((0, Event::Unprocessed { slot }));
        }
        let mut at = 0;
        while at < bytes.len() {
            let rest = &bytes[at..];
            let (used, event) = match self.state {
                ReadState::Frame => self.frame(rest, sink)?,
                ReadState::Padding(header) => (1, self.begin_data(header, rest[0].into())?),
                ReadState::Data {
                    slot,
                    left,
                    padding,
                    ends,
                } => {
                    let used = left.min(rest.len());
                    if let Some(slot) = slot {
                        sink.body(slot, &rest[..used]);
                    }
                    self.state = ReadState::Data {
                        slot,
                        left: left - used,
                        padding,
                        ends,
                    };
                    (used, self.end_data())
                }
                ReadState::Skipped { left } => {
                    let used = left.min(rest.len());
                    self.state = ReadState::Skipped { left: left - used };
                    if used == left {
                        self.state = ReadState::Frame;
                    }
                    (used, Event::More)
                }
            };
            at += used;
            if event != Event::More {
                return Ok((at, event));
            }
        }
        Ok((at, Event::More))
    }

    /// Reads a frame, or a part of one.
    #[inline]
    fn frame(
        &mut self,
        bytes: &[u8],
        sink: &mut impl Sink,
    ) -> Result<(usize, Event), Http2Failure> {
        if self.carry.is_empty()
            && let Some(header) = Header::read(bytes)
        {
            self.check(header)?;
            if is_streamed(header) {
                return Ok((HEADER, self.begin_streamed(header)?));
            }
            let end = HEADER + header.length;
            if let Some(payload) = bytes.get(HEADER..end) {
                return Ok((end, self.whole(header, payload, sink)?));
            }
        }
        let header = Header::read(&self.carry);
        let wanted = header.map_or(HEADER, |header| HEADER + header.length);
        let used = bytes.len().min(wanted - self.carry.len());
        self.carry.extend_from_slice(&bytes[..used]);
        let Some(header) = Header::read(&self.carry) else {
            return Ok((used, Event::More));
        };
        if self.carry.len() == HEADER {
            self.check(header)?;
            if is_streamed(header) {
                self.carry.clear();
                return Ok((used, self.begin_streamed(header)?));
            }
        }
        if self.carry.len() < HEADER + header.length {
            return Ok((used, Event::More));
        }
        let carry = std::mem::take(&mut self.carry);
        let event = self.whole(header, &carry[HEADER..], sink);
        self.carry = carry;
        self.carry.clear();
        Ok((used, event?))
    }

    /// Checks what the header of a frame alone can break.
    #[inline]
    fn check(&mut self, header: Header) -> Result<(), Http2Failure> {
        if !self.is_greeted && (header.kind != SETTINGS || header.has(ACK)) {
            return Err(Http2Failure::connection(not_a_greeting(header)));
        }
        if header.length > MAX_PAYLOAD {
            return Err(Http2Failure::connection(
                "a frame is longer than the 16,384 bytes that were announced",
            ));
        }
        match self.block_of {
            Some(block) if header.kind != CONTINUATION || header.stream != block.stream => Err(
                Http2Failure::connection("another frame came between the parts of a header block"),
            ),
            None if header.kind == CONTINUATION => Err(Http2Failure::connection(
                "a CONTINUATION came without the HEADERS before it",
            )),
            _ if self.sending.own_unwritten() > MAX_UNWRITTEN => Err(Http2Failure::connection(
                "the server asks for answers and does not read them",
            )),
            _ => Ok(()),
        }
    }

    /// Counts a frame without progress. An endless series of them would keep the client busy for nothing.
    #[inline]
    pub(super) fn idle(&mut self) -> Result<(), Http2Failure> {
        self.idle_frames += 1;
        if self.idle_frames > MAX_IDLE_FRAMES {
            return Err(Http2Failure::connection(
                "the server sent 10,000 frames that bring no answer on",
            ));
        }
        Ok(())
    }

    /// The slot of the stream that a frame belongs to; `None`: it is over, and the frame is late.
    #[inline]
    pub(super) fn slot_of(&mut self, header: Header) -> Result<Option<usize>, Http2Failure> {
        if header.stream == 0 {
            return Err(Http2Failure::connection(
                "a frame has no stream and needs one",
            ));
        }
        if header.stream.is_multiple_of(2) || header.stream >= self.next_id {
            return Err(Http2Failure::connection(
                "a frame is on a stream that nobody has opened",
            ));
        }
        Ok(self.streams.find(header.stream))
    }

    /// The slot of a frame that only an open stream may have, or a stream that the client has given up.
    #[inline]
    pub(super) fn answered_slot(&mut self, header: Header) -> Result<Option<usize>, Http2Failure> {
        let slot = self.slot_of(header)?;
        if slot.is_none() {
            if !self.has_reset {
                return Err(Http2Failure::connection(
                    "more came on a stream whose answer had ended",
                ));
            }
            self.idle()?;
        }
        Ok(slot)
    }

    /// Resets the stream in a slot with this error code.
    pub(super) fn reset(&mut self, slot: usize, code: u32) {
        if let Some(stream) = self.streams.get(slot) {
            let (id, is_queued) = (stream.id, stream.is_queued);
            self.sending.put(RST_STREAM, 0, id, &code.to_be_bytes());
            self.has_reset = true;
            self.close(slot, is_queued);
        }
    }

    pub(super) fn close(&mut self, slot: usize, is_queued: bool) {
        if is_queued {
            self.sending.dequeue(slot);
        }
        self.streams.remove(slot);
    }

    /// The server broke a rule that holds for a stream (RFC 9113 §5.4.2).
    #[cold]
    pub(super) fn broke(&mut self, slot: usize, broken: Http2Failure) -> Event {
        let phase = self.phase(slot).unwrap_or(Phase::Head);
        self.reset(slot, PROTOCOL_ERROR);
        Event::Failed {
            slot,
            broken,
            phase,
        }
    }

    /// Processes a complete frame.
    fn whole(
        &mut self,
        header: Header,
        payload: &[u8],
        sink: &mut impl Sink,
    ) -> Result<Event, Http2Failure> {
        match header.kind {
            HEADERS => return self.headers(header, payload, sink),
            CONTINUATION => return self.continuation(header, payload, sink),
            SETTINGS => return self.settings(header, payload),
            PING => self.ping(header, payload)?,
            WINDOW_UPDATE => return self.window_update(header, payload),
            RST_STREAM => return self.rst_stream(header, payload),
            GOAWAY => return self.goaway(header, payload),
            PRIORITY => {
                self.idle()?;
                if payload.len() != 5 || header.stream == 0 {
                    return Err(Http2Failure::connection(
                        "a PRIORITY has not 5 bytes, or no stream",
                    ));
                }
            }
            _ => {
                return Err(Http2Failure::connection(
                    "a PUSH_PROMISE came although pushes are off",
                ));
            }
        }
        Ok(Event::More)
    }
}

/// Whether a frame's payload is processed without buffering: a body, or an unknown frame (RFC 9113 §5.5).
#[inline]
fn is_streamed(header: Header) -> bool {
    header.kind == DATA || header.kind > CONTINUATION
}

/// Why a frame cannot be the server's first one.
fn not_a_greeting(header: Header) -> &'static str {
    // "HTTP/", read as a header.
    if header.length == 0x48_5454 && (header.kind, header.flags) == (b'P', b'/') {
        "the server answered in HTTP/1: omit --http2-prior-knowledge"
    } else {
        "the server's first frame is not SETTINGS"
    }
}
