//! Traffic to measure a network by: small messages, and as much as goes through, each on a connection of its own. What
//! one side does here, the other side does the counterpart of: [`ask`] and [`reply`], [`pour`] and [`drain`].

use std::{
    io::{self, Read as _, Write as _},
    net::{Shutdown, TcpStream},
    time::{Duration, Instant},
};

use serde::{Deserialize, Serialize};

use super::tcp_info;
use crate::doctor::{Flow, Resent};

/// What a connection begins with, so that the coordinator takes nobody else's.
pub(super) type Token = [u8; 32];

/// Small messages whose time counts.
const MESSAGES: usize = 200;
/// Some before, for which the connection and the processes wake up.
const FIRST_MESSAGES: usize = 20;
/// As long as a short request.
const MESSAGE: usize = 64;
/// Messages end after this, however few there were.
const LONGEST_MESSAGES: Duration = Duration::from_secs(2);
/// How long as much is sent as goes through.
const POURED: Duration = Duration::from_secs(1);
/// No more than this is sent: 0.7 s at 100 Gbit/s.
const MOST_POURED: u64 = 8 << 30;
/// In pieces of this.
const PIECE: usize = 256 * 1024;
/// What was sent may take so long to arrive.
const LONGEST_DRAIN: Duration = Duration::from_secs(8);
/// Nothing may come, or go, for so long.
pub(super) const PATIENCE: Duration = Duration::from_secs(4);

/// What the other end of a connection is for, as its first byte after the token says. In this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    Messages,
    ToHost,
    FromHost,
}

impl Purpose {
    pub(super) const ALL: [Self; 3] = [Self::Messages, Self::ToHost, Self::FromHost];

    pub(super) fn byte(self) -> u8 {
        self as u8
    }
}

/// What one side saw of all connections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Seen {
    /// What it received at full speed.
    pub(super) received: Flow,
    /// Of its small messages.
    pub(super) resent_small: Option<Resent>,
    /// Of what it sent at full speed.
    pub(super) resent_large: Option<Resent>,
}

/// Bounds how long a connection waits, and has small messages sent at once.
pub(super) fn prepare(stream: &TcpStream) -> io::Result<()> {
    stream.set_nonblocking(false)?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))
}

/// Sends small messages and waits for each to come back; how long those took that count.
pub(super) fn ask(stream: &mut TcpStream) -> io::Result<(Vec<Duration>, Option<Resent>)> {
    let mut message = [7; MESSAGE];
    let mut trips = Vec::with_capacity(MESSAGES);
    let mut asked_for = 0;
    let start = Instant::now();
    for nth in 0..FIRST_MESSAGES + MESSAGES {
        let asked = Instant::now();
        stream.write_all(&message)?;
        stream.read_exact(&mut message)?;
        asked_for += 1;
        // On a slow network all count: waking up is nothing against its delay.
        let slow = start.elapsed() > LONGEST_MESSAGES;
        if nth >= FIRST_MESSAGES || slow {
            trips.push(asked.elapsed());
        }
        if slow {
            break;
        }
    }
    stream.shutdown(Shutdown::Write)?;
    wait_for_end(stream);
    Ok((trips, resent(stream, |_| asked_for)))
}

/// Sends small messages back until there are no more.
pub(super) fn reply(stream: &mut TcpStream) -> io::Result<Option<Resent>> {
    let mut message = [0; MESSAGE];
    let mut replied = 0;
    for _ in 0..FIRST_MESSAGES + MESSAGES {
        match stream.read_exact(&mut message) {
            Ok(()) => stream.write_all(&message)?,
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => break,
            Err(error) => return Err(error),
        }
        replied += 1;
    }
    Ok(resent(stream, |_| replied))
}

/// Sends as much as goes through.
pub(super) fn pour(stream: &mut TcpStream) -> io::Result<Option<Resent>> {
    let piece = vec![0; PIECE];
    let mut poured = 0;
    let start = Instant::now();
    while start.elapsed() < POURED && poured < MOST_POURED {
        poured += stream.write(&piece)? as u64;
    }
    stream.shutdown(Shutdown::Write)?;
    wait_for_end(stream);
    Ok(resent(stream, |longest| poured.div_ceil(longest.max(1))))
}

/// Receives what the other side pours.
pub(super) fn drain(stream: &mut TcpStream) -> io::Result<Flow> {
    let mut piece = vec![0; PIECE];
    let mut flow = Flow::default();
    let mut start = None;
    loop {
        let read = stream.read(&mut piece)?;
        let begun = *start.get_or_insert_with(Instant::now);
        flow.bytes += read as u64;
        flow.time = begun.elapsed();
        if read == 0 || flow.time > LONGEST_DRAIN {
            return Ok(flow);
        }
    }
}

/// Waits until the other side has received all and closed the connection, or for long enough.
fn wait_for_end(stream: &mut TcpStream) {
    let end = Instant::now() + LONGEST_DRAIN;
    let mut byte = [0];
    loop {
        match stream.read(&mut byte) {
            // Slow, but there.
            Err(error) if is_timeout(&error) && Instant::now() < end => {}
            // Closed, in whatever way.
            _ => return,
        }
    }
}

/// An error for a person.
pub(super) fn told(error: &io::Error) -> String {
    if is_timeout(error) {
        format!("nothing went through for {PATIENCE:?}")
    } else {
        error.to_string()
    }
}

fn is_timeout(error: &io::Error) -> bool {
    // What a timeout of a socket is depends on the system (`set_read_timeout`).
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut
    )
}

fn resent(stream: &TcpStream, packets: impl FnOnce(u64) -> u64) -> Option<Resent> {
    let sent = tcp_info::sent(stream)?;
    Some(Resent {
        again: sent.again,
        packets: packets(sent.longest),
    })
}

#[cfg(test)]
mod tests {
    use std::{net::TcpListener, thread};

    use super::*;

    fn pair() -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (far, _) = listener.accept().unwrap();
        prepare(&near).unwrap();
        prepare(&far).unwrap();
        (near, far)
    }

    #[test]
    fn every_message_that_counts_comes_back() {
        let (mut near, mut far) = pair();
        let other = thread::spawn(move || reply(&mut far).unwrap());
        let (trips, resent) = ask(&mut near).unwrap();
        assert!(trips.len() <= MESSAGES && !trips.is_empty());
        let replied = other.join().unwrap();
        assert_eq!(
            replied.map(|one| one.packets),
            resent.map(|one| one.packets)
        );
    }

    #[test]
    fn what_is_poured_arrives() {
        let (mut near, mut far) = pair();
        let other = thread::spawn(move || drain(&mut far).unwrap());
        let resent = pour(&mut near).unwrap();
        let flow = other.join().unwrap();
        assert!(flow.bytes > 0 && flow.bytes < MOST_POURED + PIECE as u64);
        assert!(flow.time > Duration::ZERO);
        if let Some(resent) = resent {
            // Packets are at most as long as loopback's.
            assert!(resent.packets >= flow.bytes / 65_536, "{resent:?}");
        }
    }

    #[test]
    fn an_end_that_goes_away_is_an_error_and_no_figure() {
        let (mut near, far) = pair();
        drop(far);
        assert!(ask(&mut near).is_err());
    }
}
