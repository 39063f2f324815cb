//! The open streams of a connection, found by their numbers.

/// How much of an answer has arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Not yet the complete head.
    Head,
    /// The head, and perhaps some of the body.
    Body,
}

/// One request and its answer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stream {
    /// Its number; 0: the slot is free.
    pub(super) id: u32,
    pub(super) phase: Phase,
    pub(super) to_head: bool,
    /// Bytes of the answer's body that are still to come, if that is known.
    pub(super) body_left: Option<u64>,
    /// Bytes of the request's body that are still to be sent.
    pub(super) send_left: usize,
    /// The send window in bytes (RFC 9113 §5.2). It can fall below zero when the server changes its settings.
    pub(super) send_window: i64,
    /// Whether it waits for its turn to send.
    pub(super) is_queued: bool,
    /// The receive window in bytes.
    pub(super) receive_window: i64,
}

const NONE: Stream = Stream {
    id: 0,
    phase: Phase::Head,
    to_head: false,
    body_left: None,
    send_left: 0,
    send_window: 0,
    is_queued: false,
    receive_window: 0,
};

/// All streams of a connection, each in its slot.
#[derive(Debug)]
pub(super) struct Streams {
    slots: Box<[Stream]>,
    /// The slot of the latest stream, by the low bits of its number. A stream whose entry was overwritten by a later
    /// one is searched for in all slots.
    latest: Box<[u32]>,
    open: usize,
}

impl Streams {
    pub(super) fn new(most: usize) -> Self {
        Self {
            slots: vec![NONE; most].into_boxed_slice(),
            latest: vec![0; (4 * most).next_power_of_two()].into_boxed_slice(),
            open: 0,
        }
    }

    pub(super) fn clear(&mut self) {
        self.slots.fill(NONE);
        self.open = 0;
    }

    /// Number of open streams.
    #[inline]
    pub(super) fn open(&self) -> usize {
        self.open
    }

    /// Number of slots.
    pub(super) fn len(&self) -> usize {
        self.slots.len()
    }

    /// The index in `latest` of a stream. The lowest bit is dropped, because even numbers belong to the server.
    #[inline]
    fn place(&self, id: u32) -> usize {
        (id >> 1) as usize & (self.latest.len() - 1)
    }

    #[inline]
    pub(super) fn insert(&mut self, slot: usize, stream: Stream) {
        let place = self.place(stream.id);
        self.latest[place] = slot as u32;
        self.open += usize::from(self.slots[slot].id == 0);
        self.slots[slot] = stream;
    }

    #[inline]
    pub(super) fn remove(&mut self, slot: usize) {
        self.open -= usize::from(self.slots[slot].id != 0);
        self.slots[slot].id = 0;
    }

    /// The slot of an open stream.
    #[inline]
    pub(super) fn find(&self, id: u32) -> Option<usize> {
        let latest = self.latest[self.place(id)] as usize;
        if self.slots[latest].id == id {
            return Some(latest);
        }
        self.slots.iter().position(|stream| stream.id == id)
    }

    /// The stream in a slot, if there is one.
    #[inline]
    pub(super) fn get(&self, slot: usize) -> Option<&Stream> {
        self.slots.get(slot).filter(|stream| stream.id != 0)
    }

    #[inline]
    pub(super) fn get_mut(&mut self, slot: usize) -> Option<&mut Stream> {
        self.slots.get_mut(slot).filter(|stream| stream.id != 0)
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = (usize, &mut Stream)> {
        let all = self.slots.iter_mut().enumerate();
        all.filter(|(_, stream)| stream.id != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_is_found_however_long_it_lasts() {
        let mut streams = Streams::new(3);
        let insert = |streams: &mut Streams, slot, id| {
            streams.insert(slot, Stream { id, ..NONE });
        };
        insert(&mut streams, 0, 1);
        for id in (3..1_000).step_by(2) {
            let slot = 1 + (id as usize / 2) % 2;
            insert(&mut streams, slot, id);
            assert_eq!(streams.find(id), Some(slot));
            assert_eq!(streams.find(1), Some(0), "beside {id}");
            assert_eq!(streams.find(id + 2), None);
            streams.remove(slot);
            assert_eq!((streams.find(id), streams.open()), (None, 1));
        }
    }
}
