//! The floor: a loop that does nothing but the system calls of a load with readiness. It looks at no answer, measures
//! nothing and believes every length, so that it is no load generator; but a generator with readiness can hardly need less.

mod http2;

use std::{
    collections::VecDeque,
    io::{Read as _, Write as _},
    net::{SocketAddr, TcpStream},
    thread,
    time::{Duration, Instant},
};

use clap::Args;
use rustix::{
    buffer::spare_capacity,
    event::{
        Timespec,
        epoll::{self, CreateFlags, Event, EventData, EventFlags},
    },
    io::Errno,
    net::{RecvFlags, recv},
    thread::set_current_timer_slack,
};

use super::show;

/// Room for a head and what comes with it.
const HEAD_ROOM: usize = 16 * 1024;

/// What the floor is asked to do: the same answers again and again, on connections that are kept.
#[derive(Args, Clone, Debug)]
pub(crate) struct Options {
    /// The server
    #[arg(long)]
    address: SocketAddr,
    /// The path that is asked for
    #[arg(long)]
    path: String,
    /// Connections
    #[arg(long)]
    connections: usize,
    /// How long
    #[arg(long)]
    seconds: u64,
    /// HTTP/2 with so many requests at once on each connection [default: 0, HTTP/1.1]
    #[arg(long, default_value_t = 0)]
    streams: usize,
    /// The length of an answer's body
    #[arg(long)]
    body: u64,
    /// Requests per second [default: one after the other on each connection]
    #[arg(long)]
    rate: Option<u32>,
    /// Sleep for so many microseconds at least, whatever comes: fewer wake-ups, and late
    #[arg(long, value_name = "MICROSECONDS")]
    nap: Option<u64>,
}

/// Loads, and says how many answers were read.
pub(crate) fn run(options: &Options) -> Result<(), String> {
    let load = match options.streams {
        0 => load,
        _ => http2::load,
    };
    let answers = load(options).map_err(|error| format!("loading {}: {error}", options.address))?;
    show::result(&format!("answers: {answers}"));
    Ok(())
}

fn load(options: &Options) -> std::io::Result<u64> {
    let request = format!(
        "GET {} HTTP/1.1\r\nHost: {}\r\n\r\n",
        options.path, options.address
    );
    let request = request.as_bytes();
    let epoll = epoll::create(CreateFlags::CLOEXEC)?;
    let mut sockets = Vec::with_capacity(options.connections);
    let mut whole = 0;
    for slot in 0..options.connections {
        let socket = TcpStream::connect(options.address)?;
        socket.set_nodelay(true)?;
        if slot == 0 {
            whole = learn(&socket, request, options.body)?;
        }
        socket.set_nonblocking(true)?;
        let data = EventData::new_u64(slot as u64);
        epoll::add(&epoll, &socket, data, EventFlags::IN | EventFlags::ET)?;
        sockets.push(socket);
    }
    // As exact as Deadheat's timers; where that is refused the floor is a little lower than it should be.
    let _ = set_current_timer_slack(std::num::NonZeroU64::new(1));
    let gap = options.rate.map(|rate| Duration::from_secs(1) / rate);
    let start = Instant::now();
    let length = Duration::from_secs(options.seconds);
    let mut events: Vec<Event> = Vec::with_capacity(128);
    let mut buffer = vec![0; HEAD_ROOM];
    let mut dropped = vec![0; whole as usize];
    // Bytes of its answer that are still to come on each connection.
    let mut left = vec![whole; options.connections];
    let mut free: VecDeque<usize> = (0..options.connections).collect();
    // One was read to learn its length.
    let (mut answers, mut due) = (1, Duration::ZERO);
    loop {
        let now = start.elapsed();
        if now >= length {
            return Ok(answers);
        }
        // The requests whose time has come; without a rate, all that can be sent.
        while gap.is_none_or(|_| due <= now)
            && let Some(slot) = free.pop_front()
        {
            (&sockets[slot]).write_all(request)?;
            due += gap.unwrap_or_default();
        }
        let until = gap.map_or(length, |_| due.min(length));
        let mut wait = until.saturating_sub(start.elapsed());
        if let Some(nap) = options.nap {
            thread::sleep(wait.max(Duration::from_micros(nap)));
            wait = Duration::ZERO;
        }
        let timeout = Timespec {
            tv_sec: wait.as_secs() as i64,
            tv_nsec: wait.subsec_nanos().into(),
        };
        events.clear();
        match epoll::wait(&epoll, spare_capacity(&mut events), Some(&timeout)) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        for event in &events {
            let slot = event.data.u64() as usize;
            if take(&sockets[slot], &mut left[slot], &mut buffer, &mut dropped)? {
                answers += 1;
                left[slot] = whole;
                free.push_back(slot);
            }
        }
    }
}

/// The length of a whole answer: of its head, which is looked for once, and its body.
fn learn(mut socket: &TcpStream, request: &[u8], body: u64) -> std::io::Result<u64> {
    socket.write_all(request)?;
    let mut answer = Vec::new();
    let mut buffer = [0; HEAD_ROOM];
    loop {
        let length = socket.read(&mut buffer)?;
        if length == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        answer.extend_from_slice(&buffer[..length]);
        let head = answer.windows(4).position(|four| four == b"\r\n\r\n");
        if let Some(head) = head {
            let whole = head as u64 + 4 + body;
            let rest = whole.saturating_sub(answer.len() as u64);
            std::io::copy(&mut socket.take(rest), &mut std::io::sink())?;
            return Ok(whole);
        }
    }
}

/// Takes what has come of the `left` bytes of an answer, and says whether it is whole: a read gets its beginning, the
/// kernel drops the rest.
fn take(
    mut socket: &TcpStream,
    left: &mut u64,
    buffer: &mut [u8],
    dropped: &mut [u8],
) -> std::io::Result<bool> {
    if *left == dropped.len() as u64 {
        let length = socket.read(buffer)?;
        *left = left.saturating_sub(length as u64);
        if length < buffer.len() {
            return Ok(*left == 0);
        }
    }
    while *left > 0 {
        let room = &mut dropped[..*left as usize];
        match recv(socket, room, RecvFlags::TRUNC) {
            Ok((_, 0)) => return Err(std::io::ErrorKind::UnexpectedEof.into()),
            Ok((_, length)) => *left -= length as u64,
            Err(Errno::AGAIN) => return Ok(false),
            Err(error) => return Err(error.into()),
        }
    }
    Ok(true)
}
