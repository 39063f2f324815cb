//! One connection: its socket, its state, and HTTP on it. Decides nothing about counts.

use std::{ops::Range, os::fd::OwnedFd};

use rustix::io::Errno;

use crate::{
    deadlines::NEVER,
    http_connection::HttpConnection,
    plan::Plan,
    routes::RouteChoice,
    socket::{self, Interest, Poller, Token},
    tls::TlsStream,
    tunnel::Tunnel,
};

/// The state of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ConnectionState {
    /// Not connected: it is not due yet, has nothing to send, or waits after a failed connect.
    Absent,
    /// Connecting.
    Connecting,
    /// In the handshake with a proxy.
    Tunnelling,
    /// In the TLS handshake.
    Handshaking,
    /// HTTP/2: waiting for the server's settings.
    Greeting,
    /// Connected: requests are in flight, or one may be sent.
    Open,
}

/// The next task for a connection. The worker runs it at the connection's turn on the run queue, never from within the
/// code that scheduled it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Task {
    /// None, until an event.
    #[default]
    Nothing,
    /// Send the first requests on a new connection.
    Begin,
    /// Send more requests, because answers have arrived.
    Send,
    /// Read more; `closing`: the peer sends nothing after what has arrived.
    Read { closing: bool },
    /// Move the connection aside: it takes no new requests, and some are still open.
    Aside,
    /// Connect, or reconnect.
    Connect,
}

/// The most bytes written to one connection before it is the turn of others.
const WRITTEN_AT_A_TIME: usize = 1024 * 1024;

/// The result of writing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WriteOutcome {
    /// Everything was written.
    All,
    /// The socket has no room for more now.
    Full,
    /// The socket may have room for more, but it is the turn of other connections.
    Some,
}

/// A slot for one connection at a time. It outlives its sockets, and reuses its buffers.
#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) state: ConnectionState,
    /// Its route.
    pub(crate) place: RouteChoice,
    /// The index of its next request in the cycle of exchanges, and the range of its target in the cycle.
    turn: usize,
    turns: Range<usize>,
    /// The requests in flight and their answers.
    pub(crate) http: HttpConnection,
    pub(crate) need: Task,
    /// Whether it is on the worker's run queue.
    pub(crate) on_run_queue: bool,
    /// Whether to write unsent bytes at its turn, after its task.
    pub(crate) flushes: bool,
    /// Attempts in a row without an answer: failed connects, and connections that could not be written to.
    pub(crate) refusals: u32,
    /// HTTP/2: if this connection was moved aside, the slot that it was moved from.
    pub(crate) moved_from: usize,
    /// Open requests on draining connections of this slot.
    pub(crate) aside: usize,
    /// When the connection was dialled.
    pub(crate) dialled: u64,
    /// When its TLS handshake began.
    pub(crate) handshake_begun: u64,
    /// When the first byte of the current answer arrived, if that is recorded.
    pub(crate) first_byte: u64,
    /// Whether it is being made for requests that are still to come.
    pub(crate) is_opening: bool,
    /// When the last event of the current answer arrived, if events are counted and there was one.
    pub(crate) last_event: u64,
    /// Closed loop with think time: when its next request may be sent, and the number of think times so far.
    pub(crate) due: u64,
    pub(crate) thoughts: u64,
    /// Whether it is in its think time.
    pub(crate) thinks: bool,
    /// Answers on this connection.
    pub(crate) answered: u64,
    /// When the last answer ended.
    pub(crate) last_answer: u64,
    /// Answers on this connection before the current slice.
    pub(crate) answered_before: u64,
    /// Whether bytes have arrived that no request asked for. The next request on it fails.
    pub(crate) spoiled: bool,
    /// Open loop: whether it is in the queue of free connections.
    pub(crate) listed: bool,
    /// Why the request could not be written, while an answer that arrived before is read.
    pub(crate) write_error: Option<Errno>,
    /// In a load that ends by a count: when the first counted request began, and when the last one ended; [`NEVER`]:
    /// there was none.
    pub(crate) counted_from: u64,
    pub(crate) counted_until: u64,
    pub(crate) socket: Option<OwnedFd>,
    /// Number of earlier sockets in this slot, modulo 2³².
    generation: u32,
    /// The handshake with a proxy, until the tunnel is open.
    pub(crate) tunnel: Option<Box<Tunnel>>,
    pub(crate) tls: Option<Box<TlsStream>>,
    watched: Option<Interest>,
    established: bool,
    /// Whether an earlier connection of this slot was established.
    made_before: bool,
}

impl Connection {
    /// A slot for a connection on the route `place`, whose requests are the `turns` of the cycle. Connections to the
    /// same target begin with different ones.
    pub(crate) fn new(place: RouteChoice, turns: Range<usize>, http: HttpConnection) -> Self {
        Self {
            state: ConnectionState::Absent,
            place,
            turn: turns.start + (place.nth % turns.len() as u64) as usize,
            turns,
            http,
            need: Task::Nothing,
            on_run_queue: false,
            flushes: false,
            refusals: 0,
            moved_from: 0,
            aside: 0,
            dialled: 0,
            handshake_begun: 0,
            first_byte: 0,
            is_opening: false,
            last_event: 0,
            due: 0,
            thoughts: 0,
            thinks: false,
            answered: 0,
            last_answer: 0,
            answered_before: 0,
            spoiled: false,
            listed: false,
            write_error: None,
            counted_from: NEVER,
            counted_until: NEVER,
            socket: None,
            generation: 0,
            tunnel: None,
            tls: None,
            watched: None,
            established: false,
            made_before: false,
        }
    }

    /// Moves the connection with its requests in flight to an empty slot. The counts of the slot and its place in the
    /// cycle stay.
    pub(crate) fn move_to(
        &mut self,
        other: &mut Self,
        poller: &Poller,
        slot: usize,
    ) -> Result<(), Errno> {
        std::mem::swap(&mut self.http, &mut other.http);
        other.socket = self.socket.take();
        other.tls = self.tls.take();
        other.state = std::mem::replace(&mut self.state, ConnectionState::Absent);
        other.established = std::mem::take(&mut self.established);
        other.place = self.place;
        (other.dialled, other.last_answer) = (self.dialled, self.last_answer);
        (other.answered, other.answered_before) = (self.answered, self.answered_before);
        (other.spoiled, other.write_error) = (self.spoiled, self.write_error.take());
        // Events under the earlier token are out of date; the queue reports them again under the new one.
        self.generation = self.generation.wrapping_add(1);
        match self.watched.take() {
            None => Ok(()),
            Some(watched) => {
                other.watched = Some(watched);
                poller
                    .change(other.socket()?, other.token(slot), watched)
                    .map_err(errno)
            }
        }
    }

    /// Starts with a socket that is connecting.
    pub(crate) fn begin(
        &mut self,
        socket: OwnedFd,
        tunnel: Option<Box<Tunnel>>,
        tls: Option<Box<TlsStream>>,
        now: u64,
    ) {
        self.socket = Some(socket);
        self.tunnel = tunnel;
        self.tls = tls;
        self.state = ConnectionState::Connecting;
        self.dialled = now;
        self.answered = 0;
        self.answered_before = 0;
        self.spoiled = false;
        self.http.start_over();
    }

    /// The index of the next request in the cycle; advances it. Wraps with a comparison: `%` would cost a division per
    /// request.
    #[inline]
    pub(crate) fn take_turn(&mut self) -> usize {
        let turn = self.turn;
        self.turn = match turn + 1 {
            next if next == self.turns.end => self.turns.start,
            next => next,
        };
        turn
    }

    /// The socket, if there is one.
    #[inline]
    pub(crate) fn socket(&self) -> Result<&OwnedFd, Errno> {
        self.socket.as_ref().ok_or(Errno::NOTCONN)
    }

    /// Notes that the connection is established. Returns whether it replaces an earlier one.
    pub(crate) fn establish(&mut self) -> bool {
        self.established = true;
        self.state = match self.tls {
            Some(_) => ConnectionState::Handshaking,
            None => ConnectionState::Open,
        };
        std::mem::replace(&mut self.made_before, true)
    }

    /// Watches the socket for `wanted`. An interest in writing, once added, is kept.
    #[inline]
    pub(crate) fn watch(
        &mut self,
        poller: &Poller,
        slot: usize,
        wanted: Interest,
    ) -> Result<(), Errno> {
        let socket = self.socket()?;
        let token = self.token(slot);
        match self.watched {
            None => poller.add(socket, token, wanted).map_err(errno)?,
            Some(Interest::Reading) if wanted == Interest::ReadingAndWriting => {
                poller.change(socket, token, wanted).map_err(errno)?;
            }
            Some(_) => return Ok(()),
        }
        self.watched = Some(wanted);
        Ok(())
    }

    /// Has room for writing reported again, even if there was room all the time.
    pub(crate) fn watch_again(&mut self, poller: &Poller, slot: usize) -> Result<(), Errno> {
        let wanted = Interest::ReadingAndWriting;
        if self.watched == Some(wanted) {
            let changed = poller.change(self.socket()?, self.token(slot), wanted);
            return changed.map_err(errno);
        }
        self.watch(poller, slot, wanted)
    }

    /// The token of its socket in `slot`.
    pub(crate) fn token(&self, slot: usize) -> Token {
        Token {
            slot,
            generation: self.generation,
        }
    }

    /// Writes unsent bytes without blocking. Returns the number of bytes written, and the outcome.
    #[inline]
    pub(crate) fn write(&mut self, plan: &Plan) -> (usize, Result<WriteOutcome, Errno>) {
        if self.http.is_multiplexed() {
            return self.write_frames(plan);
        }
        let Some(socket) = self.socket.as_ref() else {
            return (0, Err(Errno::NOTCONN));
        };
        let bytes = self.http.unwritten(plan);
        let mut count = 0;
        let result = match &mut self.tls {
            Some(tls) => {
                tls.put(bytes);
                count = bytes.len();
                tls.flush(socket).map(|all| {
                    if all {
                        WriteOutcome::All
                    } else {
                        WriteOutcome::Full
                    }
                })
            }
            None => loop {
                if count == bytes.len() {
                    break Ok(WriteOutcome::All);
                }
                if count >= WRITTEN_AT_A_TIME {
                    break Ok(WriteOutcome::Some);
                }
                match socket::write(socket, &bytes[count..]) {
                    Ok(written) => count += written,
                    Err(Errno::AGAIN) => break Ok(WriteOutcome::Full),
                    Err(error) => break Err(error),
                }
            },
        };
        self.http.wrote(count);
        (count, result)
    }

    /// Writes HTTP/2 frames like [`Self::write`]. Pieces of bodies are added as earlier ones are written.
    fn write_frames(&mut self, plan: &Plan) -> (usize, Result<WriteOutcome, Errno>) {
        let Some(socket) = self.socket.as_ref() else {
            return (0, Err(Errno::NOTCONN));
        };
        let mut count = 0;
        loop {
            // The bytes in the TLS buffer go first, so that it never grows large.
            let flushed = self.tls.as_mut().map_or(Ok(true), |tls| tls.flush(socket));
            match flushed {
                Ok(true) => {}
                Ok(false) => return (count, Ok(WriteOutcome::Full)),
                Err(error) => return (count, Err(error)),
            }
            self.http.fill(plan);
            let bytes = self.http.unwritten(plan);
            if bytes.is_empty() {
                return (count, Ok(WriteOutcome::All));
            }
            if count >= WRITTEN_AT_A_TIME {
                return (count, Ok(WriteOutcome::Some));
            }
            let written = match &mut self.tls {
                Some(tls) => {
                    tls.put(bytes);
                    bytes.len()
                }
                None => match socket::write(socket, bytes) {
                    Ok(written) => written,
                    Err(Errno::AGAIN) => return (count, Ok(WriteOutcome::Full)),
                    Err(error) => return (count, Err(error)),
                },
            };
            self.http.wrote(written);
            count += written;
        }
    }

    /// Writes the TLS buffer; returns whether it is empty.
    pub(crate) fn flush(&mut self) -> Result<bool, Errno> {
        match (&mut self.tls, &self.socket) {
            (Some(tls), Some(socket)) => tls.flush(socket),
            _ => Ok(true),
        }
    }

    /// HTTP/2 over TLS: why it was not agreed on; `None` if it was.
    pub(crate) fn disagrees(&self) -> Option<&'static str> {
        let tls = self.tls.as_ref()?;
        self.http.is_multiplexed().then(|| tls.not_http2())?
    }

    /// Whether requests can be sent on it.
    pub(crate) fn is_open(&self) -> bool {
        self.state == ConnectionState::Open
    }

    /// Whether it is being established.
    pub(crate) fn is_being_made(&self) -> bool {
        !matches!(self.state, ConnectionState::Absent | ConnectionState::Open)
    }

    /// Whether HTTP is spoken on it: neither the proxy nor the TLS handshake.
    #[inline]
    pub(crate) fn is_talking(&self) -> bool {
        matches!(
            self.state,
            ConnectionState::Greeting | ConnectionState::Open
        )
    }

    /// Whether the slot has an established connection.
    pub(crate) fn is_established(&self) -> bool {
        self.established
    }

    /// Requests on this connection, answered or in flight.
    #[inline]
    pub(crate) fn begun(&self) -> u64 {
        self.answered + self.http.in_flight() as u64
    }

    /// Answers on this connection in the current slice.
    pub(crate) fn answered_in_slice(&self) -> u64 {
        self.answered - self.answered_before
    }

    /// Unread bytes in the receive queue; `None` if that is unknown.
    pub(crate) fn unread(&self) -> Option<u64> {
        rustix::io::ioctl_fionread(self.socket.as_ref()?).ok()
    }

    /// Ends the connection. Returns whether it was established, and the socket. Dropping the socket closes it, which
    /// also removes it from the readiness queue.
    pub(crate) fn end(&mut self) -> (bool, Option<OwnedFd>) {
        if let (Some(tls), Some(socket), ConnectionState::Open) =
            (&mut self.tls, &self.socket, self.state)
        {
            tls.send_close_notify(socket);
        }
        self.tunnel = None;
        self.tls = None;
        self.watched = None;
        self.is_opening = false;
        self.write_error = None;
        self.generation = self.generation.wrapping_add(1);
        self.http.release();
        self.state = ConnectionState::Absent;
        (std::mem::take(&mut self.established), self.socket.take())
    }
}

fn errno(error: std::io::Error) -> Errno {
    Errno::from_io_error(&error).unwrap_or(Errno::IO)
}
