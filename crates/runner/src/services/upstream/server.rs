//! The event loop: accepts, reads, and answers when it is due. One thread.

use std::{
    convert::Infallible,
    io,
    net::{Ipv4Addr, SocketAddr},
    os::fd::AsRawFd,
    time::{Duration, Instant},
};

use mio::{
    Events, Interest, Poll, Token,
    event::Event,
    net::{TcpListener, TcpStream},
};

use super::{
    answer::{self, SlowAnswers},
    connection::{Connection, Going},
    queue::DelayQueue,
    request::{Asks, Request, Then},
    slots::{Id, Slots},
    sys::{self, Timer},
};

const LISTENER: Token = Token(0);
const TIMER: Token = Token(1);
/// The tokens of connections begin here.
const FIRST_CONNECTION: usize = 2;
/// Connections that wait to be accepted; the kernel may allow fewer (`net.core.somaxconn`).
const BACKLOG: i32 = 16_384;
/// Connections accepted before anything else gets its turn.
const ACCEPT_BURST: usize = 32;
/// Answers given before anything is read again. Reading late stamps a burst of requests with nearly one time, so that
/// their answers are a burst as well, and the next requests too: turns keep what arrived spread out spread out.
const ANSWER_BURST: usize = 16;
/// Answers given after each event.
const ANSWERS_PER_EVENT: usize = 2;
const EVENTS: usize = 1024;
const READ_BYTES: usize = 64 * 1024;

/// What is in the queue for a connection.
#[derive(Clone, Copy, Debug)]
enum Due {
    /// The answer to a request.
    Answer(Request),
    /// Closing a connection whose peer has had its last answer and does not close it.
    Close,
}

/// A server that answers late.
#[derive(Debug)]
pub(super) struct Server {
    poll: Poll,
    listener: TcpListener,
    timer: Timer,
    /// What the timer is set to.
    timer_due: Option<Instant>,
    /// There may be connections to accept.
    accepting: bool,
    /// Accepting stopped because no more files may be open.
    starved: bool,
    connections: Slots,
    queue: DelayQueue<(Id, Due)>,
    answers: SlowAnswers,
    /// Requests for the slow answer that have arrived.
    count: u64,
    chunk: Vec<u8>,
}

impl Server {
    /// Listens on a free port of the loopback interface.
    pub(super) fn bind(delay: Duration) -> io::Result<Self> {
        sys::raise_open_files()?;
        let poll = Poll::new()?;
        let mut listener = TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))?;
        sys::set_backlog(listener.as_raw_fd(), BACKLOG)?;
        let mut timer = Timer::new()?;
        let registry = poll.registry();
        registry.register(&mut listener, LISTENER, Interest::READABLE)?;
        registry.register(&mut timer, TIMER, Interest::READABLE)?;
        Ok(Self {
            poll,
            listener,
            timer,
            timer_due: None,
            accepting: false,
            starved: false,
            connections: Slots::default(),
            queue: DelayQueue::new(delay),
            answers: SlowAnswers::new(),
            count: 0,
            chunk: vec![0; READ_BYTES],
        })
    }

    /// Where it listens.
    pub(super) fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Serves until the process is ended.
    pub(super) fn run(mut self) -> io::Result<Infallible> {
        let mut events = Events::with_capacity(EVENTS);
        loop {
            let busy = self.set_timer()? || self.accepting;
            let patience = busy.then_some(Duration::ZERO);
            match self.poll.poll(&mut events, patience) {
                Err(error) if error.kind() != io::ErrorKind::Interrupted => return Err(error),
                _ => {}
            }
            self.answer_due(ANSWER_BURST);
            for event in &events {
                match event.token() {
                    LISTENER => self.accepting = true,
                    // What is due is looked for after every event anyway.
                    TIMER => self.timer_due = None,
                    Token(token) => self.hear(token - FIRST_CONNECTION, event),
                }
                self.answer_due(ANSWERS_PER_EVENT);
            }
            self.accept();
        }
    }

    /// Sets the timer to what is due first, unless it is already. Whether something is due now.
    fn set_timer(&mut self) -> io::Result<bool> {
        let Some(due) = self.queue.first_due() else {
            return Ok(false);
        };
        let delay = due.saturating_duration_since(Instant::now());
        if delay.is_zero() {
            return Ok(true);
        }
        if self.timer_due != Some(due) {
            self.timer.set(delay)?;
            self.timer_due = Some(due);
        }
        Ok(false)
    }

    fn accept(&mut self) {
        for _ in 0..ACCEPT_BURST {
            if !self.accepting {
                return;
            }
            match self.listener.accept() {
                Ok((stream, _)) => {
                    if let Err(error) = self.welcome(stream) {
                        tracing::warn!("slow upstream: taking a connection: {error}");
                    }
                }
                Err(error) => match error.kind() {
                    io::ErrorKind::WouldBlock => self.accepting = false,
                    // The peer has given up already.
                    io::ErrorKind::ConnectionAborted | io::ErrorKind::Interrupted => {}
                    _ => {
                        tracing::warn!("slow upstream: accepting a connection: {error}");
                        self.accepting = false;
                        self.starved = true;
                    }
                },
            }
        }
    }

    fn welcome(&mut self, mut stream: TcpStream) -> io::Result<()> {
        stream.set_nodelay(true)?;
        let token = Token(self.connections.next_slot() + FIRST_CONNECTION);
        let both = Interest::READABLE | Interest::WRITABLE;
        self.poll.registry().register(&mut stream, token, both)?;
        self.connections.insert(Connection::new(stream));
        Ok(())
    }

    /// Something happened on a connection.
    fn hear(&mut self, slot: usize, event: &Event) {
        let Some(connection) = self.connections.at(slot) else {
            return;
        };
        if event.is_readable() || event.is_read_closed() || event.is_error() {
            connection.note_readable(event.is_read_closed() || event.is_error());
        }
        let flushed = if event.is_writable() {
            connection.flush()
        } else {
            Ok(())
        };
        self.go_on(slot, flushed);
    }

    /// Takes all requests that have arrived on a connection, and drops it when it is over or broken.
    fn go_on(&mut self, slot: usize, so_far: io::Result<()>) {
        let result = so_far.and_then(|()| self.take_requests(slot));
        // A connection that breaks is its peer's affair: the peer sees it too.
        if !matches!(result, Ok(Going::On)) {
            self.drop_connection(slot);
        }
    }

    fn take_requests(&mut self, slot: usize) -> io::Result<Going> {
        let id = self.connections.id(slot);
        loop {
            let Some(connection) = self.connections.at(slot) else {
                return Ok(Going::Over);
            };
            if let Some(request) = connection.next_request() {
                self.take(id, request)?;
            } else if !connection.read(&mut self.chunk)? {
                return Ok(connection.going());
            }
        }
    }

    /// A whole request head has arrived. What needs no delay is still not answered before what came earlier on the
    /// same connection: then it waits as long as the others.
    fn take(&mut self, id: Id, request: Request) -> io::Result<()> {
        let slow = request.asks == Asks::Slow;
        self.count += u64::from(slow);
        let Some(connection) = self.connections.get(id) else {
            return Ok(());
        };
        if slow || connection.waiting > 0 {
            connection.waiting += 1;
            self.queue.push(Instant::now(), (id, Due::Answer(request)));
            Ok(())
        } else {
            self.answer(id, request)
        }
    }

    fn answer_due(&mut self, most: usize) {
        for _ in 0..most {
            let Some((id, due)) = self.queue.pop_due(Instant::now()) else {
                return;
            };
            let Some(connection) = self.connections.get(id) else {
                continue;
            };
            match due {
                Due::Close => self.drop_connection(id.slot),
                Due::Answer(request) => {
                    connection.waiting -= 1;
                    let answered = self.answer(id, request);
                    self.go_on(id.slot, answered);
                }
            }
        }
    }

    fn answer(&mut self, id: Id, request: Request) -> io::Result<()> {
        let Some(connection) = self.connections.get(id) else {
            return Ok(());
        };
        let then = request.then;
        match request.asks {
            Asks::Slow => connection.send(self.answers.get(then)),
            Asks::Count => connection.send(&answer::ok(&self.count.to_string(), then)),
            Asks::Refused(refusal) => connection.send(&answer::refusal(refusal, then)),
        }?;
        if then == Then::Close {
            connection.close_after_output()?;
            self.queue.push(Instant::now(), (id, Due::Close));
        }
        Ok(())
    }

    fn drop_connection(&mut self, slot: usize) {
        // Closing the descriptor takes it out of the poll too.
        if self.connections.remove(slot).is_some() && self.starved {
            self.starved = false;
            self.accepting = true;
        }
    }
}
