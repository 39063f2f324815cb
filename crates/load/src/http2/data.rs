//! DATA frames, which are taken as they come.

use deadheat_model::Failure;

use super::{
    Broken,
    client::{Client, Event, PROGRESS, State, WINDOW},
    frame::{DATA, END_STREAM, Header, NO_ERROR, PADDED, WINDOW_UPDATE},
    stream::Phase,
};

impl Client {
    /// A frame begins whose payload is taken as it comes.
    #[inline]
    pub(super) fn begin_streamed(&mut self, header: Header) -> Result<Event, Broken> {
        if header.kind != DATA {
            self.idle()?;
            self.skip(header.length);
            return Ok(Event::More);
        }
        if !header.has(PADDED) {
            return self.begin_data(header, 0);
        }
        if header.length == 0 {
            return Err(Broken::connection("a frame is too short for its padding"));
        }
        self.state = State::Padding(header);
        Ok(Event::More)
    }

    fn skip(&mut self, left: usize) {
        self.state = match left {
            0 => State::Frame,
            left => State::Skipped { left },
        };
    }

    /// The content of a DATA frame begins.
    #[inline]
    pub(super) fn begin_data(&mut self, header: Header, padding: usize) -> Result<Event, Broken> {
        let prefix = usize::from(header.has(PADDED));
        let Some(left) = header.length.checked_sub(prefix + padding) else {
            return Err(Broken::connection("a frame is too short for its padding"));
        };
        let ends = header.has(END_STREAM);
        let slot = self.answered_slot(header)?;
        if left >= PROGRESS {
            self.idle_frames = 0;
        } else if !ends {
            self.idle()?;
        }
        self.receive_window -= header.length as i64;
        if self.receive_window < 0 {
            return Err(Broken::connection(
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
            return Err(Broken::connection(
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
            return Ok(self.broke(slot, Broken { kind, why }));
        }
        if !ends && stream.receive_window < WINDOW / 2 {
            let more = (WINDOW - stream.receive_window) as u32;
            stream.receive_window = WINDOW;
            self.sending
                .put(WINDOW_UPDATE, 0, header.stream, &more.to_be_bytes());
        }
        self.state = State::Data {
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
        let State::Data {
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

    /// The server's part of a stream is over.
    #[inline]
    pub(super) fn finish(&mut self, slot: usize) -> Event {
        let Some(stream) = self.streams.get(slot) else {
            return Event::More;
        };
        if stream.body_left.is_some_and(|left| left > 0) {
            let broken = Broken {
                kind: Failure::TruncatedBody,
                why: "the body is shorter than its content-length",
            };
            return self.broke(slot, broken);
        }
        self.idle_frames = 0;
        if stream.send_left > 0 {
            // Nobody needs the rest of the request's body (RFC 9113 §8.1).
            self.reset(slot, NO_ERROR);
        } else {
            self.streams.remove(slot);
        }
        Event::Whole { slot }
    }
}
