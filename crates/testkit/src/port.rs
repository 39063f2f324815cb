//! Ports that accept nobody: one that refuses connections, and that nobody else gets; one that listens, with a full
//! queue.

use std::{
    io,
    net::{Ipv4Addr, SocketAddr, SocketAddrV4, TcpListener, TcpStream},
    os::fd::{AsFd as _, AsRawFd as _, FromRawFd as _, OwnedFd},
    time::Duration,
};

use crate::sys;

/// A loopback port that refuses connections for as long as this lives.
#[derive(Debug)]
pub struct RefusingPort {
    socket: OwnedFd,
    address: SocketAddr,
}

impl RefusingPort {
    /// Takes a port without listening on it.
    ///
    /// # Errors
    ///
    /// When the system has no socket or port left.
    pub fn new() -> io::Result<Self> {
        Self::take(0)
    }

    /// Takes the port that a server has had until now, without listening on it.
    ///
    /// # Errors
    ///
    /// When somebody else has it, or it is not of 127.0.0.1.
    pub fn at(address: SocketAddr) -> io::Result<Self> {
        match address {
            SocketAddr::V4(v4) if *v4.ip() == Ipv4Addr::LOCALHOST => Self::take(v4.port()),
            _ => Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                format!("keeping {address}: only ports of 127.0.0.1 are kept"),
            )),
        }
    }

    fn take(port: u16) -> io::Result<Self> {
        // SAFETY: the call takes no pointers; a non-negative result is a new descriptor that nobody else owns.
        let socket = unsafe {
            let raw = libc::socket(libc::AF_INET, libc::SOCK_STREAM | libc::SOCK_CLOEXEC, 0);
            if raw < 0 {
                return Err(io::Error::last_os_error());
            }
            OwnedFd::from_raw_fd(raw)
        };
        // Connections of the server before may still fade away there.
        sys::reuse_address(socket.as_fd())?;
        let wanted = libc::sockaddr_in {
            sin_family: libc::AF_INET as libc::sa_family_t,
            sin_port: port.to_be(),
            sin_addr: libc::in_addr {
                s_addr: u32::from(Ipv4Addr::LOCALHOST).to_be(),
            },
            sin_zero: [0; 8],
        };
        let mut bound = wanted;
        let mut length = size_of::<libc::sockaddr_in>() as libc::socklen_t;
        // SAFETY: both addresses are valid for `length` bytes, and `bound` is written within them.
        let result = unsafe {
            match libc::bind(socket.as_raw_fd(), (&raw const wanted).cast(), length) {
                0 => libc::getsockname(socket.as_raw_fd(), (&raw mut bound).cast(), &mut length),
                error => error,
            }
        };
        if result != 0 {
            return Err(io::Error::last_os_error());
        }
        let port = u16::from_be(bound.sin_port);
        let address = SocketAddrV4::new(Ipv4Addr::LOCALHOST, port).into();
        Ok(Self { socket, address })
    }

    /// Where connections are refused.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Begins to listen: refuses no longer.
    ///
    /// # Errors
    ///
    /// When the system refuses.
    pub fn listen(self) -> io::Result<TcpListener> {
        // SAFETY: the call takes no pointers, and the descriptor is open.
        match unsafe { libc::listen(self.socket.as_raw_fd(), 1024) } {
            0 => Ok(TcpListener::from(self.socket)),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

/// How long a connection that finds room may take. It is the kernel alone that answers.
const AT_ONCE: Duration = Duration::from_millis(150);
/// More than any kernel takes beyond what it was asked for.
const MAX: usize = 64;

/// A loopback port whose queue of connections is full, so that the kernel lets further SYNs fall: a client that
/// connects waits without an answer. (Linux does so unless `net.ipv4.tcp_abort_on_overflow` is set.)
#[derive(Debug)]
pub struct FullBacklog {
    listener: TcpListener,
    address: SocketAddr,
    /// Connections that fill it.
    held: Vec<TcpStream>,
}

impl FullBacklog {
    /// Listens, and connects until no connection is taken any more.
    ///
    /// # Errors
    ///
    /// When the system has no port left, or takes every connection.
    pub fn new() -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        // SAFETY: the call takes no pointers, and the descriptor is open. Listening again changes the queue's length.
        if unsafe { libc::listen(listener.as_raw_fd(), 1) } != 0 {
            return Err(io::Error::last_os_error());
        }
        let address = listener.local_addr()?;
        let (mut held, mut waited) = (Vec::new(), false);
        loop {
            match TcpStream::connect_timeout(&address, AT_ONCE) {
                Ok(stream) if held.len() < MAX => held.push(stream),
                Ok(_) => return Err(io::Error::other("this kernel takes every connection")),
                // Twice in a row: one alone may have been a stall of the machine.
                Err(error) if error.kind() == io::ErrorKind::TimedOut && waited => break,
                Err(error) if error.kind() == io::ErrorKind::TimedOut => {
                    waited = true;
                    continue;
                }
                Err(error) => return Err(error),
            }
            waited = false;
        }
        Ok(Self {
            listener,
            address,
            held,
        })
    }

    /// Where nobody is taken in.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Connections in the queue: its own, and those that it should not have had room for.
    ///
    /// # Errors
    ///
    /// When the system refuses.
    pub fn queued(self) -> io::Result<(usize, usize)> {
        self.listener.set_nonblocking(true)?;
        let own: Vec<SocketAddr> = self.held.iter().flat_map(TcpStream::local_addr).collect();
        let (mut mine, mut others) = (0, 0);
        loop {
            match self.listener.accept() {
                Ok((_, peer)) if own.contains(&peer) => mine += 1,
                Ok(_) => others += 1,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    return Ok((mine, others));
                }
                Err(error) => return Err(error),
            }
        }
    }
}
