//! A port that nobody listens on, and that nobody else gets.

use std::{
    io,
    net::{Ipv4Addr, SocketAddr, SocketAddrV4, TcpListener},
    os::fd::{AsFd as _, AsRawFd as _, FromRawFd as _, OwnedFd},
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
