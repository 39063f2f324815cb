//! Frames that a server sends: DATA, header blocks, and those that control the connection (settings, windows, resets,
//! its end).

use deadheat_model::Failure;

use super::{
    Http2Failure,
    client::{Block, Client, Event, MAX_HEADERS, PROGRESS, ReadState, Sink, WINDOW},
    frame::{
        self, ACK, DATA, END_HEADERS, END_STREAM, Header, LAST_STREAM, MAX_PAYLOAD, MAX_WINDOW,
        NO_ERROR, PADDED, PING, SETTINGS, WINDOW_UPDATE, WITH_PRIORITY,
    },
    hpack::{self, Fields},
    stream::{Phase, Stream},
};

impl Client {
    /// Begins a frame whose payload is processed without buffering.
    #[inline]
    pub(super) fn begin_streamed(&mut self, header: Header) -> Result<Event, Http2Failure> {
        if header.kind != DATA {
            self.idle()?;
            self.skip(header.length);
            return Ok(Event::More);
        }
        if !header.has(PADDED) {
            return self.begin_data(header, 0);
        }
        if header.length == 0 {
            return Err(Http2Failure::connection(
                "a frame is too short for its padding",
            ));
        }
        self.state = ReadState::Padding(header);
        Ok(Event::More)
    }

    fn skip(&mut self, left: usize) {
        self.state = match left {
            0 => ReadState::Frame,
            left => ReadState::Skipped { left },
        };
    }

    /// Begins the content of a DATA frame.
    #[inline]
    pub(super) fn begin_data(
        &mut self,
        header: Header,
        padding: usize,
    ) -> Result<Event, Http2Failure> {
        let prefix = usize::from(header.has(PADDED));
        let Some(left) = header.length.checked_sub(prefix + padding) else {
            return Err(Http2Failure::connection(
                "a frame is too short for its padding",
            ));
        };
        let ends = header.has(END_STREAM);
        let slot = self.answered_slot(header)?;
        // However slowly a body comes, the request's timeout ends it.
        if left > 0 {
            self.idle_frames = 0;
        } else if !ends {
            self.idle()?;
        }
        self.receive_window -= header.length as i64;
        if self.receive_window < 0 {
            return Err(Http2Failure::connection(
                "the server sent more than the connection's window allows",
            ));
        }
        if self.receive_window < WINDOW / 2 {
            let more = (WINDOW - self.receive_window) as u32;
            self.receive_window = WINDOW;
            self.sending.put(WINDOW_UPDATE, 0, 0, &more.to_be_bytes());
        }
        let Some(slot) = slot else {
            self.skip(left + padding);
            return Ok(Event::More);
        };
        let Some(stream) = self.streams.get_mut(slot) else {
            return Ok(Event::More);
        };
        stream.receive_window -= header.length as i64;
        if stream.receive_window < 0 {
            return Err(Http2Failure::connection(
                "the server sent more than a stream's window allows",
            ));
        }
        let why = match (stream.phase, &mut stream.body_left) {
            (Phase::Head, _) => Some((Failure::Http2, "a body came before its head")),
            (_, Some(body_left)) if *body_left < left as u64 => Some((
                Failure::BadFraming,
                "the body is longer than its content-length",
            )),
            (_, Some(body_left)) => {
                *body_left -= left as u64;
                None
            }
            (_, None) => None,
        };
        if let Some((kind, why)) = why {
            self.skip(left + padding);
            return Ok(self.broke(slot, Http2Failure { kind, why }));
        }
        if !ends && stream.receive_window < WINDOW / 2 {
            let more = (WINDOW - stream.receive_window) as u32;
            stream.receive_window = WINDOW;
            self.sending
                .put(WINDOW_UPDATE, 0, header.stream, &more.to_be_bytes());
        }
        self.state = ReadState::Data {
            slot: Some(slot),
            left,
            padding,
            ends,
        };
        Ok(match left {
            0 => self.end_data(),
            _ => Event::More,
        })
    }

    /// Ends a DATA frame once all of its content has come, and returns the event that follows.
    #[inline]
    pub(super) fn end_data(&mut self) -> Event {
        let ReadState::Data {
            slot,
            left: 0,
            padding,
            ends,
        } = self.state
        else {
            return Event::More;
        };
        self.skip(padding);
        match slot {
            Some(slot) if ends => self.finish(slot),
            _ => Event::More,
        }
    }

    /// Ends a stream on the server's side.
    #[inline]
    pub(super) fn finish(&mut self, slot: usize) -> Event {
        let Some(stream) = self.streams.get(slot) else {
            return Event::More;
        };
        if stream.body_left.is_some_and(|left| left > 0) {
            let broken = Http2Failure {
                kind: Failure::TruncatedBody,
                why: "the body is shorter than its content-length",
            };
            return self.broke(slot, broken);
        }
        self.idle_frames = 0;
        if stream.send_left > 0 {
            // The server does not need the rest of the request's body (RFC 9113 §8.1).
            self.reset(slot, NO_ERROR);
        } else {
            self.streams.remove(slot);
        }
        Event::Whole { slot }
    }
}

impl Client {
    pub(super) fn ping(&mut self, header: Header, payload: &[u8]) -> Result<(), Http2Failure> {
        self.idle()?;
        on_connection(header)?;
        if payload.len() != 8 {
            return Err(Http2Failure::connection("a PING has not 8 bytes"));
        }
        if !header.has(ACK) {
            self.sending.put(PING, ACK, 0, payload);
        }
        Ok(())
    }

    #[cold]
    pub(super) fn settings(
        &mut self,
        header: Header,
        payload: &[u8],
    ) -> Result<Event, Http2Failure> {
        on_connection(header)?;
        if self.is_greeted {
            self.idle()?;
        }
        if header.has(ACK) {
            return match payload {
                [] => Ok(Event::More),
                _ => Err(Http2Failure::connection("a SETTINGS with ACK is not empty")),
            };
        }
        if !payload.len().is_multiple_of(6) {
            return Err(Http2Failure::connection(
                "a SETTINGS ends in the middle of a setting",
            ));
        }
        let before = self.first_window;
        for setting in payload.chunks_exact(6) {
            let name = u16::from_be_bytes([setting[0], setting[1]]);
            let value = frame::number(&setting[2..]).unwrap_or_default();
            let wrong = match name {
                0x2 if value != 0 => Some("the server wants pushes from a client (ENABLE_PUSH)"),
                0x4 if i64::from(value) > MAX_WINDOW => {
                    Some("INITIAL_WINDOW_SIZE is above the maximum of 2^31-1")
                }
                0x5 if !(MAX_PAYLOAD as u32..=0xff_ffff).contains(&value) => {
                    Some("MAX_FRAME_SIZE is outside of the RFC's range")
                }
                _ => None,
            };
            if let Some(why) = wrong {
                return Err(Http2Failure::connection(why));
            }
            match name {
                0x3 => self.most_streams = value,
                0x4 => self.first_window = value.into(),
                _ => {}
            }
        }
        // RFC 9113 §6.9.2: the windows of all streams change by the same.
        let change = self.first_window - before;
        if change != 0 {
            let mut has_room = false;
            for (_, stream) in self.streams.iter_mut() {
                stream.send_window += change;
                if stream.send_window > MAX_WINDOW {
                    return Err(Http2Failure::connection(
                        "a stream's window is above 2^31-1",
                    ));
                }
                has_room |= stream.send_left > 0 && !stream.is_queued;
            }
            if has_room && change > 0 {
                self.enqueue_all();
            }
        }
        self.sending.put(SETTINGS, ACK, 0, &[]);
        if !self.is_greeted {
            self.is_greeted = true;
            return Ok(Event::Greeted);
        }
        // A connection without allowed streams is useless.
        self.is_draining |= self.most_streams == 0;
        Ok(Event::More)
    }

    fn enqueue_all(&mut self) {
        for slot in 0..self.streams.len() {
            self.sending.enqueue(slot, &mut self.streams);
        }
    }

    pub(super) fn window_update(
        &mut self,
        header: Header,
        payload: &[u8],
    ) -> Result<Event, Http2Failure> {
        let (Some(more), 4) = (frame::number(payload), payload.len()) else {
            return Err(Http2Failure::connection("a WINDOW_UPDATE has not 4 bytes"));
        };
        let more = i64::from(more & LAST_STREAM);
        if more < PROGRESS as i64 {
            self.idle()?;
        }
        if header.stream == 0 {
            self.sending.window += more;
            return if more == 0 {
                Err(Http2Failure::connection("a WINDOW_UPDATE adds nothing"))
            } else if self.sending.window > MAX_WINDOW {
                Err(Http2Failure::connection(
                    "the connection's window is above 2^31-1",
                ))
            } else {
                Ok(Event::More)
            };
        }
        let Some(slot) = self.slot_of(header)? else {
            // The server may have sent it before the answer ended.
            self.idle()?;
            return Ok(Event::More);
        };
        let Some(stream) = self.streams.get_mut(slot) else {
            return Ok(Event::More);
        };
        stream.send_window += more;
        let why = if more == 0 {
            "a WINDOW_UPDATE adds nothing"
        } else if stream.send_window > MAX_WINDOW {
            "a stream's window is above 2^31-1"
        } else {
            self.sending.enqueue(slot, &mut self.streams);
            return Ok(Event::More);
        };
        Ok(self.broke(slot, Http2Failure::connection(why)))
    }

    #[cold]
    pub(super) fn rst_stream(
        &mut self,
        header: Header,
        payload: &[u8],
    ) -> Result<Event, Http2Failure> {
        let (Some(code), 4) = (frame::number(payload), payload.len()) else {
            return Err(Http2Failure::connection("an RST_STREAM has not 4 bytes"));
        };
        let Some(slot) = self.slot_of(header)? else {
            self.idle()?;
            return Ok(Event::More);
        };
        let Some(&Stream {
            phase, is_queued, ..
        }) = self.streams.get(slot)
        else {
            return Ok(Event::More);
        };
        self.close(slot, is_queued);
        let broken = Http2Failure {
            kind: Failure::StreamReset,
            why: frame::reset(code),
        };
        Ok(Event::Failed {
            slot,
            broken,
            phase,
        })
    }

    #[cold]
    pub(super) fn goaway(&mut self, header: Header, payload: &[u8]) -> Result<Event, Http2Failure> {
        self.idle()?;
        on_connection(header)?;
        let (Some(last), Some(code)) = (
            frame::number(payload),
            payload.get(4..).and_then(frame::number),
        ) else {
            return Err(Http2Failure::connection("a GOAWAY is shorter than 8 bytes"));
        };
        // A later one may name an earlier stream, and never a later one (RFC 9113 §6.8).
        let last = last & LAST_STREAM;
        let before = self.goaway.map_or(LAST_STREAM, |(before, _)| before);
        self.goaway = Some((last.min(before), code));
        self.is_draining = true;
        Ok(match self.next_unprocessed() {
            Some(slot) => Event::Unprocessed { slot },
            None => Event::More,
        })
    }

    /// Removes a stream that the server has not processed, and returns its slot.
    #[inline]
    pub(super) fn next_unprocessed(&mut self) -> Option<usize> {
        let (last, _) = self.goaway?;
        let is_later = |(_, stream): &(usize, &mut Stream)| stream.id > last;
        let later = self.streams.iter_mut().find(is_later);
        let (slot, is_queued) = later.map(|(slot, stream)| (slot, stream.is_queued))?;
        self.close(slot, is_queued);
        self.has_reset = true;
        Some(slot)
    }
}

/// Refuses a frame on a stream that belongs to the connection.
fn on_connection(header: Header) -> Result<(), Http2Failure> {
    match header.stream {
        0 => Ok(()),
        _ => Err(Http2Failure::connection(
            "a frame of the connection is on a stream",
        )),
    }
}

impl Client {
    #[inline]
    pub(super) fn headers(
        &mut self,
        header: Header,
        payload: &[u8],
        sink: &mut impl Sink,
    ) -> Result<Event, Http2Failure> {
        let block = block_in(header, payload).ok_or(Http2Failure::connection(
            "a frame is too short for its padding",
        ))?;
        self.answered_slot(header)?;
        let ends = header.has(END_STREAM);
        if header.has(END_HEADERS) {
            return self.end_headers(header.stream, ends, block, sink);
        }
        self.block.clear();
        self.block.extend_from_slice(block);
        self.block_of = Some(Block {
            stream: header.stream,
            ends,
        });
        Ok(Event::More)
    }

    #[cold]
    pub(super) fn continuation(
        &mut self,
        header: Header,
        payload: &[u8],
        sink: &mut impl Sink,
    ) -> Result<Event, Http2Failure> {
        if payload.len() < PROGRESS {
            self.idle()?;
        }
        if self.block.len() + payload.len() > MAX_HEADERS {
            return Err(Http2Failure::connection(
                "the headers of an answer are longer than 64 KiB",
            ));
        }
        self.block.extend_from_slice(payload);
        match self.block_of {
            Some(Block { stream, ends }) if header.has(END_HEADERS) => {
                self.block_of = None;
                let block = std::mem::take(&mut self.block);
                let event = self.end_headers(stream, ends, &block, sink);
                self.block = block;
                event
            }
            _ => Ok(Event::More),
        }
    }

    /// Processes a complete header block: a head, an interim head, or trailers.
    #[inline]
    fn end_headers(
        &mut self,
        id: u32,
        ends: bool,
        block: &[u8],
        sink: &mut impl Sink,
    ) -> Result<Event, Http2Failure> {
        let fields = hpack::read(block).map_err(Http2Failure::connection)?;
        let Some(slot) = self.streams.find(id) else {
            return Ok(Event::More);
        };
        let bad_head = |why| Http2Failure {
            kind: Failure::BadHead,
            why,
        };
        let Some(stream) = self.streams.get_mut(slot) else {
            return Ok(Event::More);
        };
        if stream.phase == Phase::Body {
            let why = if !ends {
                Some("headers came in the middle of a body")
            } else if fields.has_pseudo {
                Some("trailers have a pseudo-header")
            } else {
                None
            };
            return Ok(match why {
                Some(why) => self.broke(slot, bad_head(why)),
                None => {
                    end_call(slot, &fields, sink);
                    self.finish(slot)
                }
            });
        }
        let status = match (fields.malformed, fields.status) {
            (Some(why), _) => return Ok(self.broke(slot, bad_head(why))),
            (None, None) => return Ok(self.broke(slot, bad_head("it has no :status"))),
            (None, Some(status)) => status,
        };
        if status < 200 {
            if ends || status == 101 {
                return Ok(self.broke(
                    slot,
                    bad_head("an interim answer ends the stream or has status 101"),
                ));
            }
            self.idle()?;
            return Ok(Event::More);
        }
        stream.phase = Phase::Body;
        stream.body_left = if stream.to_head || matches!(status, 204 | 304) {
            Some(0)
        } else {
            fields.length
        };
        sink.head(slot, status);
        if !ends {
            return Ok(Event::More);
        }
        end_call(slot, &fields, sink);
        Ok(self.finish(slot))
    }
}

/// Passes on the gRPC status in an answer's last headers.
#[inline]
fn end_call(slot: usize, fields: &Fields<'_>, sink: &mut impl Sink) {
    if let Some(status) = fields.grpc_status {
        sink.call_ended(slot, status, fields.grpc_message);
    }
}

/// The header block in the payload of HEADERS.
#[inline]
fn block_in(header: Header, payload: &[u8]) -> Option<&[u8]> {
    let (padding, mut block) = if header.has(PADDED) {
        let (length, rest) = payload.split_first()?;
        (usize::from(*length), rest)
    } else {
        (0, payload)
    };
    if header.has(WITH_PRIORITY) {
        block = block.get(5..)?;
    }
    block.get(..block.len().checked_sub(padding)?)
}
