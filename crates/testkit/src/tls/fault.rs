//! Handshakes that fail, each in a way of its own.

use std::{
    io::{self, Write as _},
    net::Shutdown,
    os::fd::AsFd as _,
};

use crate::{sys, wire::Socket};

/// A fatal alert, handshake_failure (RFC 8446 § 6.2).
const HANDSHAKE_FAILURE: [u8; 7] = [21, 3, 3, 0, 2, 2, 40];

/// What a server does instead of a handshake, once the client has sent its first bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TlsFault {
    /// Refuses with an alert, handshake_failure.
    Alert,
    /// Answers without TLS.
    Garbage,
    /// FIN.
    Close,
    /// RST.
    Reset,
    /// Nothing, until the client gives up.
    Silence,
}

impl TlsFault {
    /// Does it, until the client has gone; the error says what was done.
    pub(crate) fn play(self, socket: &Socket) -> io::Error {
        match self.try_play(socket) {
            Ok(()) => io::Error::other(format!("as the test wants it: {self:?}")),
            Err(error) => error,
        }
    }

    fn try_play(self, socket: &Socket) -> io::Result<()> {
        let mut buffer = [0; 4096];
        // What is left unread would turn a close into a reset.
        if sys::receive(socket.as_fd(), &mut buffer)?.0 == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let mut to = socket;
        match self {
            TlsFault::Alert => to.write_all(&HANDSHAKE_FAILURE)?,
            TlsFault::Garbage => {
                to.write_all(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")?;
            }
            TlsFault::Reset => return sys::reset_on_close(socket.as_fd()),
            TlsFault::Close | TlsFault::Silence => {}
        }
        if self != TlsFault::Silence {
            socket.shutdown(Shutdown::Write)?;
        }
        while sys::receive(socket.as_fd(), &mut buffer)?.0 > 0 {}
        Ok(())
    }
}
