//! The event loops: each accepts, counts and answers on a listening socket of its own (socket(7), `SO_REUSEPORT`), so
//! that they share nothing but the answer.

use std::{
    convert::Infallible,
    io::{self, Read, Write},
    net::{Shutdown, SocketAddr},
    sync::{Arc, mpsc},
    thread,
};

use mio::{
    Events, Interest, Poll, Token,
    net::{TcpListener, TcpStream},
};
use rustix::net::{self, AddressFamily, SocketFlags, SocketType, sockopt};
use tokio_rustls::rustls::ServerConfig;

use super::{
    request_counter::{Persistence, READ_BYTES, RequestCounter},
    streams::{self, Answers, Listeners},
};
use crate::{
    process::{pin_current_thread, usable_cpus},
    services::raise_open_files,
};

const LISTENER: Token = Token(usize::MAX);
/// Connections that wait to be accepted; the kernel may allow fewer (`net.core.somaxconn`).
const BACKLOG: i32 = 16_384;
const EVENTS: usize = 1024;

/// Where the server listens.
pub(super) struct Addresses {
    /// For HTTP/1.1 without TLS.
    pub(super) plain: SocketAddr,
    /// For HTTP/2 without TLS.
    pub(super) h2c: Option<SocketAddr>,
    /// For TLS.
    pub(super) tls: Option<(SocketAddr, Arc<ServerConfig>)>,
}

/// Serves with this number of event loops until the process ends.
pub(super) fn run(addresses: Addresses, loops: usize, answers: Answers) -> io::Result<Infallible> {
    raise_open_files()?;
    // All of them listen before one of them accepts: a connection goes to one of those that are there.
    let more = |address: Option<SocketAddr>| address.map(listen).transpose();
    let listeners = (0..loops).map(|_| {
        let listeners = Listeners {
            h2c: more(addresses.h2c)?,
            tls: match &addresses.tls {
                Some((address, config)) => Some((listen(*address)?, Arc::clone(config))),
                None => None,
            },
        };
        Ok((listen(addresses.plain)?, listeners))
    });
    let listeners: Vec<(std::net::TcpListener, Listeners)> =
        listeners.collect::<io::Result<_>>()?;
    let answers = Arc::new(answers);
    let cpus = usable_cpus();
    let (ended, ends) = mpsc::channel();
    let begin = |index: usize, name: &str, serve: Serve| {
        let ended = ended.clone();
        // With more loops than CPUs the system decides.
        let cpu = (loops <= cpus.len()).then(|| cpus[index]);
        let serve = move || {
            if let Some(cpu) = cpu {
                pin_current_thread(&[cpu])?;
            }
            serve()
        };
        thread::Builder::new()
            .name(format!("{name}-{index}"))
            .spawn(move || ended.send(serve()))
    };
    for (index, (listener, more)) in listeners.into_iter().enumerate() {
        if more.h2c.is_some() || more.tls.is_some() {
            let answers = Arc::clone(&answers);
            begin(
                index,
                "streams",
                Box::new(move || streams::run(more, answers)),
            )?;
        }
        let answers = Arc::clone(&answers);
        let serve = move || Loop::new(TcpListener::from_std(listener), answers)?.run();
        begin(index, "null", Box::new(serve))?;
    }
    drop(ended);
    // The first one that ends, ends all.
    ends.recv()
        .unwrap_or_else(|_| Err(io::Error::other("all its loops panicked")))
}

/// What a thread of the server does.
type Serve = Box<dyn FnOnce() -> io::Result<Infallible> + Send>;

fn listen(address: SocketAddr) -> io::Result<std::net::TcpListener> {
    let family = match address {
        SocketAddr::V4(_) => AddressFamily::INET,
        SocketAddr::V6(_) => AddressFamily::INET6,
    };
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let socket = net::socket_with(family, SocketType::STREAM, flags, None)?;
    sockopt::set_socket_reuseaddr(&socket, true)?;
    sockopt::set_socket_reuseport(&socket, true)?;
    net::bind(&socket, &address)?;
    net::listen(&socket, BACKLOG)?;
    Ok(socket.into())
}

/// One event loop with its connections.
struct Loop {
    poll: Poll,
    listener: TcpListener,
    answers: Arc<Answers>,
    connections: Vec<Option<Connection>>,
    free: Vec<usize>,
    chunk: Vec<u8>,
}

impl Loop {
    fn new(mut listener: TcpListener, answers: Arc<Answers>) -> io::Result<Self> {
        let poll = Poll::new()?;
        let registry = poll.registry();
        registry.register(&mut listener, LISTENER, Interest::READABLE)?;
        Ok(Self {
            poll,
            listener,
            answers,
            connections: Vec::new(),
            free: Vec::new(),
            chunk: vec![0; READ_BYTES],
        })
    }

    fn run(mut self) -> io::Result<Infallible> {
        let mut events = Events::with_capacity(EVENTS);
        loop {
            match self.poll.poll(&mut events, None) {
                Err(error) if error.kind() != io::ErrorKind::Interrupted => return Err(error),
                _ => {}
            }
            for event in &events {
                match event.token() {
                    LISTENER => self.accept(),
                    Token(slot) => {
                        let ending = event.is_read_closed() || event.is_error();
                        self.serve(slot, ending);
                    }
                }
            }
        }
    }

    /// Takes in who waits. Where no more files may be open, the others wait until somebody has gone.
    fn accept(&mut self) {
        loop {
            match self.listener.accept() {
                Ok((stream, _)) => {
                    // Ignore a connection that has ended meanwhile.
                    let _ = self.take_in(stream);
                }
                Err(error)
                    if matches!(
                        error.kind(),
                        io::ErrorKind::Interrupted | io::ErrorKind::ConnectionAborted
                    ) => {}
                Err(_) => return,
            }
        }
    }

    fn take_in(&mut self, mut stream: TcpStream) -> io::Result<()> {
        stream.set_nodelay(true)?;
        let slot = self.free.last().copied().unwrap_or(self.connections.len());
        let both = Interest::READABLE | Interest::WRITABLE;
        self.poll
            .registry()
            .register(&mut stream, Token(slot), both)?;
        let connection = Some(Connection::new(stream));
        match self.free.pop() {
            Some(slot) => self.connections[slot] = connection,
            None => self.connections.push(connection),
        }
        Ok(())
    }

    fn serve(&mut self, slot: usize, ending: bool) {
        // An event of a connection that an earlier one in the same row has ended.
        let Some(Some(connection)) = self.connections.get_mut(slot) else {
            return;
        };
        connection.ending |= ending;
        if connection.serve(&self.answers, &mut self.chunk) == ConnectionState::Closed {
            self.connections[slot] = None;
            self.free.push(slot);
            // There may be some who could not be taken in.
            self.accept();
        }
    }
}

/// Whether a connection is open or closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ConnectionState {
    Open,
    Closed,
}

struct Connection {
    stream: TcpStream,
    counter: RequestCounter,
    /// Answers that are due, the first of them sent up to `sent`.
    due: u32,
    sent: usize,
    /// The last answer that is due closes the connection.
    closes: bool,
    /// The last answer has been sent.
    closed: bool,
    /// Whether the peer has closed its side, so that reading continues to the end of the stream.
    ending: bool,
}

impl Connection {
    fn new(stream: TcpStream) -> Self {
        Self {
            stream,
            counter: RequestCounter::default(),
            due: 0,
            sent: 0,
            closes: false,
            closed: false,
            ending: false,
        }
    }

    /// Answers and reads as far as that goes.
    fn serve(&mut self, answers: &Answers, chunk: &mut [u8]) -> ConnectionState {
        loop {
            match self.answer(answers) {
                Ok(true) => {}
                Ok(false) => return ConnectionState::Open,
                Err(_) => return ConnectionState::Closed,
            }
            match self.stream.read(chunk) {
                Ok(0) => return ConnectionState::Closed,
                Ok(count) => {
                    let (due, closes) = (&mut self.due, &mut self.closes);
                    let taken = self.counter.take(&chunk[..count], |persistence| {
                        *due += 1;
                        *closes |= persistence == Persistence::Close;
                    });
                    if taken.is_err() {
                        return ConnectionState::Closed;
                    }
                    // A short read has emptied the socket: what comes later makes a new event. That saves a call.
                    if count < chunk.len() && !self.ending {
                        return match self.answer(answers) {
                            Ok(_) => ConnectionState::Open,
                            Err(_) => ConnectionState::Closed,
                        };
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    return ConnectionState::Open;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return ConnectionState::Closed,
            }
        }
    }

    /// Sends what is due; whether all of it has gone.
    fn answer(&mut self, answers: &Answers) -> io::Result<bool> {
        while self.due > 0 {
            let persistence = if self.closes && self.due == 1 {
                Persistence::Close
            } else {
                Persistence::Keep
            };
            let answer = answers.get(persistence);
            while self.sent < answer.len() {
                match self.stream.write(&answer[self.sent..]) {
                    Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                    Ok(count) => self.sent += count,
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(error) => return Err(error),
                }
            }
            (self.due, self.sent) = (self.due - 1, 0);
        }
        if self.closes && !self.closed {
            self.closed = true;
            self.stream.shutdown(Shutdown::Write)?;
        }
        Ok(true)
    }
}
