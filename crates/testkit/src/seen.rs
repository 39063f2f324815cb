//! What a server saw, and the state that its threads share.

use std::{
    collections::HashMap,
    net::SocketAddr,
    sync::{
        Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use crate::{Request, Script, TlsServer, listen::Listener, wire::Socket};

/// What a server saw. Instants are since the server's start, by a monotonic clock.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// Connections accepted.
    pub connections: u64,
    /// Whole requests read.
    pub requests: u64,
    /// Their bytes, without TLS.
    pub request_bytes: u64,
    /// When each request's last byte arrived, in order of time. The kernel stamps TCP segments as they come in, to the
    /// nanosecond and some microseconds after they were sent, whether or not this process has a CPU; where it did not
    /// (the first after a start, Unix sockets), the stamp is of the moment when the read returned. Requests that came
    /// in one read have one stamp.
    pub arrivals: Vec<Duration>,
    /// Arrivals that the kernel stamped.
    pub stamped_by_kernel: u64,
    /// Each request, in the order in which they were read whole ([`Turn::index`](crate::Turn)).
    pub served: Vec<Served>,
    /// Each connection, in the order in which they were accepted.
    pub each: Vec<Conversation>,
    /// The first 100 requests.
    pub first: Vec<Request>,
    /// What was no request: the errors.
    pub malformed: Vec<String>,
    /// TLS handshakes from nothing.
    pub full_handshakes: u64,
    /// TLS handshakes that resumed a session.
    pub resumed_handshakes: u64,
    /// TLS handshakes that came to nothing: the errors.
    pub failed_handshakes: Vec<String>,
}

impl Seen {
    /// Requests whose answer was given whole.
    pub fn answered(&self) -> u64 {
        let answered = self.served.iter().filter(|one| one.answered.is_some());
        answered.count() as u64
    }

    /// How long each answer took that was given whole, in no order. See [`Served::took`].
    pub fn took(&self) -> Vec<Duration> {
        self.served.iter().filter_map(Served::took).collect()
    }
}

/// One request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Served {
    /// On which connection, from 0.
    pub connection: u64,
    /// Which one on it, from 0.
    pub nth: u64,
    /// When its last byte arrived.
    pub arrived: Duration,
    /// The moment before the last bytes of its answer were given to the kernel; `None` when it was not answered. Known
    /// once the connection goes on to the next request or ends.
    pub answered: Option<Duration>,
}

impl Served {
    /// From its arrival to its answer: a bound below what the client can have seen, since it starts after the
    /// client's sending and ends before the client's receiving.
    pub fn took(&self) -> Option<Duration> {
        Some(self.answered?.saturating_sub(self.arrived))
    }
}

/// One connection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Conversation {
    /// Where the peer connected from; `None` for a Unix socket.
    pub peer: Option<SocketAddr>,
    /// Whole requests read.
    pub requests: u64,
    /// Their bytes, without TLS.
    pub request_bytes: u64,
    /// Bytes sent, without TLS, whether or not the peer took them.
    pub sent_bytes: u64,
    /// What was agreed on with TLS.
    pub tls: Option<Agreed>,
}

/// What was agreed on with TLS.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Agreed {
    /// "TLSv1_3".
    pub version: String,
    /// Whether it resumed an earlier session.
    pub resumed: bool,
    /// The DNS name that the client asked for (SNI).
    pub name: Option<String>,
    /// How many certificates the client showed.
    pub client_certificates: usize,
    /// Whether the client ended TLS properly, with close_notify, by the end of the connection.
    pub notified: bool,
}

/// What the threads of a server share.
pub(crate) struct Shared {
    pub(crate) script: Box<dyn Script>,
    pub(crate) tls: Option<TlsServer>,
    pub(crate) together: bool,
    pub(crate) started: Instant,
    pub(crate) stopping: AtomicBool,
    pub(crate) state: Mutex<SharedState>,
    pub(crate) ended: Condvar,
}

#[derive(Default)]
pub(crate) struct SharedState {
    pub(crate) seen: Seen,
    /// What connections are taken from, under the lock: whoever holds it knows that none is between two places.
    pub(crate) listener: Option<Listener>,
    /// Open connections, to be shut down at the end.
    pub(crate) open: HashMap<u64, Socket>,
}

impl SharedState {
    /// Whether every connection that was made has been taken in, and has ended.
    pub(crate) fn is_at_rest(&self) -> bool {
        let at_the_door = self.listener.as_ref().is_some_and(Listener::has_somebody);
        self.open.is_empty() && !at_the_door
    }
}

impl Shared {
    pub(crate) fn state(&self) -> MutexGuard<'_, SharedState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sleeps until so long after the start, but not beyond the server's end.
    pub(crate) fn sleep_until(&self, since_start: Duration) {
        while !self.stopping.load(Ordering::SeqCst) {
            let left = since_start.saturating_sub(self.started.elapsed());
            if left.is_zero() {
                return;
            }
            thread::sleep(left.min(Duration::from_millis(20)));
        }
    }
}
