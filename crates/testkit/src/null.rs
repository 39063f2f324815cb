//! A server that does nothing but answer: one thread, no parsing beyond the end of a head.

use std::{
    io::{self, Read as _, Write as _},
    net::{Ipv4Addr, SocketAddr},
    thread::{self, JoinHandle},
};

use mio::{
    Events, Interest, Poll, Token, Waker,
    net::{TcpListener, TcpStream},
};

const LISTENER: Token = Token(usize::MAX);
const WAKER: Token = Token(usize::MAX - 1);

/// Answers the same bytes to every request without a body.
pub struct NullServer {
    address: SocketAddr,
    waker: Waker,
    thread: Option<JoinHandle<io::Result<()>>>,
}

impl NullServer {
    /// Listens on a free loopback port.
    ///
    /// # Errors
    ///
    /// When there is none, or no thread.
    pub fn start(answer: Vec<u8>) -> io::Result<Self> {
        Self::start_at((Ipv4Addr::LOCALHOST, 0).into(), answer)
    }

    /// Listens on `address`.
    ///
    /// # Errors
    ///
    /// When somebody else does.
    pub fn start_at(address: SocketAddr, answer: Vec<u8>) -> io::Result<Self> {
        let poll = Poll::new()?;
        let waker = Waker::new(poll.registry(), WAKER)?;
        let mut listener = TcpListener::bind(address)?;
        poll.registry()
            .register(&mut listener, LISTENER, Interest::READABLE)?;
        let address = listener.local_addr()?;
        let server = Server {
            poll,
            listener,
            answer,
            connections: Vec::new(),
            buffer: vec![0; 64 * 1024],
        };
        let thread = thread::Builder::new().name("null".to_owned());
        let thread = Some(thread.spawn(move || server.run())?);
        Ok(Self {
            address,
            waker,
            thread,
        })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for NullServer {
    fn drop(&mut self) {
        let _ = self.waker.wake();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

struct Connection {
    stream: TcpStream,
    /// How much of "\r\n\r\n" the last bytes were.
    matched: usize,
    /// Answers that are due, the first of them sent up to `sent`.
    due: usize,
    sent: usize,
}

struct Server {
    poll: Poll,
    listener: TcpListener,
    answer: Vec<u8>,
    connections: Vec<Option<Connection>>,
    buffer: Vec<u8>,
}

impl Server {
    fn run(mut self) -> io::Result<()> {
        let mut events = Events::with_capacity(1024);
        loop {
            match self.poll.poll(&mut events, None) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                result => result?,
            }
            for event in &events {
                match event.token() {
                    WAKER => return Ok(()),
                    LISTENER => self.accept()?,
                    Token(slot) => {
                        if self.serve(slot).is_err() {
                            self.connections[slot] = None;
                        }
                    }
                }
            }
        }
    }

    fn accept(&mut self) -> io::Result<()> {
        loop {
            let mut stream = match self.listener.accept() {
                Ok((stream, _)) => stream,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(_) => continue,
            };
            stream.set_nodelay(true)?;
            let free = self.connections.iter().position(Option::is_none);
            let slot = free.unwrap_or(self.connections.len());
            let both = Interest::READABLE | Interest::WRITABLE;
            self.poll
                .registry()
                .register(&mut stream, Token(slot), both)?;
            let connection = Some(Connection {
                stream,
                matched: 0,
                due: 0,
                sent: 0,
            });
            match free {
                Some(slot) => self.connections[slot] = connection,
                None => self.connections.push(connection),
            }
        }
    }

    /// Reads and answers as far as that goes; an error ends the connection.
    fn serve(&mut self, slot: usize) -> io::Result<()> {
        let Some(connection) = &mut self.connections[slot] else {
            return Ok(());
        };
        loop {
            while connection.due > 0 {
                match connection.stream.write(&self.answer[connection.sent..]) {
                    Ok(sent) => connection.sent += sent,
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                    Err(error) => return Err(error),
                }
                if connection.sent == self.answer.len() {
                    (connection.due, connection.sent) = (connection.due - 1, 0);
                }
            }
            let read = match connection.stream.read(&mut self.buffer) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(read) => read,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error),
            };
            for byte in &self.buffer[..read] {
                connection.matched = match (byte, connection.matched) {
                    (b'\r', 2) => 3,
                    (b'\r', _) => 1,
                    (b'\n', 1) => 2,
                    (b'\n', 3) => {
                        connection.due += 1;
                        0
                    }
                    _ => 0,
                };
            }
        }
    }
}
