//! Frames that say how the connection goes on: settings, windows, resets, the end.

use deadheat_model::Failure;

use super::{
    Broken,
    client::{Client, Event, PROGRESS},
    frame::{self, ACK, Header, LAST_STREAM, MOST_PAYLOAD, PING, SETTINGS},
    sending::MOST_WINDOW,
    stream::Stream,
};

impl Client {
    pub(super) fn ping(&mut self, header: Header, payload: &[u8]) -> Result<(), Broken> {
        self.idle()?;
        on_connection(header)?;
        if payload.len() != 8 {
            return Err(Broken::connection("a PING has not 8 bytes"));
        }
        if !header.has(ACK) {
            self.sending.put(PING, ACK, 0, payload);
        }
        Ok(())
    }

    #[cold]
    pub(super) fn settings(&mut self, header: Header, payload: &[u8]) -> Result<Event, Broken> {
        on_connection(header)?;
        if self.is_greeted {
            self.idle()?;
        }
        if header.has(ACK) {
            return match payload {
                [] => Ok(Event::More),
                _ => Err(Broken::connection("a SETTINGS with ACK is not empty")),
            };
        }
        if !payload.len().is_multiple_of(6) {
            return Err(Broken::connection(
                "a SETTINGS ends in the middle of a setting",
            ));
        }
        let before = self.first_window;
        for setting in payload.chunks_exact(6) {
            let name = u16::from_be_bytes([setting[0], setting[1]]);
            let value = frame::number(&setting[2..]).unwrap_or_default();
            let wrong = match name {
                0x2 if value != 0 => Some("the server wants pushes from a client (ENABLE_PUSH)"),
                0x4 if i64::from(value) > MOST_WINDOW => {
                    Some("INITIAL_WINDOW_SIZE is above the maximum of 2^31-1")
                }
                0x5 if !(MOST_PAYLOAD as u32..=0xff_ffff).contains(&value) => {
                    Some("MAX_FRAME_SIZE is outside of the RFC's range")
                }
                _ => None,
            };
            if let Some(why) = wrong {
                return Err(Broken::connection(why));
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
                if stream.send_window > MOST_WINDOW {
                    return Err(Broken::connection("a stream's window is above 2^31-1"));
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
        // One that allows none any more is of no use.
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
    ) -> Result<Event, Broken> {
        let (Some(more), 4) = (frame::number(payload), payload.len()) else {
            return Err(Broken::connection("a WINDOW_UPDATE has not 4 bytes"));
        };
        let more = i64::from(more & LAST_STREAM);
        if more < PROGRESS as i64 {
            self.idle()?;
        }
        if header.stream == 0 {
            self.sending.window += more;
            return if more == 0 {
                Err(Broken::connection("a WINDOW_UPDATE adds nothing"))
            } else if self.sending.window > MOST_WINDOW {
                Err(Broken::connection(
                    "the connection's window is above 2^31-1",
                ))
            } else {
                Ok(Event::More)
            };
        }
        let Some(slot) = self.slot_of(header)? else {
            // It may have been on its way when the answer ended.
            self.idle()?;
            return Ok(Event::More);
        };
        let Some(stream) = self.streams.get_mut(slot) else {
            return Ok(Event::More);
        };
        stream.send_window += more;
        let why = if more == 0 {
            "a WINDOW_UPDATE adds nothing"
        } else if stream.send_window > MOST_WINDOW {
            "a stream's window is above 2^31-1"
        } else {
            self.sending.enqueue(slot, &mut self.streams);
            return Ok(Event::More);
        };
        Ok(self.broke(slot, Broken::connection(why)))
    }

    #[cold]
    pub(super) fn rst_stream(&mut self, header: Header, payload: &[u8]) -> Result<Event, Broken> {
        let (Some(code), 4) = (frame::number(payload), payload.len()) else {
            return Err(Broken::connection("an RST_STREAM has not 4 bytes"));
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
        let broken = Broken {
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
    pub(super) fn goaway(&mut self, header: Header, payload: &[u8]) -> Result<Event, Broken> {
        self.idle()?;
        on_connection(header)?;
        let (Some(last), Some(code)) = (
            frame::number(payload),
            payload.get(4..).and_then(frame::number),
        ) else {
            return Err(Broken::connection("a GOAWAY is shorter than 8 bytes"));
        };
        // A later one may name an earlier stream, and never a later one (RFC 9113 §6.8).
        let last = last & LAST_STREAM;
        let before = self.gone.map_or(LAST_STREAM, |(before, _)| before);
        self.gone = Some((last.min(before), code));
        self.is_draining = true;
        Ok(match self.next_unprocessed() {
            Some(slot) => Event::Unprocessed { slot },
            None => Event::More,
        })
    }

    /// Takes out a stream that the server has not looked at.
    #[inline]
    pub(super) fn next_unprocessed(&mut self) -> Option<usize> {
        let (last, _) = self.gone?;
        let is_later = |(_, stream): &(usize, &mut Stream)| stream.id > last;
        let later = self.streams.iter_mut().find(is_later);
        let (slot, is_queued) = later.map(|(slot, stream)| (slot, stream.is_queued))?;
        self.close(slot, is_queued);
        self.has_reset = true;
        Some(slot)
    }
}

/// Refuses a frame on a stream that belongs to the connection.
fn on_connection(header: Header) -> Result<(), Broken> {
    match header.stream {
        0 => Ok(()),
        _ => Err(Broken::connection(
            "a frame of the connection is on a stream",
        )),
    }
}
