//! Connections by number, with a generation, so that what was queued for a closed one cannot reach its successor.

use super::connection::Connection;

/// Names one connection for good.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Id {
    pub(super) slot: usize,
    generation: u64,
}

#[derive(Debug, Default)]
struct Slot {
    generation: u64,
    connection: Option<Connection>,
}

/// All connections.
#[derive(Debug, Default)]
pub(super) struct Slots {
    slots: Vec<Slot>,
    free: Vec<usize>,
}

impl Slots {
    /// The slot that the next connection gets.
    pub(super) fn next_slot(&self) -> usize {
        self.free.last().copied().unwrap_or(self.slots.len())
    }

    /// Keeps a connection in the slot that [`Slots::next_slot`] named.
    pub(super) fn insert(&mut self, connection: Connection) {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot::default());
            self.slots.len() - 1
        });
        self.slots[slot].connection = Some(connection);
    }

    /// The connection in `slot` now.
    pub(super) fn at(&mut self, slot: usize) -> Option<&mut Connection> {
        self.slots.get_mut(slot)?.connection.as_mut()
    }

    /// The name of the connection in `slot` now.
    pub(super) fn id(&self, slot: usize) -> Id {
        Id {
            slot,
            generation: self.slots[slot].generation,
        }
    }

    /// The connection that was named, if it is still there.
    pub(super) fn get(&mut self, id: Id) -> Option<&mut Connection> {
        let slot = &mut self.slots[id.slot];
        (slot.generation == id.generation)
            .then_some(slot.connection.as_mut())
            .flatten()
    }

    /// Takes the connection in `slot` out.
    pub(super) fn remove(&mut self, slot: usize) -> Option<Connection> {
        let taken = self.slots.get_mut(slot)?;
        let connection = taken.connection.take()?;
        taken.generation += 1;
        self.free.push(slot);
        Some(connection)
    }
}
