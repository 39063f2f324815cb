//! One connection: its socket, what it is doing, and the answer it is reading. Decides nothing about counts.

use std::{
    io::{self, Read as _, Write as _},
    net::SocketAddr,
};

use mio::{Interest, Registry, Token, net::TcpStream};

use crate::{http1::AnswerReader, verify::Answer};

/// Bytes of a head in pieces that a connection holds without an allocation.
const HEAD_ROOM: usize = 4 * 1024;

/// What a connection is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// Not connected: its time has not come, or it waits after a failed connect.
    Absent,
    /// Connecting.
    Connecting,
    /// A request is under way.
    Busy,
    /// Connected, between two requests.
    Idle,
    /// Not connected, and will not be again.
    Retired,
}

/// One connection. The slot outlives its sockets, and its buffers serve one after the other.
#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) state: State,
    /// The exchange under way, or the next one.
    pub(crate) exchange: usize,
    /// When the request under way was first written.
    pub(crate) started: u64,
    /// How much of the request has been written.
    pub(crate) written: usize,
    /// Failed connects in a row.
    pub(crate) refusals: u32,
    pub(crate) reader: AnswerReader,
    pub(crate) answer: Answer,
    stream: Option<TcpStream>,
    established: bool,
}

impl Connection {
    pub(crate) fn new(exchange: usize) -> Self {
        Self {
            state: State::Absent,
            exchange,
            started: 0,
            written: 0,
            refusals: 0,
            reader: AnswerReader::with_capacity(HEAD_ROOM),
            answer: Answer::new(),
            stream: None,
            established: false,
        }
    }

    /// Begins to connect; an event for `token` says when that is over.
    pub(crate) fn open(
        &mut self,
        address: SocketAddr,
        registry: &Registry,
        token: Token,
    ) -> io::Result<()> {
        let mut stream = TcpStream::connect(address)?;
        // A request goes out when it is written, also in two segments.
        stream.set_nodelay(true)?;
        // Both interests for the connection's whole life: events are edges, so that one for writing comes only
        // after a write that would have blocked, and nothing needs to be registered again.
        registry.register(&mut stream, token, Interest::READABLE | Interest::WRITABLE)?;
        self.stream = Some(stream);
        self.state = State::Connecting;
        Ok(())
    }

    /// Whether the connection is made; an error when it failed.
    pub(crate) fn establish(&mut self) -> io::Result<bool> {
        let stream = self.stream()?;
        if let Some(error) = stream.take_error()? {
            return Err(error);
        }
        match stream.peer_addr() {
            // A connect to a free port of the ephemeral range can meet itself (RFC 9293 §3.5, simultaneous open):
            // nobody listens there, and it would keep the server from coming back.
            Ok(peer) if stream.local_addr()? == peer => {
                Err(io::ErrorKind::ConnectionRefused.into())
            }
            Ok(_) => {
                self.established = true;
                Ok(true)
            }
            Err(error) if error.kind() == io::ErrorKind::NotConnected => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Writes what is left of `request`, as far as that goes without waiting.
    #[inline]
    pub(crate) fn write(&mut self, request: &[u8]) -> io::Result<()> {
        while self.written < request.len() {
            match self.stream()?.write(&request[self.written..]) {
                Ok(written) => self.written += written,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Reads what has come, at most a buffer of it.
    #[inline]
    pub(crate) fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.stream()?.read(buffer) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                result => return result,
            }
        }
    }

    /// Closes the socket, if there is one (which takes it out of the readiness queue, too). Whether it had been
    /// connected.
    pub(crate) fn close(&mut self) -> bool {
        self.stream = None;
        self.state = State::Absent;
        std::mem::take(&mut self.established)
    }

    fn stream(&self) -> io::Result<&TcpStream> {
        self.stream
            .as_ref()
            .ok_or_else(|| io::ErrorKind::NotConnected.into())
    }
}
