//! One connection: its socket, what it is doing, and what is said on it. Decides nothing about counts.

use std::{ops::Range, os::fd::OwnedFd};

use rustix::io::Errno;

use crate::{
    deadlines::NEVER,
    http_connection::HttpConnection,
    plan::Plan,
    routes::RouteChoice,
    socket::{self, Poller, Token, Watch},
    tls::Session,
    tunnel::Tunnel,
};

/// What a connection is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ConnectionState {
    /// Not connected: its time has not come, or nothing is to be sent, or it waits after a failed connect.
    Absent,
    /// Connecting.
    Connecting,
    /// Talking with a proxy.
    Tunnelling,
    /// Agreeing on TLS.
    Handshaking,
    /// HTTP/2: the server has still to say what it allows.
    Greeting,
    /// Connected: requests are on their way, or one may be sent.
    Open,
}

/// What a connection needs next. The worker sees to it when the connection's turn on its run queue comes, and never from
/// within what led to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Task {
    /// To be left alone until something happens to it.
    #[default]
    Nothing,
    /// The first requests after it was made.
    Begin,
    /// More requests: answers have come.
    Send,
    /// More reading; `closing`: the peer has said that nothing follows what is there.
    Read { closing: bool },
    /// To be moved aside: it takes no more requests, and the server still has some.
    Aside,
    /// To be made, or made again.
    Connect,
}

/// Bytes written to one connection before others are looked at.
const WRITTEN_AT_A_TIME: usize = 1024 * 1024;

/// What came of writing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WriteOutcome {
    /// Everything has gone out.
    All,
    /// There is no room for more now.
    Full,
    /// There may be room for more, but it is the turn of others.
    Some,
}

/// One connection. The slot outlives its sockets, and its buffers serve one after the other.
#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) state: ConnectionState,
    /// Where it leads.
    pub(crate) place: RouteChoice,
    /// Where in the cycle of exchanges its next request is, and the part of it that is its target's.
    turn: usize,
    turns: Range<usize>,
    /// The requests on their way and the answers that come.
    pub(crate) http: HttpConnection,
    pub(crate) need: Task,
    /// Whether it is on the worker's run queue.
    pub(crate) on_agenda: bool,
    /// Whether something is to be written at its turn, after what it needs.
    pub(crate) flushes: bool,
    /// Attempts in a row from which no answer came: failed connects, and connections that could not be written to.
    pub(crate) refusals: u32,
    /// HTTP/2: the slot whose earlier connection this is, if it takes no more requests.
    pub(crate) moved_from: usize,
    /// Requests that earlier connections of this slot still have.
    pub(crate) aside: usize,
    /// When the connection was begun.
    pub(crate) dialled: u64,
    /// When its TLS handshake was begun.
    pub(crate) handshake_begun: u64,
    /// When the answer that comes began to, if that is recorded.
    pub(crate) first_byte: u64,
    /// Whether it is being made for requests that are still to come.
    pub(crate) is_opening: bool,
    /// When the latest event of the answer that comes did, if events are counted and there was one.
    pub(crate) last_event: u64,
    /// Closed loop with thinking: when its next request may be sent, and how often it has thought.
    pub(crate) due: u64,
    pub(crate) thoughts: u64,
    /// Whether it is among those that think.
    pub(crate) thinks: bool,
    /// Answers on this connection.
    pub(crate) answered: u64,
    /// When the latest of them ended.
    pub(crate) last_answer: u64,
    /// Those of them before the slice that lasts.
    pub(crate) answered_before: u64,
    /// Whether bytes have come that no request asked for. What is sent next on it fails.
    pub(crate) spoiled: bool,
    /// Open loop: whether it is in the queue of free connections.
    pub(crate) listed: bool,
    /// Why the request could not be written, while an answer that had come before is looked for.
    pub(crate) write_error: Option<Errno>,
    /// A load that a count ends: when the first counted request was begun, and when the latest one ended; [`NEVER`]:
    /// there was none.
    pub(crate) counted_from: u64,
    pub(crate) counted_until: u64,
    pub(crate) socket: Option<OwnedFd>,
    /// How many sockets the slot had before this one, modulo 2³².
    generation: u32,
    /// The talk with a proxy, until it leads to the server.
    pub(crate) tunnel: Option<Box<Tunnel>>,
    pub(crate) tls: Option<Box<Session>>,
    watched: Option<Watch>,
    established: bool,
    /// Whether an earlier connection of this slot was made.
    made_before: bool,
}

impl Connection {
    /// A slot for a connection at `place`, whose requests are the `turns` of the cycle. Connections to the same target
    /// begin with different ones.
    pub(crate) fn new(place: RouteChoice, turns: Range<usize>, http: HttpConnection) -> Self {
        Self {
            state: ConnectionState::Absent,
            place,
            turn: turns.start + (place.nth % turns.len() as u64) as usize,
            turns,
            http,
            need: Task::Nothing,
            on_agenda: false,
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

    /// Moves the connection to another slot, which has none, with all that is on its way. What the slot has counted, and
    /// its turn, stay.
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
        // What the queue says of the socket under its earlier token is out of date: under the new one it is said again.
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

    /// Takes a socket that has begun to connect.
    pub(crate) fn begin(
        &mut self,
        socket: OwnedFd,
        tunnel: Option<Box<Tunnel>>,
        tls: Option<Box<Session>>,
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

    /// Where in the cycle the next request is. Wraps with a comparison: `%` would cost a division per request.
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

    /// The connection is made. Whether it takes the place of an earlier one.
    pub(crate) fn establish(&mut self) -> bool {
        self.established = true;
        self.state = match self.tls {
            Some(_) => ConnectionState::Handshaking,
            None => ConnectionState::Open,
        };
        std::mem::replace(&mut self.made_before, true)
    }

    /// Sees to it that the socket is watched for what is expected: for room as well, when writing would have had to
    /// wait. What it is once watched for stays.
    #[inline]
    pub(crate) fn watch(
        &mut self,
        poller: &Poller,
        slot: usize,
        wanted: Watch,
    ) -> Result<(), Errno> {
        let socket = self.socket()?;
        let token = self.token(slot);
        match self.watched {
            None => poller.add(socket, token, wanted).map_err(errno)?,
            Some(Watch::Reading) if wanted == Watch::ReadingAndWriting => {
                poller.change(socket, token, wanted).map_err(errno)?;
            }
            Some(_) => return Ok(()),
        }
        self.watched = Some(wanted);
        Ok(())
    }

    /// Sees to it that room for writing is reported soon, although there may have been some all the time.
    pub(crate) fn watch_again(&mut self, poller: &Poller, slot: usize) -> Result<(), Errno> {
        let wanted = Watch::ReadingAndWriting;
        if self.watched == Some(wanted) {
            let changed = poller.change(self.socket()?, self.token(slot), wanted);
            return changed.map_err(errno);
        }
        self.watch(poller, slot, wanted)
    }

    /// What its socket is watched for.
    pub(crate) fn token(&self, slot: usize) -> Token {
        Token {
            slot,
            generation: self.generation,
        }
    }

    /// Writes what is to be sent, as far as that goes without waiting: how many bytes, and whether that is all.
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

    /// Writes frames of HTTP/2 like [`Self::write`]. Pieces of bodies are added as the earlier ones go out.
    fn write_frames(&mut self, plan: &Plan) -> (usize, Result<WriteOutcome, Errno>) {
        let Some(socket) = self.socket.as_ref() else {
            return (0, Err(Errno::NOTCONN));
        };
        let mut count = 0;
        loop {
            // What TLS holds goes first, so that it never holds much.
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

    /// Sends what TLS has to send; whether that is all.
    pub(crate) fn flush(&mut self) -> Result<bool, Errno> {
        match (&mut self.tls, &self.socket) {
            (Some(tls), Some(socket)) => tls.flush(socket),
            _ => Ok(true),
        }
    }

    /// HTTP/2 over TLS: why the server does not speak it, if it does not.
    pub(crate) fn disagrees(&self) -> Option<&'static str> {
        let tls = self.tls.as_ref()?;
        self.http.is_multiplexed().then(|| tls.not_http2())?
    }

    /// Whether requests can be sent on it.
    pub(crate) fn is_open(&self) -> bool {
        self.state == ConnectionState::Open
    }

    /// Whether it is on the way to where requests can be sent on it.
    pub(crate) fn is_being_made(&self) -> bool {
        !matches!(self.state, ConnectionState::Absent | ConnectionState::Open)
    }

    /// Whether what is said on it is HTTP.
    #[inline]
    pub(crate) fn is_talking(&self) -> bool {
        matches!(
            self.state,
            ConnectionState::Greeting | ConnectionState::Open
        )
    }

    /// Whether there is a connection that was made.
    pub(crate) fn is_established(&self) -> bool {
        self.established
    }

    /// Requests on this connection, answered or on their way.
    #[inline]
    pub(crate) fn begun(&self) -> u64 {
        self.answered + self.http.in_flight() as u64
    }

    /// Answers on this connection in the slice that lasts.
    pub(crate) fn answered_in_slice(&self) -> u64 {
        self.answered - self.answered_before
    }

    /// Bytes in the receive queue that nobody has read; `None` where that cannot be known.
    pub(crate) fn unread(&self) -> Option<u64> {
        rustix::io::ioctl_fionread(self.socket.as_ref()?).ok()
    }

    /// Ends the connection: whether it had been made, and the socket, which its dropping closes (and takes out of the
    /// readiness queue, too).
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
