//! Readiness of sockets (epoll), with timeouts to the nanosecond: an open loop's schedule would otherwise be followed
//! to the millisecond only.

use std::{io, os::fd::OwnedFd};

use rustix::{
    buffer::spare_capacity,
    event::{
        Timespec,
        epoll::{self, CreateFlags, Event, EventData, EventFlags},
    },
    io::Errno,
};

/// Events taken at once.
pub(crate) const EVENTS: usize = 128;

/// What a socket is watched for. Events are edges: each change is told of once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Watch {
    /// Bytes or the end of the stream have come.
    Reading,
    /// The same, and there is room for writing again.
    ReadingAndWriting,
}

impl Watch {
    fn flags(self) -> EventFlags {
        let reading = EventFlags::IN | EventFlags::RDHUP | EventFlags::ET;
        match self {
            Watch::Reading => reading,
            Watch::ReadingAndWriting => reading | EventFlags::OUT,
        }
    }
}

/// What has happened to the socket of a slot.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ready {
    /// The slot that the socket was watched for.
    pub(crate) slot: usize,
    /// There is something to read, the end and an error included.
    pub(crate) readable: bool,
    /// There is room for writing.
    pub(crate) writable: bool,
    /// The peer has said that nothing follows what is there to read.
    pub(crate) closing: bool,
}

/// The events of one wait.
pub(crate) struct Events(Vec<Event>);

impl Events {
    /// Room for the events of a wait.
    pub(crate) fn new() -> Self {
        Self(Vec::with_capacity(EVENTS))
    }

    /// Whether nothing has happened.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Each event.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Ready> {
        self.0.iter().map(|event| {
            let flags = event.flags;
            let ended = EventFlags::RDHUP | EventFlags::HUP | EventFlags::ERR;
            Ready {
                slot: event.data.u64() as usize,
                readable: flags.intersects(EventFlags::IN | ended),
                writable: flags.contains(EventFlags::OUT),
                closing: flags.intersects(EventFlags::RDHUP | EventFlags::HUP),
            }
        })
    }
}

/// A queue of readiness events.
#[derive(Debug)]
pub(crate) struct Poller(OwnedFd);

impl Poller {
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Self(epoll::create(CreateFlags::CLOEXEC)?))
    }

    /// Watches a socket, until it is closed.
    pub(crate) fn add(&self, socket: &OwnedFd, slot: usize, watch: Watch) -> io::Result<()> {
        let data = EventData::new_u64(slot as u64);
        Ok(epoll::add(&self.0, socket, data, watch.flags())?)
    }

    /// Watches a socket for something else. What is already so is told of again.
    pub(crate) fn change(&self, socket: &OwnedFd, slot: usize, watch: Watch) -> io::Result<()> {
        let data = EventData::new_u64(slot as u64);
        Ok(epoll::modify(&self.0, socket, data, watch.flags())?)
    }

    /// Waits for events, at most `nanoseconds`.
    pub(crate) fn wait(&self, events: &mut Events, nanoseconds: u64) -> io::Result<()> {
        let timeout = Timespec {
            tv_sec: (nanoseconds / 1_000_000_000) as i64,
            tv_nsec: (nanoseconds % 1_000_000_000) as i64,
        };
        events.0.clear();
        match epoll::wait(&self.0, spare_capacity(&mut events.0), Some(&timeout)) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}
