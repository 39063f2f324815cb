//! A server that answers by a script and tells what it saw. A thread per connection: clear, and quick enough for
//! tests.

use std::{
    collections::HashMap,
    io::{self, BufReader, Write as _},
    net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream},
    os::fd::AsRawFd as _,
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use crate::{RefusingPort, Request, Script, Step, Turn};

/// Requests that are kept whole.
const KEPT: usize = 100;

/// What a server saw.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// Connections accepted.
    pub connections: u64,
    /// Whole requests read.
    pub requests: u64,
    /// Their bytes.
    pub request_bytes: u64,
    /// When each arrived, since the server's start, by a monotonic clock.
    pub arrivals: Vec<Duration>,
    /// The first 100 requests.
    pub first: Vec<Request>,
    /// What was no request: the errors.
    pub malformed: Vec<String>,
}

struct Shared {
    script: Box<dyn Script>,
    started: Instant,
    stopping: AtomicBool,
    state: Mutex<State>,
    ended: Condvar,
}

#[derive(Default)]
struct State {
    seen: Seen,
    /// Open connections, to be shut down at the end.
    open: HashMap<u64, TcpStream>,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A server that answers by a script.
pub struct OracleServer {
    address: SocketAddr,
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
        Self::listen(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?, script)
    }

    /// Listens where another server was.
    ///
    /// # Errors
    ///
    /// When somebody else has the port.
    pub fn start_at(address: SocketAddr, script: impl Script) -> io::Result<Self> {
        Self::listen(TcpListener::bind(address)?, script)
    }

    /// Listens on a port that has refused until now.
    ///
    /// # Errors
    ///
    /// When the system refuses.
    pub fn start_on(port: RefusingPort, script: impl Script) -> io::Result<Self> {
        Self::listen(port.listen()?, script)
    }

    fn listen(listener: TcpListener, script: impl Script) -> io::Result<Self> {
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared {
            script: Box::new(script),
            started: Instant::now(),
            stopping: AtomicBool::new(false),
            state: Mutex::default(),
            ended: Condvar::new(),
        });
        let accepting = thread::Builder::new().name("oracle".to_owned()).spawn({
            let shared = Arc::clone(&shared);
            move || accept(&listener, &shared)
        })?;
        Ok(Self {
            address,
            shared,
            accepting: Some(accepting),
        })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What it has seen so far.
    pub fn seen(&self) -> Seen {
        self.shared.state().seen.clone()
    }

    /// What it has seen once all connections have ended, which their clients must see to.
    ///
    /// # Panics
    ///
    /// When that takes longer than 20 s.
    pub fn seen_at_rest(&self) -> Seen {
        let limit = Duration::from_secs(20);
        let open = |state: &mut State| !state.open.is_empty();
        let waited = self
            .shared
            .ended
            .wait_timeout_while(self.shared.state(), limit, open);
        let (state, waited) = waited.unwrap_or_else(PoisonError::into_inner);
        assert!(
            !waited.timed_out(),
            "{} connections are still open",
            state.open.len()
        );
        state.seen.clone()
    }
}

impl Drop for OracleServer {
    fn drop(&mut self) {
        self.shared.stopping.store(true, Ordering::SeqCst);
        // Wakes the accepting thread.
        let _ = TcpStream::connect(self.address);
        if let Some(accepting) = self.accepting.take() {
            let _ = accepting.join();
        }
    }
}

fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    let mut threads = Vec::new();
    for (connection, stream) in (0..).zip(listener.incoming()) {
        if shared.stopping.load(Ordering::SeqCst) {
            break;
        }
        let Ok((stream, clone)) = stream.and_then(|stream| Ok((stream.try_clone()?, stream)))
        else {
            continue;
        };
        let mut state = shared.state();
        state.seen.connections += 1;
        state.open.insert(connection, clone);
        drop(state);
        let shared = Arc::clone(shared);
        threads.push(thread::spawn(move || {
            let _ = serve(stream, connection, &shared);
            shared.state().open.remove(&connection);
            shared.ended.notify_all();
        }));
    }
    for stream in shared.state().open.values() {
        let _ = stream.shutdown(Shutdown::Both);
    }
    for thread in threads {
        let _ = thread.join();
    }
}

/// Whether a connection is still answered.
#[derive(PartialEq, Eq)]
enum Going {
    On,
    Silent,
    Gone,
}

fn serve(stream: TcpStream, connection: u64, shared: &Shared) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut input = BufReader::new(stream.try_clone()?);
    let mut going = play(&stream, &shared.script.greet(connection), shared)?;
    for nth in 0.. {
        if going == Going::Gone {
            return reset(&stream, connection, shared);
        }
        let request = match Request::read(&mut input) {
            Ok(Some(request)) => request,
            Ok(None) => return Ok(()),
            Err(error) => {
                if error.kind() == io::ErrorKind::InvalidData {
                    shared.state().seen.malformed.push(error.to_string());
                }
                return Err(error);
            }
        };
        let index = note(shared, &request);
        if going == Going::On {
            let turn = Turn {
                connection,
                nth,
                index,
                request: &request,
            };
            going = play(&stream, &shared.script.answer(&turn), shared)?;
        }
    }
    Ok(())
}

fn note(shared: &Shared, request: &Request) -> u64 {
    let at = shared.started.elapsed();
    let seen = &mut shared.state().seen;
    seen.requests += 1;
    seen.request_bytes += request.wire_bytes;
    seen.arrivals.push(at);
    if seen.first.len() < KEPT {
        seen.first.push(request.clone());
    }
    seen.requests - 1
}

fn play(mut stream: &TcpStream, steps: &[Step], shared: &Shared) -> io::Result<Going> {
    for step in steps {
        match step {
            Step::Send(bytes) => stream.write_all(bytes)?,
            Step::Pause(length) => pause(*length, shared),
            Step::Fin => {
                stream.shutdown(Shutdown::Write)?;
                return Ok(Going::Silent);
            }
            Step::SendFin(bytes) => {
                send_more(stream, bytes)?;
                stream.shutdown(Shutdown::Write)?;
                return Ok(Going::Silent);
            }
            Step::Reset => return Ok(Going::Gone),
            Step::Silence => return Ok(Going::Silent),
        }
    }
    Ok(Going::On)
}

/// Sends bytes that wait in the kernel for what follows them.
fn send_more(stream: &TcpStream, bytes: &[u8]) -> io::Result<()> {
    let flags = libc::MSG_MORE | libc::MSG_NOSIGNAL;
    let (from, length) = (bytes.as_ptr().cast(), bytes.len());
    // SAFETY: `from` is valid for reading over `length` bytes, and the descriptor is open.
    let sent = unsafe { libc::send(stream.as_raw_fd(), from, length, flags) };
    match usize::try_from(sent) {
        Ok(sent) if sent == length => Ok(()),
        Ok(_) => Err(io::ErrorKind::WriteZero.into()),
        Err(_) => Err(io::Error::last_os_error()),
    }
}

/// Sleeps, but not beyond the server's end.
fn pause(length: Duration, shared: &Shared) {
    let until = Instant::now() + length;
    while !shared.stopping.load(Ordering::SeqCst) {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return;
        }
        thread::sleep(left.min(Duration::from_millis(20)));
    }
}

/// Makes the last close of this socket a reset. There are three copies of it: the other two go first.
fn reset(stream: &TcpStream, connection: u64, shared: &Shared) -> io::Result<()> {
    let linger = libc::linger {
        l_onoff: 1,
        l_linger: 0,
    };
    let length = size_of_val(&linger) as libc::socklen_t;
    // SAFETY: `linger` is valid for reading over `length` bytes, and the descriptor is open.
    let result = unsafe {
        libc::setsockopt(
            stream.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_LINGER,
            (&raw const linger).cast(),
            length,
        )
    };
    shared.state().open.remove(&connection);
    match result {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
