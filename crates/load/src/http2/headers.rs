//! Header blocks: heads of answers, interim ones and trailers, in one frame or several.

use deadheat_model::Failure;

use super::{
    Broken,
    client::{Block, Client, Event, MOST_HEADERS, PROGRESS, Sink},
    frame::{END_HEADERS, END_STREAM, Header, PADDED, WITH_PRIORITY},
    hpack::{self, Fields},
    stream::Phase,
};

impl Client {
    #[inline]
    pub(super) fn headers(
        &mut self,
        header: Header,
        payload: &[u8],
        sink: &mut impl Sink,
    ) -> Result<Event, Broken> {
        let block = block_in(header, payload)
            .ok_or(Broken::connection("a frame is too short for its padding"))?;
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
    ) -> Result<Event, Broken> {
        if payload.len() < PROGRESS {
            self.idle()?;
        }
        if self.block.len() + payload.len() > MOST_HEADERS {
            return Err(Broken::connection(
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

    /// A header block has come: a head, an interim one, or trailers.
    #[inline]
    fn end_headers(
        &mut self,
        id: u32,
        ends: bool,
        block: &[u8],
        sink: &mut impl Sink,
    ) -> Result<Event, Broken> {
        let fields = hpack::read(block).map_err(Broken::connection)?;
        let Some(slot) = self.streams.find(id) else {
            return Ok(Event::More);
        };
        let bad_head = |why| Broken {
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

/// Passes on what the last headers of an answer say of a call of gRPC.
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
