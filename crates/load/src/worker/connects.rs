//! Connections made, made again and given up.

use deadheat_model::{Failure, failure::FailurePhase};
use rustix::io::Errno;

use super::{Phase, Worker};
use crate::{
    connection::State,
    deadlines::NEVER,
    poller::Watch,
    recorder::{Cause, Fault},
    schedule::global,
    socket,
    tls::Broken,
};

/// The wait after a failed connect of a closed loop, doubled with each in a row.
const BACKOFF_FIRST: u64 = 10_000_000;
/// The longest wait after a failed connect.
const BACKOFF_MOST: u64 = 500_000_000;
/// How long a server that has announced the connection's end is waited for. The side that closes first has to remember
/// the connection (TIME_WAIT, RFC 9293 §3.6), which costs a client its local ports.
const GOODBYE: u64 = 200_000_000;
/// After so many waits for nothing a worker takes the server for one that never closes, and closes first itself.
const VAIN_GOODBYES: u32 = 3;

impl Worker<'_> {
    /// Closes the connection if it is open, and begins to make it again if it is still wanted.
    pub(super) fn renew(&mut self, slot: usize) {
        self.close(slot);
        if !self.connections[slot].flights.is_empty() {
            // What is on its way is sent again.
            return self.connect(slot);
        }
        if let Some(backlog) = &mut self.backlog {
            self.deadlines.set(slot, NEVER);
            backlog.absent.push(slot);
            return;
        }
        let spent = self.phase == Phase::Measuring && self.plan.quota.is_spent();
        if spent || self.phase == Phase::CoolDown {
            return self.retire(slot);
        }
        self.connect(slot);
    }

    /// Nothing more is expected: the server closes the connection, or this side after a while.
    pub(super) fn await_goodbye(&mut self, slot: usize) {
        if self.vain_goodbyes >= VAIN_GOODBYES {
            return self.renew(slot);
        }
        self.connections[slot].state = State::Closing;
        self.deadlines.set(slot, self.now.saturating_add(GOODBYE));
    }

    pub(super) fn connect(&mut self, slot: usize) {
        let now = self.tick();
        if self.phase == Phase::Over {
            return;
        }
        self.deadlines
            .set(slot, now.saturating_add(self.connect_timeout));
        let source = self
            .plan
            .source(global(self.index, self.plan.cpus.len(), slot));
        let tls = match self.tls.as_ref().map(|tls| tls.session()).transpose() {
            Ok(tls) => tls.map(Box::new),
            Err(error) => return self.tls_failed(slot, &error),
        };
        match socket::begin_connect(&self.plan.peer, source) {
            Ok(socket) => {
                self.connections[slot].begin(socket, tls, now);
                self.opening += 1;
                // On the same machine the connection is made by now as a rule.
                self.try_to_establish(slot);
            }
            Err(error) => self.connect_failed(slot, error),
        }
    }

    pub(super) fn try_to_establish(&mut self, slot: usize) {
        let connection = &mut self.connections[slot];
        let made = connection.socket().and_then(socket::is_connected);
        let made = match made {
            Ok(false) => connection
                .watch(&self.poller, slot, Watch::ReadingAndWriting)
                .map(|()| false),
            // Nobody meets itself where somebody listens.
            Ok(true) if connection.refusals > 0 => connection.socket().and_then(|socket| {
                match socket::met_itself(socket, &self.plan.peer) {
                    true => Err(Errno::CONNREFUSED),
                    false => Ok(true),
                }
            }),
            made => made,
        };
        match made {
            Ok(false) => {}
            Ok(true) => self.established(slot),
            Err(error) => self.connect_failed(slot, error),
        }
    }

    fn established(&mut self, slot: usize) {
        let now = self.tick();
        if self.phase == Phase::Over {
            return;
        }
        let connection = &mut self.connections[slot];
        self.recorder.connection_opened(now - connection.begun);
        connection.establish();
        if connection.state == State::Handshaking {
            connection.begun = now;
            return self.handshake(slot);
        }
        self.opening -= 1;
        self.ready(slot);
    }

    /// Goes on agreeing on TLS, as far as that goes without waiting.
    pub(super) fn handshake(&mut self, slot: usize) {
        match self.try_handshake(slot) {
            Ok(false) => {
                let connection = &mut self.connections[slot];
                let watched = connection.watch(&self.poller, slot, Watch::ReadingAndWriting);
                if let Err(error) = watched {
                    self.connect_failed(slot, error);
                }
            }
            Ok(true) => {
                let now = self.tick();
                if self.phase == Phase::Over {
                    return;
                }
                let connection = &mut self.connections[slot];
                self.recorder.handshake_done(now - connection.begun);
                if let (Some(tls), Some(seen)) = (&connection.tls, &mut self.recorder.tls) {
                    tls.note(seen);
                }
                connection.state = State::Open;
                self.opening -= 1;
                self.ready(slot);
            }
            Err(Broken::Socket(error)) => self.connect_failed(slot, error),
            Err(Broken::Tls(error)) => {
                // The peer is told why, if that goes without waiting.
                let _ = self.connections[slot].flush();
                self.tls_failed(slot, &error);
            }
        }
    }

    /// Whether TLS is agreed on.
    fn try_handshake(&mut self, slot: usize) -> Result<bool, Broken> {
        loop {
            let connection = &mut self.connections[slot];
            connection.flush()?;
            let Some(tls) = &mut connection.tls else {
                return Ok(true);
            };
            if !tls.is_handshaking() {
                return Ok(true);
            }
            // A connection that is renewed while its last bytes are being decrypted finds the room in use. What comes
            // meanwhile is told of once the socket is watched.
            if self.buffers.wire.is_empty() {
                return Ok(false);
            }
            let length = match socket::read(connection.socket()?, &mut self.buffers.wire) {
                Ok(0) => return Err(Broken::Socket(Errno::CONNABORTED)),
                Ok(length) => length,
                Err(Errno::AGAIN) => return Ok(false),
                Err(error) => return Err(error.into()),
            };
            let mut wire = &self.buffers.wire[..length];
            while !wire.is_empty() {
                if let Some(tls) = &mut self.connections[slot].tls {
                    tls.feed(&mut wire)?;
                }
            }
        }
    }

    fn close(&mut self, slot: usize) {
        let connection = &mut self.connections[slot];
        if matches!(connection.state, State::Connecting | State::Handshaking) {
            self.opening -= 1;
        }
        if connection.close() {
            self.recorder.connection_closed(connection.answered);
        }
    }

    pub(super) fn retire(&mut self, slot: usize) {
        self.close(slot);
        self.connections[slot].state = State::Retired;
        self.deadlines.set(slot, NEVER);
    }

    fn tls_failed(&mut self, slot: usize, error: &rustls::Error) {
        let fault = Fault {
            kind: Failure::Tls,
            phase: FailurePhase::Tls,
            cause: Cause::Why(crate::tls::why(error)),
        };
        self.unmade(slot, fault, || error.to_string());
    }

    /// Counts a request that found no connection: issued and failed at once. The next attempt of a closed loop waits.
    #[cold]
    pub(super) fn connect_failed(&mut self, slot: usize, error: Errno) {
        let in_tls = self.connections[slot].state == State::Handshaking;
        let kind = match error {
            Errno::CONNREFUSED => Failure::ConnectRefused,
            Errno::TIMEDOUT => Failure::ConnectTimeout,
            Errno::ADDRNOTAVAIL => Failure::NoLocalPort,
            _ if in_tls => Failure::Tls,
            // It was made, and reset before anything was written.
            Errno::CONNRESET | Errno::PIPE => Failure::Reset,
            _ => Failure::ConnectOther,
        };
        let fault = Fault {
            kind,
            phase: if in_tls {
                FailurePhase::Tls
            } else {
                FailurePhase::Connect
            },
            cause: match error {
                Errno::AGAIN => Cause::Why("the Unix socket's queue is full"),
                Errno::CONNABORTED if in_tls => Cause::Why("the peer closed the connection"),
                Errno::TIMEDOUT => Cause::Why("no connection within the connect timeout"),
                error => Cause::System(error),
            },
        };
        self.unmade(slot, fault, || std::io::Error::from(error).to_string());
    }

    fn unmade(&mut self, slot: usize, fault: Fault, detail: impl Fn() -> String) {
        let end = self.tick();
        if self.phase == Phase::Over {
            return;
        }
        self.close(slot);
        if !self.connections[slot].flights.is_empty() {
            // They were issued already, and were to be sent again.
            while self.connections[slot].flights.pop().is_some() {
                self.recorder.failed(fault, end, &detail);
            }
        } else if self.backlog.is_some() {
            if self.take_waiting() {
                self.recorder.issued();
                self.recorder.failed(fault, end, &detail);
            }
        } else if self.claim() {
            self.recorder.issued();
            self.recorder.failed(fault, end, &detail);
        } else {
            return self.retire(slot);
        }
        self.connections[slot].refusals += 1;
        if let Some(backlog) = &mut self.backlog {
            // The rate bounds the attempts: each takes a request with it.
            self.deadlines.set(slot, NEVER);
            backlog.absent.push(slot);
            return;
        }
        let before = (self.connections[slot].refusals - 1).min(16);
        let wait = (BACKOFF_FIRST << before).min(BACKOFF_MOST);
        self.deadlines.set(slot, end + wait);
    }

    /// Does what is due: first connects and later ones, timeouts.
    #[cold]
    pub(super) fn expire(&mut self) {
        let now = self.now;
        let mut from = 0;
        while let Some(slot) = self.deadlines.take_due(from, now) {
            from = slot + 1;
            match self.connections[slot].state {
                // The first connect.
                State::Absent if self.backlog.is_some() => self.connect(slot),
                State::Absent => self.renew(slot),
                State::Connecting | State::Handshaking => {
                    self.connect_failed(slot, Errno::TIMEDOUT);
                }
                // An open loop's connection without a request: what it was given for the last one, or to be made.
                State::Open if self.connections[slot].flights.is_empty() => {}
                State::Open if self.connections[slot].holding => self.release(slot),
                State::Open => self.time_out(slot),
                State::Closing => {
                    self.vain_goodbyes += 1;
                    self.renew(slot);
                }
                State::Retired => {}
            }
            if self.phase == Phase::Over {
                return;
            }
        }
    }
}
