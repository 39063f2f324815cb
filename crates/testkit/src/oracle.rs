//! A server that answers by a script and tells what it saw. A thread per connection: clear, and quick enough for
//! tests of some hundreds of connections.

use std::{
    io,
    net::{Shutdown, SocketAddr},
    os::fd::OwnedFd,
    path::Path,
    sync::{
        Arc, Condvar, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use crate::{
    Listen, RefusingPort, Script, Seen,
    conversation::converse,
    listen::{ListenAddress, Listener},
    seen::{Conversation, Shared, SharedState},
    sys,
    wire::Socket,
};

/// What a connection's thread needs: little more than its own frames.
const STACK_BYTES: usize = 512 * 1024;

/// How long a server's connections may take to end once their client is through. It only ends a broken test.
const REST: Duration = Duration::from_secs(60);
/// How often it is looked whether somebody waits to be taken in.
const LOOK: Duration = Duration::from_millis(2);

/// A server that answers by a script.
pub struct OracleServer {
    place: ListenAddress,
    shared: Arc<Shared>,
    accepting: Option<JoinHandle<()>>,
}

impl OracleServer {
    /// Listens on a free loopback port.
    ///
    /// # Errors
    ///
    /// When there is none, or no thread.
    pub fn start(script: impl Script) -> io::Result<Self> {
        Listen::ipv4()?.serve(script)
    }

    /// Listens where another server was.
    ///
    /// # Errors
    ///
    /// When somebody else has the port.
    pub fn start_at(address: SocketAddr, script: impl Script) -> io::Result<Self> {
        Listen::at(address)?.serve(script)
    }

    /// Listens on a port that has refused until now.
    ///
    /// # Errors
    ///
    /// When the system refuses.
    pub fn start_on(port: RefusingPort, script: impl Script) -> io::Result<Self> {
        Listen::on(port)?.serve(script)
    }

    pub(crate) fn listen(listen: Listen, script: Box<dyn Script>) -> io::Result<Self> {
        let Listen {
            listener,
            tls,
            together,
        } = listen;
        let place = listener.place()?;
        let door = listener.door()?;
        let shared = Arc::new(Shared {
            script,
            tls,
            together,
            started: Instant::now(),
            stopping: AtomicBool::new(false),
            state: Mutex::new(SharedState {
                listener: Some(listener),
                ..SharedState::default()
            }),
            ended: Condvar::new(),
        });
        let accepting = thread::Builder::new().name("oracle".to_owned()).spawn({
            let shared = Arc::clone(&shared);
            move || accept(door, &shared)
        })?;
        Ok(Self {
            place,
            shared,
            accepting: Some(accepting),
        })
    }

    /// Where it listens.
    ///
    /// # Panics
    ///
    /// When that is a Unix socket.
    pub fn address(&self) -> SocketAddr {
        match &self.place {
            ListenAddress::Tcp(address) => *address,
            ListenAddress::Unix(path) => panic!("{} has no address", path.display()),
        }
    }

    /// The Unix socket that it listens on.
    ///
    /// # Panics
    ///
    /// When that is a port.
    pub fn path(&self) -> &Path {
        match &self.place {
            ListenAddress::Unix(path) => path,
            ListenAddress::Tcp(address) => panic!("{address} has no path"),
        }
    }

    /// How long it has been there: the time on the clock of [`Seen`].
    pub fn age(&self) -> Duration {
        self.shared.started.elapsed()
    }

    /// What it has seen so far.
    pub fn seen(&self) -> Seen {
        in_order(self.shared.state().seen.clone())
    }

    /// What it has seen once all connections have been taken in and have ended, which their clients must see to.
    ///
    /// # Panics
    ///
    /// When that takes longer than a minute.
    pub fn seen_at_rest(&self) -> Seen {
        let until = Instant::now() + REST;
        let mut state = self.shared.state();
        while !state.is_at_rest() {
            assert!(
                Instant::now() < until,
                "{} connections are still open after {REST:?}",
                state.open.len()
            );
            // Nothing tells of a connection that has not been taken in yet, so that is looked at now and then.
            let waited = self.shared.ended.wait_timeout(state, LOOK);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        in_order(state.seen.clone())
    }

    /// Ends all connections and listens no more; tells what it saw, and keeps its port, which refuses from now on.
    ///
    /// # Errors
    ///
    /// When somebody else has taken the port meanwhile.
    ///
    /// # Panics
    ///
    /// When it listens on a Unix socket.
    pub fn stop(mut self) -> io::Result<(Seen, RefusingPort)> {
        let address = self.address();
        self.end();
        Ok((self.seen(), RefusingPort::at(address)?))
    }

    fn end(&mut self) {
        self.shared.stopping.store(true, Ordering::SeqCst);
        if let Some(accepting) = self.accepting.take() {
            self.place.knock();
            // A panic of that thread has been shown already.
            let _ = accepting.join();
        }
    }
}

impl Drop for OracleServer {
    fn drop(&mut self) {
        self.end();
    }
}

/// Connections note what they see as they get to it; arrivals are told in order of time.
fn in_order(mut seen: Seen) -> Seen {
    seen.arrivals.sort_unstable();
    seen
}

/// Takes connections in; `door` is the listening socket, for waiting at it without the lock.
fn accept(door: OwnedFd, shared: &Arc<Shared>) {
    let mut threads: Vec<JoinHandle<()>> = Vec::new();
    let mut connection = 0;
    loop {
        sys::wait_readable(&door, None);
        let mut state = shared.state();
        if shared.stopping.load(Ordering::SeqCst) {
            break;
        }
        let accepted = state.listener.as_ref().map(Listener::accept);
        let Some(Ok((socket, clone))) =
            accepted.map(|taken| taken.and_then(|socket| Ok((socket.try_clone()?, socket))))
        else {
            drop(state);
            // No descriptor left: one may be free in a moment.
            thread::sleep(Duration::from_millis(1));
            continue;
        };
        state.seen.connections += 1;
        state.seen.each.push(Conversation {
            peer: socket.peer(),
            ..Conversation::default()
        });
        state.open.insert(connection, clone);
        drop(state);
        threads.retain(|thread| !thread.is_finished());
        threads.extend(talk(socket, connection, shared));
        connection += 1;
    }
    // Before the connections end, so that whoever connects anew is refused; who still waits at the door is reset.
    let listener = shared.state().listener.take();
    drop((listener, door));
    for socket in shared.state().open.values() {
        let _ = socket.shutdown(Shutdown::Both);
    }
    for thread in threads {
        let _ = thread.join();
    }
}

/// A thread that talks with the peer until one of them ends it. Without a thread the connection is closed at once.
fn talk(socket: Socket, connection: u64, shared: &Arc<Shared>) -> Option<JoinHandle<()>> {
    let own = Arc::clone(shared);
    let thread = thread::Builder::new().stack_size(STACK_BYTES);
    let thread = thread.spawn(move || {
        // How it ended is the peer's affair; what of it counts was noted.
        let _ = converse(socket, connection, &own);
        own.state().open.remove(&connection);
        own.ended.notify_all();
    });
    thread
        .inspect_err(|_| drop(shared.state().open.remove(&connection)))
        .ok()
}
