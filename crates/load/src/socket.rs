//! Nonblocking sockets, with one system call for each operation, and their readiness (epoll). Timeouts have nanosecond
//! precision: with milliseconds, an open loop would not keep to its schedule.

use std::{
    io,
    net::{IpAddr, SocketAddr},
    os::{fd::OwnedFd, unix::ffi::OsStrExt as _},
};

use deadheat_model::load::Endpoint;
use rustix::{
    buffer::spare_capacity,
    event::{
        EventfdFlags, Timespec,
        epoll::{self, CreateFlags, Event, EventData, EventFlags},
        eventfd,
    },
    io::Errno,
    net::{
        AddressFamily, RecvFlags, SendFlags, SocketAddrUnix, SocketFlags, SocketType, bind,
        connect, getpeername, getsockname, recv, send, socket_with, sockopt,
    },
};

use crate::LoadError;

/// The address to connect to, in the form of the system call.
#[derive(Clone, Debug)]
pub(crate) enum Peer {
    Tcp(SocketAddr),
    Unix(SocketAddrUnix),
}

impl Peer {
    /// The peer at `endpoint`; an error when its path is too long for a Unix socket.
    pub(crate) fn new(endpoint: &Endpoint) -> io::Result<Self> {
        Ok(match endpoint {
            Endpoint::Tcp { address } => Peer::Tcp(*address),
            Endpoint::Unix { path } => Peer::Unix(match path.as_os_str().as_bytes() {
                [b'@', name @ ..] => SocketAddrUnix::new_abstract_name(name)?,
                _ => SocketAddrUnix::new(path)?,
            }),
        })
    }

    pub(crate) fn is_tcp(&self) -> bool {
        matches!(self, Peer::Tcp(_))
    }
}

/// Begins to connect, from `source` if one is given.
pub(crate) fn begin_connect(peer: &Peer, source: Option<IpAddr>) -> Result<OwnedFd, Errno> {
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let (socket, begun) = match peer {
        Peer::Tcp(address) => {
            let family = match address {
                SocketAddr::V4(_) => AddressFamily::INET,
                SocketAddr::V6(_) => AddressFamily::INET6,
            };
            let socket = socket_with(family, SocketType::STREAM, flags, None)?;
            if let Some(source) = source {
                bind(&socket, &SocketAddr::new(source, 0))?;
            }
            // A request is sent when it is written, even in two segments.
            sockopt::set_tcp_nodelay(&socket, true)?;
            let begun = connect(&socket, address);
            (socket, begun)
        }
        Peer::Unix(address) => {
            let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
            // EAGAIN: the listener's queue is full (connect(2)); nothing is under way then.
            let begun = connect(&socket, address);
            (socket, begun)
        }
    };
    match begun {
        Ok(()) | Err(Errno::INPROGRESS | Errno::INTR) => Ok(socket),
        Err(error) => Err(error),
    }
}

/// Whether the connection is established; an error if connecting failed.
pub(crate) fn is_connected(socket: &OwnedFd) -> Result<bool, Errno> {
    match getpeername(socket) {
        Ok(_) => Ok(true),
        Err(Errno::NOTCONN) => match sockopt::socket_error(socket)? {
            Ok(()) => Ok(false),
            Err(error) => Err(error),
        },
        // The peer has already reset it.
        Err(error) => Err(error),
    }
}

/// Whether a socket is connected to itself. This can happen on a connect to a free port of the ephemeral range (RFC
/// 9293 §3.5, simultaneous open). Such a connection would keep a restarted server from binding the port.
pub(crate) fn met_itself(socket: &OwnedFd, peer: &Peer) -> bool {
    let Peer::Tcp(peer) = peer else {
        return false;
    };
    let own = getsockname(socket).ok();
    own.and_then(|own| SocketAddr::try_from(own).ok()) == Some(*peer)
}

/// Writes as many bytes as there is room for. Returns their number.
#[inline]
pub(crate) fn write(socket: &OwnedFd, bytes: &[u8]) -> Result<usize, Errno> {
    loop {
        // A closed peer is an error to be counted, not a signal that ends the program.
        match send(socket, bytes, SendFlags::NOSIGNAL) {
            Err(Errno::INTR) => {}
            result => return result,
        }
    }
}

/// Reads received bytes into a buffer. Returns their number; 0: the end of the stream.
#[inline]
pub(crate) fn read(socket: &OwnedFd, buffer: &mut [u8]) -> Result<usize, Errno> {
    receive(socket, buffer, RecvFlags::empty())
}

/// Drops received bytes, at most the length of `room`, which the kernel does not write to (tcp(7), `MSG_TRUNC`).
/// Returns their number; 0: the end of the stream. For TCP only: a Unix socket would write to `room`.
#[inline]
pub(crate) fn drop_bytes(socket: &OwnedFd, room: &mut [u8]) -> Result<usize, Errno> {
    receive(socket, room, RecvFlags::TRUNC)
}

#[inline]
fn receive(socket: &OwnedFd, buffer: &mut [u8], flags: RecvFlags) -> Result<usize, Errno> {
    loop {
        match recv(socket, &mut *buffer, flags) {
            Err(Errno::INTR) => {}
            Err(error) => return Err(error),
            Ok((_, length)) => return Ok(length),
        }
    }
}

/// Events taken at once.
pub(crate) const EVENTS: usize = 128;

/// The readiness that a socket is watched for. Events are edges: each change is reported once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Interest {
    /// Bytes or the end of the stream have arrived.
    Reading,
    /// The same, and there is room for writing again.
    ReadingAndWriting,
}

impl Interest {
    fn flags(self) -> EventFlags {
        let reading = EventFlags::IN | EventFlags::RDHUP | EventFlags::ET;
        match self {
            Interest::Reading => reading,
            Interest::ReadingAndWriting => reading | EventFlags::OUT,
        }
    }
}

/// The identity of a watched socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    /// The connection's slot.
    pub(crate) slot: usize,
    /// The number of the socket within its slot. An earlier socket of the slot may still be open.
    pub(crate) generation: u32,
}

impl Token {
    fn data(self) -> EventData {
        EventData::new_u64(u64::from(self.generation) << 32 | self.slot as u64)
    }
}

/// A readiness event of a socket.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ready {
    /// The token of the socket.
    pub(crate) token: Token,
    /// Whether there is something to read, including the end of the stream and an error.
    pub(crate) readable: bool,
    /// Whether there is room for writing.
    pub(crate) writable: bool,
    /// Whether the peer has closed its side: nothing follows the bytes to be read.
    pub(crate) closing: bool,
}

/// The events of one wait.
pub(crate) struct Events(Vec<Event>);

impl Events {
    /// An empty buffer for the events of a wait.
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
                token: Token {
                    slot: event.data.u64() as u32 as usize,
                    generation: (event.data.u64() >> 32) as u32,
                },
                readable: flags.intersects(EventFlags::IN | ended),
                writable: flags.contains(EventFlags::OUT),
                closing: flags.intersects(EventFlags::RDHUP | EventFlags::HUP),
            }
        })
    }
}

/// Wakes a worker (eventfd(2)). Nobody reads the eventfd: each write is an edge.
#[derive(Debug)]
pub(crate) struct Waker(OwnedFd);

impl Waker {
    /// The slot number of a waker's events.
    pub(crate) const SLOT: usize = u32::MAX as usize;

    pub(crate) fn new() -> io::Result<Self> {
        Ok(Self(eventfd(
            0,
            EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK,
        )?))
    }

    /// Wakes the listener. After 2⁶⁴ calls, nothing happens any more.
    pub(crate) fn wake(&self) {
        let _ = rustix::io::write(&self.0, &1u64.to_ne_bytes());
    }
}

/// Why no queue of readiness events could be created.
#[derive(Debug)]
pub(crate) enum PollerError {
    /// The system does not know epoll_pwait2(2), or a container forbids it.
    Unknown,
    /// Anything else.
    System(io::Error),
}

impl From<Errno> for PollerError {
    fn from(error: Errno) -> Self {
        match error {
            // A container's filter of system calls answers EPERM to what it does not know.
            Errno::NOSYS | Errno::PERM => PollerError::Unknown,
            error => PollerError::System(error.into()),
        }
    }
}

impl PollerError {
    /// The error of worker `worker`.
    pub(crate) fn of_worker(self, worker: usize) -> LoadError {
        match self {
            PollerError::Unknown => LoadError::OldKernel,
            PollerError::System(source) => LoadError::Poll { worker, source },
        }
    }
}

/// A queue of readiness events.
#[derive(Debug)]
pub(crate) struct Poller {
    queue: OwnedFd,
    /// Whether it accepts no socket, as if the system had no room for another.
    #[cfg(test)]
    pub(crate) is_full: bool,
}

impl Poller {
    /// A queue, if this kernel supports timeouts in nanoseconds.
    pub(crate) fn new() -> Result<Self, PollerError> {
        Self::probed(Self::wait)
    }

    /// A queue on which `wait` was tried, because creating one does not show whether its timeouts are supported.
    fn probed(
        wait: impl FnOnce(&Self, &mut Events, u64) -> io::Result<()>,
    ) -> Result<Self, PollerError> {
        let poller = Self {
            queue: epoll::create(CreateFlags::CLOEXEC).map_err(PollerError::from)?,
            #[cfg(test)]
            is_full: false,
        };
        let mut none = Events(Vec::with_capacity(1));
        wait(&poller, &mut none, 0).map_err(|error| {
            PollerError::from(Errno::from_io_error(&error).unwrap_or(Errno::IO))
        })?;
        Ok(poller)
    }

    /// Watches a socket, until it is closed.
    pub(crate) fn add(&self, socket: &OwnedFd, token: Token, watch: Interest) -> io::Result<()> {
        #[cfg(test)]
        if self.is_full {
            return Err(Errno::NOSPC.into());
        }
        Ok(epoll::add(
            &self.queue,
            socket,
            token.data(),
            watch.flags(),
        )?)
    }

    /// Also waits for events of `waker`.
    pub(crate) fn listen(&self, waker: &Waker) -> io::Result<()> {
        let token = Token {
            slot: Waker::SLOT,
            generation: 0,
        };
        self.add(&waker.0, token, Interest::Reading)
    }

    /// Changes what a socket is watched for. Readiness that exists already is reported again.
    pub(crate) fn change(&self, socket: &OwnedFd, token: Token, watch: Interest) -> io::Result<()> {
        Ok(epoll::modify(
            &self.queue,
            socket,
            token.data(),
            watch.flags(),
        )?)
    }

    /// Waits for events, at most `nanoseconds`.
    pub(crate) fn wait(&self, events: &mut Events, nanoseconds: u64) -> io::Result<()> {
        let timeout = Timespec {
            tv_sec: (nanoseconds / 1_000_000_000) as i64,
            tv_nsec: (nanoseconds % 1_000_000_000) as i64,
        };
        events.0.clear();
        match epoll::wait(&self.queue, spare_capacity(&mut events.0), Some(&timeout)) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_without_exact_timeouts_is_told_from_other_errors() {
        assert!(Poller::new().is_ok());
        let probe = |answer: Errno| {
            let probed = Poller::probed(|_, _, _| Err(answer.into()));
            probed.expect_err("a probe that failed").of_worker(3)
        };
        for unknown in [Errno::NOSYS, Errno::PERM] {
            let error = probe(unknown);
            assert!(matches!(error, LoadError::OldKernel), "{error}");
        }
        let other = probe(Errno::MFILE);
        assert!(
            matches!(other, LoadError::Poll { worker: 3, .. }),
            "{other}"
        );
    }
}
