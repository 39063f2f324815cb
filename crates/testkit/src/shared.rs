//! What the threads of a server share: its script, what it has seen, and its open connections.

use std::{
    collections::HashMap,
    sync::{
        Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use crate::{Script, Seen, TlsServer, listen::Listener, wire::Socket};

/// What the threads of a server share.
pub(crate) struct Shared {
    pub(crate) script: Box<dyn Script>,
    pub(crate) tls: Option<TlsServer>,
    pub(crate) together: bool,
    pub(crate) started: Instant,
    pub(crate) stopping: AtomicBool,
    pub(crate) state: Mutex<State>,
    pub(crate) ended: Condvar,
}

#[derive(Default)]
pub(crate) struct State {
    pub(crate) seen: Seen,
    /// What connections are taken from, under the lock: whoever holds it knows that none is between two places.
    pub(crate) listener: Option<Listener>,
    /// Open connections, to be shut down at the end.
    pub(crate) open: HashMap<u64, Socket>,
}

impl State {
    /// Whether every connection that was made has been taken in, and has ended.
    pub(crate) fn is_at_rest(&self) -> bool {
        let at_the_door = self.listener.as_ref().is_some_and(Listener::has_somebody);
        self.open.is_empty() && !at_the_door
    }
}

impl Shared {
    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
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
