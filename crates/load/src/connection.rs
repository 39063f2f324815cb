//! One connection: its socket, what it is doing, the requests on their way and the answer it is reading. Decides
//! nothing about counts.

use std::os::fd::OwnedFd;

use rustix::io::Errno;

use crate::{
    http1::AnswerReader,
    poller::{Poller, Watch},
    socket,
    tls::Session,
    verify::Answer,
};

/// What a connection is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// Not connected: its time has not come, or nothing is to be sent, or it waits after a failed connect.
    Absent,
    /// Connecting.
    Connecting,
    /// Agreeing on TLS.
    Handshaking,
    /// Connected: requests are on their way, or one may be sent.
    Open,
    /// Nothing is expected any more but the server's end of the connection.
    Closing,
    /// Not connected, and will not be again.
    Retired,
}

/// A request on its way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Flight {
    /// When it should have been sent; in a closed loop when it was.
    pub(crate) intended: u64,
    /// When it was first written.
    pub(crate) started: u64,
    /// Which exchange it is.
    pub(crate) exchange: u32,
}

/// The requests on their way on a connection, in the order of their answers.
#[derive(Debug)]
pub(crate) struct Flights {
    ring: Box<[Flight]>,
    first: usize,
    count: usize,
}

impl Flights {
    fn new(most: usize) -> Self {
        Self {
            ring: vec![Flight::default(); most.max(1)].into_boxed_slice(),
            first: 0,
            count: 0,
        }
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.count
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.count == 0
    }

    #[inline]
    pub(crate) fn is_full(&self) -> bool {
        self.count == self.ring.len()
    }

    #[inline]
    pub(crate) fn first(&self) -> Option<Flight> {
        (self.count > 0).then(|| self.ring[self.first])
    }

    /// Adds one behind the others. There must be room.
    #[inline]
    pub(crate) fn push(&mut self, flight: Flight) {
        debug_assert!(!self.is_full());
        let mut at = self.first + self.count;
        if at >= self.ring.len() {
            at -= self.ring.len();
        }
        self.ring[at] = flight;
        self.count += 1;
    }

    /// Takes the first one away.
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<Flight> {
        let first = self.first()?;
        self.count -= 1;
        self.first += 1;
        if self.first == self.ring.len() {
            self.first = 0;
        }
        Some(first)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = Flight> {
        (0..self.count).map(|nth| self.ring[(self.first + nth) % self.ring.len()])
    }
}

/// One connection. The slot outlives its sockets, and its buffers serve one after the other.
#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) state: State,
    /// Where in the cycle of exchanges its next request stands.
    pub(crate) turn: usize,
    pub(crate) flights: Flights,
    /// Failed connects in a row.
    pub(crate) refusals: u32,
    /// When the connection under way was begun, then when its TLS was.
    pub(crate) begun: u64,
    /// Answers on this connection.
    pub(crate) answered: u64,
    /// Whether the rest of the request waits for the server's 100 Continue.
    pub(crate) holding: bool,
    /// Open loop: whether it stands in the queue of free connections.
    pub(crate) listed: bool,
    pub(crate) reader: AnswerReader,
    pub(crate) answer: Answer,
    /// Requests put together here, where they are not the plan's own bytes.
    pub(crate) composed: Vec<u8>,
    /// How much of what is to be written has been.
    pub(crate) written: usize,
    socket: Option<OwnedFd>,
    pub(crate) tls: Option<Box<Session>>,
    watched: Option<Watch>,
    established: bool,
}

impl Connection {
    /// A slot for `pipeline` requests at once, whose first request is number `turn` of the cycle.
    pub(crate) fn new(turn: usize, pipeline: usize) -> Self {
        Self {
            state: State::Absent,
            turn,
            flights: Flights::new(pipeline),
            refusals: 0,
            begun: 0,
            answered: 0,
            holding: false,
            listed: false,
            reader: AnswerReader::new(),
            answer: Answer::new(),
            composed: Vec::new(),
            written: 0,
            socket: None,
            tls: None,
            watched: None,
            established: false,
        }
    }

    /// Takes a socket that has begun to connect.
    pub(crate) fn begin(&mut self, socket: OwnedFd, tls: Option<Box<Session>>, now: u64) {
        self.socket = Some(socket);
        self.tls = tls;
        self.state = State::Connecting;
        self.begun = now;
        self.answered = 0;
        self.holding = false;
        self.composed.clear();
        self.written = 0;
    }

    /// The socket, if there is one.
    #[inline]
    pub(crate) fn socket(&self) -> Result<&OwnedFd, Errno> {
        self.socket.as_ref().ok_or(Errno::NOTCONN)
    }

    /// The connection is made.
    pub(crate) fn establish(&mut self) {
        self.established = true;
        self.refusals = 0;
        self.state = match self.tls {
            Some(_) => State::Handshaking,
            None => State::Open,
        };
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
        let failed = |error: std::io::Error| Errno::from_io_error(&error).unwrap_or(Errno::IO);
        let socket = self.socket()?;
        match self.watched {
            None => poller.add(socket, slot, wanted).map_err(failed)?,
            Some(Watch::Reading) if wanted == Watch::ReadingAndWriting => {
                poller.change(socket, slot, wanted).map_err(failed)?;
            }
            Some(_) => return Ok(()),
        }
        self.watched = Some(wanted);
        Ok(())
    }

    /// Writes what is left of `bytes`, as far as that goes without waiting. Whether everything has gone out.
    #[inline]
    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<bool, Errno> {
        let socket = self.socket.as_ref().ok_or(Errno::NOTCONN)?;
        if let Some(tls) = &mut self.tls {
            tls.put(&bytes[self.written..]);
            self.written = bytes.len();
            return tls.flush(socket);
        }
        while self.written < bytes.len() {
            match socket::write(socket, &bytes[self.written..]) {
                Ok(written) => self.written += written,
                Err(Errno::AGAIN) => return Ok(false),
                Err(error) => return Err(error),
            }
        }
        Ok(true)
    }

    /// Sends what TLS has to send; whether that is all.
    pub(crate) fn flush(&mut self) -> Result<bool, Errno> {
        match (&mut self.tls, &self.socket) {
            (Some(tls), Some(socket)) => tls.flush(socket),
            _ => Ok(true),
        }
    }

    /// Whether there is a connection that was made.
    pub(crate) fn is_established(&self) -> bool {
        self.established
    }

    /// Bytes in the receive queue that nobody has read; `None` where that cannot be known.
    pub(crate) fn unread(&self) -> Option<u64> {
        rustix::io::ioctl_fionread(self.socket.as_ref()?).ok()
    }

    /// Closes the socket, if there is one (which takes it out of the readiness queue, too). Whether it had been
    /// connected.
    pub(crate) fn close(&mut self) -> bool {
        if let (Some(tls), Some(socket), State::Open | State::Closing) =
            (&mut self.tls, &self.socket, self.state)
        {
            tls.say_goodbye(socket);
        }
        self.socket = None;
        self.tls = None;
        self.watched = None;
        self.holding = false;
        self.state = State::Absent;
        std::mem::take(&mut self.established)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flights_come_back_in_order() {
        let mut flights = Flights::new(3);
        let flight = |exchange| Flight {
            exchange,
            ..Flight::default()
        };
        assert_eq!((flights.first(), flights.pop()), (None, None));
        let mut expected = 0;
        for exchange in 0..20 {
            if flights.is_full() {
                assert_eq!(flights.pop(), Some(flight(expected)));
                expected += 1;
            }
            flights.push(flight(exchange));
            let all: Vec<u32> = flights.iter().map(|flight| flight.exchange).collect();
            assert_eq!(all, (expected..=exchange).collect::<Vec<u32>>());
        }
        assert_eq!(flights.len(), 3);
        assert_eq!(flights.first(), Some(flight(17)));
    }
}
