//! A connection's bytes, through TLS or not, each read with the instant at which its last byte arrived.

use std::{
    io::{self, Read, Write},
    net::{Shutdown, SocketAddr, TcpStream},
    os::{
        fd::{AsFd, BorrowedFd},
        unix::net::UnixStream,
    },
    time::Instant,
};

use rustls::ServerConnection;

use crate::sys::{self, Stamp};

/// What a listener accepted.
pub(crate) enum Socket {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl Socket {
    pub(crate) fn try_clone(&self) -> io::Result<Self> {
        match self {
            Socket::Tcp(stream) => stream.try_clone().map(Socket::Tcp),
            Socket::Unix(stream) => stream.try_clone().map(Socket::Unix),
        }
    }

    pub(crate) fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        match self {
            Socket::Tcp(stream) => stream.shutdown(how),
            Socket::Unix(stream) => stream.shutdown(how),
        }
    }

    /// Where the peer connected from; nothing for a Unix socket, whose peers have no name.
    pub(crate) fn peer(&self) -> Option<SocketAddr> {
        match self {
            Socket::Tcp(stream) => stream.peer_addr().ok(),
            Socket::Unix(_) => None,
        }
    }

    /// Sends small writes at once.
    pub(crate) fn without_delay(&self) -> io::Result<()> {
        match self {
            Socket::Tcp(stream) => stream.set_nodelay(true),
            Socket::Unix(_) => Ok(()),
        }
    }
}

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Socket::Tcp(stream) => stream.as_fd(),
            Socket::Unix(stream) => stream.as_fd(),
        }
    }
}

impl Write for &Socket {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Socket::Tcp(stream) => (&*stream).write(bytes),
            Socket::Unix(stream) => (&*stream).write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Notes when the bytes came that were read through it.
struct Stamping<'a> {
    socket: &'a Socket,
    stamp: &'a mut Stamp,
}

impl Read for Stamping<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let (read, stamp) = sys::receive(self.socket.as_fd(), buffer)?;
        *self.stamp = stamp;
        Ok(read)
    }
}

/// A connection.
pub(crate) struct Wire {
    socket: Socket,
    tls: Option<Box<ServerConnection>>,
    stamp: Stamp,
    /// Whether the peer ended TLS as it should, with close_notify.
    notified: bool,
}

impl Wire {
    pub(crate) fn plain(socket: Socket) -> Self {
        Self {
            socket,
            tls: None,
            stamp: Stamp::now(),
            notified: false,
        }
    }

    /// Shakes hands. What the peer did not accept, or did wrong, is the error.
    pub(crate) fn over_tls(socket: Socket, connection: ServerConnection) -> io::Result<Self> {
        let mut wire = Self::plain(socket);
        let tls = wire.tls.insert(Box::new(connection));
        while tls.is_handshaking() {
            flush(tls, &wire.socket)?;
            if tls.is_handshaking() {
                take(tls, &wire.socket, &mut wire.stamp)?;
            }
        }
        // The tickets of TLS 1.3 follow the handshake.
        flush(tls, &wire.socket)?;
        Ok(wire)
    }

    pub(crate) fn socket(&self) -> &Socket {
        &self.socket
    }

    /// The connection's TLS, if it has one.
    pub(crate) fn tls(&self) -> Option<&ServerConnection> {
        self.tls.as_deref()
    }

    /// When the last read came.
    pub(crate) fn stamp(&self) -> Stamp {
        self.stamp
    }

    /// Whether the peer ended TLS with close_notify.
    pub(crate) fn was_notified(&self) -> bool {
        self.notified
    }

    /// Sends these bytes and tells the instant before the last of them was given to the kernel.
    pub(crate) fn send(&mut self, bytes: &[u8]) -> io::Result<Instant> {
        let mut last = Instant::now();
        let Some(tls) = &mut self.tls else {
            (&self.socket).write_all(bytes)?;
            return Ok(last);
        };
        let mut left = bytes;
        while !left.is_empty() {
            let taken = tls.writer().write(left)?;
            left = &left[taken..];
            last = Instant::now();
            flush(tls, &self.socket)?;
        }
        Ok(last)
    }

    /// Sends these bytes so that FIN goes with them, if it follows at once.
    pub(crate) fn send_before_fin(&mut self, bytes: &[u8]) -> io::Result<Instant> {
        match self.tls {
            Some(_) => self.send(bytes),
            None => {
                let at = Instant::now();
                sys::send_more(self.socket.as_fd(), bytes)?;
                Ok(at)
            }
        }
    }

    /// Says that nothing follows: close_notify, where there is TLS, and FIN.
    pub(crate) fn finish(&mut self) -> io::Result<()> {
        if let Some(tls) = &mut self.tls {
            tls.send_close_notify();
            flush(tls, &self.socket)?;
        }
        self.cut()
    }

    /// FIN alone, which with TLS might come from anybody.
    pub(crate) fn cut(&self) -> io::Result<()> {
        self.socket.shutdown(Shutdown::Write)
    }
}

impl Read for Wire {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Some(tls) = &mut self.tls else {
            let (read, stamp) = sys::receive(self.socket.as_fd(), buffer)?;
            self.stamp = stamp;
            return Ok(read);
        };
        loop {
            match tls.reader().read(buffer) {
                Ok(0) => {
                    self.notified = true;
                    return Ok(0);
                }
                // The peer's affair: what counts here is whether its request was whole.
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(0),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                result => return result,
            }
            if take(tls, &self.socket, &mut self.stamp)? == 0 {
                return Ok(0);
            }
            flush(tls, &self.socket)?;
        }
    }
}

/// Reads what came, and takes it apart; 0 at the end of the stream.
fn take(tls: &mut ServerConnection, socket: &Socket, stamp: &mut Stamp) -> io::Result<usize> {
    let read = tls.read_tls(&mut Stamping { socket, stamp })?;
    if let Err(error) = tls.process_new_packets() {
        // The alert that says so.
        let _ = flush(tls, socket);
        return Err(io::Error::new(io::ErrorKind::InvalidData, error));
    }
    match (read, tls.is_handshaking()) {
        (0, true) => Err(io::Error::new(
            io::ErrorKind::UnexpectedEof,
            "closed in the handshake",
        )),
        _ => Ok(read),
    }
}

fn flush(tls: &mut ServerConnection, socket: &Socket) -> io::Result<()> {
    while tls.wants_write() {
        tls.write_tls(&mut { socket })?;
    }
    Ok(())
}
