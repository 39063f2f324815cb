//! A port that listens and takes nobody in.

use std::{
    io,
    net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream},
    os::fd::AsRawFd as _,
    time::Duration,
};

/// How long a connection that finds room may take. It is the kernel alone that answers.
const AT_ONCE: Duration = Duration::from_millis(150);
/// More than any kernel takes beyond what it was asked for.
const MOST: usize = 64;

/// A loopback port whose queue of connections is full, so that the kernel lets further SYNs fall: whoever connects
/// waits in vain. (Linux does so unless `net.ipv4.tcp_abort_on_overflow` is set.)
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
                Ok(stream) if held.len() < MOST => held.push(stream),
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
