//! Sockets that never block: made, written and read by one system call each.

use std::{
    io,
    net::{IpAddr, SocketAddr},
    os::{fd::OwnedFd, unix::ffi::OsStrExt as _},
};

use deadheat_model::load::Endpoint;
use rustix::{
    io::Errno,
    net::{
        AddressFamily, RecvFlags, SendFlags, SocketAddrUnix, SocketFlags, SocketType, bind,
        connect, getpeername, getsockname, recv, send, socket_with, sockopt,
    },
};

/// Where sockets connect to, as the system takes it.
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
            // A request goes out when it is written, also in two segments.
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

/// Whether the connection is made; an error when it failed.
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

/// Whether a connection has met itself: a connect to a free port of the ephemeral range can (RFC 9293 §3.5,
/// simultaneous open). Nobody listens there, and it would keep the server from coming back.
pub(crate) fn met_itself(socket: &OwnedFd, peer: &Peer) -> bool {
    let Peer::Tcp(peer) = peer else {
        return false;
    };
    let own = getsockname(socket).ok();
    own.and_then(|own| SocketAddr::try_from(own).ok()) == Some(*peer)
}

/// Writes as much as there is room for.
#[inline]
pub(crate) fn write(socket: &OwnedFd, bytes: &[u8]) -> Result<usize, Errno> {
    loop {
        // A peer that has gone is an error to be counted, not a signal that ends the program.
        match send(socket, bytes, SendFlags::NOSIGNAL) {
            Err(Errno::INTR) => {}
            result => return result,
        }
    }
}

/// Reads what has come, at most a buffer of it; 0: the end of the stream.
#[inline]
pub(crate) fn read(socket: &OwnedFd, buffer: &mut [u8]) -> Result<usize, Errno> {
    receive(socket, buffer, RecvFlags::empty())
}

/// Drops what has come, at most as much as `room` is long, which the kernel does not write to (tcp(7), `MSG_TRUNC`);
/// 0: the end of the stream. For TCP alone: a Unix socket would fill the room.
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
