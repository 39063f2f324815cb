//! Opening, reopening and closing connections, also through a proxy.

use std::os::fd::OwnedFd;

use deadheat_model::{Failure, failure::FailurePhase};
use rustix::io::Errno;

use super::{Phase, Worker, requests::fault};
use crate::{
    connection::{ConnectionState, Task},
    deadlines::NEVER,
    recorder::{Cause, Fault},
    socket::{self, Interest},
    tls::TlsError,
    tunnel::ProxyRefusal,
};

/// The wait after a failed connect of a closed loop, in nanoseconds. It doubles with each failure in a row.
const BACKOFF_FIRST: u64 = 10_000_000;
/// The longest wait after a failed connect.
const BACKOFF_MOST: u64 = 500_000_000;
/// The most bytes of a handshake read from one connection before it is the turn of others.
const READ_AT_A_TIME: usize = 1024 * 1024;

/// How long to wait after this many failed attempts in a row, in nanoseconds.
pub(super) fn back_off(refusals: u32) -> u64 {
    let before = refusals.saturating_sub(1).min(16);
    (BACKOFF_FIRST << before).min(BACKOFF_MOST)
}

impl Worker<'_> {
    /// Closes the connection if it is open, and reconnects if it is still needed.
    pub(super) fn renew(&mut self, slot: usize) {
        self.close(slot);
        self.replace(slot);
    }

    /// Reconnects in `slot` if the connection is still needed.
    pub(super) fn replace(&mut self, slot: usize) {
        if slot >= self.slots {
            self.deadlines.set(slot, NEVER);
            return self.note_left(slot);
        }
        // Requests in flight are sent again.
        if self.backlog.is_some() && self.connections[slot].http.is_idle() {
            self.deadlines.set(slot, NEVER);
            return self.note_absent(slot);
        }
        self.schedule(slot, Task::Connect);
    }

    /// Opens a connection, unless those that are being opened will take the last requests.
    pub(super) fn connect_if_needed(&mut self, slot: usize) {
        let is_free = self.backlog.is_none() && self.connections[slot].http.is_idle();
        let nothing_left = match self.clock.phase {
            Phase::Measuring => !self.plan.quota.has_more_than(self.opening),
            phase => phase == Phase::Drain,
        };
        if is_free && nothing_left {
            self.deadlines.set(slot, NEVER)
        } else if !(is_free && self.is_thinking(slot)) {
            self.connect(slot)
        }
    }

    pub(super) fn connect(&mut self, slot: usize) {
        let now = self.tick();
        if self.clock.is_over() {
            return;
        }
        // A request in flight has its own timeout, too.
        let first = self.connections[slot].http.oldest();
        let whole = first.map_or(NEVER, |first| {
            first.started.saturating_add(self.bounds.request)
        });
        let until = now.saturating_add(self.bounds.connect).min(whole);
        self.deadlines.set(slot, until);
        let place = self.connections[slot].place;
        let tls = self.tls[place.route as usize].as_ref();
        let tls = match tls.map(|tls| tls.new_stream()).transpose() {
            Ok(tls) => tls.map(Box::new),
            Err(error) => return self.tls_failed(slot, crate::tls::why(&error), &error),
        };
        let peer = &self.plan.routes.all()[place.route as usize].peer;
        match socket::begin_connect(peer, self.plan.source(place)) {
            Ok(socket) => {
                let tunnel = self.plan.routes.tunnel(place.route);
                let connection = &mut self.connections[slot];
                connection.begin(socket, tunnel, tls, now);
                // A reconnect for a request in flight takes no new request.
                connection.is_opening = connection.http.is_idle();
                self.opening += usize::from(connection.is_opening);
                // On the same machine, the connection is usually established by now.
                self.try_to_establish(slot);
            }
            Err(error) => self.connect_failed(slot, error),
        }
    }

    pub(super) fn try_to_establish(&mut self, slot: usize) {
        let connection = &mut self.connections[slot];
        let peer = &self.plan.routes.all()[connection.place.route as usize].peer;
        let made = connection.socket().and_then(socket::is_connected);
        let made = match made {
            Ok(false) => connection
                .watch(&self.poller, slot, Interest::ReadingAndWriting)
                .map(|()| false),
            // A connection meets itself only if nobody listens, so only after a failed connect.
            Ok(true) if connection.refusals > 0 => connection.socket().and_then(|socket| {
                if socket::met_itself(socket, peer) {
                    Err(Errno::CONNREFUSED)
                } else {
                    Ok(true)
                }
            }),
            made => made,
        };
        match made {
            Ok(false) => {}
            Ok(true) if self.connections[slot].tunnel.is_some() => {
                self.connections[slot].state = ConnectionState::Tunnelling;
                self.tunnel(slot);
            }
            Ok(true) => self.established(slot),
            Err(error) => self.connect_failed(slot, error),
        }
    }

    pub(super) fn established(&mut self, slot: usize) {
        let now = self.tick();
        if self.clock.is_over() {
            return;
        }
        let connection = &mut self.connections[slot];
        let again = connection.establish();
        self.recorder
            .opened(connection.place.route, now - connection.dialled, again);
        if connection.state == ConnectionState::Handshaking {
            connection.handshake_begun = now;
            return self.handshake(slot);
        }
        self.opened(slot);
    }

    /// Notes that the connection in `slot` is open for requests; in HTTP/2, after the server's settings.
    pub(super) fn opened(&mut self, slot: usize) {
        let http = &self.connections[slot].http;
        if http.is_multiplexed() && !http.is_ready() {
            return self.greet(slot);
        }
        self.connections[slot].state = ConnectionState::Open;
        self.note_open();
        let connection = &mut self.connections[slot];
        self.opening -= usize::from(std::mem::take(&mut connection.is_opening));
        self.schedule(slot, Task::Begin);
    }

    /// Continues the TLS handshake as far as possible without blocking.
    pub(super) fn handshake(&mut self, slot: usize) {
        match self.try_handshake(slot) {
            Ok(false) => {
                let connection = &mut self.connections[slot];
                let watched = connection.watch(&self.poller, slot, Interest::ReadingAndWriting);
                if let Err(error) = watched {
                    self.connect_failed(slot, error);
                }
            }
            Ok(true) => {
                let now = self.tick();
                if self.clock.is_over() {
                    return;
                }
                let connection = &mut self.connections[slot];
                let seen = &mut self.recorder.seen;
                seen.handshake_time
                    .record_ns(now - connection.handshake_begun);
                if let (Some(tls), Some(seen)) = (&connection.tls, &mut seen.tls) {
                    tls.note(seen);
                }
                if let Some(why) = connection.disagrees() {
                    let fault = fault(Failure::Tls, FailurePhase::Tls, Cause::Why(why));
                    return self.unmade(slot, fault, || why.to_owned());
                }
                // In HTTP/2, the greeting looks for what came with the end of the handshake.
                let is_over = !connection.http.is_multiplexed()
                    && connection
                        .tls
                        .as_mut()
                        .is_some_and(|tls| tls.has_said_goodbye());
                if is_over {
                    return self.connect_failed(slot, Errno::CONNABORTED);
                }
                self.opened(slot);
            }
            Err(TlsError::Socket(error)) => self.connect_failed(slot, error),
            Err(TlsError::Tls(why, error)) => {
                // Sends the alert with the reason, if that does not block.
                let _ = self.connections[slot].flush();
                self.tls_failed(slot, why, &error);
            }
        }
    }

    /// Continues the TLS handshake. Returns whether it is finished. A peer that sends endlessly lets others have their
    /// turn.
    fn try_handshake(&mut self, slot: usize) -> Result<bool, TlsError> {
        let mut read = 0;
        loop {
            let connection = &mut self.connections[slot];
            connection.flush()?;
            let Some(tls) = &mut connection.tls else {
                return Ok(true);
            };
            if !tls.is_handshaking() {
                return Ok(true);
            }
            let length = match socket::read(connection.socket()?, &mut self.buffers.wire) {
                Ok(0) => return Err(TlsError::Socket(Errno::CONNABORTED)),
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
            read += length;
            let is_done = self.connections[slot]
                .tls
                .as_ref()
                .is_none_or(|tls| !tls.is_handshaking());
            if read >= READ_AT_A_TIME && !is_done {
                self.schedule(slot, Task::Read { closing: false });
                return Ok(false);
            }
        }
    }

    pub(super) fn close(&mut self, slot: usize) {
        drop(self.part(slot));
    }

    /// Ends the connection in `slot`. Its socket is closed when it is dropped.
    pub(super) fn part(&mut self, slot: usize) -> Option<OwnedFd> {
        let connection = &mut self.connections[slot];
        self.opening -= usize::from(std::mem::take(&mut connection.is_opening));
        let was_open = connection.is_open() && slot < self.slots;
        let (was_made, socket) = connection.end();
        if was_made {
            let answers = connection.answered_in_slice();
            let is_held = answers == 0 && connection.dialled < self.clock.timeline.start;
            self.recorder.closed((!is_held).then_some(answers));
        }
        self.unlist(slot);
        self.note_closed(was_open);
        socket
    }

    fn tls_failed(&mut self, slot: usize, why: &'static str, error: &rustls::Error) {
        let fault = Fault {
            kind: Failure::Tls,
            phase: FailurePhase::Tls,
            cause: Cause::Why(why),
        };
        self.unmade(slot, fault, || crate::tls::in_full(error));
    }

    /// Counts a request that found no connection: issued and failed at once. The next attempt of a closed loop waits.
    #[cold]
    pub(super) fn connect_failed(&mut self, slot: usize, error: Errno) {
        let in_tls = self.connections[slot].state == ConnectionState::Handshaking;
        let in_greeting = self.connections[slot].state == ConnectionState::Greeting;
        let kind = match error {
            Errno::CONNREFUSED => Failure::ConnectRefused,
            Errno::TIMEDOUT => Failure::ConnectTimeout,
            // The second one is of an address that was asked for, all of whose ports are in use.
            Errno::ADDRNOTAVAIL | Errno::ADDRINUSE => Failure::NoLocalPort,
            _ if in_tls => Failure::Tls,
            // The connection was established, and reset before anything was written.
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
                Errno::CONNABORTED if in_tls => {
                    Cause::Why("the server closed the connection during the TLS handshake")
                }
                Errno::CONNRESET | Errno::PIPE if in_tls => {
                    Cause::Why("the server reset the connection during the TLS handshake")
                }
                Errno::CONNRESET | Errno::PIPE if in_greeting => {
                    Cause::Why("the server reset the connection before its SETTINGS of HTTP/2")
                }
                Errno::TIMEDOUT => Cause::Why("no connection within the connect timeout"),
                error => Cause::System(error),
            },
        };
        self.unmade(slot, fault, || std::io::Error::from(error).to_string());
    }

    pub(super) fn unmade(&mut self, slot: usize, fault: Fault, detail: impl Fn() -> String) {
        let end = self.tick();
        if self.clock.is_over() {
            return;
        }
        self.close(slot);
        self.begin_thinking(slot, end);
        let has_others = self.is_open();
        let route = self.connections[slot].place.route;
        if !self.connections[slot].http.is_idle() {
            self.connections[slot].counted_until = end;
            // Requests that were issued already and waited to be sent again.
            while let Some(flight) = self.connections[slot].http.take_first() {
                self.recorder.ended_on(route, flight.started, false);
                self.recorder
                    .failed(fault, flight.started, Some(flight.exchange), end, &detail);
            }
        } else if let Some(backlog) = &mut self.backlog {
            if has_others || self.plan.taking.is_open_elsewhere(self.index) {
                // Open connections will send the waiting requests.
                let wait = backlog.refused(end);
                self.recorder.waits_before_connecting(wait);
            }
            // No other worker can send a request that this one has taken.
            if !has_others && self.take_waiting() {
                self.recorder.ended_on(route, end, false);
                self.never_sent(fault, end, &detail);
            }
        } else if self.claim() {
            if self.plan.is_counted && self.connections[slot].counted_from == NEVER {
                self.begin_counted(slot, end);
            }
            self.connections[slot].counted_until = end;
            self.recorder.ended_on(route, end, false);
            self.never_sent(fault, end, &detail);
        } else {
            return self.deadlines.set(slot, NEVER);
        }
        if self.backlog.is_some() {
            // The rate bounds the attempts: each takes a request with it.
            self.connections[slot].refusals += 1;
            self.deadlines.set(slot, NEVER);
            return self.note_absent(slot);
        }
        self.back_off(slot, end);
    }

    /// Waits before the next attempt, after a useless connection of a closed loop.
    pub(super) fn back_off(&mut self, slot: usize, now: u64) {
        if slot >= self.slots {
            return;
        }
        let connection = &mut self.connections[slot];
        connection.refusals += 1;
        if self.backlog.is_none() {
            connection.need = Task::Nothing;
            let wait = back_off(connection.refusals);
            self.recorder.waits_before_connecting(wait);
            self.deadlines.set(slot, now + wait);
        }
    }

    /// Counts a request as issued and failed at once.
    pub(super) fn never_sent(&mut self, fault: Fault, end: u64, detail: impl FnOnce() -> String) {
        self.recorder.issued();
        self.recorder.failed(fault, end, None, end, detail);
    }

    /// Whether a request in flight in `slot` has timed out.
    fn is_late(&self, slot: usize) -> bool {
        let first = self.connections[slot].http.oldest();
        first.is_some_and(|first| {
            first.started.saturating_add(self.bounds.request) <= self.clock.now
        })
    }

    /// Handles due deadlines: connects and timeouts.
    #[cold]
    pub(super) fn expire(&mut self) {
        let now = self.clock.now;
        let mut from = 0;
        while let Some(slot) = self.deadlines.take_due(from, now) {
            from = slot + 1;
            match self.connections[slot].state {
                // The first connect, or one after a wait.
                ConnectionState::Absent if self.backlog.is_some() && self.clock.is_sending() => {
                    self.schedule(slot, Task::Connect);
                }
                ConnectionState::Absent => self.renew(slot),
                ConnectionState::Connecting
                | ConnectionState::Handshaking
                | ConnectionState::Greeting
                    if self.is_late(slot) && self.connections[slot].http.is_multiplexed() =>
                {
                    self.time_out_streams(slot);
                }
                ConnectionState::Connecting
                | ConnectionState::Tunnelling
                | ConnectionState::Handshaking
                    if self.is_late(slot) =>
                {
                    let cause = Cause::Why("no whole answer within the request timeout");
                    let phase = FailurePhase::Connect;
                    self.fail(slot, fault(Failure::Timeout, phase, cause), now, || {
                        "no whole answer in time; a connection was being made again".to_owned()
                    });
                }
                ConnectionState::Handshaking => {
                    let why = "the TLS handshake was not finished within the connect timeout";
                    let cause = Cause::Why(why);
                    let fault = fault(Failure::Tls, FailurePhase::Tls, cause);
                    self.unmade(slot, fault, || why.to_owned());
                }
                ConnectionState::Greeting => self.not_greeted(slot),
                ConnectionState::Tunnelling => {
                    let why = "the proxy did not answer within the connect timeout";
                    let cause = Cause::Why(why);
                    let fault = fault(Failure::ConnectOther, FailurePhase::Connect, cause);
                    self.unmade(slot, fault, || why.to_owned());
                }
                ConnectionState::Connecting => self.connect_failed(slot, Errno::TIMEDOUT),
                // A slice begins. (Of an open loop: what it was given for the last request, or to be made.)
                ConnectionState::Open if self.connections[slot].http.is_idle() => {
                    if self.backlog.is_none() {
                        self.schedule(slot, Task::Send);
                    }
                }
                ConnectionState::Open if self.connections[slot].http.is_holding() => {
                    self.release(slot)
                }
                ConnectionState::Open => self.time_out(slot),
            }
            if self.clock.is_over() {
                return;
            }
        }
    }
}

/// Bytes read at once from a proxy.
const AT_A_TIME: usize = 4096;

/// Why there is no tunnel.
enum TunnelError {
    Socket(Errno),
    Refused(ProxyRefusal),
}

impl From<Errno> for TunnelError {
    fn from(error: Errno) -> Self {
        TunnelError::Socket(error)
    }
}

impl Worker<'_> {
    /// Continues the handshake with the proxy as far as possible without blocking.
    pub(super) fn tunnel(&mut self, slot: usize) {
        match self.try_to_tunnel(slot) {
            Ok(true) => self.established(slot),
            Ok(false) => {
                let connection = &mut self.connections[slot];
                let watched = connection.watch(&self.poller, slot, Interest::ReadingAndWriting);
                if let Err(error) = watched {
                    self.connect_failed(slot, error);
                }
            }
            Err(TunnelError::Socket(error)) => self.connect_failed(slot, error),
            Err(TunnelError::Refused(ProxyRefusal { why, detail })) => {
                let fault = Fault {
                    kind: Failure::ConnectOther,
                    phase: FailurePhase::Connect,
                    cause: Cause::Why(why),
                };
                self.unmade(slot, fault, || detail.clone());
            }
        }
    }

    /// Continues the handshake with the proxy. Returns whether the tunnel is open.
    fn try_to_tunnel(&mut self, slot: usize) -> Result<bool, TunnelError> {
        loop {
            let connection = &mut self.connections[slot];
            let Some(tunnel) = &mut connection.tunnel else {
                return Ok(true);
            };
            let socket = connection.socket.as_ref().ok_or(Errno::NOTCONN)?;
            while !tunnel.unwritten().is_empty() {
                match socket::write(socket, tunnel.unwritten()) {
                    Ok(count) => tunnel.wrote(count),
                    Err(Errno::AGAIN) => return Ok(false),
                    Err(error) => return Err(error.into()),
                }
            }
            let length = match socket::read(socket, &mut self.buffers.plain[..AT_A_TIME]) {
                Ok(0) => {
                    let why = "the proxy closed the connection";
                    return Err(TunnelError::Refused(ProxyRefusal {
                        why,
                        detail: why.to_owned(),
                    }));
                }
                Ok(length) => length,
                Err(Errno::AGAIN) => return Ok(false),
                Err(error) => return Err(error.into()),
            };
            if tunnel
                .feed(&self.buffers.plain[..length])
                .map_err(TunnelError::Refused)?
            {
                connection.tunnel = None;
                return Ok(true);
            }
        }
    }
}
