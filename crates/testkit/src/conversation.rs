//! One connection: requests are read, and the script's steps done.

use std::{
    io::{self, BufReader},
    mem,
    os::fd::AsFd as _,
    sync::atomic::Ordering,
    time::{Duration, Instant},
};

use rustls::HandshakeKind;

use crate::{
    Action, Request, Turn,
    seen::{Agreed, Served, Shared},
    sys,
    wire::{Socket, Wire},
};

/// Requests that are kept whole.
const KEPT: usize = 100;

/// Whether a connection is still answered.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Going {
    On,
    Silent,
    Gone,
}

struct Talk<'a> {
    shared: &'a Shared,
    connection: u64,
    input: BufReader<Wire>,
    /// Answers that wait for those of the requests behind them, and the requests that they are for.
    held: Vec<u8>,
    held_for: Vec<u64>,
    /// When the last bytes were sent.
    sent_at: Option<Instant>,
}

/// Talks until either side ends it.
pub(crate) fn converse(socket: Socket, connection: u64, shared: &Shared) -> io::Result<()> {
    socket.without_delay()?;
    let wire = match &shared.tls {
        None => Wire::plain(socket),
        Some(tls) => match tls.accept(socket) {
            Ok(wire) => wire,
            Err(error) => {
                shared
                    .state()
                    .seen
                    .failed_handshakes
                    .push(error.to_string());
                // A reset comes with the last close.
                shared.state().open.remove(&connection);
                return Err(error);
            }
        },
    };
    note_tls(&wire, connection, shared);
    let mut talk = Talk {
        shared,
        connection,
        input: BufReader::with_capacity(64 * 1024, wire),
        held: Vec::new(),
        held_for: Vec::new(),
        sent_at: None,
    };
    let result = talk.run();
    talk.note_end();
    result
}

fn note_tls(wire: &Wire, connection: u64, shared: &Shared) {
    let Some(tls) = wire.tls() else {
        return;
    };
    let resumed = tls.handshake_kind() == Some(HandshakeKind::Resumed);
    let version = tls.protocol_version();
    let agreed = Agreed {
        version: version.map_or_else(String::new, |version| format!("{version:?}")),
        resumed,
        name: tls.server_name().map(str::to_owned),
        client_certificates: tls.peer_certificates().map_or(0, <[_]>::len),
        notified: false,
    };
    let seen = &mut shared.state().seen;
    if resumed {
        seen.resumed_handshakes += 1
    } else {
        seen.full_handshakes += 1
    }
    seen.each[connection as usize].tls = Some(agreed);
}

impl Talk<'_> {
    fn run(&mut self) -> io::Result<()> {
        let mut going = self.play(&self.shared.script.greet(self.connection))?;
        for nth in 0.. {
            if going == Going::Gone {
                // The last close resets, so the other copy of the socket has to go first.
                let result = sys::reset_on_close(self.input.get_ref().socket().as_fd());
                self.shared.state().open.remove(&self.connection);
                return result;
            }
            if self.input.buffer().is_empty() {
                self.let_go()?;
            }
            let request = match Request::read(&mut self.input) {
                Ok(Some(request)) => request,
                Ok(None) => return Ok(()),
                Err(error) => {
                    if error.kind() == io::ErrorKind::InvalidData
                        && !self.shared.stopping.load(Ordering::SeqCst)
                    {
                        let mut state = self.shared.state();
                        state.seen.malformed.push(error.to_string());
                    }
                    return Err(error);
                }
            };
            let (index, arrived) = self.note_arrival(&request, nth);
            if going == Going::On {
                let turn = Turn {
                    connection: self.connection,
                    nth,
                    index,
                    arrived,
                    request: &request,
                };
                self.sent_at = None;
                going = self.play(&self.shared.script.answer(&turn))?;
                if self.held.is_empty() {
                    self.note_answers(&[index])
                } else {
                    self.held_for.push(index)
                }
            }
        }
        Ok(())
    }

    /// The request's place among all, and when it came.
    fn note_arrival(&self, request: &Request, nth: u64) -> (u64, Duration) {
        let stamp = self.input.get_ref().stamp();
        let arrived = stamp.at.saturating_duration_since(self.shared.started);
        let seen = &mut self.shared.state().seen;
        let index = seen.requests;
        seen.requests += 1;
        seen.request_bytes += request.wire_bytes;
        seen.arrivals.push(arrived);
        seen.stamped_by_kernel += u64::from(stamp.by_kernel);
        seen.served.push(Served {
            connection: self.connection,
            nth,
            arrived,
            answered: None,
        });
        if seen.first.len() < KEPT {
            seen.first.push(request.clone());
        }
        let own = &mut seen.each[self.connection as usize];
        own.requests += 1;
        own.request_bytes += request.wire_bytes;
        (index, arrived)
    }

    fn note_answers(&self, requests: &[u64]) {
        let Some(at) = self.sent_at else {
            return;
        };
        let answered = at.saturating_duration_since(self.shared.started);
        let mut state = self.shared.state();
        for index in requests {
            state.seen.served[*index as usize].answered = Some(answered);
        }
    }

    fn note_end(&self) {
        let notified = self.input.get_ref().was_notified();
        let mut state = self.shared.state();
        if let Some(tls) = &mut state.seen.each[self.connection as usize].tls {
            tls.notified = notified;
        }
    }

    fn play(&mut self, steps: &[Action]) -> io::Result<Going> {
        for step in steps {
            match step {
                Action::Send(bytes) if self.shared.together && !self.input.buffer().is_empty() => {
                    self.held.extend_from_slice(bytes);
                    continue;
                }
                Action::Send(bytes) if !self.held.is_empty() => {
                    self.held.extend_from_slice(bytes);
                    self.let_go()?;
                    continue;
                }
                _ => self.let_go()?,
            }
            match step {
                Action::Send(bytes) => self.send(bytes)?,
                Action::Repeat(bytes, times) => {
                    for _ in 0..*times {
                        self.send(bytes)?;
                    }
                }
                Action::Pause(length) => {
                    let until = self.shared.started.elapsed() + *length;
                    self.shared.sleep_until(until);
                }
                Action::Until(instant) => self.shared.sleep_until(*instant),
                Action::Fin => {
                    self.input.get_mut().finish()?;
                    return Ok(Going::Silent);
                }
                Action::Cut => {
                    self.input.get_mut().cut()?;
                    return Ok(Going::Silent);
                }
                Action::SendFin(bytes) => {
                    let wire = self.input.get_mut();
                    self.sent_at = Some(wire.send_before_fin(bytes)?);
                    wire.finish()?;
                    self.note_sent(bytes.len());
                    return Ok(Going::Silent);
                }
                Action::Reset => return Ok(Going::Gone),
                Action::Silence => return Ok(Going::Silent),
            }
        }
        Ok(Going::On)
    }

    fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.sent_at = Some(self.input.get_mut().send(bytes)?);
        self.note_sent(bytes.len());
        Ok(())
    }

    fn note_sent(&self, bytes: usize) {
        self.shared.state().seen.each[self.connection as usize].sent_bytes += bytes as u64;
    }

    /// Sends what was held back.
    fn let_go(&mut self) -> io::Result<()> {
        if !self.held.is_empty() {
            let held = mem::take(&mut self.held);
            self.send(&held)?;
            let answered = mem::take(&mut self.held_for);
            self.note_answers(&answered);
        }
        Ok(())
    }
}
