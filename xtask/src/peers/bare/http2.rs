//! The floor in HTTP/2: a loop that does nothing but the system calls of a load with readiness, and looks for the ends of
//! answers in the headers of frames. It reads no header block and believes every length.

use std::{
    io::{self, ErrorKind, Read as _, Write as _},
    net::TcpStream,
    time::{Duration, Instant},
};

use rustix::{
    buffer::spare_capacity,
    event::{
        Timespec,
        epoll::{self, CreateFlags, Event, EventData, EventFlags},
    },
    io::Errno,
};

use super::Options;

/// Bytes read at once.
const ROOM: usize = 256 * 1024;
/// What the server may send before it has to be allowed more, of a stream and of the connection.
const WINDOW: u32 = 1 << 30;
/// The length of a frame's header (RFC 9113 §4.1).
const HEADER: usize = 9;
const DATA: u8 = 0;
const HEADERS: u8 = 1;
const SETTINGS: u8 = 4;
const WINDOW_UPDATE: u8 = 8;
const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;

/// A connection, and what of its frames has been seen.
struct Connection {
    socket: TcpStream,
    next_id: u32,
    /// A frame's header that has not come whole.
    header: Vec<u8>,
    /// Bytes of a frame's payload that are still to come.
    left: usize,
    /// Whether an answer ends with it.
    ends: bool,
    /// Bytes since the server was last allowed more.
    taken: u32,
    out: Vec<u8>,
}

/// Loads, and returns how many answers were read.
pub(super) fn load(options: &Options) -> io::Result<u64> {
    let block = block(&options.path, &options.address.to_string());
    let epoll = epoll::create(CreateFlags::CLOEXEC)?;
    let mut connections = Vec::with_capacity(options.connections);
    for slot in 0..options.connections {
        let mut connection = Connection::new(TcpStream::connect(options.address)?)?;
        let data = EventData::new_u64(slot as u64);
        let flags = EventFlags::IN | EventFlags::ET;
        epoll::add(&epoll, &connection.socket, data, flags)?;
        connection.ask(options.streams, &block)?;
        connections.push(connection);
    }
    let start = Instant::now();
    let length = Duration::from_secs(options.seconds);
    let mut events: Vec<Event> = Vec::with_capacity(128);
    let mut buffer = vec![0; ROOM];
    let mut answers = 0;
    loop {
        let left = length.saturating_sub(start.elapsed());
        if left.is_zero() {
            return Ok(answers);
        }
        let timeout = Timespec {
            tv_sec: left.as_secs() as i64,
            tv_nsec: left.subsec_nanos().into(),
        };
        events.clear();
        match epoll::wait(&epoll, spare_capacity(&mut events), Some(&timeout)) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        for event in &events {
            let connection = &mut connections[event.data.u64() as usize];
            let ended = connection.take(&mut buffer)?;
            answers += ended as u64;
            connection.ask(ended, &block)?;
        }
    }
}

impl Connection {
    /// Says who the client is, and that it takes all that comes.
    fn new(socket: TcpStream) -> io::Result<Self> {
        socket.set_nodelay(true)?;
        socket.set_nonblocking(true)?;
        let mut out = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec();
        let window = WINDOW.to_be_bytes();
        frame(SETTINGS, 0, 0, &[&[0, 4], &window[..]].concat(), &mut out);
        frame(WINDOW_UPDATE, 0, 0, &window, &mut out);
        Ok(Self {
            socket,
            next_id: 1,
            header: Vec::with_capacity(HEADER),
            left: 0,
            ends: false,
            taken: 0,
            out,
        })
    }

    /// Sends so many requests in one write, with what else is to be sent.
    fn ask(&mut self, count: usize, block: &[u8]) -> io::Result<()> {
        for _ in 0..count {
            let flags = END_STREAM | END_HEADERS;
            frame(HEADERS, flags, self.next_id, block, &mut self.out);
            self.next_id += 2;
        }
        if self.taken > WINDOW / 2 {
            frame(
                WINDOW_UPDATE,
                0,
                0,
                &self.taken.to_be_bytes(),
                &mut self.out,
            );
            self.taken = 0;
        }
        if !self.out.is_empty() {
            self.socket.write_all(&self.out)?;
            self.out.clear();
        }
        Ok(())
    }

    /// Reads what has come: how many answers have ended.
    fn take(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut ended = 0;
        loop {
            let length = match self.socket.read(buffer) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(length) => length,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(ended),
                Err(error) => return Err(error),
            };
            ended += self.ends_in(&buffer[..length]);
            if length < buffer.len() {
                return Ok(ended);
            }
        }
    }

    /// How many answers end in these bytes.
    fn ends_in(&mut self, mut bytes: &[u8]) -> usize {
        let mut ended = 0;
        loop {
            let payload = self.left.min(bytes.len());
            bytes = &bytes[payload..];
            self.left -= payload;
            if self.left > 0 {
                return ended;
            }
            ended += usize::from(std::mem::take(&mut self.ends));
            let part = (HEADER - self.header.len()).min(bytes.len());
            self.header.extend_from_slice(&bytes[..part]);
            bytes = &bytes[part..];
            let &[a, b, c, kind, flags, ..] = &self.header[..] else {
                return ended;
            };
            if self.header.len() < HEADER {
                return ended;
            }
            self.header.clear();
            self.left = u32::from_be_bytes([0, a, b, c]) as usize;
            if kind == DATA {
                self.taken += self.left as u32;
            }
            self.ends = matches!(kind, DATA | HEADERS) && flags & END_STREAM != 0;
        }
    }
}

/// The header block of a request: of the static table, and without indexing (RFC 7541).
fn block(path: &str, authority: &str) -> Vec<u8> {
    let mut block = vec![0x82, 0x86];
    for (index, value) in [(4, path), (1, authority)] {
        block.extend_from_slice(&[index, value.len() as u8]);
        block.extend_from_slice(value.as_bytes());
    }
    block
}

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8], out: &mut Vec<u8>) {
    let [_, length @ ..] = (payload.len() as u32).to_be_bytes();
    out.extend_from_slice(&length);
    out.extend_from_slice(&[kind, flags]);
    out.extend_from_slice(&stream.to_be_bytes());
    out.extend_from_slice(payload);
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn answers_are_counted_however_they_are_cut() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut bytes = Vec::new();
        for _ in 0..3 {
            frame(HEADERS, END_HEADERS, 1, &[0x88], &mut bytes);
            frame(DATA, END_STREAM, 1, b"Hello world\n", &mut bytes);
        }
        frame(HEADERS, END_STREAM | END_HEADERS, 3, &[0x88], &mut bytes);
        frame(DATA, END_STREAM, 5, b"", &mut bytes);
        frame(SETTINGS, 1, 0, b"", &mut bytes);
        for size in [1, 5, 9, 10, 1_000] {
            let socket = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            let mut connection = Connection::new(socket).unwrap();
            let pieces = bytes.chunks(size);
            let ended: usize = pieces.map(|piece| connection.ends_in(piece)).sum();
            // An end is noticed with the next byte at the latest.
            assert_eq!((ended, connection.taken), (5, 36), "pieces of {size}");
        }
    }
}
